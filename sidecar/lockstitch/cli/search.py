"""`lockstitch search`: which messages, commands, outputs, paths and titles hold the words that are asked for."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, harmless, one_line, short_ids, wrapped
from lockstitch.cli.threads import title_of
from lockstitch.cli.turns import turn_ids
from lockstitch.codec import encode
from lockstitch.errors import LockstitchError

_PAGE = 100
_OPENS, _CLOSES = "\ufdee", "\ufdef"
"""Noncharacters around what was found, while lines are broken: no harmless text has them, and they take no column."""


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Search; nothing found is status 1, as with grep."""
    params: dict[str, Any] = {"query": " ".join(map(_asked, options.words))}
    if options.thread is not None:
        params["threadId"] = await local.known_thread_id(options.thread)
    elif options.archived:
        params["archived"] = True
    if options.project is not None:
        params["cwd"] = _absolute(options.project)
    hits, more = await _all_hits(local, params, options.limit, terminal, quiet=options.json)
    if options.json:
        terminal.json(encode({"data": hits}))
        return OK if hits else FAILED
    if not hits:
        terminal.line("Nothing found.")
        return FAILED
    await _show(local, hits, terminal)
    if more:
        terminal.line(terminal.paint(f"the best {len(hits)}; --limit shows more", "dim"))
    return OK


async def _all_hits(
    local: Local, params: dict[str, Any], wanted: int, terminal: Terminal, *, quiet: bool
) -> tuple[list[dict[str, Any]], bool]:
    """The best hits, once the index knows all that there is; and whether there are more."""
    shown = False
    while True:
        page = await local.ask("thread/search", **params, limit=min(wanted, _PAGE))
        far = page.get("indexing")
        if far is None:
            break
        if terminal.is_terminal and not quiet:
            terminal.again(f"reading what was said: {far['done']} of {far['total']} threads")
            shown = True
    if shown:
        terminal.again("")
    hits = page["data"]
    while page["nextCursor"] is not None and len(hits) < wanted:
        left = min(wanted - len(hits), _PAGE)
        page = await local.ask("thread/search", **params, limit=left, cursor=page["nextCursor"])
        hits += page["data"]
    return hits, page["nextCursor"] is not None


async def _show(local: Local, hits: list[dict[str, Any]], terminal: Terminal) -> None:
    """The hits by thread, the thread with the best hit first."""
    by_thread: dict[str, list[dict[str, Any]]] = {}
    for hit in hits:
        by_thread.setdefault(hit["threadId"], []).append(hit)
    shorts = short_ids(local.thread_ids())
    for thread_id, found in by_thread.items():
        short = one_line(shorts.get(thread_id, thread_id))
        count = counted(len(found), "hit")
        title = cut(await _title(local, thread_id), max(16, terminal.width - cells(short) - len(count) - 4))
        head = terminal.paint(short, "cyan") + "  " + terminal.paint(title, "bold")
        terminal.line(head + terminal.paint(f"  {count}", "dim"))
        numbers = {turn: number for number, turn in enumerate(await _turns(local, thread_id), 1)}
        for hit in found:
            terminal.lines(*_lines(hit, numbers.get(str(hit.get("turnId"))), terminal))
        terminal.line()


async def _title(local: Local, thread_id: str) -> str:
    try:
        return one_line(title_of((await local.ask("thread/read", threadId=thread_id))["thread"]))
    except LockstitchError:  # deleted since
        return ""


async def _turns(local: Local, thread_id: str) -> list[str]:
    try:
        return await turn_ids(local, thread_id)
    except LockstitchError:  # deleted since
        return []


def _lines(hit: dict[str, Any], turn: int | None, terminal: Terminal) -> Iterator[str]:
    """The turn by its number, as `show --turn` takes it, and the snippet, what was found in it painted."""
    where = "title" if turn is None else f"turn {turn}"
    indent = " " * (max(len(where), 7) + 4)
    inside = False
    for number, line in enumerate(wrapped(_marked(hit), min(terminal.width, 100) - len(indent))):
        painted: list[str] = []
        for part in re.split(f"([{_OPENS}{_CLOSES}])", line):
            if part in (_OPENS, _CLOSES):
                inside = part == _OPENS
            elif part:
                painted.append(terminal.paint(part, "yellow", "bold") if inside else part)
        head = indent if number else f"  {where}".ljust(len(indent))
        yield terminal.paint(head, "dim") + "".join(painted)


def _marked(hit: dict[str, Any]) -> str:
    """The snippet on one line and harmless, with signs around what was found."""
    units = hit["snippet"].encode("utf-16-le")
    parts: list[str] = []
    at = 0
    for start, end in hit["ranges"]:
        parts += [_text(units, at, start), _OPENS, _text(units, start, end), _CLOSES]
        at = end
    return " ".join("".join([*parts, _text(units, at, len(units) // 2)]).split())


def _asked(word: str) -> str:
    """What is quoted for the shell is meant as a phrase."""
    return f'"{word}"' if " " in word.strip() and '"' not in word else word


def _absolute(path: str) -> str:
    return os.path.abspath(path)


def _text(units: bytes, start: int, end: int) -> str:
    return harmless(units[2 * start : 2 * end].decode("utf-16-le", "replace"))
