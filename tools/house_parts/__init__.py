"""What `house.py` measures: one module per kind of figure."""
