"""Kinds of motion that may have made a record, one folder each."""
