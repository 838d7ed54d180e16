"""`lockstitch fork`: copy a thread up to a turn."""

from __future__ import annotations

import argparse

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted
from lockstitch.cli.turns import turn_id
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Fork the thread; the new one's id."""
    thread_id = await local.known_thread_id(options.thread)
    last = None if options.turn is None else await turn_id(local, thread_id, options.turn)
    result = await local.ask("thread/fork", threadId=thread_id, lastTurnId=last, name=options.name, excludeTurns=True)
    if options.json:
        terminal.json(encode(result))
        return OK
    thread = (await local.ask("thread/read", threadId=result["thread"]["id"]))["thread"]
    terminal.line(f"{terminal.paint(thread['id'], 'cyan')}  {counted(thread['turnCount'], 'turn')}")
    return OK
