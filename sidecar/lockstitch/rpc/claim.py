"""Takes the wire for itself: afterwards file descriptors 0 and 1 lead elsewhere.

Invariant: a stray print, a warning or a printing child writes to stderr, never between two messages; a child
that reads stdin finds it empty.
"""

from __future__ import annotations

import os
import sys


class Wire:
    """The two file descriptors that the protocol runs on. Not inherited by children."""

    __slots__ = ("input", "output")

    def __init__(self, input: int, output: int) -> None:  # noqa: A002 - a pair with output
        self.input = input
        self.output = output


def claim_wire() -> Wire:
    """Move stdin and stdout to private descriptors. A stdin that is closed reads as empty.

    A stdout that is closed is as one whose reader is gone: what is written there is known not to have been sent.
    """
    can_write = _is_open(1)
    null = os.open(os.devnull, os.O_RDWR)
    while null < 3:  # 0, 1 or 2 was closed; what is opened later must not become one of them
        null = os.dup(null)
    if not _is_open(2):
        os.dup2(null, 2)
    wire = Wire(_private(0, null), _private(1, null) if can_write else _without_reader())
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return wire


def _without_reader() -> int:
    """The write end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    while writing < 3:
        writing = os.dup(writing)
    return writing


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _private(descriptor: int, null: int) -> int:
    moved = os.dup(descriptor if _is_open(descriptor) else null)
    while moved < 3:
        moved = os.dup(moved)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(moved, os.O_BINARY)
    return moved
