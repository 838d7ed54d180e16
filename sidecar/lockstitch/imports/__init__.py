"""Readers of other tools' session files: bytes of a source file in, our events out.

Invariant: nothing here writes, reads the environment or a clock, or knows a thread of ours.
"""
