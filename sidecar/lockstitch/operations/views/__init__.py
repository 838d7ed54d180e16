"""How rows and lines look on the wire: pure reads, spliced from stored bytes where a line holds the value."""
