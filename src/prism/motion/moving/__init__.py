"""Lines whose frequency or amplitude changes slowly."""
