"""`thread/search`: which items and titles hold the words that are asked for, the best first.

Invariant: what is shown is what the thread says now. A hit of the index whose item is gone, rolled back, deleted or
says something else by now is no hit.
Invariant: no query is a syntax error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lockstitch.codec import ParseError, decode, present
from lockstitch.errors import InvalidError, NotFoundError
from lockstitch.operations.call import Call
from lockstitch.operations.pages import fitting
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.search_build import TITLE, SearchBuild, is_current
from lockstitch.operations.views.items import item_values
from lockstitch.operations.views.searchable import texts_of
from lockstitch.operations.views.snippets import snippet_of
from lockstitch.operations.workspaces import key_of_workspace
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.queries import ThreadFilter
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ItemRow, ThreadRow
from lockstitch.timeline.search_index import Asking, DamagedIndexError, Hit, SearchIndex
from lockstitch.timeline.search_queries import Searched, searched_threads
from lockstitch.timeline.search_text import Phrases, expression, matches, phrases_of, words_of

if TYPE_CHECKING:
    from lockstitch_protocol.search import ThreadSearchParams

PATIENCE = 0.5
"""Seconds that a question waits for the index to be brought up; then it answers from what there is."""


class Search:
    """The indexes of one process: that of the data root, and that of its ephemeral threads."""

    def __init__(self, runtime: Runtime) -> None:
        root = runtime.root
        if runtime.refusal is None:
            self.stored = SearchBuild(runtime, SearchIndex(root.search), root.search_lock)
        else:
            self.stored = SearchBuild(runtime, SearchIndex(None), None)
        self.ephemeral = SearchBuild(runtime, SearchIndex(None), None)

    def close(self) -> None:
        self.stored.index.close()
        self.ephemeral.index.close()


async def search(runtime: Runtime, call: Call, params: ThreadSearchParams) -> dict[str, Any]:
    """A page of hits, and how far the index is while it is not complete."""
    after = _after(params.cursor)
    filter_ = ThreadFilter(archived=params.archived)
    if params.thread_id is None:
        filter_.archived = bool(params.archived)
    else:
        await runtime.read_thread(params.thread_id, lambda view: view.thread(params.thread_id or ""))
    if params.cwd is not None:
        spelled = params.cwd
        filter_.workspaces = [await runtime.slowly(lambda: key_of_workspace(spelled))]
    search_ = runtime.search = runtime.search or Search(runtime)
    build = search_.ephemeral if (params.thread_id or "") in runtime.ephemeral else search_.stored
    question = _Question(params, filter_, after, call.connection.max_message_bytes)
    for last in (False, True):
        try:
            await build.bring_up(params.thread_id, PATIENCE)
            return await runtime.read(lambda view: question.answer(view, build.index))
        except DamagedIndexError as error:
            if last:
                raise RuntimeError(f"the search index cannot be used: {error}") from error
            await build.begin_anew()
    raise AssertionError


@dataclass(frozen=True, slots=True)
class _After:
    rank: float
    entry_no: int
    beginnings: bool


def _after(cursor: str | None) -> _After | None:
    key = key_of("search", cursor, str, int, int)
    if key is None:
        return None
    try:
        return _After(float.fromhex(key[0]), key[1], bool(key[2]))
    except (ValueError, OverflowError):
        raise InvalidError.at("cursor", "is not a cursor of this list; leave it out to begin anew") from None


@dataclass(slots=True)
class _Found:
    hit: Hit
    value: dict[str, Any]
    beginnings: bool

    @property
    def cursor(self) -> str:
        return cursor_of("search", self.hit.rank.hex(), self.hit.entry_no, int(self.beginnings))


@dataclass(slots=True)
class _Question:
    """A query and what it is limited to."""

    params: ThreadSearchParams
    filter: ThreadFilter
    after: _After | None
    most_bytes: int | None
    _rows: dict[int, ThreadRow | None] = field(default_factory=dict[int, "ThreadRow | None"])

    def answer(self, view: View, index: SearchIndex) -> dict[str, Any]:
        """The result, from one look at the projection and one at the index."""
        self._rows.clear()
        threads = self._threads(view)
        with index.asking() as asking:
            known = asking.positions()
            done = sum(is_current(known.get(thread.thread_id.lower()), thread) for thread in threads)
            by_number = {
                position.thread_no: thread
                for thread in threads
                if (position := known.get(thread.thread_id.lower())) is not None
            }
            found = self._find(view, asking, by_number)
        data = [one.value for one in found[: self.params.limit]]

        def facts(number: int) -> dict[str, Any]:
            return present({"itemId": data[number].get("itemId"), "nextCursor": found[number].cursor})

        count = fitting(data, self.most_bytes, facts)
        value: dict[str, Any] = {"data": data[:count], "nextCursor": None}
        if count < len(found):
            value["nextCursor"] = found[count - 1].cursor
        if done < len(threads):
            value["indexing"] = {"done": done, "total": len(threads)}
        return value

    def _threads(self, view: View) -> list[Searched]:
        if self.params.thread_id is None:
            return searched_threads(view, self.filter)
        # asked for by its id first, so that an ephemeral one is looked for where it is
        row = view.thread(self.params.thread_id)
        return searched_threads(view, self.filter, row.thread_no)

    def _find(self, view: View, asking: Asking, threads: dict[int, Searched]) -> list[_Found]:
        """One hit more than a page, if there are so many."""
        phrases = phrases_of(self.params.query, asking.words)
        if not phrases or not threads:
            return []
        only = next(iter(threads)) if len(threads) == 1 else None
        found: list[_Found] = []
        for beginnings in (False, True) if self.after is None else (self.after.beginnings,):
            for hit in asking.hits(expression(phrases, beginnings=beginnings), only):
                thread = threads.get(hit.thread_no)
                if thread is None or not self._is_behind(hit):
                    continue
                value = self._shown(view, asking, thread, hit, phrases, beginnings)
                if value is not None:
                    found.append(_Found(hit, value, beginnings))
                    if len(found) > self.params.limit:
                        return found
            if found:
                return found
        return found

    def _is_behind(self, hit: Hit) -> bool:
        after = self.after
        return after is None or (hit.rank, -hit.entry_no) > (after.rank, -after.entry_no)

    def _shown(
        self, view: View, asking: Asking, thread: Searched, hit: Hit, phrases: Phrases, beginnings: bool
    ) -> dict[str, Any] | None:
        """The hit on the wire, if what the thread says now still is one."""
        row = self._row(view, thread.thread_no)
        if row is None:
            return None
        if hit.sequence == TITLE:
            turn_id = item_id = None
            texts: tuple[str, ...] = (row.name or "",)
        else:
            item = view.rows.one(
                ItemRow, "thread_no=? AND turn_no=? AND sequence=?", row.thread_no, hit.turn_no, hit.sequence
            )
            if item is None:
                return None
            turn = None if item.outside else view.rows.turn_by_number(row.thread_no, item.turn_no)
            if turn is not None and turn.hidden:
                return None
            turn_id, item_id = turn and turn.turn_id, item.item_id
            texts = _texts(view, row, item)
        found = [matches(words_of(text, asking.words), phrases, beginnings=beginnings) for text in texts if text]
        if not all(any(places[number] for places in found) for number in range(len(phrases))):
            return None
        # the text in which most of the phrases stand; of equal ones the first: what was said before what came out
        best = max(range(len(found)), key=lambda number: (sum(map(bool, found[number])), -number))
        snippet, ranges = snippet_of([text for text in texts if text][best], found[best])
        value = {"threadId": row.thread_id, "turnId": turn_id, "itemId": item_id, "snippet": snippet}
        return present({**value, "ranges": ranges, "score": -hit.rank})

    def _row(self, view: View, thread_no: int) -> ThreadRow | None:
        if thread_no not in self._rows:
            self._rows[thread_no] = view.rows.one(ThreadRow, "thread_no=?", thread_no)
        return self._rows[thread_no]


def _texts(view: View, thread: ThreadRow, item: ItemRow) -> tuple[str, ...]:
    try:
        with view.rollout(thread) as rollout:
            (value,) = item_values(rollout.lines, [item])
        return () if value is None else texts_of(decode(bytes(value)))
    except (NotFoundError, ParseError):
        return ()
