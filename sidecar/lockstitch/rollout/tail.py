"""The end of a rollout, read backwards: what opening a thread costs is its last line, never a scan.

Invariant: blocks grow only as far as the last line reaches back; nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

import msgspec

from lockstitch.codec import ParseError
from lockstitch.rollout.line import (
    LOOK_BACK,
    MAX_LINE_BYTES,
    Line,
    is_canonical,
    is_sound,
    parse_line,
    previous_sum_at,
)

ReadAt = Callable[[int, int], bytes]
"""Bytes of a file by offset and length; fewer only at its end."""

_FIRST_BLOCK = 4096
_LARGEST_BLOCK = 1 << 20


class Tail(msgspec.Struct, frozen=True):
    """What the last line says.

    `last_sum` is the previous sum of whatever is appended next; None if the file ends in the middle of a line.
    `last_sequence` is None if the last line cannot be trusted, 0 for an empty file. `clean`: nothing is torn,
    the last line is sound, and it ends its append.
    """

    size: int
    last_sum: bytes | None
    last_sequence: int | None
    clean: bool


def reader(file: int | BinaryIO) -> ReadAt:
    """Read a descriptor (whose position is left alone where the system can) or a binary stream by offset."""
    if isinstance(file, int):
        fd = file
        if hasattr(os, "pread"):
            return lambda offset, length: os.pread(fd, length, offset)

        def seek_and_read(offset: int, length: int) -> bytes:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, length)

        return seek_and_read
    stream = file

    def read(offset: int, length: int) -> bytes:
        stream.seek(offset)
        return stream.read(length)

    return read


def read_tail(file: int | BinaryIO, size: int) -> Tail:
    """Read the last line of the first `size` bytes."""
    if size == 0:
        return Tail(0, b"", 0, True)
    read = reader(file)
    start, stop, terminated = next(lines_backwards(read, size))
    line = chained_line(read, start, stop)
    return Tail(
        size,
        sum_before(read, size) if terminated else None,
        None if line is None else line.sequence,
        terminated and line is not None and line.more == 0,
    )


def sum_before(read: ReadAt, offset: int) -> bytes:
    """The previous sum of a line that begins at `offset`."""
    start = max(0, offset - LOOK_BACK)
    return previous_sum_at(read(start, offset - start))


def lines_backwards(read: ReadAt, end: int, floor: int = 0) -> Iterator[tuple[int, int, bool]]:
    """The lines of [floor, end) from the last to the first: start, end without LF, and whether an LF closes it."""
    stop, terminated = end, False
    if end > floor and read(end - 1, 1) == b"\n":
        stop, terminated = end - 1, True
    while stop > floor or terminated:
        start = _line_start(read, stop, floor)
        yield start, stop, terminated
        if start <= floor:
            return
        stop, terminated = start - 1, True


def _line_start(read: ReadAt, stop: int, floor: int) -> int:
    block = _FIRST_BLOCK
    while stop > floor:
        begin = max(floor, stop - block)
        found = read(begin, stop - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        stop = begin
        block = min(block * 4, _LARGEST_BLOCK)
    return floor


def chained_line(read: ReadAt, start: int, stop: int) -> Line | None:
    """The line at [start, stop) if its sum holds with the bytes directly before it."""
    if stop - start > MAX_LINE_BYTES:
        return None
    data = _read_all(read, start, stop)
    if not is_sound(data, sum_before(read, start)):
        return None
    try:
        return parse_line(data)
    except ParseError:
        return None


class Anchor(msgspec.Struct, frozen=True):
    """Where a scan may begin: what its first line follows, and how many lines the line before promises (`more`)."""

    offset: int = 0
    previous_sum: bytes = b""
    next_sequence: int = 1
    promised: int = 0


def last_chained(read: ReadAt, end: int) -> Anchor:
    """The place after the last line before `end` that is sound with the bytes directly before it."""
    for start, stop, terminated in lines_backwards(read, end):
        line = chained_line(read, start, stop) if terminated else None
        if line is not None:
            return Anchor(stop + 1, line.sum.encode(), line.sequence + 1, line.more)
    return Anchor()


def torn_append_at(read: ReadAt, floor: int, end: int) -> int | None:
    """Where the last append begins, if its last line is missing; None if it is not, or begins before `floor`.

    A line that is there, closed by its LF, but cannot be read is damaged and not missing.
    """
    first: int | None = None
    promised = unreadable = 0  # lines that must precede what was met so far; lines skipped since
    for start, stop, terminated in lines_backwards(read, end, floor):
        line = _readable_line(read, start, stop)
        if line is None:
            unreadable += terminated
        elif first is None:
            if line.more <= unreadable:
                return None
            first, promised, unreadable = start, line.more + 1, 0
        elif line.more == promised + unreadable:
            first, promised, unreadable = start, line.more + 1, 0
        else:
            break
    return first


def _readable_line(read: ReadAt, start: int, stop: int) -> Line | None:
    if not 0 < stop - start <= MAX_LINE_BYTES:
        return None
    data = _read_all(read, start, stop)
    try:
        line = parse_line(data)
    except ParseError:
        return None
    return line if is_canonical(data, line) else None


def _read_all(read: ReadAt, start: int, stop: int) -> bytes:
    data = read(start, stop - start)
    while len(data) < stop - start:  # the system gives at most 2 GiB, a signal less
        rest = read(start + len(data), stop - start - len(data))
        if not rest:
            break
        data += rest
    return data
