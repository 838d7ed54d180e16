"""`lockstitch threads`: the threads of the data root, the last used first."""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut, moment, one_line, padded, short_ids
from lockstitch.codec import encode

_PAGE = 500


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """List threads, one a line."""
    wanted = None if options.all else options.limit
    found = [thread async for thread in all_threads(local, wanted, filters_of(options))]
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
    project_width = (terminal.width - len(head)) // 2 if wide else 0
    terminal.line(terminal.paint(head + (padded("PROJECT", project_width) if wide else "") + "TITLE", "dim"))
    for thread, short in zip(found, shorts, strict=True):
        used = thread.get("recencyAt") or thread["updatedAt"]
        files = thread["fileCheckpointSummary"]["count"]
        fields = f"{moment(used):16}  {thread['turnCount']:5}  {files:5}  "
        project = padded(one_line(thread["cwd"]), project_width - 2) + "  " if wide else ""
        title = cut(one_line(title_of(thread)), terminal.width - len(head) - project_width)
        marks = _marks(thread)
        line = terminal.paint(padded(short, id_width), "cyan") + "  " + fields
        terminal.line(
            line + terminal.paint(project, "dim") + (terminal.paint(marks, "yellow") if marks else "") + title
        )
    if wanted is not None and len(found) == wanted:
        terminal.line(terminal.paint(f"the first {wanted}; --all lists all of them", "dim"))
    return OK


def filters_of(options: argparse.Namespace) -> dict[str, Any]:
    """The params of thread/list that the options ask for."""
    filters: dict[str, Any] = {"archived": options.archived}
    if options.cwd is not None:
        filters["cwd"] = os.path.abspath(options.cwd)
    if options.search is not None:
        filters["searchTerm"] = options.search
    return filters


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
    if options.archived or options.cwd is not None or options.search is not None:
        return "No such thread."
    place = one_line(local.settings.data_root)
    return f"No threads yet in {place}. `lockstitch import PATH` takes over sessions of other tools."
