"""An event on its way in, checked by itself, and what answers it.

Invariant: plain values; what may be appended to a thread now is decided in admission.py.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lockstitch.timeline.checkpoints import Snapshot
from lockstitch.timeline.plain_items import PlainItem
from lockstitch.timeline.rows import ClientEventRow
from lockstitch.timeline.segments import Segment


class Incoming(msgspec.Struct, gc=False):
    """An event that is checked by itself: its payload is decoded and of the shape that its type says."""

    type: str
    payload: dict[str, Any]
    turn_id: str | None = None
    item_id: str | None = None
    event_id: str | None = None
    digest: str | None = None
    at: str | None = None
    """The client's own time, already RFC 3339 UTC with microseconds."""
    plain: PlainItem | None = None
    """Of an item event: its item in the plain form; then `payload` is empty."""
    settled: bytes | None = None
    """The payload as it is stored, where there is nothing left to look for in it; then `payload` is empty."""
    whole: dict[str, Any] | None = None
    """Of an item.completed: the item with its defaults, for when nothing that came before is missing from it."""
    snapshot: Snapshot | None = None
    opens_turn: bool = False
    """turn/start: the turn must not exist yet."""
    own: bool = False
    """Written by the sidecar itself: `at` is when it happened, not somebody's claim."""
    outside: bool = False
    """It belongs to no turn, although one may be open."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What answers an incoming event that is not simply stored."""

    repeated: ClientEventRow | None = None
    segment: Segment | None = None
    delta: str = ""
    before: int = 0
    """For a delta: how many characters of its segment came before it."""
