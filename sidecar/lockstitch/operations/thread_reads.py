"""`thread/*` that only read: a thread, and the lists of threads, turns, items and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.codec import Raw, encode, present
from lockstitch.errors import NotFoundError, RefusedError
from lockstitch.operations.call import Call
from lockstitch.operations.notices import records_after
from lockstitch.operations.pages import ENVELOPE, entry_too_large, fitting
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.views.items import item_values, placed
from lockstitch.operations.views.threads import thread_value
from lockstitch.operations.views.turns import turn_values
from lockstitch.operations.workspaces import key_of_workspace
from lockstitch.timeline import queries
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.events import event_of_line
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow, TurnRow

if TYPE_CHECKING:
    from lockstitch_protocol import thread_params as wire


async def read(runtime: Runtime, call: Call, params: wire.ThreadReadParams) -> dict[str, Any]:
    """A thread, with all turns and items if asked."""
    most = call.connection.max_message_bytes

    def look(view: View) -> dict[str, Any]:
        row = view.thread(params.thread_id)
        turns: list[Any] = []
        if params.include_turns:
            with view.rollout(row) as rollout:
                found = queries.turns(view, row.thread_no, False, None, 1 << 40)
                turns = turn_values(view, row, found.rows, "full", rollout.lines)
        value = {"thread": thread_value(view, row, turns)}
        if params.include_turns:
            refuse_too_large(value, row.thread_id, most)
        return value

    return await runtime.read_thread(params.thread_id, look)


def refuse_too_large(value: dict[str, Any], thread_id: str, most: int | None) -> None:
    """Raises RefusedError for a thread with its turns that is more than the client takes."""
    if most is None:
        return
    size = len(encode(value))
    if size + ENVELOPE > most:
        raise RefusedError(
            f"Thread {thread_id} with its turns is {size} bytes, more than the client takes; read it in pages with "
            "thread/turns/list.",
            kind="messageTooLarge",
            use="thread/turns/list",
            bytes=size,
            limit=most,
        )


async def list_(runtime: Runtime, call: Call, params: wire.ThreadListParams) -> dict[str, Any]:
    """A page of threads."""
    most = call.connection.max_message_bytes
    kind = f"threads:{params.sort_key}:{params.sort_direction}"
    after = key_of(kind, params.cursor, int, int, str)
    filter_ = queries.ThreadFilter(
        archived=params.archived,
        providers=params.model_providers or [],
        sources=params.source_kinds or [],
        term=params.search_term,
        parent=params.parent_thread_id,
        ancestor=params.ancestor_thread_id,
    )
    if params.cwd is not None and params.cwd != []:
        spelled = [params.cwd] if isinstance(params.cwd, str) else params.cwd
        filter_.workspaces = await runtime.slowly(lambda: [key_of_workspace(path) for path in spelled])
    descending = params.sort_direction == "desc"

    def look(view: View) -> dict[str, Any]:
        page = queries.threads(view, filter_, params.sort_key, descending, after, params.limit)
        data = [thread_value(view, row, open_turn=_is_served(runtime, view, row)) for row in page.rows]

        def facts(number: int) -> dict[str, Any]:
            row = page.rows[number]
            return {"threadId": row.thread_id, "nextCursor": _thread_cursor(kind, params.sort_key, row)}

        count = fitting(data, most, facts)
        value: dict[str, Any] = {"data": data[:count], "nextCursor": None, "backwardsCursor": None}
        if page.more or count < len(data):
            value["nextCursor"] = _thread_cursor(kind, params.sort_key, page.rows[count - 1])
        if page.rows:
            other = f"threads:{params.sort_key}:{'asc' if descending else 'desc'}"
            value["backwardsCursor"] = _thread_cursor(other, params.sort_key, page.rows[0])
        return value

    return await runtime.read(look)


def _is_served(runtime: Runtime, view: View, row: ThreadRow) -> bool:
    """Whether the open turn's boot lives; if not, recovery is about to interrupt it."""
    if row.open_turn_no is None:
        return True
    turn = view.rows.turn_by_number(row.thread_no, row.open_turn_no)
    return turn is not None and runtime.boots.is_alive(turn.boot_id)


def _thread_cursor(kind: str, sort_key: str, row: ThreadRow) -> str:
    return cursor_of(kind, getattr(row, sort_key), row.created_at, row.thread_id)


async def turns_list(runtime: Runtime, call: Call, params: wire.ThreadTurnsListParams) -> dict[str, Any]:
    """A page of turns."""
    descending = params.sort_direction == "desc"
    after = key_of(f"turns:{params.sort_direction}", params.cursor, int)
    most = call.connection.max_message_bytes

    def look(view: View) -> dict[str, Any]:
        row = view.thread(params.thread_id)
        page = queries.turns(view, row.thread_no, descending, None if after is None else after[0], params.limit)
        with view.rollout(row) as rollout:
            values = turn_values(view, row, page.rows, params.items_view, rollout.lines)
        return turns_page(page, values, params.sort_direction, most)

    return await runtime.read_thread(params.thread_id, look)


def turns_page(page: queries.Page[TurnRow], values: list[Any], direction: str, most: int | None) -> dict[str, Any]:
    """A page of turns with its cursors, cut to what a client that takes `most` bytes can take."""

    def facts(number: int) -> dict[str, Any]:
        row = page.rows[number]
        cursor = cursor_of(f"turns:{direction}", row.turn_no)
        return {"turnId": row.turn_id, "use": "thread/items/list", "nextCursor": cursor}

    count = fitting(values, most, facts)
    if count < len(values):
        page, values = queries.Page(page.rows[:count], True), values[:count]
    value: dict[str, Any] = {"data": values, "nextCursor": None, "backwardsCursor": None}
    if page.more:
        value["nextCursor"] = cursor_of(f"turns:{direction}", page.rows[-1].turn_no)
    if page.rows:
        other = "asc" if direction == "desc" else "desc"
        value["backwardsCursor"] = cursor_of(f"turns:{other}", page.rows[0].turn_no)
    return value


async def items_list(runtime: Runtime, call: Call, params: wire.ThreadItemsListParams) -> dict[str, Any]:
    """A page of items, of the thread or of one turn."""
    descending = params.sort_direction == "desc"
    kind = f"items:{params.sort_direction}"
    after = key_of(kind, params.cursor, int, int)
    most = call.connection.max_message_bytes

    def look(view: View) -> dict[str, Any]:
        row = view.thread(params.thread_id)
        turn = None if params.turn_id is None else turn_of(view, row, params.turn_id)
        page = queries.items(view, row.thread_no, turn and turn.turn_no, descending, after, params.limit)
        with view.rollout(row) as rollout:
            values = item_values(rollout.lines, page.rows)
        numbers = {item.turn_no for item in page.rows if not item.outside}
        names = {
            number: found.turn_id for number in numbers if (found := view.rows.turn_by_number(row.thread_no, number))
        }
        owners = [None if item.outside else names.get(item.turn_no) for item in page.rows]

        def facts(number: int) -> dict[str, Any]:
            item = page.rows[number]
            return {"itemId": item.item_id, "nextCursor": cursor_of(kind, item.turn_no, item.sequence)}

        count = fitting((placed([v], [o]) for v, o in zip(values, owners, strict=True)), most, facts)
        value: dict[str, Any] = {
            "data": placed(values[:count], owners[:count]),
            "nextCursor": None,
            "backwardsCursor": None,
        }
        if page.more or count < len(values):
            last = page.rows[count - 1]
            value["nextCursor"] = cursor_of(kind, last.turn_no, last.sequence)
        if page.rows:
            first = page.rows[0]
            other = "items:asc" if descending else "items:desc"
            value["backwardsCursor"] = cursor_of(other, first.turn_no, first.sequence)
        return value

    return await runtime.read_thread(params.thread_id, look)


def turn_of(view: View, thread: ThreadRow, turn_id: str) -> TurnRow:
    """The turn of a thread. Raises NotFoundError."""
    row = view.rows.turn(thread.thread_no, turn_id)
    if row is None:
        raise NotFoundError(
            f"Thread {thread.thread_id} has no turn {turn_id}; thread/turns/list shows those that it has.",
            kind="turnNotFound",
            threadId=thread.thread_id,
            turnId=turn_id,
        )
    return row


async def events_list(runtime: Runtime, call: Call, params: wire.ThreadEventsListParams) -> dict[str, Any]:
    """A page of events by sequence."""
    most = call.connection.max_message_bytes
    types = frozenset(params.types) if params.types else None

    def look(view: View) -> dict[str, Any]:
        row = view.thread(params.thread_id)
        data: list[Raw] = []
        size, more = ENVELOPE, False
        for record in records_after(view, row, params.after_sequence):
            if types is not None and record.line.type not in types:
                continue
            event = event_of_line(row.thread_id, record.line)
            size += len(event) + 1
            too_large = most is not None and size > most
            if too_large and not data:
                line = record.line
                facts = present({"eventId": line.eventId, "itemId": line.itemId, "afterSequence": line.sequence})
                raise entry_too_large(most or 0, **facts)
            if len(data) == params.limit or too_large:
                more = True
                break
            data.append(Raw(event))
        return {"data": data, "lastSequence": row.last_sequence, "hasMore": more}

    return await runtime.read_thread(params.thread_id, look)
