"""`lockstitch checkpoints`: the recorded changes of files in a thread, the newest first."""

from __future__ import annotations

import argparse
from typing import Any

from lockstitch.cli.ids import chosen
from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut, moment_of, one_line, padded, short_ids
from lockstitch.cli.turns import turn_id
from lockstitch.codec import encode
from lockstitch.errors import NotFoundError


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """List checkpoints, one a line."""
    thread_id = local.thread_id(options.thread)
    turn = None if options.turn is None else await turn_id(local, thread_id, options.turn)
    found = await all_checkpoints(local, thread_id, options.path, turn)
    if options.files:
        return await _files(local, thread_id, found, options, terminal)
    if options.json:
        terminal.json(encode({"threadId": thread_id, "checkpointCount": len(found), "checkpoints": found}))
        return OK
    if not found:
        terminal.line("No file checkpoints.")
        return OK
    every = found if options.path is None and turn is None else await all_checkpoints(local, thread_id, None)
    ids = short_ids([checkpoint["checkpointId"] for checkpoint in every])
    id_width = max(10, *(len(ids[checkpoint["checkpointId"]]) for checkpoint in found))
    wide = terminal.width >= 120
    head = f"{'CHECKPOINT':{id_width}}  {'RECORDED':16}  {'CHANGE':8}  {'VERSION':7}  "
    head += f"{'BY':8}  {'LINES':12}  " if wide else ""
    terminal.line(terminal.paint(head + "FILE", "dim"))
    for checkpoint in found:
        version = f"v{checkpoint['versionNo']:04}" if checkpoint.get("versionNo") is not None else ""
        operation = "failed" if checkpoint.get("status") == "failed" else checkpoint["op"]
        fields = f"{moment_of(checkpoint['updatedAt']):16}  {operation:8}  {version:7}  "
        if wide:
            fields += f"{checkpoint['source']:8}  {_lines(checkpoint):12}  "
        path = cut(one_line(path_of(checkpoint)), max(20, terminal.width - len(head)))
        terminal.line(terminal.paint(padded(ids[checkpoint["checkpointId"]], id_width), "cyan") + "  " + fields + path)
    return OK


def _lines(checkpoint: dict[str, Any]) -> str:
    if checkpoint.get("additions") is None or checkpoint.get("deletions") is None:
        return ""
    return f"+{checkpoint['additions']} −{checkpoint['deletions']}"


_STATES = {
    "same": ("as recorded", "green"),
    "changed": ("changed since", "yellow"),
    "missing": ("gone", "red"),
    "unreadable": ("unreadable", "red"),
    "deleted": ("deleted, as recorded", "green"),
    "renamed": ("renamed, as recorded", "green"),
    "back": ("there again", "yellow"),
    "unlinked": ("no workspace", "dim"),
}


async def _files(
    local: Local, thread_id: str, found: list[dict[str, Any]], options: argparse.Namespace, terminal: Terminal
) -> int:
    """One line a file: how often it was recorded, what came and went in all, and how it is now."""
    linked = (await local.ask("thread/read", threadId=thread_id))["thread"]["workspaceLinked"]
    moved = renamed_since(found)
    rows = [
        await _file(local, thread_id, recorded, linked=linked, moved=path in moved)
        for path, recorded in by_file(found).items()
    ]
    rows.sort(key=lambda row: row["path"])
    if options.json:
        terminal.json(encode({"threadId": thread_id, "files": rows}))
        return OK
    if not rows:
        terminal.line("No file checkpoints.")
        return OK
    head = f"{'RECORDED':>8}  {'LINES':14}  {'ON THE DISK':20}  "
    terminal.line(terminal.paint(head + "FILE", "dim"))
    for row in rows:
        said, colour = _STATES[row["state"]]
        lines = f"{_lines(row):14}"
        path = cut(one_line(row["path"]), max(20, terminal.width - len(head)))
        terminal.line(f"{row['recorded']:>7}x  {lines}  {terminal.paint(f'{said:20}', colour)}  {path}")
    return OK


async def _file(
    local: Local, thread_id: str, recorded: list[dict[str, Any]], *, linked: bool, moved: bool
) -> dict[str, Any]:
    newest = recorded[0]
    state = "unlinked"
    if linked:
        got = await local.ask(
            "agentSession/fileCheckpoint/get", sessionId=thread_id, checkpointId=newest["checkpointId"], maxBytes=0
        )
        state = got["liveState"]
        if moved:
            state = "renamed" if state == "missing" else "back"
        elif newest["after"] is None:
            state = "deleted" if state == "missing" else "back"
    return {
        "path": newest["path"],
        "recorded": len(recorded),
        **{name: _sum(name, recorded) for name in ("additions", "deletions")},
        "newestCheckpointId": newest["checkpointId"],
        "state": state,
    }


def _sum(name: str, recorded: list[dict[str, Any]]) -> int | None:
    """How many lines came or went in all, as far as it is known; None if it is of no change."""
    known = [one[name] for one in recorded if one.get(name) is not None]
    return sum(known) if known else None


def by_file(checkpoints: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The checkpoints of each file, by `file_of`, in the order given."""
    files: dict[str, list[dict[str, Any]]] = {}
    for checkpoint in checkpoints:
        files.setdefault(file_of(checkpoint), []).append(checkpoint)
    return files


def renamed_since(checkpoints: list[dict[str, Any]]) -> set[str]:
    """Of the files of these checkpoints, the newest first, those that got another name after their last one."""
    seen: set[str] = set()
    gone: set[str] = set()
    for checkpoint in checkpoints:
        old = checkpoint.get("oldPath")
        seen.add(file_of(checkpoint))
        if checkpoint["op"] == "renamed" and old and old not in seen:
            gone.add(old)
    return gone


def file_of(checkpoint: dict[str, Any]) -> str:
    """What tells its file from every other, also from one whose name only looks the same."""
    return str(checkpoint.get("pathBase64") or checkpoint["path"])


def path_of(checkpoint: dict[str, Any]) -> str:
    """The file of a checkpoint, with the name it had before."""
    old = checkpoint.get("oldPath")
    return f"{old} → {checkpoint['path']}" if old and old != checkpoint["path"] else checkpoint["path"]


async def all_checkpoints(
    local: Local, thread_id: str, path: str | None, turn: str | None = None
) -> list[dict[str, Any]]:
    """Every checkpoint of a thread, or of one of its files or turns, the newest first."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await local.ask(
            "agentSession/fileCheckpoint/list", sessionId=thread_id, path=path, turnId=turn, cursor=cursor
        )
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
