"""`lockstitch rm`: remove threads and all that only they need.

Invariant: what is to be removed is named in full, and agreed to, before the first of it goes.
"""

from __future__ import annotations

import argparse

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, one_line
from lockstitch.cli.threads import title_of
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Remove each. A name that fits none or several ends it before anything is done."""
    found = {one: await local.known_thread_id(one) for one in options.threads}
    ids = list(dict.fromkeys(found.values()))
    if not options.yes:
        for thread_id in () if options.json else ids:
            thread = (await local.ask("thread/read", threadId=thread_id))["thread"]
            files = thread["fileCheckpointSummary"]["count"]
            facts = f"{counted(thread['turnCount'], 'turn')}, {counted(files, 'file checkpoint')}"
            terminal.line(f"{terminal.paint(thread_id, 'cyan')}  {facts}")
            terminal.line(f"    {cut(one_line(title_of(thread)), terminal.width - 4)}")
        if options.json or not terminal.can_ask:
            raise BadArgumentsError("nothing was removed: give --yes, or run it on a terminal, where it asks")
        if not terminal.ask(f"Remove {counted(len(ids), 'thread')} for good?"):
            terminal.line("Nothing was removed.")
            return FAILED
    for thread_id in ids:
        await local.call("thread/delete", {"threadId": thread_id})
    if options.json:
        terminal.json(encode({"threadIds": ids, "removed": True}))
    else:
        terminal.line(f"{counted(len(ids), 'thread')} removed")
    return OK
