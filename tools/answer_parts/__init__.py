"""What `answers.py` does with answers once it has them."""
