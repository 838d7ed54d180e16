"""File versions: contents by sha256, version documents, and reading the user's files without harm."""
