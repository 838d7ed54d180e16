"""Which events of a source other threads hold already: a session that was resumed under another id begins with a copy.

A thread holds what no other thread of the same conversation holds. What goes on in the middle of a turn that began
elsewhere repeats that turn's beginning, and none of its items.

Invariant: only a turn, an item or a file version of the same id and the same content counts as held; what differs
in anything is new, so that nothing is lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from lockstitch import codec
from lockstitch.imports.detect import open_source
from lockstitch.imports.growth import endings
from lockstitch.imports.source import SourceEvent
from lockstitch.timeline import items

Spill = Callable[[dict[str, Any]], dict[str, Any]]

_FACTS = frozenset({"route.selected", "authority.set"})
_TOLD = frozenset({"item.started", "item.completed", "artifact.snapshot"})
STARTED = b""
"""The content of an item that is known to have begun."""


def item_digest(item: dict[str, Any]) -> bytes:
    """What a whole item, its defaults filled and its output moved away, is compared by."""
    return hashlib.blake2b(codec.canonical(item), digest_size=12).digest()


def version_digest(path: str, sha256: str | None, *, absent: bool) -> bytes:
    """What a file version is compared by: its path and what it became."""
    return f"{path}\0{'absent' if absent else sha256}".encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Kept:
    """What some threads hold: turns, and items and file versions by what they are compared by. Ids in lower case."""

    turns: dict[str, str] = field(default_factory=dict[str, str])
    """Turn → the thread that holds it."""
    contents: dict[str, tuple[bytes, str]] = field(default_factory=dict[str, tuple[bytes, str]])
    """Item or checkpoint → (digest, the thread that holds it)."""
    roots: dict[str, str] = field(default_factory=dict[str, str])
    """Thread → the first of its conversation."""

    def holder(self, event: SourceEvent, spill: Spill) -> str | None:
        """The thread that holds what the event tells, with the same content."""
        if event.type == "turn.started":
            return self.turns.get((event.turn_id or "").lower())
        kept, thread_id = self.contents.get((event.item_id or "").lower(), (None, None))
        if kept is None or event.type == "item.started":
            return thread_id
        return thread_id if kept == _digest_of(event, spill) else None


def _digest_of(event: SourceEvent, spill: Spill) -> bytes:
    payload = event.payload
    if event.type == "artifact.snapshot":
        content = payload.get("content")
        absent = content is None and not payload.get("afterNotCaptured")
        sha256 = None if content is None else hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        return version_digest(payload["path"], sha256, absent=absent)
    try:
        return item_digest(items.item_of(event.type, {"item": spill(payload["item"])}, event.item_id or "", None))
    except (KeyError, TypeError, ValueError):
        return STARTED  # no item of ours: kept raw, by whoever reads it


@dataclass(slots=True)
class Unshared:
    """Lets through what nobody else holds. Every event goes through `observe` or `admit`, in order."""

    kept: Kept
    spill: Spill
    begun: set[str] = field(default_factory=set[str])
    """Turns, in lower case, that the thread itself holds."""
    items: int = 0
    """Items that another thread holds."""
    holder: str | None = None
    """The thread that holds the last of what is left out."""
    last_turn: str | None = None
    """The last turn of which something is left out."""
    first_at: str | None = None
    """When what is new begins; where nothing is, when the last event was."""
    met_new: bool = False
    _start: SourceEvent | None = None
    _facts: dict[str, SourceEvent] = field(default_factory=dict[str, SourceEvent])
    _live: bool = False

    def observe(self, event: SourceEvent) -> None:
        """An event that the thread was given before, if it is its own."""
        if event.type == "turn.started":
            self._begin(event)
        elif event.type in _FACTS:
            self._facts[event.type] = event

    def _begin(self, event: SourceEvent) -> None:
        self._start, self._live = event, (event.turn_id or "").lower() in self.begun
        self._facts.clear()

    def admit(self, event: SourceEvent) -> Iterator[SourceEvent]:
        """The event if it is new; in front of it what it needs to stand in a thread of its own."""
        if not self.met_new:
            self.first_at = event.at or self.first_at
        if event.type == "turn.started":
            self._begin(event)
        if event.type == "turn.started" or event.type in _TOLD:
            # Ids that are numbers may mean something else in a turn that nobody else holds.
            known = event.turn_id is not None and event.turn_id.lower() in self.kept.turns
            holder = self.kept.holder(event, self.spill) if known else None
            if holder is not None:
                self._leave_out(event, holder)
                return
        elif event.turn_id is None:
            if self.met_new:  # the tool's own lines between turns go with what stands before them
                yield event
            return
        elif not self._live:
            if event.type in _FACTS:
                self._facts[event.type] = event
            return
        if not self._live:
            yield from self._go_live(event)
        self.met_new = True
        if event is not self._start:
            yield event

    def _leave_out(self, event: SourceEvent, holder: str) -> None:
        self.holder = holder
        self.last_turn = event.turn_id
        self.items += event.type != "turn.started"

    def _go_live(self, event: SourceEvent) -> Iterator[SourceEvent]:
        """The turn's beginning, told at the line that is the first of it here."""
        self._live = True
        for needed in (self._start, *self._facts.values()):
            if needed is not None:
                yield needed if needed is event else structs.replace(needed, line=event.line)
        if event.turn_id is not None:
            self.begun.add(event.turn_id.lower())

    def as_stored(self) -> dict[str, Any]:
        """Told with an import: where the rest of the conversation is."""
        return {"threadId": self.holder, "items": self.items, "lastTurnId": self.last_turn}


@dataclass(frozen=True, slots=True)
class Divergence:
    """How a file compares with what a thread of the same session holds."""

    shared: int
    """Items that are the same."""
    first_new: str | None
    """Names the first that is not; None where there is none."""
    changed: bool
    """What is the same goes on behind what is not: the source was changed in its middle."""


def compare(path: Path, kept: Kept, spill: Spill) -> Divergence:
    """Compare a whole file with what a thread holds."""
    reading = open_source(path)
    shared, first_new, changed = 0, None, False
    for event in _all_told(reading.events(final=True), lambda: endings(reading)):
        if kept.holder(event, spill) is None:
            first_new = first_new or event.item_id or event.turn_id
        elif first_new is None:
            shared += event.type != "turn.started"
        elif event.type != "item.started":
            changed = True
    return Divergence(shared, first_new, changed)


def _all_told(events: Iterable[SourceEvent], rest: Callable[[], list[SourceEvent]]) -> Iterator[SourceEvent]:
    for event in events:
        if event.type == "turn.started" or event.type in _TOLD:
            yield event
    for event in rest():
        if event.type in _TOLD:
            yield event
