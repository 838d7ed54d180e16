"""`lockstitch threads`: the threads of the data root, the last used first."""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, cut, moment, one_line, padded, short_ids
from lockstitch.codec import encode

_PAGE = 500


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """List threads, one a line."""
    wanted = None if options.all else options.limit
    found = await _found(local, options, None if wanted is None else wanted + 1)
    more = wanted is not None and len(found) > wanted
    found = found[:wanted]
    if options.json:
        terminal.json(encode({"data": found}))
        return OK
    if not found:
        terminal.line(_nothing(options, local))
        return OK
    ids = short_ids(local.thread_ids())
    wide = terminal.width >= 120
    shorts = [ids.get(thread["id"]) or str(thread["id"]) for thread in found]
    id_width = max(map(len, shorts))
    head = f"{'THREAD':{id_width}}  {'LAST USED':16}  TURNS  FILES  "
    projects = [one_line(thread["cwd"]) for thread in found]
    room = terminal.width - len(head)
    project_width = min(room // 2, max(9, *map(cells, projects)) + 2) if wide else 0
    terminal.line(terminal.paint(head + (padded("PROJECT", project_width) if wide else "") + "TITLE", "dim"))
    for thread, short, cwd in zip(found, shorts, projects, strict=True):
        used = thread["updatedAt"]
        files = thread["fileCheckpointSummary"]["count"]
        fields = f"{moment(used):16}  {thread['turnCount']:5}  {files:5}  "
        project = padded(cwd, project_width - 2) + "  " if wide else ""
        marks = _marks(thread)
        title = cut(one_line(title_of(thread)), room - project_width - len(marks))
        line = terminal.paint(padded(short, id_width), "cyan") + "  " + fields
        terminal.line(
            line + terminal.paint(project, "dim") + (terminal.paint(marks, "yellow") if marks else "") + title
        )
    if more:
        terminal.line(terminal.paint(f"the {wanted} last used; --all lists all of them", "dim"))
    return OK


def filters_of(options: argparse.Namespace) -> dict[str, Any]:
    """The params of thread/list that the options ask for."""
    filters: dict[str, Any] = {"archived": options.archived}
    if options.project is not None:
        filters["cwd"] = os.path.abspath(options.project)
    if options.search is not None:
        filters["searchTerm"] = options.search
    return filters


async def _found(local: Local, options: argparse.Namespace, wanted: int | None) -> list[dict[str, Any]]:
    """The first so many of the threads that the options mean. Raises BadArgumentsError for a day that is none."""
    since = None if options.since is None else day(options.since).timestamp()
    until = None if options.until is None else (day(options.until) + timedelta(days=1)).timestamp()
    found: list[dict[str, Any]] = []
    filters = filters_of(options)
    among = wanted if since is None and until is None else None
    async for thread in all_threads(local, among, filters):
        used = thread["updatedAt"]
        if since is not None and used < since:
            break  # the rest is older still
        if until is not None and used >= until:
            continue
        found.append(thread)
        if wanted is not None and len(found) == wanted:
            break
    return found


def day(text: str) -> datetime:
    """The beginning of a day by the clock on the wall: `2026-11-30`, `today`, `yesterday`, `7d` ago."""
    today = datetime.now(UTC).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"today": 0, "yesterday": 1}.get(text)
    if named is None and text[:-1].isascii() and text[:-1].isdigit() and text[-1:] == "d" and len(text) < 7:
        named = int(text[:-1])
    if named is not None:
        return today - timedelta(days=named)
    try:
        year, month, date = (int(part) for part in text.split("-"))
        return datetime(year, month, date).astimezone()
    except (ValueError, OverflowError, OSError):
        raise BadArgumentsError(f"not a day: {text!r}; such as 2026-11-30, today, yesterday, or 7d") from None


async def all_threads(local: Local, wanted: int | None, filters: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """The first so many threads, or all."""
    cursor: str | None = None
    left = wanted
    while left is None or left > 0:
        limit = _PAGE if left is None else min(left, _PAGE)
        page = await local.ask("thread/list", cursor=cursor, limit=limit, sortKey="updated_at", **filters)
        for thread in page["data"]:
            yield thread
        if left is not None:
            left -= len(page["data"])
        cursor = page["nextCursor"]
        if cursor is None:
            return


def title_of(thread: dict[str, Any]) -> str:
    """What a person knows the thread by."""
    return thread.get("name") or thread["preview"] or "(nothing said yet)"


def _marks(thread: dict[str, Any]) -> str:
    marks = "partial " if thread.get("partial") else ""
    return marks + ("active " if thread["status"]["type"] == "active" else "")


def _nothing(options: argparse.Namespace, local: Local) -> str:
    if options.archived or any((options.project, options.search, options.since, options.until)):
        return "No such thread."
    place = one_line(local.settings.data_root)
    return f"No threads yet in {place}. `lockstitch import PATH` takes over sessions of other tools."
