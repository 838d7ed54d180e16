"""`lockstitch import`: sessions that other tools wrote, listed or taken over one after the other.

Invariant: one session that cannot be imported stops none of the others.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, get_args

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK, BadArgumentsError, complain
from lockstitch.cli.progress import Progress
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, moment_of, one_line, padded, short_ids, sized
from lockstitch.codec import encode
from lockstitch.errors import InvalidError, LockstitchError, NotFoundError
from lockstitch_protocol.conversation_import import SourceClient

CLIENTS: tuple[str, ...] = get_args(SourceClient)
_LOOK_SECONDS = 0.02
_AT_ONCE = 6
_ID_CELLS = 16
"""Ids are shown a little longer than they need to be: those that come in later do not make them ambiguous."""


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """List what is there, or import it; the status says whether all of it came in."""
    if options.client is not None and options.client not in CLIENTS:
        raise BadArgumentsError(f"--client {options.client}: sessions of {', '.join(CLIENTS)} can be imported")
    if options.scan:
        return await _scan(local, options, terminal)
    if not options.paths:
        raise BadArgumentsError(
            "which sessions? give a file or a folder; `lockstitch import --scan` lists what is there"
        )
    return await _import_all(local, options, terminal)


# -- what is there ------------------------------------------------------------------------------------------------
async def _sessions(local: Local, options: argparse.Namespace, root: str | None) -> AsyncIterator[dict[str, Any]]:
    """The sessions below a folder, or where the tools keep theirs, that the options mean; the last used first."""
    found: list[dict[str, Any]] = []
    for client in CLIENTS if options.client is None else (options.client,):
        cursor: str | None = None
        while True:
            page = await local.ask(
                "conversationImport/source/scan",
                sourceClient=client,
                sourceRoot=root,
                projectPath=_absolute(options.project),
                query=options.search,
                includeArchived=True,
                limit=500,
                cursor=cursor,
            )
            found += page["threads"]
            cursor = page["nextCursor"]
            if cursor is None:
                break
    found.sort(key=lambda one: one["updatedAt"], reverse=True)
    for one in found[: options.limit]:
        yield one


async def _scan(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    found: list[dict[str, Any]] = []
    for path in options.paths or [None]:
        found += [one async for one in _sessions(local, options, _absolute(path))]
    if options.json:
        terminal.json(encode({"threads": found}))
        return OK
    if not found:
        terminal.line("No sessions of other tools were found.")
        return OK
    wide = terminal.width >= 120
    ids = short_ids([one["sourceThreadId"] for one in found])
    id_width = max(7, *(len(short) for short in ids.values()))
    head = f"{'SESSION':{id_width}}  {'TOOL':6}  {'LAST USED':16}  {'SIZE':>8}  IN?  "
    rest = terminal.width - len(head)
    projects = [one_line(one.get("projectPath") or "") for one in found]
    project_width = min(rest // 2, max(9, *map(cells, projects)) + 2) if wide else 0
    terminal.line(terminal.paint(head + (padded("PROJECT", project_width) if wide else "") + "TITLE", "dim"))
    for one, cwd in zip(found, projects, strict=True):
        is_in = terminal.paint("yes", "green") if one.get("importedThreadId") else "   "
        used = f"{moment_of(one['updatedAt']):16}  {sized(one['bytes']):>8}"
        project = padded(cwd, project_width - 2) + "  " if wide else ""
        title = cut(one_line(one.get("title") or os.path.basename(one["sourcePath"])), rest - project_width)
        short = terminal.paint(padded(one_line(ids[one["sourceThreadId"]]), id_width), "cyan")
        terminal.line(
            f"{short}  {one['sourceClient']:6}  {used}  {is_in}  {terminal.paint(project, 'dim')}{title}".rstrip()
        )
    new = sum(1 for one in found if not one.get("importedThreadId"))
    size = sized(sum(one["bytes"] for one in found))
    still = f"{new} of them not in yet" if new else "all of them are in"
    terminal.line(terminal.paint(f"{counted(len(found), 'session')}, {size}, {still}", "dim"))
    return OK


# -- taking it over -----------------------------------------------------------------------------------------------
async def _import_all(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    outcomes: list[dict[str, Any]] = []
    paths = [path async for path in _files(local, options, outcomes)]
    progress = Progress(Terminal.silent() if options.json else terminal, len(paths))
    if not options.json:
        for outcome in outcomes:
            _show(outcome, "", terminal)
    known = local.thread_ids() if paths and not options.json else []
    try:
        async for outcome in _outcomes(local, paths, progress):
            outcomes.append(outcome)
            progress.clear()
            if not options.json:
                thread_id = str(outcome.get("result", {}).get("threadId", ""))
                _show(outcome, _short(thread_id, known), terminal)
                known.append(thread_id)
            progress.step(one_line(os.path.basename(outcome["sourcePath"])))
    finally:
        progress.clear()  # Ctrl-C too
    failed = sum(1 for outcome in outcomes if "error" in outcome)
    if options.json:
        terminal.json(encode({"imports": outcomes}))
    elif len(outcomes) > 1:
        same = sum(1 for outcome in outcomes if "error" not in outcome and not _news(outcome["result"]))
        rest = (f", {same} with nothing new" if same else "") + (f", {failed} failed" if failed else "")
        terminal.line(f"{counted(len(outcomes) - failed - same, 'session')} imported{rest}")
    return FAILED if failed else OK


async def _outcomes(local: Local, paths: list[str], progress: Progress) -> AsyncIterator[dict[str, Any]]:
    """What became of each file, in their order; a few are on their way at a time, since each waits for the disk."""
    going: deque[asyncio.Task[dict[str, Any]]] = deque()
    in_order = asyncio.Lock()  # jobs are accepted in the order of their files, however long each is looked at
    try:
        for path in paths:
            if len(going) == _AT_ONCE:
                yield await going.popleft()
            going.append(asyncio.create_task(_import(local, path, progress, in_order)))
        while going:
            yield await going.popleft()
    finally:
        for task in going:
            task.cancel()


def _short(thread_id: str, known: list[str]) -> str:
    """The shortest beginning of a thread's id, if not too short, with which no other of those known begins."""
    lower = thread_id.lower()
    for length in range(13, len(lower)):
        if lower[length - 1].isalnum() and not any(
            one.lower().startswith(lower[:length]) and one.lower() != lower for one in known
        ):
            return thread_id[:length]
    return thread_id


async def _files(local: Local, options: argparse.Namespace, outcomes: list[dict[str, Any]]) -> AsyncIterator[str]:
    """The session files that the paths mean: themselves, or all that lie below them."""
    for path in map(os.path.abspath, options.paths):
        if not _is_folder(path):
            yield path
            continue
        sessions = [session async for session in _sessions(local, options, path)]
        for session in reversed(sessions):  # the oldest first: what goes on from another session comes behind it
            yield session["sourcePath"]
        if not sessions:
            tools = " or ".join(CLIENTS)
            error = NotFoundError(f"no such sessions of {tools} were found in this folder", kind="sourceNotFound")
            outcomes.append(_failure(path, {"kind": error.kind, "message": error.message}))


def _absolute(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(path)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)


async def _import(local: Local, path: str, progress: Progress, in_order: asyncio.Lock) -> dict[str, Any]:
    """Import one session file; a failure is an outcome, so that it stops none of the others."""
    name = one_line(os.path.basename(path))
    try:
        if _is_ours(path):
            found = await local.ask("thread/import", path=path)
            result = {field: found[field] for field in ("imported", "duplicates")}
            return {
                "sourcePath": path,
                "sourceClient": "lockstitch",
                "result": {"threadId": found["thread"]["id"], **result},
            }
        async with in_order:
            job = (await local.ask("conversationImport/thread/commit", sourcePath=path, confirmed=True))["job"]
        while job["status"] in ("queued", "running"):
            known = job["progress"]
            progress.show(name, known["completedItems"], known["totalItems"], known["phase"].replace("_", " "))
            await asyncio.sleep(_LOOK_SECONDS)
            job = (await local.ask("conversationImport/job/read", jobId=job["jobId"]))["job"]
    except LockstitchError as error:
        return _failure(path, {"kind": error.kind, "message": _plainly(error)})
    if job["status"] == "failed":
        return _failure(path, job.get("error") or {"message": "the import failed"})
    return {"sourcePath": path, "sourceClient": job["sourceClient"], "result": job["result"]}


def _plainly(error: LockstitchError) -> str:
    """What went wrong, without naming a parameter that nobody here has given."""
    errors = error.facts.get("errors")
    return f"{errors[0]['message']}" if isinstance(error, InvalidError) and errors else error.message


def _is_ours(path: str) -> bool:
    """Whether it is a bundle, or the lines of a thread, that `lockstitch export` wrote."""
    try:
        with open(path, "rb") as file:
            return file.read(12).startswith((b"PK\3\4", b'{"sequence":'))
    except OSError:
        return False


def _failure(path: str, error: dict[str, Any]) -> dict[str, Any]:
    return {"sourcePath": path, "error": error}


def _news(result: dict[str, Any]) -> list[str]:
    """What came in, counted."""
    fields = (("turns", "turn"), ("items", "item"), ("checkpoints", "file checkpoint"))
    of_ours = ("imported", "event")  # of a thread that was exported
    return [counted(result[field], noun) for field, noun in (*fields, of_ours) if result.get(field)]


def _show(outcome: dict[str, Any], thread: str, terminal: Terminal) -> None:
    name = one_line(os.path.basename(outcome["sourcePath"]) or outcome["sourcePath"])
    if "error" in outcome:
        terminal.flush()
        complain(f"{name}: {outcome['error'].get('message')}")
        return
    result = outcome["result"]
    new = _news(result)
    said = ", ".join(new) if new else "nothing new"
    if result.get("sharedItems"):
        said += f", goes on from {one_line(result['forkedFromId'])[:13]}"
    if result.get("damaged"):
        said += f", {counted(result['damaged'], 'unreadable line')}"
    head = padded(one_line(thread), max(_ID_CELLS, cells(one_line(thread))))
    text = f"  {outcome['sourceClient']:6}  {said}  "
    room = terminal.width - cells(head + text)
    shown = terminal.paint(cut(name, room), "dim") if room > 8 else ""
    terminal.line((terminal.paint(head, "cyan") + text + shown).rstrip())
