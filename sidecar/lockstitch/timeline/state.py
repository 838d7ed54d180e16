"""What the reducer works on: one thread's rows in memory, and which of them changed since they were stored.

Invariant: no input or output here; rows that are not in memory come from the `Cold` that the caller hands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from lockstitch.timeline.rows import (
    CheckpointRow,
    ClientEventRow,
    ImportSourceRow,
    ItemRow,
    ItemStatus,
    MarkRow,
    Row,
    SpilledRow,
    ThreadRow,
    TurnRow,
    WorkerRow,
    WorkerStatus,
    values_of,
)
from lockstitch.timeline.times import microseconds_of

_IN_PROGRESS = int(ItemStatus.in_progress)
_MOST_IDS = 1 << 17
_KEEP = 512
"""How many rows of a kind stay in memory between groups, beside those that are still open."""


class Cold(Protocol):
    """Rows that are stored already. Ids are compared without case."""

    def turn(self, thread_no: int, turn_id: str) -> TurnRow | None: ...
    def turn_by_number(self, thread_no: int, turn_no: int) -> TurnRow | None: ...
    def last_visible_turns(self, thread_no: int, count: int) -> list[TurnRow]: ...
    def item(self, thread_no: int, item_id: str) -> ItemRow | None: ...
    def open_items(self, thread_no: int, turn_no: int) -> list[ItemRow]: ...
    def latest_checkpoint(self, thread_no: int, path: str) -> CheckpointRow | None: ...
    def latest_version(self, thread_no: int, path: str) -> CheckpointRow | None: ...
    def checkpoint(self, thread_no: int, checkpoint_id: str) -> CheckpointRow | None: ...
    def client_event(self, thread_no: int, event_id: str) -> ClientEventRow | None: ...
    def client_events(self, thread_no: int, event_ids: Sequence[str]) -> list[ClientEventRow]: ...
    def import_source(self, thread_no: int) -> ImportSourceRow | None: ...
    def worker(self, thread_no: int, worker_id: str) -> WorkerRow | None: ...
    def active_workers(self, thread_no: int) -> list[WorkerRow]: ...


class ThreadState(msgspec.Struct):
    """A thread as the reducer sees it. Made fresh for a new thread, or from its stored row."""

    thread: ThreadRow
    cold: Cold
    fresh: bool = False
    """Nothing of this thread is stored yet, so that nothing needs to be looked up."""
    turns: dict[str, TurnRow] = {}
    items: dict[str, ItemRow] = {}
    open_items: dict[str, ItemRow] = {}
    checkpoints: dict[str, CheckpointRow] = {}
    facts: dict[str, CheckpointRow] = {}
    versions: dict[str, CheckpointRow] = {}
    client_events: dict[str, ClientEventRow] = {}
    import_source: ImportSourceRow | None = None
    workers: dict[str, WorkerRow] = {}
    absent_items: set[str] = set()
    """Ids that were looked up in vain since the last `stored`: admission asks first, the reducer again."""
    absent_events: set[str] = set()
    """Ids of client events that were looked up all at once, and whose rows, if there are any, are in memory."""
    stored_values: tuple[object, ...] | None = None
    """The thread's row as the database has it, so that only what changed is written."""
    dirty_turns: dict[int, TurnRow] = {}
    dirty_items: dict[str, ItemRow] = {}
    new_rows: list[Row] = []
    _ids: set[int] | None = None
    """Hashes of all turn and item ids, of a thread that was made here: an id that is not among them is new, and
    need not be looked up. None: not all are known."""

    _last_turn_id: str | None = None
    _last_turn: TurnRow | None = None
    """What `turn` found last: the next event is mostly of the same turn, and names it by the same object."""
    _last_at: str = ""
    _last_moment: int = 0

    def __post_init__(self) -> None:
        if self.fresh:
            self._ids = set()

    def microseconds_of(self, at: str) -> int:
        """The moment of an event; all of an append have the same, by the same object."""
        if at is not self._last_at:
            self._last_at, self._last_moment = at, microseconds_of(at)
        return self._last_moment

    def _is_new(self, key: str) -> bool:
        return self.fresh or (self._ids is not None and hash(key) not in self._ids)

    def _note(self, key: str) -> None:
        if self._ids is not None:
            self._ids.add(hash(key))
            if len(self._ids) > _MOST_IDS:
                self._ids = None

    @property
    def ids_known(self) -> int:
        """How many ids memory holds."""
        return 0 if self._ids is None else len(self._ids)

    def forget_ids(self) -> None:
        """Look each id up from now on."""
        self._ids = None

    @classmethod
    def load(cls, thread: ThreadRow, cold: Cold) -> ThreadState:
        """The state of a stored thread; only what is open is fetched."""
        state = cls(thread, cold)
        state.stored_values = values_of(thread)
        if thread.open_turn_no is not None:
            for row in cold.open_items(thread.thread_no, thread.open_turn_no):
                state.items[row.item_id.lower()] = state.open_items[row.item_id.lower()] = row
        return state

    def turn(self, turn_id: str) -> TurnRow | None:
        if turn_id is self._last_turn_id:
            return self._last_turn
        key = turn_id.lower()
        row = self.turns.get(key)
        if row is None and not self._is_new(key):
            row = self.cold.turn(self.thread.thread_no, turn_id)
            if row is not None:
                row = self.turns[key] = self._same(row)
        if row is not None:
            self._last_turn_id, self._last_turn = turn_id, row
        return row

    def _same(self, row: TurnRow) -> TurnRow:
        """The row object that is in memory already, if the turn was found by its number before."""
        return self.dirty_turns.get(row.turn_no, row)

    def open_turn(self) -> TurnRow | None:
        """The turn that is in progress, if there is one."""
        number = self.thread.open_turn_no
        return None if number is None else self.turn_by_number(number)

    def turn_by_number(self, number: int) -> TurnRow | None:
        for row in reversed(self.turns.values()):
            if row.turn_no == number:
                return row
        if self.fresh:
            return None
        row = self.cold.turn_by_number(self.thread.thread_no, number)
        if row is not None:
            self.turns[row.turn_id.lower()] = row
        return row

    def last_visible_turns(self, count: int) -> list[TurnRow]:
        """The newest `count` turns that are not rolled back, newest first."""
        known = [row for row in self.turns.values() if not row.hidden]
        if not self.fresh:
            memory = {row.turn_no: row for row in self.turns.values()}
            stored = self.cold.last_visible_turns(self.thread.thread_no, count + len(self.dirty_turns))
            known = [row for row in memory.values() if not row.hidden]
            known += [row for row in stored if row.turn_no not in memory]
        rows = sorted(known, key=lambda row: row.turn_no, reverse=True)[:count]
        for row in rows:
            self.turns[row.turn_id.lower()] = row
        return rows

    def item(self, item_id: str) -> ItemRow | None:
        return self.item_of_key(item_id.lower())

    def item_of_key(self, key: str) -> ItemRow | None:
        """The row of the item whose id this is, in lower case."""
        row = self.items.get(key)
        if row is not None or self.fresh or (self._ids is not None and hash(key) not in self._ids):
            return row
        if key not in self.absent_items:
            row = self.cold.item(self.thread.thread_no, key)
            if row is None:
                self.absent_items.add(key)
            else:
                self.items[key] = row
        return row

    def checkpoint(self, checkpoint_id: str) -> CheckpointRow | None:
        row = self.checkpoints.get(checkpoint_id.lower())
        if row is None and not self.fresh:
            row = self.cold.checkpoint(self.thread.thread_no, checkpoint_id)
        return row

    def mark_spilled(self, item: ItemRow, sha256: str, sequence: int) -> None:
        """The item's output is in the artifact store."""
        item.spilled = 1
        self.new_rows.append(SpilledRow(item.thread_no, sha256, sequence))

    def latest_fact(self, path: str) -> CheckpointRow | None:
        """The newest thing known of that path: a version, or that a capture saw it unchanged or absent."""
        row = self.facts.get(path)
        if row is None and not self.fresh:
            row = self.cold.latest_checkpoint(self.thread.thread_no, path)
            if row is not None:
                self.facts[path] = row
        return row

    def latest_version(self, path: str) -> CheckpointRow | None:
        """The newest checkpoint of that path that has a version number."""
        row = self.versions.get(path)
        if row is None and not self.fresh:
            row = self.cold.latest_version(self.thread.thread_no, path)
            if row is not None:
                self.versions[path] = row
        return row

    def imported(self) -> ImportSourceRow | None:
        """How much of a source file is in the thread."""
        if self.import_source is None and not self.fresh:
            self.import_source = self.cold.import_source(self.thread.thread_no)
        return self.import_source

    def client_event(self, event_id: str) -> ClientEventRow | None:
        key = event_id.lower()
        row = self.client_events.get(key)
        if row is None and not self.fresh and key not in self.absent_events:
            row = self.cold.client_event(self.thread.thread_no, event_id)
        return row

    def expect_client_events(self, event_ids: Sequence[str]) -> None:
        """Look up the events that are about to be asked for, all at once."""
        if self.fresh:
            return
        found = self.cold.client_events(self.thread.thread_no, event_ids)
        self.client_events.update((row.event_id.lower(), row) for row in found)
        self.absent_events.update(event_id.lower() for event_id in event_ids)

    def worker(self, worker_id: str) -> WorkerRow | None:
        row = self.workers.get(worker_id.lower())
        if row is None and not self.fresh:
            row = self.cold.worker(self.thread.thread_no, worker_id)
        return row

    def active_workers(self) -> list[WorkerRow]:
        """The workers that no event has ended."""
        stored = [] if self.fresh else self.cold.active_workers(self.thread.thread_no)
        known = {row.worker_id.lower(): row for row in stored} | self.workers
        return [row for row in known.values() if row.status == WorkerStatus.active]

    def touch_worker(self, row: WorkerRow) -> None:
        self.workers[row.worker_id.lower()] = row
        self.new_rows.append(row)

    def touch_turn(self, row: TurnRow) -> None:
        key = row.turn_id.lower()
        self.turns[key] = row
        self._last_turn_id = None
        self.dirty_turns[row.turn_no] = row
        self._note(key)

    def touch_item(self, row: ItemRow) -> None:
        key = row.item_id.lower()
        self.items[key] = self.dirty_items[key] = row
        if self._ids is not None:
            self._ids.add(hash(key))
            if len(self._ids) > _MOST_IDS:
                self._ids = None
        if row.status == _IN_PROGRESS and not row.outside:
            self.open_items[key] = row
        elif self.open_items:
            self.open_items.pop(key, None)

    def add_item(self, key: str, row: ItemRow) -> None:
        """A new row, in a turn, that is in progress no more. `key`: its id in lower case."""
        self.items[key] = self.dirty_items[key] = row
        if self._ids is not None:
            self._ids.add(hash(key))
            if len(self._ids) > _MOST_IDS:
                self._ids = None

    def add_mark(self, sequence: int, line_at: int) -> None:
        self.new_rows.append(MarkRow(self.thread.thread_no, sequence, line_at))

    def stored(self) -> None:
        """Everything is in the database now: forget what changed, and what memory need not hold."""
        self._last_turn_id = None
        self.fresh = False
        self.absent_items.clear()
        self.absent_events.clear()
        self.dirty_turns.clear()
        self.dirty_items.clear()
        self.new_rows.clear()
        self.client_events.clear()
        self.checkpoints.clear()
        self.workers.clear()
        if len(self.items) > _KEEP:
            self.items = dict(self.open_items)
        if len(self.turns) > _KEEP:
            self.turns = {key: row for key, row in self.turns.items() if row.turn_no == self.thread.open_turn_no}
        if len(self.facts) > _KEEP:
            self.facts.clear()
        if len(self.versions) > _KEEP:
            self.versions.clear()
