"""`lockstitch archive`: put threads away, or take them out again."""

from __future__ import annotations

import argparse

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Archive each, or unarchive. A name that fits none or several ends it before anything is done."""
    ids = [await local.known_thread_id(given) for given in options.threads]
    method = "thread/unarchive" if options.undo else "thread/archive"
    for thread_id in ids:
        await local.call(method, {"threadId": thread_id})
    if options.json:
        terminal.json(encode({"threadIds": ids, "archived": not options.undo}))
        return OK
    for thread_id in ids:
        terminal.line(f"{terminal.paint(thread_id, 'cyan')}  {'listed again' if options.undo else 'put away'}")
    return OK
