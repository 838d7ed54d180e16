"""`lockstitch rewind`: all files of a thread, or some, back to before or after a turn."""

from __future__ import annotations

import argparse

from lockstitch.cli.consent import carry_out
from lockstitch.cli.local import Local
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.turns import turn_id


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Plan, ask, rewind."""
    thread_id = await local.known_thread_id(options.thread)
    params = {
        "sessionId": thread_id,
        "toTurnId": await turn_id(local, thread_id, options.turn),
        "position": "before" if options.before else "after",
        "paths": options.paths or None,
        "onConflict": options.on_conflict,
        "conversation": options.conversation,
    }
    return await carry_out(local, options, terminal, "agentSession/fileCheckpoint/rewind", params)
