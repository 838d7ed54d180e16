"""`lockstitch restore`: one file, back as a checkpoint left it, or found it."""

from __future__ import annotations

import argparse

from lockstitch.cli.checkpoints import checkpoint_id
from lockstitch.cli.consent import carry_out
from lockstitch.cli.local import Local
from lockstitch.cli.terminal import Terminal


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Plan, ask, restore."""
    thread_id = await local.known_thread_id(options.thread)
    params = {
        "sessionId": thread_id,
        "checkpointId": await checkpoint_id(local, thread_id, options.checkpoint),
        "side": "before" if options.before else "after",
        "onConflict": options.on_conflict,
    }
    return await carry_out(local, options, terminal, "agentSession/fileCheckpoint/restore", params)
