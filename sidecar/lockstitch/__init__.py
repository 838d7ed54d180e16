"""Lockstitch: keeps every thread, turn, item, event and file version of an AI agent's work."""

__version__ = "0.1.0"
