"""`lockstitch storage`: what is stored, whether it is as it was, and what nobody needs.

Invariant: nothing is removed without `--yes`.
"""

from __future__ import annotations

import argparse
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, one_line, sized
from lockstitch.codec import encode

_METHODS = {"report": "storage/report", "verify": "storage/verify", "rebuild": "storage/rebuild", "clear": "storage/gc"}
_SHOWN = 20


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Do it and say what came of it; the status of `verify` says whether all is as it was."""
    method = _METHODS[options.action]
    found = await local.ask(method, **({"dryRun": not options.yes} if options.action == "clear" else {}))
    if options.json:
        terminal.json(encode(found))
    else:
        terminal.lines(*_TELL[options.action](found))
    return FAILED if options.action == "verify" and not found["ok"] else OK


def _report(found: dict[str, Any]) -> list[str]:
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
        lines.append(f"  {files} ({sized(orphans['bytes'])}) that no thread refers to: lockstitch storage clear")
    if found["threads"]:
        lines.append("largest threads")
    for one in found["threads"][:_SHOWN]:
        lines.append(f"  {one['threadId']:38}{sized(one['bytes']):>10}  {counted(one['events'], 'event')}")
    return lines


def _verify(found: dict[str, Any]) -> list[str]:
    read = f"{counted(found['threads'], 'thread')}, {counted(found['events'], 'event')}, "
    lines = [read + f"{sized(found['bytes'])} and {counted(found['contents'], 'content')} read"]
    for one in found["differences"][:_SHOWN]:
        lines.append("  " + one_line(_difference(one)))
    left = found["differenceCount"] - min(_SHOWN, len(found["differences"]))
    if left:
        lines.append(f"  and {left} more: --json lists them")
    lines.append("Everything is as it was." if found["ok"] else "Something is not as it was.")
    return lines


def _difference(one: dict[str, Any]) -> str:
    text = f"{one.get('threadId', '')}: {one['kind']} {one['reason']}"
    if "fromOffset" in one:
        text += f", bytes {one['fromOffset']} to {one['toOffset']}" + (", told of already" if one.get("told") else "")
    if "table" in one:
        text += f", row {one['key']} of {one['table']} (lockstitch storage rebuild mends it)"
    return text + (f", sha256 {one['sha256']}" if "sha256" in one else "")


def _rebuild(found: dict[str, Any]) -> list[str]:
    return [f"The database was made anew from {counted(found['threads'], 'thread')}: {sized(found['bytes'])}."]


def _clear(found: dict[str, Any]) -> list[str]:
    lines = [f"{one['reason']:13}{sized(one['bytes']):>10}  {one_line(one['path'])}" for one in found["candidates"]]
    lines += [f"left alone: {one_line(one['path'])} ({one['reason']})" for one in found["skipped"]]
    count = counted(found["candidateCount"], "file")
    if found["dryRun"]:
        lines.append(f"{count}, {sized(found['candidateBytes'])}, could be removed: lockstitch storage clear --yes")
    else:
        lines.append(f"{counted(found['removed'], 'file')} removed, {sized(found['freedBytes'])} given back")
    return lines


_TELL = {"report": _report, "verify": _verify, "rebuild": _rebuild, "clear": _clear}
