"""`lockstitch checkpoints`: the recorded changes of files in a thread, the newest first."""

from __future__ import annotations

import argparse
from typing import Any

from lockstitch.cli.local import Local, chosen
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut, moment_of, one_line, padded, short_ids
from lockstitch.codec import encode
from lockstitch.errors import NotFoundError


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """List checkpoints, one a line."""
    thread_id = local.thread_id(options.thread)
    found = await all_checkpoints(local, thread_id, options.path)
    if options.json:
        terminal.json(encode({"threadId": thread_id, "checkpointCount": len(found), "checkpoints": found}))
        return OK
    if not found:
        terminal.line("No file checkpoints.")
        return OK
    every = found if options.path is None else await all_checkpoints(local, thread_id, None)
    ids = short_ids([checkpoint["checkpointId"] for checkpoint in every])
    id_width = max(10, *(len(ids[checkpoint["checkpointId"]]) for checkpoint in found))
    head = f"{'CHECKPOINT':{id_width}}  {'RECORDED':16}  {'CHANGE':8}  {'VERSION':7}  "
    terminal.line(terminal.paint(head + "FILE", "dim"))
    for checkpoint in found:
        version = f"v{checkpoint['versionNo']:04}" if checkpoint.get("versionNo") is not None else ""
        operation = "failed" if checkpoint.get("status") == "failed" else checkpoint["op"]
        fields = f"{moment_of(checkpoint['updatedAt']):16}  {operation:8}  {version:7}  "
        path = cut(one_line(path_of(checkpoint)), max(20, terminal.width - len(head)))
        terminal.line(terminal.paint(padded(ids[checkpoint["checkpointId"]], id_width), "cyan") + "  " + fields + path)
    return OK


def path_of(checkpoint: dict[str, Any]) -> str:
    """The file of a checkpoint, with the name it had before."""
    old = checkpoint.get("oldPath")
    return f"{old} → {checkpoint['path']}" if old and old != checkpoint["path"] else checkpoint["path"]


async def all_checkpoints(local: Local, thread_id: str, path: str | None) -> list[dict[str, Any]]:
    """Every checkpoint of a thread, or of one of its files, the newest first."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await local.ask("agentSession/fileCheckpoint/list", sessionId=thread_id, path=path, cursor=cursor)
        found += page["checkpoints"]
        cursor = page["nextCursor"]
        if cursor is None:
            return found


async def checkpoint_id(local: Local, thread_id: str, given: str) -> str:
    """The checkpoint that is meant by the beginning of its id, or by a path: the newest of that file."""
    found = await all_checkpoints(local, thread_id, None)
    for checkpoint in found:
        if checkpoint["path"] == given:
            return checkpoint["checkpointId"]
    one = chosen(given, [checkpoint["checkpointId"] for checkpoint in found], "checkpoint")
    if one is None:
        raise NotFoundError(
            f"Thread {thread_id} has no checkpoint and no file {given!r}; `lockstitch checkpoints` lists them.",
            kind="checkpointNotFound",
            threadId=thread_id,
        )
    return one
