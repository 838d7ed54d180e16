"""Streamed text on its way into the log: deltas are collected and written as one event a segment.

Invariant: the writer thread owns the segments. A segment has its final event id from its first delta on; it
is written at 4 KiB, after 2 s, at its item's end, and before anything else of its thread is written.
"""

from __future__ import annotations

import time

import msgspec

from lockstitch_protocol.ids import new_id

SEGMENT_BYTES = 4096
SEGMENT_SECONDS = 2.0


class Segment(msgspec.Struct):
    """Text of one item that is accepted but not stored yet."""

    event_id: str
    type: str
    turn_id: str
    item_id: str
    at: str
    due: float
    """On the monotonic clock: when it must be written."""
    texts: list[str] = []
    size: int = 0
    """In bytes."""
    length: int = 0
    """In characters."""

    def take_back(self, text: str) -> None:
        """A delta whose request failed was never accepted."""
        if text in self.texts:
            self.texts.reverse()
            self.texts.remove(text)
            self.texts.reverse()
            self.size -= len(text.encode())
            self.length -= len(text)

    @property
    def is_full(self) -> bool:
        return self.size >= SEGMENT_BYTES

    @property
    def text(self) -> str:
        return "".join(self.texts)


class Segments:
    """The open segments of one thread, in the order in which they began."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Segment] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, type_: str, turn_id: str, item_id: str, text: str, at: str) -> tuple[Segment, int]:
        """Take a delta in: its segment, and how many characters of that segment came before it."""
        key = (type_, item_id.lower())
        segment = self._open.get(key)
        if segment is None:
            due = time.monotonic() + SEGMENT_SECONDS
            segment = self._open[key] = Segment(new_id("evt"), type_, turn_id, item_id, at, due)
        before = segment.length
        segment.texts.append(text)
        segment.size += len(text.encode())
        segment.length += len(text)
        return segment, before

    def take_all(self) -> list[Segment]:
        """Every open segment, to be written now."""
        taken = list(self._open.values())
        self._open.clear()
        return taken

    def give_back(self, segments: list[Segment]) -> None:
        """Writing failed: these are accepted, hence must be written before anything that came later."""
        later = self._open
        self._open = {}
        for segment in [*segments, *later.values()]:
            key = (segment.type, segment.item_id.lower())
            first = self._open.setdefault(key, segment)
            if first is not segment:
                first.texts += segment.texts
                first.size += segment.size
                first.length += segment.length

    def drop_empty(self) -> None:
        """A segment whose every delta was taken back is none."""
        self._open = {key: segment for key, segment in self._open.items() if segment.texts}

    def open(self) -> list[Segment]:
        return list(self._open.values())

    def postpone(self) -> None:
        """Writing was not possible: try again in a while."""
        due = time.monotonic() + SEGMENT_SECONDS
        for segment in self._open.values():
            segment.due = max(segment.due, due)

    def due(self) -> float | None:
        """When the oldest must be written, on the monotonic clock; None if there is none."""
        if not self._open:  # of nearly every thread that is asked, and all are with each group
            return None
        return min(segment.due for segment in self._open.values())

    def texts_of(self, item_id: str) -> list[str]:
        """What an item has streamed that no line holds yet."""
        return [segment.text for segment in self._open.values() if segment.item_id.lower() == item_id.lower()]
