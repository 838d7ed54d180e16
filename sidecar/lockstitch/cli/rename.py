"""`lockstitch rename`: give a thread a name."""

from __future__ import annotations

import argparse

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut, one_line
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Name the thread."""
    thread_id = local.thread_id(options.thread)
    result = await local.ask("thread/name/set", threadId=thread_id, name=options.name)
    if options.json:
        terminal.json(encode(result))
    else:
        thread = result["thread"]
        name = cut(one_line(thread["name"]), terminal.width - len(thread["id"]) - 2)
        terminal.line(f"{terminal.paint(thread['id'], 'cyan')}  {name}")
    return OK
