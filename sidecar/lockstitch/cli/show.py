"""`lockstitch show`: what happened in a thread, turn by turn."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, moment, one_line, padded, short_ids, wrapped
from lockstitch.cli.threads import title_of
from lockstitch.cli.transcript import WHOLE_OUTPUT, Transcript, summary_of
from lockstitch.cli.turns import turn_id, turn_ids, turns
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Show a thread."""
    thread_id = local.thread_id(options.thread)
    thread = (await local.ask("thread/read", threadId=thread_id))["thread"]
    wanted = None if options.turn is None else await turn_id(local, thread["id"], options.turn)
    if options.json and options.items:
        found = [entry async for entry in _all_items(local, thread["id"], wanted)]
        terminal.json(encode({"threadId": thread["id"], "items": found}))
        return OK
    if options.json:
        thread["turns"] = [turn async for _, turn in turns(local, thread["id"]) if wanted in (None, turn["id"])]
        terminal.json(encode({"thread": thread}))
        return OK
    terminal.lines(*heading(thread, terminal), "")
    if options.items:
        await _items(local, thread["id"], wanted, terminal)
        return OK
    transcript = Transcript(terminal, full=options.full)
    async for number, turn in turns(local, thread["id"]):
        if wanted in (None, turn["id"]):
            if options.full:
                await _fetch_outputs(local, thread["id"], turn)
            terminal.lines(*transcript.turn(number, turn))
    return OK


async def _fetch_outputs(local: Local, thread_id: str, turn: dict[str, Any]) -> None:
    """Put the outputs that are kept apart from their items into them."""
    for item in turn["items"]:
        known = item.get("outputRef")
        if known is None or item["type"] == "userMessage":
            continue
        found = await local.ask(
            "artifact/read", sessionId=thread_id, artifactRef=known["artifactRef"], includeContent=True
        )
        for artifact in found["artifacts"]:
            if artifact.get("content") is not None:
                item[WHOLE_OUTPUT] = artifact["content"]


def _origin(thread: dict[str, Any]) -> str:
    source = one_line(str(thread["source"]))
    return "" if source == "unknown" else f"  from {source}"


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
        terminal.paint(thread["id"], "cyan") + terminal.paint(_origin(thread), "dim"),
        terminal.paint(" · ".join(facts), "dim"),
    ]
    if thread["cwd"]:
        lines.append(terminal.paint(cut(f"in {one_line(thread['cwd'])}", width), "dim"))
    if thread.get("forkedFromId"):
        lines.append(terminal.paint(cut(f"forked from {one_line(thread['forkedFromId'])}", width), "dim"))
    if thread.get("partial"):
        text = "Parts of this thread are lost: `lockstitch doctor` says what was set aside."
        lines += [terminal.paint(line, "red") for line in wrapped(text, width)]
    return lines


async def _all_items(local: Local, thread_id: str, wanted: str | None) -> AsyncIterator[dict[str, Any]]:
    """`{turnId, item}` of every item, or of those of one turn."""
    cursor: str | None = None
    while True:
        page = await local.ask("thread/items/list", threadId=thread_id, turnId=wanted, cursor=cursor, limit=500)
        for entry in page["data"]:
            yield entry
        cursor = page["nextCursor"]
        if cursor is None:
            return


async def _items(local: Local, thread_id: str, wanted: str | None, terminal: Terminal) -> None:
    """One line an item: its turn, its id, what it is."""
    numbers = {turn: number for number, turn in enumerate(await turn_ids(local, thread_id), 1)}
    found = [entry async for entry in _all_items(local, thread_id, wanted)]
    ids = short_ids([entry["item"]["id"] for entry in found])
    id_width = max((cells(one_line(short)) for short in ids.values()), default=8)
    terminal.line(terminal.paint(f"{'TURN':>4}  {'ITEM':{id_width}}  {'KIND':17}  WHAT", "dim"))
    for entry in found:
        item = entry["item"]
        number = str(numbers.get(entry["turnId"], "?"))
        head = f"{number:>4}  {terminal.paint(padded(one_line(ids[item['id']]), id_width), 'cyan')}  "
        kind = padded(one_line(str(item["type"])), 17)
        room = max(16, terminal.width - id_width - 27)
        terminal.line(f"{head}{kind}  {cut(summary_of(item), room)}".rstrip())
