"""`lockstitch storage`: what is stored, whether it is as it was, and what nobody needs.

Invariant: nothing is removed without `--yes`.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, one_line, padded, sized, wrapped
from lockstitch.cli.threads import title_of
from lockstitch.codec import encode
from lockstitch.errors import LockstitchError

_METHODS = {"report": "storage/report", "verify": "storage/verify", "rebuild": "storage/rebuild", "clear": "storage/gc"}
_SHOWN = 20
_MOST_THREADS = 10


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Do it and say what came of it; the status of `verify` says whether all is as it was."""
    method = _METHODS[options.action]
    found = await local.ask(method, **({"dryRun": not options.yes} if options.action == "clear" else {}))
    if options.json:
        terminal.json(encode(found))
    else:
        if options.action == "report":
            found["titles"] = await _titles(local, found["threads"][:_MOST_THREADS])
        terminal.lines(*_TELL[options.action](found, terminal))
    return FAILED if options.action == "verify" and not found["ok"] else OK


async def _titles(local: Local, threads: list[dict[str, Any]]) -> dict[str, str]:
    titles: dict[str, str] = {}
    for one in threads:
        with suppress(LockstitchError):  # removed since
            thread = (await local.ask("thread/read", threadId=one["threadId"]))["thread"]
            titles[one["threadId"]] = one_line(title_of(thread))
    return titles


def _report(found: dict[str, Any], terminal: Terminal) -> list[str]:
    lines = [f"{sized(found['bytes'])} in {counted(found['files'], 'file')}, {counted(found['threadCount'], 'thread')}"]
    for one in found["classes"]:
        if one["files"]:
            lines.append(f"  {one['name']:18}{sized(one['bytes']):>10}  {counted(one['files'], 'file')}")
    if database := found.get("database"):
        free = database["freePages"] * database["pageBytes"]
        lines.append(f"  database: {sized(free)} free, log {sized(database['walBytes'])}")
    orphans = found["orphans"]
    if orphans["files"]:
        files = counted(orphans["files"], "content")
        lines.append(f"  {files} ({sized(orphans['bytes'])}) that no thread refers to: `lockstitch storage clear`")
    if found["threads"]:
        lines.append("largest threads")
    largest = found["threads"][:_MOST_THREADS]
    widest = max((cells(one_line(one["threadId"])) for one in largest), default=0)
    for one in largest:
        name = padded(one_line(one["threadId"]), widest)
        text = f"  {name}  {sized(one['bytes']):>8}  {counted(one['events'], 'event'):>13}  "
        lines.append(text + cut(found["titles"].get(one["threadId"], ""), max(8, terminal.width - cells(text))))
    return lines


def _verify(found: dict[str, Any], terminal: Terminal) -> list[str]:
    read = f"{counted(found['threads'], 'thread')}, {counted(found['events'], 'event')}, "
    lines = [read + f"{sized(found['bytes'])} and {counted(found['contents'], 'content')} read"]
    for one in found["differences"][:_SHOWN]:
        lines += [f"  {line}" for line in wrapped(one_line(_difference(one)), terminal.width - 2)]
    left = found["differenceCount"] - min(_SHOWN, len(found["differences"]))
    if left:
        lines.append(f"  and {left} more: --json lists them")
    if not found["ok"]:
        lines.append(terminal.paint("Something is not as it was.", "red"))
    elif found["differences"]:
        lines.append("Everything else is as it was; what is listed was found before, and reads say so.")
    else:
        lines.append(terminal.paint("Everything is as it was.", "green"))
    return lines


def _difference(one: dict[str, Any]) -> str:
    text = f"{one.get('threadId', '')}: {one['kind']} {one['reason']}"
    if "fromOffset" in one:
        text += f", bytes {one['fromOffset']} to {one['toOffset']}" + (", told of already" if one.get("told") else "")
    if "table" in one:
        text += f", row {one['key']} of {one['table']} (lockstitch storage rebuild mends it)"
    return text + (f", sha256 {one['sha256']}" if "sha256" in one else "")


def _rebuild(found: dict[str, Any], terminal: Terminal) -> list[str]:
    del terminal
    return [f"The database was made anew from {counted(found['threads'], 'thread')}: {sized(found['bytes'])}."]


def _clear(found: dict[str, Any], terminal: Terminal) -> list[str]:
    del terminal
    lines = [f"{one['reason']:13}{sized(one['bytes']):>10}  {one_line(one['path'])}" for one in found["candidates"]]
    lines += [f"left alone: {one_line(one['path'])} ({one['reason']})" for one in found["skipped"]]
    count = counted(found["candidateCount"], "file")
    if not found["candidateCount"]:
        lines.append("There is nothing to clear.")
    elif found["dryRun"]:
        lines.append(f"{count}, {sized(found['candidateBytes'])}, could be removed: `lockstitch storage clear --yes`")
    else:
        lines.append(f"{counted(found['removed'], 'file')} removed, {sized(found['freedBytes'])} given back")
    return lines


_TELL = {"report": _report, "verify": _verify, "rebuild": _rebuild, "clear": _clear}
