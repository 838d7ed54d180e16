"""Ids: their types, their pattern, and how new ones are made (UUIDv7, so that they sort by time).

Invariant: importing this imports neither re nor typing, since a boot gets its id before the first reply.
"""

from __future__ import annotations

import os
import time
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NewType

    ThreadId = NewType("ThreadId", str)
    TurnId = NewType("TurnId", str)
    ItemId = NewType("ItemId", str)
    EventId = NewType("EventId", str)
    CheckpointId = NewType("CheckpointId", str)
    BootId = NewType("BootId", str)
else:
    ThreadId = TurnId = ItemId = EventId = CheckpointId = BootId = str

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
THREAD_ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
"""Thread ids are part of file names, hence neither `.` nor `:`, and at most 100 characters."""


_matches_id: list[Callable[[str], object]] = []
_match_ids: list[Callable[[str], object]] = []


def is_id(text: str) -> bool:
    """Whether a client may give this as the id of a turn, item, event, checkpoint or worker."""
    if not _matches_id:  # the first time
        import re

        _matches_id.append(re.compile(ID_PATTERN).fullmatch)
    return _matches_id[0](text) is not None


def are_ids(texts: Sequence[str]) -> bool:
    """Whether `is_id` holds for all of them; asked at once that costs a third."""
    if not _match_ids:
        import re

        _match_ids.append(re.compile(f"(?:{ID_PATTERN}\n)*").fullmatch)
    joined = "\n".join((*texts, ""))
    return joined.count("\n") == len(texts) and _match_ids[0](joined) is not None


def is_thread_id(text: str) -> bool:
    """Whether a client may give this as the id of a thread."""
    import re

    return re.fullmatch(THREAD_ID_PATTERN, text) is not None


_COUNTER_BITS = 74
_counter = count(int.from_bytes(os.urandom(10), "big"), 0x9E37_79B9_7F4A_7C15_0001)
"""Starts at random and goes on by a large odd step: a step costs a tenth of asking the system for random bytes,
and no two of the 2**74 values come twice (RFC 9562, section 6.2)."""


def uuid7() -> str:
    """A UUID of version 7 (RFC 9562): 48 bits of unix milliseconds, then a counter that begins at random."""
    text = _uuid7_hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _uuid7_hex() -> str:
    high, low = _uuid7_halves()
    return f"{high:016x}{low:016x}"


def _uuid7_halves() -> tuple[int, int]:
    rest = next(_counter) & (1 << _COUNTER_BITS) - 1
    milliseconds = time.time_ns() // 1_000_000
    return (milliseconds & (1 << 48) - 1) << 16 | 0x7000 | rest >> 62, 0x2 << 62 | rest & (1 << 62) - 1


def new_id(prefix: str) -> str:
    """A new id such as `turn_0198…`: the prefix says what it names, the rest is a UUIDv7 without dashes."""
    return f"{prefix}_{_uuid7_hex()}"


def new_ids(prefix: str) -> Iterator[str]:
    """New ids of one moment, in ascending order, as many as are asked for: a tenth of what `new_id` costs each."""
    high, low = _uuid7_halves()
    # A counter that begins at random below the half of its range does not come to the end of it (RFC 9562, 6.2).
    for block in count((low & ~(1 << 61)) >> 8):
        yield from map(f"{prefix}_{high:016x}{block:014x}".__add__, _LAST_BYTES)


_LAST_BYTES = [f"{byte:02x}" for byte in range(256)]
