"""`lockstitch rename`: give a thread a name."""

from __future__ import annotations

import argparse

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import one_line
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Name the thread."""
    thread_id = local.thread_id(options.thread)
    result = await local.ask("thread/name/set", threadId=thread_id, name=options.name)
    if options.json:
        terminal.json(encode(result))
    else:
        name = one_line(result["thread"]["name"])
        terminal.line(f"{terminal.paint(result['thread']['id'], 'cyan')} is now called {terminal.paint(name, 'bold')}")
    return OK
