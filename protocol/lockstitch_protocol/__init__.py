"""The wire and the disk as types: methods, events, items, errors. Imports pydantic and nothing of ours."""
