"""`lockstitch show`: what happened in a thread, turn by turn."""

from __future__ import annotations

import argparse
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, moment, one_line, wrapped
from lockstitch.cli.threads import title_of
from lockstitch.cli.transcript import Transcript
from lockstitch.cli.turns import turn_id, turns
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Show a thread."""
    thread_id = local.thread_id(options.thread)
    thread = (await local.ask("thread/read", threadId=thread_id))["thread"]
    wanted = None if options.turn is None else await turn_id(local, thread["id"], options.turn)
    if options.json:
        thread["turns"] = [turn async for _, turn in turns(local, thread["id"]) if wanted in (None, turn["id"])]
        terminal.json(encode({"thread": thread}))
        return OK
    terminal.lines(*heading(thread, terminal), "")
    transcript = Transcript(terminal, full=options.full)
    async for number, turn in turns(local, thread["id"]):
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
