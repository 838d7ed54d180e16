"""A file as its lines, read forward in chunks: what cannot be the beginning of a record is not kept in memory.

Invariant: lines end at LF and nowhere else. The pieces that come out, with the LF after each that is closed by
one, are the bytes that went in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lockstitch.rollout.line import MAX_LINE_BYTES
from lockstitch.rollout.tail import ReadAt

CHUNK_BYTES = 1 << 20

LF = 0
"""The piece is a line, closed by its LF."""
FRAGMENT = 1
"""More of the same line follows."""
END = 2
"""The range ends before the line does."""

RECORD_START = re.compile(rb'\{"sequence":[0-9]{1,19},"at":"')
_START_BYTES = 40  # the longest RECORD_START, which may be cut in two by a chunk's end


def physical_lines(read: ReadAt, start: int, end: int) -> Iterator[tuple[int, bytes, int]]:
    """Give (offset, bytes without LF, how it is closed) for all of [start, end)."""
    position = offset = start
    parts: list[bytes] = []
    while position < end:
        chunk = read(position, min(CHUNK_BYTES, end - position))
        if not chunk:
            break  # the file is shorter than we were told
        position += len(chunk)
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and parts:
            lines[0] = b"".join(parts) + lines[0]
            parts.clear()
        for line in lines:
            yield offset, line, LF
            offset += len(line) + 1
        if parts and len(parts[0]) < _START_BYTES:
            parts[0] += rest
        elif rest:
            parts.append(rest)
        if position - offset >= CHUNK_BYTES:
            useless = _useless(parts, position - offset)
            if useless:
                yield offset, useless, FRAGMENT
                offset += len(useless)
    if parts:
        yield offset, b"".join(parts), END


def _useless(parts: list[bytes], length: int) -> bytes:
    """Take from an unfinished line what no record can begin in."""
    if RECORD_START.match(parts[0]):
        if length <= MAX_LINE_BYTES:
            return b""
        whole = b"".join(parts)
        keep = whole.rfind(b'{"sequence":', len(whole) - CHUNK_BYTES)
    else:
        whole = b"".join(parts)
        found = RECORD_START.search(whole)
        keep = found.start() if found else -1
    if keep < 0:
        keep = len(whole) - _START_BYTES
    parts[:] = [whole[keep:]]
    return whole[:keep]
