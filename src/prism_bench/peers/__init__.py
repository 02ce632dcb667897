"""Other methods on the same data; the core never imports this room."""
