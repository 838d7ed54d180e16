"""`lockstitch replay`: the recorded events of a thread, in order, at a chosen speed. Nothing is done again."""

from __future__ import annotations

import argparse
from typing import Any

from lockstitch.cli.events import event_line, heading
from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted
from lockstitch.codec import decode, encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Replay a thread."""
    thread_id = await local.known_thread_id(options.thread)
    params: dict[str, Any] = {"threadId": thread_id, "afterSequence": options.after}
    if options.until is not None:
        params["untilSequence"] = options.until
    if options.speed is not None:
        params["speed"] = options.speed

    if not options.json:
        terminal.line(heading(terminal))

    def tell(method: str, told: bytes) -> None:
        if method != "thread/replay/event":
            return
        event = decode(told)["event"]
        if options.json:
            terminal.json(encode(event))
        else:
            terminal.line(event_line(event, terminal))
        if options.speed is not None:
            terminal.flush()

    result = decode(await local.call("thread/replay", params, tell))
    if not options.json:
        terminal.line(terminal.paint(counted(result["eventCount"], "event"), "dim"))
        terminal.line(terminal.paint(f"digest {result['digest']}", "dim"))
    return OK
