"""`lockstitch show`: what happened in a thread, turn by turn."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from typing import Any

from lockstitch.cli.local import Local, chosen
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, moment, one_line, wrapped
from lockstitch.cli.threads import title_of
from lockstitch.cli.transcript import Transcript
from lockstitch.codec import encode
from lockstitch.errors import NotFoundError

_PAGE = 50


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Show a thread."""
    thread_id = local.thread_id(options.thread)
    thread = (await local.ask("thread/read", threadId=thread_id))["thread"]
    wanted = await _turn_id(local, thread, options.turn)
    if options.json:
        thread["turns"] = [turn async for _, turn in _turns(local, thread["id"]) if wanted in (None, turn["id"])]
        terminal.json(encode({"thread": thread}))
        return OK
    terminal.lines(*heading(thread, terminal), "")
    transcript = Transcript(terminal, full=options.full)
    async for number, turn in _turns(local, thread["id"]):
        if wanted in (None, turn["id"]):
            terminal.lines(*transcript.turn(number, turn))
    return OK


def heading(thread: dict[str, Any], terminal: Terminal) -> list[str]:
    """What a thread is, in a few lines."""
    width = min(terminal.width, 100)
    files = thread["fileCheckpointSummary"]["count"]
    facts = [
        counted(thread["turnCount"], "turn"),
        counted(files, "file checkpoint"),
        f"begun {moment(thread['createdAt'])}",
    ]
    if thread["archived"]:
        facts.append("archived")
    lines = [
        terminal.paint(cut(one_line(title_of(thread)), width), "bold"),
        terminal.paint(thread["id"], "cyan") + terminal.paint(f"  from {one_line(str(thread['source']))}", "dim"),
        terminal.paint(" · ".join(facts), "dim"),
    ]
    if thread["cwd"]:
        lines.append(terminal.paint(cut(f"in {one_line(thread['cwd'])}", width), "dim"))
    if thread.get("partial"):
        text = "Parts of this thread are lost: `lockstitch doctor` says what was set aside."
        lines += [terminal.paint(line, "red") for line in wrapped(text, width)]
    return lines


async def _turns(local: Local, thread_id: str) -> AsyncIterator[tuple[int, dict[str, Any]]]:
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


async def _turn_id(local: Local, thread: dict[str, Any], given: str | None) -> str | None:
    """The id of the turn that the option names by its number or the beginning of its id. Raises NotFoundError."""
    if given is None:
        return None
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await local.ask(
            "thread/turns/list",
            threadId=thread["id"],
            cursor=cursor,
            limit=500,
            sortDirection="asc",
            itemsView="notLoaded",
        )
        ids += [turn["id"] for turn in page["data"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    if given.isascii() and given.isdigit() and 0 < int(given) <= len(ids):
        return ids[int(given) - 1]
    found = chosen(given, ids, "turn")
    if found is None:
        raise NotFoundError(
            f"Thread {thread['id']} has no turn {given}: it has {counted(len(ids), 'turn')}.",
            kind="turnNotFound",
            threadId=thread["id"],
        )
    return found
