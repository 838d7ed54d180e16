"""The list of streamed segments in an item's row: pairs of (line offset, line length), packed.

Invariant: pure; the packing is of this database version only.
"""

from __future__ import annotations

import struct

_PART = struct.Struct("<QI")


def add_part(parts: bytes | None, line_at: int, line_length: int) -> bytes:
    """The list with one more segment."""
    return (parts or b"") + _PART.pack(line_at, line_length)


def parts_of(parts: bytes | None) -> list[tuple[int, int]]:
    """The segments as (line offset, line length)."""
    return list(_PART.iter_unpack(parts or b""))
