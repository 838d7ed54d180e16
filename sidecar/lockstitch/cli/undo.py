"""`lockstitch undo`: take a restore or a rewind back, by default the last one that still stands."""

from __future__ import annotations

import argparse

from lockstitch.cli.consent import carry_out
from lockstitch.cli.events import all_events
from lockstitch.cli.ids import chosen
from lockstitch.cli.local import Local
from lockstitch.cli.terminal import Terminal
from lockstitch.errors import NotFoundError


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Find the act, plan, ask, undo."""
    thread_id = await local.known_thread_id(options.thread)
    params = {"sessionId": thread_id, "onConflict": options.on_conflict}
    standing, known = await _acts(local, thread_id)
    if options.act is not None:
        act = chosen(options.act, known, "act")
        params |= {"restoreCheckpointId": options.act} if act is None else {"rewindId": act}
    elif standing:
        params["rewindId"] = standing[-1]
    else:
        raise NotFoundError(
            f"Nothing was restored or rewound in thread {thread_id} that still stands.",
            kind="checkpointNotFound",
            threadId=thread_id,
        )
    try:
        return await carry_out(local, options, terminal, "agentSession/fileCheckpoint/undo", params)
    except NotFoundError as error:
        if options.act is None or error.kind != "checkpointNotFound":
            raise
        said = f"Thread {thread_id} has no restore and no rewind {options.act!r}."
        raise NotFoundError(said, kind=error.kind, threadId=thread_id) from None


async def _acts(local: Local, thread_id: str) -> tuple[list[str], list[str]]:
    """The acts that are not undone, and all of them, undos too, the first first. An undo of an undo makes it stand."""
    standing: dict[str, None] = {}
    undone: dict[str, str] = {}
    known: list[str] = []
    async for event in all_events(local, thread_id, types=["thread.rewound"]):
        payload = event["payload"]
        act, undoes = str(event["eventId"]), payload.get("undoes")
        known.append(act)
        if payload.get("kind") != "undo":
            standing[act] = None
        elif undoes in standing:
            del standing[undoes]
            undone[act] = undoes
        elif undoes in undone:
            standing[undone[undoes]] = None
            undone[act] = undoes
    return list(standing), known
