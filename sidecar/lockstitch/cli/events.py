"""`lockstitch events`: what is stored of a thread, event by event, and what is added to it while one watches."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut, one_line, padded, time_of
from lockstitch.cli.transcript import summary_of
from lockstitch.codec import encode, mapping

_PAGE = 500
_LOOK_SECONDS = 0.25
"""What other processes add is seen within this time."""


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """List events; with --follow, until interrupted."""
    thread_id = await local.known_thread_id(options.thread)
    after, left = options.after, options.limit
    if not options.json:
        terminal.line(heading(terminal))
    while True:
        async for event in all_events(local, thread_id, after=after, types=options.type):
            if left == 0:
                return OK
            left = None if left is None else left - 1
            if options.json:
                terminal.json(encode(event))
            else:
                terminal.line(event_line(event, terminal))
            after = event["sequence"]
        if not options.follow:
            return OK
        terminal.flush()
        await asyncio.sleep(_LOOK_SECONDS)


async def all_events(
    local: Local, thread_id: str, *, after: int = 0, types: list[str] | None = None
) -> AsyncIterator[dict[str, Any]]:
    """The events of a thread in order, all or those of some types."""
    while True:
        page = await local.ask(
            "thread/events/list", threadId=thread_id, afterSequence=after, limit=_PAGE, types=types or None
        )
        for event in page["data"]:
            yield event
            after = event["sequence"]
        if not page["hasMore"] or not page["data"]:
            return


def heading(terminal: Terminal) -> str:
    """What stands above the lines of events."""
    return terminal.paint(f"{'SEQ':>6}  {'AT':12}  {'TYPE':26}  WHAT", "dim")


def event_line(event: dict[str, Any], terminal: Terminal) -> str:
    """An event on one line: its sequence, the time of day, its type and what says most of it."""
    kind = padded(one_line(event["type"]), 26)
    head = f"{event['sequence']:>6}  {time_of(event['timestamp']):12}  "
    what = cut(_what(event), terminal.width - len(head) - 28)
    return (terminal.paint(head, "dim") + terminal.paint(kind, "cyan") + "  " + what).rstrip()


_FOR_PROGRAMS = ("bootId", "workspaceKey", "workspaceRootId")
_TELLING = ("text", "message", "delta", "command", "path", "name", "status", "reason", "tool", "workspace", "kind")


def _what(event: dict[str, Any]) -> str:
    """The part of the payload that says most, on one line; else the payload."""
    payload: Any = event["payload"]
    known = cast("dict[str, Any]", payload if isinstance(payload, dict) else {"value": payload})
    inner: Any = known.get("item")
    if isinstance(inner, dict) and isinstance(known.get("path"), str):
        return one_line(known["path"])
    if isinstance(inner, dict):
        item = cast("dict[str, Any]", inner)
        return one_line(f"{item.get('type')}: {summary_of(item)}")
    said = next((known[name] for name in _TELLING if isinstance(known.get(name), str) and known[name]), None)
    said = said or mapping(known.get("error")).get("message")
    if isinstance(said, str):
        return one_line(said)
    rest = {name: value for name, value in known.items() if name not in _FOR_PROGRAMS}
    return one_line(encode(rest).decode()) if rest else ""
