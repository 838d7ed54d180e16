"""Which events of a source file a thread does not hold yet: all of a new file, the rest of a grown one.

Invariant: a thread that took a file in pieces reads as one that took it at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import structs

from lockstitch import codec
from lockstitch.imports.chain import open_lines
from lockstitch.imports.source import Mark, SourceEvent, SourceReading, SourceThread

if TYPE_CHECKING:
    from lockstitch.imports.shared import Unshared

_BLOCK = 1 << 20
_ENDS = frozenset({"turn.completed", "turn.failed", "turn.canceled", "turn.interrupted"})
_TOKENS = ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens")


@dataclass(frozen=True, slots=True)
class Told:
    """What an event told, as far as a later telling of it is compared with it."""

    digest: str
    at: str | None
    tokens: tuple[int, ...] = ()

    @classmethod
    def of(cls, event: SourceEvent) -> Told:
        """What that event tells."""
        told = hashlib.sha256(codec.canonical([event.type, event.payload, event.turn_id])).hexdigest()[:16]
        tokens = tuple(event.payload[name] for name in _TOKENS) if event.type == "provider.usage" else ()
        return cls(told, event.at, tokens)

    def as_stored(self) -> list[Any]:
        return [self.digest, self.at, *self.tokens]

    @classmethod
    def from_stored(cls, stored: list[Any]) -> Told:
        return cls(stored[0], stored[1], tuple(stored[2:]))


@dataclass(frozen=True, slots=True)
class Held:
    """How much of a file a thread holds: its first `read_bytes` bytes, whose digest is `read_sha256`."""

    read_bytes: int
    read_sha256: str
    events: int = 0
    closings: frozenset[str] = frozenset()
    """Keys of the events that were written because the file ended there; a longer file may tell otherwise."""
    told: dict[str, Told] | None = None
    """What these events told, where the file itself does not tell it any more: the last line of a document."""


class PrefixDigest:
    """The digest of the first bytes of a source, taken further as the reading goes on."""

    def __init__(self, thread: SourceThread) -> None:
        self._file = open_lines(thread)
        self._digest = hashlib.sha256()
        self.size = 0

    def upto(self, size: int) -> str:
        """The sha256 of the first `size` bytes, in hex; fewer only where the file is shorter. Never goes back."""
        while self.size < size:
            block = self._file.read(min(_BLOCK, size - self.size))
            if not block:
                break
            self._digest.update(block)
            self.size += len(block)
        return self._digest.copy().hexdigest()

    def close(self) -> None:
        self._file.close()


@dataclass(slots=True)
class Growth:
    """The new events of a reading. Iterate `events`, then take `endings`."""

    reading: SourceReading
    held: Held | None
    unshared: Unshared | None = None
    """Lets through what no other thread holds."""
    title_before: str | None = None
    """The best title as far as the thread holds the file."""
    damaged_before: int = 0
    skipped_before: int = 0
    _passed: bool = False
    _told: dict[str, Told] = field(default_factory=dict[str, Told])
    _reopened: set[str] = field(default_factory=set[str])

    def events(self) -> Iterator[SourceEvent]:
        """What the file tells beyond what is held."""
        held = self.held
        mark = None if held is None else Mark(held.read_bytes, self._pass_mark)
        self._passed = held is None
        for event in self.reading.events(final=True, mark=mark):
            if self._passed:
                if self._told or self.unshared is not None:
                    yield from self._new(event)
                else:  # of nearly every file
                    yield event
            elif self.unshared is not None:
                self.unshared.observe(event)

    def _pass_mark(self) -> None:
        self._passed = True
        assert self.held is not None
        if self.held.told is not None:
            self._told = dict(self.held.told)
        elif self.reading.thread.settled is None:
            told = endings(self.reading)
            self._told = {event.key: Told.of(event) for event in told if event.key in self.held.closings}
        self.title_before = self.reading.title
        self.damaged_before, self.skipped_before = self.reading.damaged, self.reading.skipped

    def endings(self) -> tuple[list[SourceEvent], list[SourceEvent]]:
        """What is to be written because the file ends here, and all that stands for that reason."""
        found = endings(self.reading)
        return [new for event in found for new in self._new(event)], found

    def _new(self, event: SourceEvent) -> Iterator[SourceEvent]:
        if self.unshared is None:
            return self._difference(event)
        return chain.from_iterable(map(self.unshared.admit, self._difference(event)))

    def _difference(self, event: SourceEvent) -> Iterator[SourceEvent]:
        """The event, or what of it an ending did not tell already."""
        told = self._told.pop(event.key, None)
        new: SourceEvent | None = event
        if told is not None:
            new = _beyond(event, told, reopened=event.turn_id in self._reopened)
            if new is not None and self.held is not None and self.held.told is not None:
                new = structs.replace(
                    new, key=f"{new.key}@{self.held.events}"
                )  # its own key stands for what it told first
        if new is None:
            return
        if new.turn_id is not None:
            self._reopened.add(new.turn_id)
        yield new


def _beyond(event: SourceEvent, told: Told, *, reopened: bool) -> SourceEvent | None:
    same = Told.of(event).digest == told.digest
    if event.type in _ENDS:
        # A turn that went on after its ending must end again.
        return None if same and event.at == told.at and not reopened else event
    if same:
        return None
    if event.type == "provider.usage":
        rest = {name: event.payload[name] - had for name, had in zip(_TOKENS, told.tokens, strict=True)}
        return structs.replace(event, payload={**event.payload, **rest}) if any(rest.values()) else None
    return event


def endings(reading: SourceReading) -> list[SourceEvent]:
    """What the reader held back, and the end of the turn that no line ends."""
    found = reading.closings()
    turn = reading.open_turn
    if turn is not None:
        kind, payload = "turn.interrupted", {"reason": "sourceEnds"}
        if turn.outcome in ("completed", "canceled"):
            kind, payload = f"turn.{turn.outcome}", {}
        line = found[-1].line if found else (0, 0)
        found.append(SourceEvent(kind, payload, turn.turn_id, None, turn.at, line, f"turn:{turn.turn_id}:ended"))
    return found
