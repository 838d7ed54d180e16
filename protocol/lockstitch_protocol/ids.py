"""Ids: their types, their pattern, and how new ones are made (UUIDv7, so that they sort by time).

Invariant: importing this imports neither re nor typing, since a boot gets its id before the first reply.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
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


def is_id(text: str) -> bool:
    """Whether a client may give this as the id of a turn, item, event, checkpoint or worker."""
    import re

    return re.fullmatch(ID_PATTERN, text) is not None


def is_thread_id(text: str) -> bool:
    """Whether a client may give this as the id of a thread."""
    import re

    return re.fullmatch(THREAD_ID_PATTERN, text) is not None


def uuid7() -> str:
    """A UUID of version 7 (RFC 9562): 48 bits of unix milliseconds, the rest random."""
    random = int.from_bytes(os.urandom(10), "big")
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | random
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_id(prefix: str) -> str:
    """A new id such as `turn_0198…`: the prefix says what it names, the rest is a UUIDv7 without dashes."""
    return f"{prefix}_{uuid7().replace('-', '')}"
