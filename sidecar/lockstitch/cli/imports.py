"""`lockstitch import`: sessions that other tools wrote, taken over one after the other."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, one_line, short_ids
from lockstitch.codec import encode
from lockstitch.errors import LockstitchError, NotFoundError

_CLIENTS = ("codex", "claude", "gemini")
_LOOK_SECONDS = 0.02


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Import every path; the status says whether all of them came in."""
    outcomes: list[dict[str, Any]] = []
    for path in map(os.path.abspath, options.paths):
        async for source in _sessions(local, path, outcomes):
            outcomes.append(await _import(local, source))
            if not options.json:
                _show(local, outcomes[-1], terminal)
    failed = [outcome for outcome in outcomes if "error" in outcome]
    if options.json:
        terminal.json(encode({"imports": outcomes}))
    else:
        for outcome in failed:
            if "shown" not in outcome:
                _show(local, outcome, terminal)
        if len(outcomes) > 1:
            summary = f"{counted(len(outcomes) - len(failed), 'session')} imported"
            terminal.line(summary + (f", {len(failed)} not" if failed else ""))
    return FAILED if failed else OK


async def _sessions(local: Local, path: str, outcomes: list[dict[str, Any]]) -> AsyncIterator[str]:
    """The session files that a path means: itself, or all that lie below it."""
    if not _is_folder(path):
        yield path
        return
    found = False
    for client in _CLIENTS:
        cursor: str | None = None
        while True:
            page = await local.ask(
                "conversationImport/source/scan",
                sourceClient=client,
                sourceRoot=path,
                includeArchived=True,
                limit=500,
                cursor=cursor,
            )
            for thread in page["threads"]:
                found = True
                yield thread["sourcePath"]
            cursor = page["nextCursor"]
            if cursor is None:
                break
    if not found:
        error = NotFoundError(
            "no sessions of Codex, Claude Code or Gemini CLI were found in this folder", kind="sourceNotFound"
        )
        outcomes.append(_failure(path, {"kind": error.kind, "message": error.message}))


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)


async def _import(local: Local, path: str) -> dict[str, Any]:
    """Import one session file; a failure is an outcome, so that it stops none of the others."""
    try:
        job = (await local.ask("conversationImport/thread/commit", sourcePath=path, confirmed=True))["job"]
        while job["status"] in ("queued", "running"):
            await asyncio.sleep(_LOOK_SECONDS)
            job = (await local.ask("conversationImport/job/read", jobId=job["jobId"]))["job"]
    except LockstitchError as error:
        return _failure(path, {"kind": error.kind, "message": error.message})
    if job["status"] == "failed":
        return _failure(path, job.get("error") or {"message": "the import failed"})
    return {"sourcePath": path, "sourceClient": job["sourceClient"], "result": job["result"]}


def _failure(path: str, error: dict[str, Any]) -> dict[str, Any]:
    return {"sourcePath": path, "error": error}


def _show(local: Local, outcome: dict[str, Any], terminal: Terminal) -> None:
    name = one_line(os.path.basename(outcome["sourcePath"]))
    if "error" in outcome:
        reason = one_line(str(outcome["error"].get("message")))
        terminal.line(f"{terminal.paint('failed', 'red')}  {name}: {reason}")
        outcome["shown"] = True
        return
    result = outcome["result"]
    thread_id = result["threadId"]
    short = short_ids(local.thread_ids()).get(thread_id) or str(thread_id)
    new = [
        counted(result[field], noun)
        for field, noun in (("turns", "turn"), ("items", "item"), ("checkpoints", "file checkpoint"))
        if result[field]
    ]
    said = ", ".join(new) if new else "nothing new"
    if result["damaged"]:
        said += f", {counted(result['damaged'], 'unreadable line')}"
    text = f"  {outcome['sourceClient']}: {said}  "
    terminal.line(
        terminal.paint(short, "cyan")
        + text
        + terminal.paint(cut(name, max(20, terminal.width - len(short + text))), "dim")
    )
