"""`lockstitch replay`: the recorded events of a thread, in order, at a chosen speed. Nothing is done again."""

from __future__ import annotations

import argparse
from typing import Any, cast

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, one_line, padded
from lockstitch.codec import decode, encode, mapping


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Replay a thread."""
    thread_id = await local.known_thread_id(options.thread)
    params: dict[str, Any] = {"threadId": thread_id, "afterSequence": options.after}
    if options.until is not None:
        params["untilSequence"] = options.until
    if options.speed is not None:
        params["speed"] = options.speed

    def tell(method: str, told: bytes) -> None:
        if method != "thread/replay/event":
            return
        event = decode(told)["event"]
        if options.json:
            terminal.json(encode(event))
        else:
            terminal.line(_line(event, terminal))
        if options.speed is not None:
            terminal.flush()

    result = decode(await local.call("thread/replay", params, tell))
    if not options.json:
        terminal.line(terminal.paint(f"{counted(result['eventCount'], 'event')}, digest {result['digest']}", "dim"))
    return OK


def _line(event: dict[str, Any], terminal: Terminal) -> str:
    head = f"{event['sequence']:6}  {event['timestamp'][11:23]}  "
    type_ = padded(one_line(event["type"]), 26)
    room = max(20, min(terminal.width, 140) - len(head) - 28)
    return terminal.paint(head, "dim") + terminal.paint(type_, "cyan") + "  " + cut(one_line(_said(event)), room)


_TELLING = ("text", "command", "tool", "query", "path", "delta", "message", "name")
_ELSE = ("status", "reason", "kind")
_MOST = 1000


def _said(event: dict[str, Any]) -> str:
    """The one thing in an event that says most to a person."""
    payload = mapping(event["payload"])
    for source in (mapping(payload.get("item")), payload):
        content = source.get("content")
        inside = [*_objects(content), *_objects(source.get("changes"))]
        told = [source.get(name) for name in _TELLING] + [content] + [_first(one) for one in inside]
        for found in (*told, *(source.get(name) for name in _ELSE)):
            if isinstance(found, str) and found.strip():
                return found[:_MOST]
    return ""


def _first(value: dict[str, Any]) -> Any:
    return value.get("text") or value.get("path")


def _objects(value: Any) -> list[dict[str, Any]]:
    return [mapping(one) for one in cast("list[Any]", value)] if isinstance(value, list) else []
