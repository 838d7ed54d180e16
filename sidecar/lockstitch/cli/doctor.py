"""`lockstitch doctor`: where everything is, whether it is sound, and what to do if it is not."""

from __future__ import annotations

import argparse
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from lockstitch import __version__
from lockstitch.cli.local import Local
from lockstitch.cli.moved import lost_workspaces
from lockstitch.cli.outcome import FAILED, OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, moment_of, one_line, sized, wrapped
from lockstitch.cli.threads import all_threads, title_of
from lockstitch.codec import encode
from lockstitch.data_root import DataRoot


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Examine the data root; the status says whether it is sound."""
    found = await _findings(local)
    if options.relink:
        return await _relink(local, found["lostWorkspaces"], options, terminal)
    if options.json:
        terminal.json(encode(found))
    else:
        terminal.lines(*_lines(found, terminal))
    return OK if found["sound"] else FAILED


async def _relink(local: Local, lost: list[dict[str, Any]], options: argparse.Namespace, terminal: Terminal) -> int:
    """Link the threads of each workspace that was found in one place, after asking."""
    linked: list[dict[str, Any]] = []
    certain = [one for one in lost if len(one["found"]) == 1]
    if not options.json:
        terminal.lines(*_lost_lines(lost, terminal))
    if not certain:
        if options.json:
            terminal.json(encode({"linked": linked}))
        else:
            terminal.line("There is nothing to link." if not lost else "Nothing was linked: no place is certain.")
        return FAILED if lost else OK
    if not options.yes:
        if options.json or not terminal.can_ask:
            raise BadArgumentsError("nothing was linked: give --yes, or run it on a terminal, where it asks")
        count = sum(len(one["threadIds"]) for one in certain)
        if not terminal.ask(f"Link {counted(count, 'thread')} to where the workspace is now?"):
            terminal.line("Nothing was linked.")
            return FAILED
    for one in certain:
        for thread_id in one["threadIds"]:
            await local.call("thread/metadata/update", {"threadId": thread_id, "workspace": one["found"][0]})
            linked.append({"threadId": thread_id, "workspace": one["found"][0]})
    if options.json:
        terminal.json(encode({"linked": linked}))
    else:
        terminal.line(f"{counted(len(linked), 'thread')} linked")
    return OK if len(certain) == len(lost) else FAILED


async def _findings(local: Local) -> dict[str, Any]:
    root = DataRoot(Path(local.settings.data_root))
    threads: list[dict[str, Any]] = []
    for archived in (False, True):
        threads += [thread async for thread in all_threads(local, None, {"archived": archived})]
    listed = {thread["id"].lower() for thread in threads}
    unlisted = sorted(one for one in local.thread_ids() if one.lower() not in listed)
    damaged = [
        {
            "threadId": thread["id"],
            "title": title_of(thread),
            "partial": thread.get("partial", False),
            "damage": thread.get("damage", []),
        }
        for thread in threads
        if thread.get("partial") or thread.get("damage")
    ]
    status = await local.ask("server/status")
    alive = {one["bootId"] for one in status["processes"]}
    choice = local.settings.root
    return {
        "sound": not unlisted and not any(one["partial"] for one in damaged),
        "dataRoot": {
            "path": str(root.path),
            "source": choice.source,
            "variable": choice.variable,
            "readOnly": local.settings.read_only,
        },
        "versions": {"lockstitch": __version__, "python": platform.python_version(), "sqlite": _sqlite_version()},
        "threads": len(threads),
        "archived": sum(1 for thread in threads if thread["archived"]),
        "bytes": {name: _size(path) for name, path in _places(root).items()},
        "processes": [one for one in status["processes"] if one["bootId"] != status["bootId"]],
        "staleBoots": sorted(name for name in _names(root.boots) if name not in alive),
        "lostWorkspaces": lost_workspaces(threads, local.root_id),
        "damaged": damaged,
        "unlisted": unlisted,
    }


def _places(root: DataRoot) -> dict[str, Path]:
    return {
        "sessions": root.sessions,
        "archived": root.archived_sessions,
        "database": root.sqlite,
        "artifacts": root.artifacts,
        "quarantine": root.quarantine,
        "trash": root.trash,
    }


def _names(path: Path) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _size(path: Path) -> int:
    total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                continue  # gone meanwhile
    return total


def _sqlite_version() -> str:
    try:
        return ".".join(metadata.version("apsw").split(".")[:3])  # apsw is numbered after the SQLite that it carries
    except metadata.PackageNotFoundError:
        return "unknown"


def _lines(found: dict[str, Any], terminal: Terminal) -> list[str]:
    width = min(terminal.width, 100)
    root, versions, sizes = found["dataRoot"], found["versions"], found["bytes"]
    why = {
        "argument": "given by --data-dir",
        "environment": f"from {root['variable']}",
        "platform": "the platform's own place",
    }

    def row(name: str, text: str) -> str:
        return terminal.paint(f"{name:12}", "dim") + text

    kept = [f"{sized(size):>9}  {_MEANINGS[name]}" for name, size in sizes.items() if size] or ["nothing yet"]
    lines = [
        row("data root", one_line(root["path"])),
        row("", why[root["source"]]),
        *([row("", terminal.paint("it can only be read", "yellow"))] if root["readOnly"] else []),
        row(
            "versions", f"lockstitch {versions['lockstitch']}, Python {versions['python']}, SQLite {versions['sqlite']}"
        ),
        row(
            "threads", f"{found['threads']}" + (f", {found['archived']} of them archived" if found["archived"] else "")
        ),
        *(row("" if number else "space", line) for number, line in enumerate(kept)),
    ]
    others = [f"process {one['pid']} since {moment_of(str(one['startedAt']))}" for one in found["processes"]]
    lines += [
        row("" if number else "in use by", one_line(said)) for number, said in enumerate(others or ["nobody else"])
    ]
    if found["staleBoots"]:
        said = f"{counted(len(found['staleBoots']), 'process')} ended without a word; what they left open is closed."
        lines += [row("", line) for line in wrapped(said, width - 12)]
    lines += _lost_lines(found["lostWorkspaces"], terminal)
    for one in found["damaged"]:
        lines += ["", *_damage(one, terminal, width)]
    if found["unlisted"]:
        lines += [
            "",
            terminal.paint(f"{counted(len(found['unlisted']), 'thread')} on the disk cannot be listed:", "red"),
        ]
        lines += [f"  {one_line(one)}" for one in found["unlisted"][:10]]
        text = "Try again; if that does not help, their first line is damaged: please report it."
        lines += [f"  {line}" for line in wrapped(text, width - 2)]
    lines += [
        "",
        terminal.paint("Everything is sound.", "green")
        + terminal.paint(" `lockstitch storage verify` reads every byte of it.", "dim")
        if found["sound"]
        else terminal.paint("Something is wrong: see above.", "red"),
    ]
    return lines


_MEANINGS = {
    "sessions": "of threads",
    "archived": "of archived threads",
    "database": "of indexes, which are rebuilt if they are removed",
    "artifacts": "of contents",
    "quarantine": "that repairs set aside; yours to look at and to remove",
    "trash": "of threads that are being removed",
}


def _lost_lines(lost: list[dict[str, Any]], terminal: Terminal) -> list[str]:
    """What is known of workspaces that are not where they were."""
    lines: list[str] = []
    for one in lost:
        count = counted(len(one["threadIds"]), "thread")
        lines += ["", terminal.paint(f"The workspace of {count} is gone: {one_line(one['cwd'])}", "yellow")]
        if not one["found"]:
            text = "If it was moved: `lockstitch call thread/metadata/update` with `workspace` links a thread anew."
        elif len(one["found"]) == 1:
            what = "it" if len(one["threadIds"]) == 1 else "them"
            text = f"It seems to be {one['found'][0]} now: `lockstitch doctor --relink` links {what}."
        else:
            text = f"It may be one of {', '.join(one['found'])}."
        lines += [f"  {line}" for line in wrapped(one_line(text), min(terminal.width, 100) - 2)]
    return lines


def _damage(one: dict[str, Any], terminal: Terminal, width: int) -> list[str]:
    what = "has lost events" if one["partial"] else "was repaired, nothing that was answered is lost"
    colour = "red" if one["partial"] else "yellow"
    lines = [terminal.paint(cut(one_line(f"thread {one['threadId']} {what}: {one['title']}"), width), colour)]
    for damage in one["damage"]:
        place = f"bytes {damage['fromOffset']} to {damage['toOffset']}: {damage['reason']}"
        if damage.get("quarantinePath"):
            place += f", set aside in {damage['quarantinePath']}"
        lines += [f"  {line}" for line in wrapped(one_line(place), width - 2)]
    if one["partial"]:
        text = "What can be read is shown by `lockstitch show`; a backup of its rollout can replace the file."
        lines += [f"  {line}" for line in wrapped(text, width - 2)]
    return lines
