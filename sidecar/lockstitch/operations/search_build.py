"""Bringing the search index up to the rollouts: begun by a question, in small steps, and never by an append.

Invariant: nothing is indexed before the first question, and nothing while nobody asked since.
Invariant: what is indexed are items as reads show them; a thread's place in the index moves only when all of its
items up to there are in.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from lockstitch.codec import ParseError, decode
from lockstitch.errors import LockstitchError, NotFoundError
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.views.items import item_values
from lockstitch.operations.views.searchable import texts_of
from lockstitch.platform.locks import FileLock
from lockstitch.timeline.lines import OpenRollout
from lockstitch.timeline.queries import ThreadFilter
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ItemRow, ThreadRow
from lockstitch.timeline.search_index import DamagedIndexError, Entry, Portion, Position, SearchIndex
from lockstitch.timeline.search_queries import Searched, items_since, searched_threads
from lockstitch.timeline.search_text import spaced
from lockstitch_protocol.ids import new_id

log = logging.getLogger(__name__)

TITLE = 0
"""The sequence under which a thread's title is in the index: no item has it."""

_PAGE_ITEMS = 256
_PAGE_BYTES = 256 << 10
_BATCH_CHARACTERS = 1 << 20
_YIELD_SECONDS = 0.002
_LOOK_SECONDS = 0.05
_FIRST = (-1, 0)


def is_current(known: Position | None, thread: Searched) -> bool:
    """Whether all of the thread is in the index."""
    return known is not None and known.size == thread.size and known.state == thread.last_sum


@dataclass(slots=True)
class _Reading:
    """One thread on its way into the index."""

    target: Searched
    token: str
    expects: str | None = None
    offset: int = 0
    after: tuple[int, int] | None = _FIRST
    """Behind which item the next page begins; None: there is none."""


@dataclass(slots=True)
class _Batch:
    """What goes into the index in one transaction."""

    portions: list[Portion] = field(default_factory=list[Portion])
    characters: int = 0


class SearchBuild:
    """Those who index for one process. Used on the event loop."""

    def __init__(self, runtime: Runtime, index: SearchIndex, lock: Path | None) -> None:
        """`lock`: the file that keeps several processes from building the whole index at once."""
        self.index, self._runtime, self._lock = index, runtime, lock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._damaged = self._stopping = False
        runtime.at_drain.append(self._stop)

    def _stop(self) -> None:
        self._stopping = True

    async def bring_up(self, thread_id: str | None, seconds: float) -> None:
        """Index what is missing, of one thread or of all. After `seconds` it goes on without us.

        Raises DamagedIndexError.
        """
        key = (thread_id or "").lower()
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.get_running_loop().create_task(self._run(thread_id))
            self._runtime.keep_running(task)
            task.add_done_callback(lambda _: self._tasks.pop(key, None))
        await asyncio.wait({task}, timeout=seconds)
        if self._damaged:
            self._damaged = False
            raise DamagedIndexError("it could not be added to")

    async def begin_anew(self) -> None:
        """Remove the index if it is not whole. One process at a time, so that none removes what another just made."""
        index = self.index

        def renew() -> None:
            if not index.is_whole():
                index.discard()

        if self._runtime.refusal is None:
            await self._runtime.exclusive(lambda writer: renew())
        else:
            await self._runtime.slowly(renew)

    # -- the work ---------------------------------------------------------------------------------------------
    async def _run(self, thread_id: str | None) -> None:
        try:
            if thread_id is None:
                await self._bring_up_all()
            else:
                await self._index(await self._stale(await self._runtime.read(lambda view: _one(view, thread_id))))
        except DamagedIndexError as error:
            log.warning("the search index is damaged and will be made again: %s", error)
            self._damaged = True
        except LockstitchError as error:
            log.warning("the search index could not be brought up to date: %s", error.kind)
        except Exception:
            log.exception("the search index could not be brought up to date")

    async def _bring_up_all(self) -> None:
        """All threads, unless everything is in; alone among the processes, or what one read another would read too."""
        if not await self._is_behind():
            return
        lock = None if self._lock is None else FileLock(self._lock)
        try:
            while lock is not None and not await self._runtime.slowly(lambda: lock.acquire(0)):
                if self._stopping:
                    return
                await anyio.sleep(_LOOK_SECONDS)
            threads = await self._runtime.read(_all)
            known = await self._runtime.slowly(self._positions)
            await self._forget(known.keys() - {thread.thread_id.lower() for thread in threads})
            await self._index(await self._stale(threads))
        finally:
            if lock is not None:
                lock.close()

    async def _is_behind(self) -> bool:
        threads = await self._runtime.read(_all)
        known = await self._runtime.slowly(self._positions)
        if len(known) != len(threads):
            return True
        return not all(is_current(known.get(thread.thread_id.lower()), thread) for thread in threads)

    async def _stale(self, threads: list[Searched]) -> list[Searched]:
        """Those of which something is missing in the index."""
        known = await self._runtime.slowly(self._positions)
        return [one for one in threads if not is_current(known.get(one.thread_id.lower()), one)]

    async def _forget(self, gone: set[str]) -> None:
        """Take threads that are no more out of the index, and their words out of its file."""
        if not gone:
            return
        await self._runtime.slowly(lambda: self.index.forget(gone))
        first = True
        while not self._stopping and await self._runtime.slowly(lambda begun=first: self.index.purge(first=begun)):
            first = False

    def _positions(self) -> dict[str, Position]:
        with self.index.asking() as asking:
            return asking.positions()

    async def _index(self, threads: list[Searched]) -> None:
        batch = _Batch()
        for thread in threads:
            reading = _Reading(thread, new_id("build"))
            while reading.after is not None and not self._stopping:
                if self._runtime.pending_writes:  # appends go first
                    await anyio.sleep(_YIELD_SECONDS)
                await self._runtime.read(lambda view, one=reading: self._read_page(view, one, batch))
                if batch.characters >= _BATCH_CHARACTERS:
                    await self._store(batch)
        await self._store(batch)

    async def _store(self, batch: _Batch) -> None:
        portions = batch.portions[:]
        batch.portions.clear()
        batch.characters = 0
        if portions:
            await self._runtime.slowly(lambda: self.index.store(portions))

    # -- in a worker thread -----------------------------------------------------------------------------------
    def _read_page(self, view: View, reading: _Reading, batch: _Batch) -> None:
        """Take the next page into the batch. May be run again if a look at the projection has to be."""
        row, after = view.rows.thread(reading.target.thread_id), reading.after
        more = None
        if row is not None and after is not None:
            with suppress(NotFoundError), view.rollout(row) as rollout:
                if after == _FIRST:
                    reading.target = Searched(row.thread_no, row.thread_id, row.size, row.last_sum)
                    if not self._begin(reading, rollout):
                        reading.after = None
                        return
                rows, more = items_since(view, row.thread_no, reading.offset, after, _PAGE_ITEMS)
                taken = _within(rows, _PAGE_BYTES)
                if len(taken) < len(rows):
                    more = (taken[-1].turn_no, taken[-1].sequence)
                self._add(reading, batch, row, _entries(taken, rollout), last=more is None)
        reading.after = more

    def _add(self, reading: _Reading, batch: _Batch, row: ThreadRow, entries: list[Entry], *, last: bool) -> None:
        size, leaves = (reading.target.size, reading.target.last_sum) if last else (-1, reading.token)
        if last:
            entries.append(Entry(TITLE, 0, spaced(row.name or ""), "", ""))
        batch.portions.append(Portion(row.thread_id, reading.expects, entries, size, leaves))
        batch.characters += sum(len(entry.said) + len(entry.done) + len(entry.output) + 500 for entry in entries)
        reading.expects = reading.token

    def _begin(self, reading: _Reading, rollout: OpenRollout) -> bool:
        """Where to begin: behind what is indexed, if the rollout still is what was indexed. False: all is."""
        with self.index.asking() as asking:
            known = asking.position(reading.target.thread_id)
        if is_current(known, reading.target):
            return False
        if known is None or not 0 < known.size <= reading.target.size:
            return True
        if rollout.sum_before(known.size) == known.state.encode():
            reading.offset, reading.expects = known.size, known.state
        return True


def _all(view: View) -> list[Searched]:
    return searched_threads(view, ThreadFilter(archived=None))


def _one(view: View, thread_id: str) -> list[Searched]:
    row = view.rows.thread(thread_id)
    return [] if row is None else [Searched(row.thread_no, row.thread_id, row.size, row.last_sum)]


def _within(rows: list[ItemRow], most: int) -> list[ItemRow]:
    """The first rows whose items are so many bytes together; at least one."""
    size = 0
    for number, row in enumerate(rows):
        size += row.item_length
        if size > most and number:
            return rows[:number]
    return rows


def _entries(rows: list[ItemRow], rollout: OpenRollout) -> list[Entry]:
    found: list[Entry] = []
    for row, value in zip(rows, item_values(rollout.lines, rows), strict=True):
        if value is None:
            continue
        try:
            texts = texts_of(decode(bytes(value)))
        except ParseError:
            continue
        found.append(Entry(row.sequence, row.turn_no, *map(spaced, texts)))
    return found
