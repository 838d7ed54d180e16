"""The turns of a thread, page by page, and the one that somebody means by a number or part of an id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from lockstitch.cli.ids import chosen
from lockstitch.cli.local import Local
from lockstitch.cli.text import counted
from lockstitch.errors import NotFoundError

_PAGE = 50


async def turns(local: Local, thread_id: str) -> AsyncIterator[tuple[int, dict[str, Any]]]:
    """The turns with their numbers, the first first."""
    cursor: str | None = None
    number = 0
    while True:
        page = await local.ask(
            "thread/turns/list", threadId=thread_id, cursor=cursor, limit=_PAGE, sortDirection="asc", itemsView="full"
        )
        for turn in page["data"]:
            number += 1
            yield number, turn
        cursor = page["nextCursor"]
        if cursor is None:
            return


async def turn_ids(local: Local, thread_id: str) -> list[str]:
    """The ids of the turns that are read, the first first."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await local.ask(
            "thread/turns/list",
            threadId=thread_id,
            cursor=cursor,
            limit=500,
            sortDirection="asc",
            itemsView="notLoaded",
        )
        ids += [turn["id"] for turn in page["data"]]
        cursor = page["nextCursor"]
        if cursor is None:
            return ids


async def turn_id(local: Local, thread_id: str, given: str) -> str:
    """The turn that is meant by its number or the beginning of its id. Raises NotFoundError, BadArgumentsError."""
    ids = await turn_ids(local, thread_id)
    if given.isascii() and given.isdigit() and 0 < int(given) <= len(ids):
        return ids[int(given) - 1]
    found = chosen(given, ids, "turn")
    if found is None:
        raise NotFoundError(
            f"Thread {thread_id} has no turn {given}: it has {counted(len(ids), 'turn')}.",
            kind="turnNotFound",
            threadId=thread_id,
        )
    return found
