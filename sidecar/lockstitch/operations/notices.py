"""Events as notifications: what each line of a rollout says to a client that watches its thread.

Invariant: made from lines and rows only, so that another process's events, missed ones and live ones read the
same. `turn/started` is in progress, `turn/completed` is over, a completed item was announced as started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.codec import Raw, decode, decoder, encode
from lockstitch.operations.views.items import item_values
from lockstitch.operations.views.threads import thread_value
from lockstitch.operations.views.turns import turn_value, usage_value
from lockstitch.rollout.line import Draft
from lockstitch.rollout.scan import Damage, scan
from lockstitch.timeline import queries
from lockstitch.timeline.compose import compose
from lockstitch.timeline.events import event_of_draft
from lockstitch.timeline.index import is_lost, is_told
from lockstitch.timeline.items import segment_text_of
from lockstitch.timeline.reader import View
from lockstitch.timeline.reducer import DELTAS, ITEM_EVENTS, ITEM_OPENS, TURN_ENDS, moment_of
from lockstitch.timeline.rows import KINDS, ItemKind, ItemStatus, TurnStatus, usage_of
from lockstitch.timeline.times import text_of

if TYPE_CHECKING:
    from lockstitch.operations.feed import Delta, Live, Subscription
    from lockstitch.operations.runtime import Runtime

_PAGE = 256

DELTA_METHODS = {
    "message.delta": "item/agentMessage/delta",
    "reasoning.delta": "item/reasoning/textDelta",
    "command.output": "item/commandExecution/outputDelta",
}


OF_EVENTS = (
    *DELTA_METHODS.values(),
    "thread/started",
    "thread/archived",
    "thread/unarchived",
    "turn/started",
    "turn/completed",
    "item/started",
    "item/completed",
    "thread/tokenUsage/updated",
    "agentSession/event",
    "agentSession/eventsDropped",
)
"""The notifications that events bring; the deletion of a thread is none."""


class _ItemPayload(msgspec.Struct):
    item: Raw


class _ItemHead(msgspec.Struct):
    id: str
    type: str


_item_payload = decoder(_ItemPayload)
_item_head = decoder(_ItemHead)


class Announcer:
    """Sends one subscription's notifications. Keeps what a client was told, so that it is told once."""

    def __init__(self, runtime: Runtime, subscription: Subscription) -> None:
        self._runtime, self._subscription = runtime, subscription
        self._open_items: dict[str, str | None] = {}
        self._turn: str | None = None
        self._segments: dict[str, int] = {}

    async def delta(self, delta: Delta) -> None:
        """Streamed text, as it comes. A segment whose beginning was missed is sent whole when it is stored."""
        told = self._segments.get(delta.event_id, 0)
        if delta.before != told:
            return
        self._segments[delta.event_id] = told + len(delta.text)
        await self._send_delta(delta.type, delta.event_id, delta.turn_id, delta.item_id, delta.text)

    async def _send_delta(self, type_: str, event_id: str, turn_id: str, item_id: str, text: str) -> None:
        thread_id = self._subscription.thread_id
        if item_id.lower() not in self._open_items:
            await self._announce_item_of_delta(type_, event_id, turn_id, item_id)
        value = {"threadId": thread_id, "turnId": turn_id, "itemId": item_id, "delta": text, "eventId": event_id}
        await self._notify(DELTA_METHODS[type_], value)

    async def _announce_item_of_delta(self, type_: str, event_id: str, turn_id: str, item_id: str) -> None:
        """Text of an item that was not announced to this client: it starts here, as far as it is stored."""
        self._open_items[item_id.lower()] = turn_id
        item = (await self._runtime.read(self._items_by_id([item_id])))[0]
        if item is None:
            item = compose(item_id, DELTAS[type_], None, (), ItemStatus.in_progress)
        value = {
            "item": item,
            "threadId": self._subscription.thread_id,
            "turnId": turn_id,
            "startedAtMs": self._runtime.clock.now() // 1000,
            "eventId": event_id,
        }
        await self._notify("item/started", value)

    async def event(self, live: Live) -> None:
        """One event of the log."""
        draft = live.draft
        if draft.type in ITEM_EVENTS:
            await self._item(live)
        elif draft.type in DELTAS:
            await self._segment(live)
        elif draft.type in ("turn.started", "turn.resumed"):
            await self._turn_started(live)
        elif draft.type in TURN_ENDS:
            await self._turn_ended(live)
        elif draft.type == "thread.started":
            await self._thread_started(live)
        elif draft.type in ("thread.archived", "thread.unarchived"):
            value = {"threadId": self._subscription.thread_id, "sequence": live.sequence}
            await self._notify(draft.type.replace(".", "/"), value)
        elif draft.type == "provider.usage":
            await self._usage(live)
        else:
            await self._plain(live)

    async def _plain(self, live: Live) -> None:
        event = event_of_draft(self._subscription.thread_id, live.sequence, live.draft)
        await self._notify("agentSession/event", {"event": Raw(event)})

    # -- items ------------------------------------------------------------------------------------------------
    async def _item(self, live: Live) -> None:
        draft = live.draft
        item = _item_payload(draft.payload).item
        head = _item_head(item)
        if head.type not in KINDS or draft.turn_id is None:
            # COMPAT: clients demand a turn of every item; a checkpoint outside one is told as the event that it is.
            await self._plain(live)
            return
        key, at_ms = head.id.lower(), moment_of(draft.at, draft.payload) // 1000
        value: dict[str, Any] = {"item": item, "threadId": self._subscription.thread_id, "turnId": draft.turn_id}
        value["sequence"] = live.sequence
        is_known = key in self._open_items
        if draft.type in ITEM_OPENS:
            self._open_items[key] = draft.turn_id
            if is_known:
                await self._plain(live)
            else:
                await self._notify("item/started", {**value, "startedAtMs": at_ms})
            return
        if not is_known:
            await self._notify("item/started", {**value, "startedAtMs": at_ms})
        self._open_items.pop(key, None)
        await self._notify("item/completed", {**value, "completedAtMs": at_ms})

    async def _segment(self, live: Live) -> None:
        draft = live.draft
        text = segment_text_of(draft.payload)
        told = self._segments.pop(draft.event_id, 0)
        if told < len(text) and draft.turn_id is not None and draft.item_id is not None:
            await self._send_delta(draft.type, draft.event_id, draft.turn_id, draft.item_id, text[told:])

    # -- turns ------------------------------------------------------------------------------------------------
    async def _turn_started(self, live: Live) -> None:
        turn_id = live.draft.turn_id
        if turn_id is None or (self._turn == turn_id.lower() and live.draft.type == "turn.started"):
            await self._plain(live)
            return
        self._turn = turn_id.lower()
        if not self._wants("turn/started"):
            return
        turn = await self._runtime.read(self._turn_at(turn_id, TurnStatus.in_progress))
        if turn is not None:
            value = {"threadId": self._subscription.thread_id, "turn": turn, "sequence": live.sequence}
            await self._notify("turn/started", value)

    async def _turn_ended(self, live: Live) -> None:
        turn_id = live.draft.turn_id
        if turn_id is None:
            return
        await self._end_open_items(live, turn_id)
        self._turn = None
        if not self._wants("turn/completed"):
            return
        moment = moment_of(live.draft.at, live.draft.payload)
        turn = await self._runtime.read(self._turn_at(turn_id, TURN_ENDS[live.draft.type], moment))
        if turn is not None:
            value: dict[str, Any] = {"threadId": self._subscription.thread_id, "turn": turn, "sequence": live.sequence}
            await self._notify("turn/completed", value)

    async def _end_open_items(self, live: Live, turn_id: str) -> None:
        """The turn's end closes what was still open in it, also what began before this client came."""
        mine = [key for key, owner in self._open_items.items() if (owner or "").lower() == turn_id.lower()]
        if not self._wants("item/completed"):
            for key in mine:
                self._open_items.pop(key, None)
            return
        mine += [key for key in await self._runtime.read(self._cut_off(turn_id)) if key not in mine]
        at_ms = moment_of(live.draft.at, live.draft.payload) // 1000
        for key, item in zip(mine, await self._runtime.read(self._items_by_id(mine)), strict=True):
            is_known = self._open_items.pop(key, None) is not None
            if item is not None:
                value: dict[str, Any] = {"item": item, "threadId": self._subscription.thread_id, "turnId": turn_id}
                value["sequence"] = live.sequence
                if not is_known:
                    await self._notify("item/started", {**value, "startedAtMs": at_ms})
                await self._notify("item/completed", {**value, "completedAtMs": at_ms})

    def _cut_off(self, turn_id: str) -> Callable[[View], list[str]]:
        """Keys of the items that the turn's end closed."""

        def look(view: View) -> list[str]:
            thread = view.thread(self._subscription.thread_id)
            turn = view.rows.turn(thread.thread_no, turn_id)
            found = () if turn is None else queries.items_closed_by_end(view, thread.thread_no, turn.turn_no)
            return [row.item_id.lower() for row in found]

        return look

    def _items_by_id(self, keys: list[str]) -> Callable[[View], list[Raw | None]]:
        def look(view: View) -> list[Raw | None]:
            thread = view.thread(self._subscription.thread_id)
            rows = [view.rows.item(thread.thread_no, key) for key in keys]
            rows = [None if row is None or row.kind == ItemKind.other else row for row in rows]
            with view.rollout(thread) as rollout:
                values = iter(item_values(rollout.lines, [row for row in rows if row is not None]))
                return [None if row is None else next(values) for row in rows]

        return look

    def _turn_at(
        self, turn_id: str, status: TurnStatus, completed_at: int | None = None
    ) -> Callable[[View], dict[str, Any] | None]:
        """The turn as it was when that event came, whatever has happened to it since."""

        def look(view: View) -> dict[str, Any] | None:
            thread = view.rows.thread(self._subscription.thread_id)
            row = None if thread is None else view.rows.turn(thread.thread_no, turn_id)
            if thread is None or row is None:
                return None
            is_over = status != TurnStatus.in_progress
            row.status = status
            row.completed_at = (row.completed_at or completed_at) if is_over else None
            with view.rollout(thread) as rollout:
                return turn_value(row, rollout.lines if is_over else None, (), "notLoaded")

        return look

    # -- threads ----------------------------------------------------------------------------------------------
    async def _thread_started(self, live: Live) -> None:
        if not self._wants("thread/started"):
            return

        def look(view: View) -> dict[str, Any] | None:
            row = view.rows.thread(self._subscription.thread_id)
            return None if row is None else thread_value(view, row)

        thread = await self._runtime.read(look)
        if thread is not None:
            await self._notify("thread/started", {"thread": thread, "sequence": live.sequence})

    async def _usage(self, live: Live) -> None:
        if not self._wants("thread/tokenUsage/updated"):
            return
        thread_id, turn_id = self._subscription.thread_id, live.draft.turn_id

        def look(view: View) -> dict[str, Any] | None:
            row = view.rows.thread(thread_id)
            return None if row is None else usage_value(usage_of(row))

        last = decode(live.draft.payload)
        last = {name: value for name, value in last.items() if name.endswith("Tokens") or name in ("model", "costUsd")}
        total = await self._runtime.read(look)
        value: dict[str, Any] = {"threadId": thread_id}
        if turn_id is not None:
            value["turnId"] = turn_id
        value["tokenUsage"] = {"total": total or last, "last": last}
        value["sequence"] = live.sequence
        await self._notify("thread/tokenUsage/updated", value)

    # -- the rest ---------------------------------------------------------------------------------------------
    def lines_after(self, sequence: int) -> Callable[[View], list[Live] | None]:
        """A page of what stands in the log after that event; None if the thread is gone."""

        def look(view: View) -> list[Live] | None:
            from lockstitch.operations.feed import Live

            row = view.rows.thread(self._subscription.thread_id)
            if row is None:
                return None
            if row.last_sequence <= sequence:
                return []
            found: list[Live] = []
            for record in records_after(view, row, sequence):
                line = record.line
                draft = Draft(line.type, bytes(line.payload), line.eventId, line.at, line.turnId, line.itemId)
                found.append(Live(line.sequence, draft))
                if len(found) == _PAGE:
                    break
            return found

        return look

    def _wants(self, method: str) -> bool:
        """Whether it is worth reading what a notification of that name says."""
        return self._subscription.connection.wants(method)

    async def _notify(self, method: str, value: dict[str, Any]) -> None:
        connection = self._subscription.connection
        if not connection.wants(method):
            return
        params = encode(value)
        most = connection.max_message_bytes
        if most is not None and len(params) + len(method) + 64 > most:
            dropped = {"threadId": self._subscription.thread_id, "afterSequence": self._subscription.last_sequence}
            await connection.notify("agentSession/eventsDropped", encode(dropped))
            return
        await connection.notify(method, params)


def records_after(view: View, row: Any, sequence: int) -> Any:
    """The records of a thread's rollout after that event, as far as the projection knows the file."""
    known, line_at = queries.mark_before(view, row.thread_no, sequence)
    last = 0
    with view.rollout(row) as rollout:
        if not 0 <= line_at <= row.size:
            view.note_damage()  # of the mark
            known, line_at = 1, 0
        previous = rollout.sum_before(line_at)
        for found in scan(rollout.fd, line_at, row.size, previous_sum=previous, next_sequence=known):
            if isinstance(found, Damage):
                if not is_told(row, found):
                    view.note_damage()
            elif (last := found.line.sequence) > sequence and (found.proven or not is_lost(row, found)):
                yield found
        if rollout.size < row.size or last < row.last_sequence:
            view.note_damage()


__all__ = ["Announcer", "records_after", "text_of"]
