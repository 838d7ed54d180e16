"""Composes turns, items and usage out of what the lines of a session file say, one line at a time.

Invariant: a turn's end is held back until the next turn begins, since lines of a turn come after its end.
Invariant: ids are unique within the thread without regard to case, and made from source ids and order alone.
Invariant: an item's first event comes before those of items that the file began later, wherever the file is cut.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lockstitch import codec
from lockstitch.imports.source import Account, OpenTurn, SourceEvent
from lockstitch_protocol.ids import ID_PATTERN

MAX_OPAQUE_BYTES = 64 << 10
PREVIEW_CHARACTERS = 2000
_ID = re.compile(ID_PATTERN)


@dataclass(slots=True)
class Call:
    """A tool call whose result has not come."""

    item: dict[str, Any]
    at: str | None
    detail: Any = None
    """What the reader needs again when the result comes."""
    told: bool = False
    """Its start was written, since another item's event had to come after it."""


@dataclass(slots=True)
class Turn:
    """The turn that lines belong to now."""

    turn_id: str
    explicit: bool
    end: tuple[str, dict[str, Any], str | None] | None = None
    """(event type, payload, at) once a line ended it."""
    at: str | None = None
    asked: bool = False
    outcome: str = "open"
    route: tuple[str | None, str] | None = None
    authority: dict[str, Any] | None = None
    texts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Texts that came once (+1 by an event, -1 by a response item): each is written twice for display."""


class Composer:
    """The state of a reading, and the events of the line being read."""

    def __init__(self, client: str, account: Account) -> None:
        self.client = client
        self.account = account
        self.turn: Turn | None = None
        self.calls: dict[str, Call] = {}
        self.at: str | None = None
        self.line = (0, 0)
        self._out: list[SourceEvent] = []
        self._ids: set[str] = set()
        self._turn_ids: set[str] = set()
        self._serials: Counter[str] = Counter()
        self._completions: Counter[str] = Counter()
        self._in_line = 0

    def begin_line(self, offset: int, length: int, at: str | None) -> None:
        """The events that follow come from this line; without a time of its own it has the last one's."""
        self.line = (offset, length)
        self.at = at or self.at
        self._in_line = 0

    def take(self) -> list[SourceEvent]:
        """The events composed since the last call."""
        out, self._out = self._out, []
        return out

    # ── ids ──

    def settle_id(self, source_id: str) -> str:
        """The id itself if it can be an id of ours, else one made from it."""
        if _ID.fullmatch(source_id):
            return source_id
        return "src_" + hashlib.sha256(source_id.encode()).hexdigest()[:32]

    def new_id(self, kind: str, source_id: str | None = None) -> str:
        """An item or checkpoint id: the source's, with a number if it was met before; else a numbered one."""
        if source_id is None:
            self._serials[kind] += 1
            source_id = f"{kind}_{self._serials[kind]}"
        settled = candidate = self.settle_id(source_id)
        number = 1
        while candidate.casefold() in self._ids:
            number += 1
            candidate = f"{settled[:118]}:{number}"
        self._ids.add(candidate.casefold())
        return candidate

    def has_id(self, source_id: str) -> bool:
        """Whether an item of this source id was made."""
        return self.settle_id(source_id).casefold() in self._ids

    # ── turns ──

    def start_turn(self, source_id: str | None, *, explicit: bool = True) -> None:
        """Begin a turn; the one before ends. A turn id that was met before goes on with the present turn."""
        if source_id is not None:
            settled = self.settle_id(source_id)
            if self.turn is not None and self.turn.turn_id.casefold() == settled.casefold():
                return
            if settled.casefold() in self._turn_ids:
                self.need_turn()
                return
        else:
            settled = self._numbered_turn_id()
        self.finish_turn()
        self._turn_ids.add(settled.casefold())
        self._completions.clear()  # an item is completed again in its own turn only
        self.turn = Turn(settled, explicit, at=self.at)
        self.emit("turn.started", {}, key=f"turn:{settled}:started")

    def _numbered_turn_id(self) -> str:
        while True:
            self._serials["turn"] += 1
            candidate = f"turn_{self._serials['turn']}"
            if candidate not in self._turn_ids:
                return candidate

    def need_turn(self, source_id: str | None = None) -> Turn:
        """The open turn; where a file begins in the middle of one, a turn is begun."""
        if self.turn is None:
            self.start_turn(source_id, explicit=False)
        assert self.turn is not None
        return self.turn

    def end_turn(self, kind: str, payload: dict[str, Any]) -> None:
        """A line ends the open turn: `kind` is completed, failed or canceled. The first end that is told stands."""
        if self.turn is not None and self.turn.end is None:
            self.turn.end = (f"turn.{kind}", payload, self.at)

    def finish_turn(self) -> None:
        """Write what was held back for the open turn, and its end."""
        if self.turn is None:
            return
        self._write_open_calls()
        kind, payload, at = self.turn.end or self._likely_end(self.turn)
        self.emit(kind, payload, at=at, key=f"turn:{self.turn.turn_id}:ended")
        self.turn = None

    @staticmethod
    def _likely_end(turn: Turn) -> tuple[str, dict[str, Any], str | None]:
        # Where no line ends a turn, the next prompt does: the person had the answer, or had interrupted.
        return ("turn.canceled" if turn.outcome == "canceled" else "turn.completed"), {}, turn.at

    def _write_open_calls(self) -> None:
        self.tell_calls()
        self.calls.clear()

    def closings(self) -> list[SourceEvent]:
        """The events of open calls and of an end that a line told, without changing the reading."""
        kept_calls, kept_turn = dict(self.calls), self.turn
        untold = [call for call in self.calls.values() if not call.told]
        at = None if self.turn is None else self.turn.at
        self._write_open_calls()
        if self.turn is not None and self.turn.end is not None:
            self.finish_turn()
        self.calls, self.turn = kept_calls, kept_turn
        for call in untold:
            call.told = False
        if self.turn is not None:
            self.turn.at = at
        return self.take()

    def open_turn(self) -> OpenTurn | None:
        """The turn that no line ends."""
        turn = self.turn
        if turn is None or turn.end is not None:
            return None
        return OpenTurn(turn.turn_id, turn.at, "open" if self.calls and turn.outcome == "completed" else turn.outcome)

    # ── facts of a turn ──

    def select_route(self, provider: str | None, model: str | None) -> None:
        """Record which model answers, once per turn and at each change."""
        if self.turn is None or model is None or self.turn.route == (provider, model):
            return
        self.turn.route = (provider, model)
        self.emit("route.selected", {"provider": provider or "unknown", "model": model}, key=self._line_key("route"))

    def set_authority(self, authority: dict[str, Any]) -> None:
        """Record what the agent may do, once per turn and at each change."""
        if self.turn is None or not authority or self.turn.authority == authority:
            return
        self.turn.authority = authority
        self.emit("authority.set", authority, key=self._line_key("authority"))

    def add_usage(self, usage: dict[str, int], model: str | None, key: str, *, at: str | None = None) -> None:
        """Record tokens that were used since the usage before."""
        payload: dict[str, Any] = dict(usage)
        if model is not None:
            payload["model"] = model
        self.need_turn()
        self.emit("provider.usage", payload, key=key, at=at)

    # ── items ──

    def add_item(self, item: dict[str, Any], *, kind: str | None = None, source_id: str | None = None) -> str:
        """A whole item; its id is made here. Returns the id."""
        self.need_turn()
        self.tell_calls()
        item_id = self.new_id(kind or str(item["type"]), source_id)
        self.complete({"type": item["type"], "id": item_id, **item})
        return item_id

    def complete(self, item: dict[str, Any]) -> None:
        """An item with its id; a second time is a newer form of it."""
        self.need_turn()
        item_id = str(item["id"])
        self._completions[item_id] += 1
        count = self._completions[item_id]
        key = f"item:{item_id}" if count == 1 else f"item:{item_id}#{count}"
        self.emit("item.completed", {"item": item}, item_id=item_id, key=key)

    def open_call(self, source_id: str | None, item: dict[str, Any], detail: Any = None) -> str:
        """A tool call: held until its result comes. Returns the name under which the result finds it."""
        self.need_turn()
        name = source_id if source_id is not None else f"\x00{self._serials['call']}"
        item_id = self.new_id("call", source_id)
        if name in self.calls:  # a call id that comes twice: the first one will have no result
            self.tell_calls()
            del self.calls[name]
        self.calls[name] = Call({"type": item["type"], "id": item_id, **item}, self.at, detail)
        return name

    def close_call(self, source_id: str | None) -> Call | None:
        """The call that a result belongs to; without an id, the oldest that has none either."""
        name: str | None = source_id
        if name is None:
            name = next((name for name in self.calls if name.startswith("\x00")), None)
        if name is None or name not in self.calls:
            return None
        self.tell_calls(before=name)
        return self.calls.pop(name)

    def tell_calls(self, *, before: str | None = None) -> None:
        """Write the start of open calls (of those opened before that one): what comes now stands after them."""
        for name, call in self.calls.items():
            if name == before:
                return
            if not call.told:
                call.told = True
                key = f"item:{call.item['id']}:started"
                self.emit("item.started", {"item": call.item}, item_id=call.item["id"], at=call.at, key=key)

    def first_of_two(self, kind: str, text: str, *, event: bool) -> bool:
        """Whether this text is new: each text of an agent is written as an event and as a response item."""
        texts = self.need_turn().texts
        name = (kind, text)
        waiting = texts[name]
        texts[name] += 1 if event else -1
        if texts[name] == 0:
            del texts[name]
        return waiting >= 0 if event else waiting <= 0

    # ── the rest ──

    def keep_opaque(self, name: str, raw: Any, *, key: str | None = None) -> None:
        """A line that is no item, kept as it came (very large ones by their start and digest)."""
        name = "".join(c if c.isascii() and (c.isalnum() or c in "_-.") else "_" for c in name)[:80] or "unknown"
        self.account.opaque[name] += 1
        payload: dict[str, Any] = {"raw": raw}
        encoded = codec.encode(raw)
        if len(encoded) > MAX_OPAQUE_BYTES:
            payload = {
                "bytes": len(encoded),
                "sha256": hashlib.sha256(encoded).hexdigest(),
                "preview": encoded[:PREVIEW_CHARACTERS].decode("utf-8", "ignore"),
                "sourceOffset": self.line[0],
                "sourceLength": self.line[1],
            }
        self.emit(f"import.source.{self.client}.{name}", payload, key=key or self._line_key("raw"))

    def emit(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        key: str,
        item_id: str | None = None,
        at: str | None = None,
    ) -> None:
        """Write one event of the present line and turn."""
        turn = self.turn
        if turn is not None:
            turn.at = self.at if at is None else turn.at
        turn_id = None if turn is None else turn.turn_id
        self._out.append(SourceEvent(kind, payload, turn_id, item_id, at or self.at, self.line, key))

    def _line_key(self, word: str) -> str:
        self._in_line += 1
        return f"line:{self.line[0]}:{word}:{self._in_line}"
