"""The local page of ``prism app``: drop a file, or play with a system. No mathematics here."""
