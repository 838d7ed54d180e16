"""`lockstitch diff`: what a file checkpoint changed, or what a turn or a whole thread did, change by change.

Invariant: into a pipe or file go the bytes of the patch and nothing else, so that it applies.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Iterator
from typing import Any

from lockstitch.cli.checkpoints import all_checkpoints, by_file, checkpoint_id, file_of, path_of, renamed_since
from lockstitch.cli.columns import side_by_side
from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK, complain
from lockstitch.cli.patch import change_counts, patch_lines
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, moment_of, one_line, padded, sized, wrapped
from lockstitch.cli.turns import turn_id
from lockstitch.codec import decode, encode, mapping
from lockstitch.errors import UnavailableError

WIDE = 140
"""From so many columns on, the two sides stand beside each other."""


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Show a diff, or several. The status is 1 if one of them cannot be had."""
    thread_id = await local.known_thread_id(options.thread)
    ids = await _wanted(local, thread_id, options)
    if options.json and options.checkpoint is not None and not options.stat:
        terminal.json(await _one(local, thread_id, ids[0], options))
        return OK
    status, shown_any = OK, False
    found: list[dict[str, Any]] = []
    async for difference in _all(local, thread_id, ids, options):
        if isinstance(difference, UnavailableError):
            status = FAILED
            if terminal.is_terminal and not options.stat:
                lines = wrapped(one_line(_why(difference)), terminal.width)
                terminal.lines(*(terminal.paint(line, "yellow") for line in lines))
            elif options.checkpoint is not None:
                raise difference
            else:
                complain(_why(difference))
            shown_any = True
            continue
        if options.live and options.checkpoint is None and not difference["diff"]["unified"]:
            continue
        shown_any = True
        if options.json or options.stat:
            found.append(difference)
        elif terminal.is_terminal:
            terminal.lines(*shown(difference, terminal, unified=options.unified))
            if len(ids) > 1:
                terminal.line()
        else:
            terminal.exactly(difference["diff"]["unified"].encode())
    if options.stat:
        _statistics(found, options, terminal)
    elif options.json:
        terminal.json(encode({"threadId": thread_id, "diffs": found}))
    elif terminal.is_terminal and not shown_any:
        terminal.line("No differences." if ids else "No file checkpoints.")
    return status


_STATES = {
    "notCaptured": "was not captured",
    "missing": "is gone",
    "corrupt": "is damaged",
    "tooLarge": "was too large to be recorded",
    "unreadable": "could not be read",
}


def _why(error: UnavailableError) -> str:
    state = _STATES.get(str(error.facts.get("contentStatus")))
    return error.message if state is None else f"{error.facts.get('path')}: one of the two contents {state}"


async def _wanted(local: Local, thread_id: str, options: argparse.Namespace) -> list[str]:
    """The checkpoints that are meant, the oldest first: one, or all of a turn or thread; for --live one a file."""
    if options.checkpoint is not None:
        return [await checkpoint_id(local, thread_id, options.checkpoint)]
    turn = None if options.turn is None else await turn_id(local, thread_id, options.turn)
    every = await all_checkpoints(local, thread_id, None, turn)
    if options.live:
        every = [found[0] for path, found in by_file(every).items() if path not in renamed_since(every)]
    else:
        every = [one for one in every if not _only_seen(one)]
    return [one["checkpointId"] for one in reversed(every)]


def _only_seen(checkpoint: dict[str, Any]) -> bool:
    """Whether it says what a file is, before anything is done to it, and not what was done."""
    return checkpoint["source"] == "capture" and mapping(checkpoint["before"]).get("contentStatus") == "notCaptured"


async def _one(local: Local, thread_id: str, chosen: str, options: argparse.Namespace) -> bytes:
    params: dict[str, Any] = {"sessionId": thread_id, "checkpointId": chosen, "contextLines": options.context}
    if options.live:
        params["against"] = "live"
    return await local.call("agentSession/fileCheckpoint/diff", params)


async def _all(
    local: Local, thread_id: str, ids: list[str], options: argparse.Namespace
) -> AsyncIterator[dict[str, Any] | UnavailableError]:
    for one in ids:
        try:
            yield decode(await _one(local, thread_id, one, options))
        except UnavailableError as error:
            yield error


def shown(found: dict[str, Any], terminal: Terminal, *, unified: bool = False) -> Iterator[str]:
    """The result of fileCheckpoint/diff, for a person."""
    checkpoint, diff = found["checkpoint"], found["diff"]
    version = f"v{checkpoint['versionNo']:04}" if checkpoint.get("versionNo") is not None else ""
    facts = [checkpoint["op"], version, moment_of(checkpoint["updatedAt"]), f"by {checkpoint['source']}"]
    said = " · ".join(fact for fact in facts if fact)
    counts = change_counts(diff["additions"], diff["deletions"], terminal)
    room = terminal.width - cells(said) - len(f"    +{diff['additions']} −{diff['deletions']}")
    yield (
        terminal.paint(cut(one_line(path_of(checkpoint)), max(20, room)), "bold")
        + f"  {terminal.paint(said, 'dim')}  {counts}"
    )
    if diff["binary"]:
        yield f"not text: {_sizes(checkpoint)}" if checkpoint["before"] and checkpoint["after"] else "not text"
    elif not diff["unified"]:
        yield "no difference"
    changes = (("encodingChanged", "encoding"), ("eolChanged", "line ends"), ("modeChanged", "file mode"))
    for name, what in changes:
        if diff.get(name):
            yield terminal.paint(f"the {what} changed", "yellow")
    if diff["binary"]:
        return
    two_sided = diff["additions"] and diff["deletions"]  # one side alone needs no column for the other
    if terminal.width >= WIDE and not unified and two_sided:
        yield from side_by_side(diff["hunks"], terminal)
    else:
        yield from patch_lines(diff["unified"], terminal, headers=False)
    if diff["truncated"]:
        yield terminal.paint("the diff is cut here: it is longer than the limit", "yellow")
    elif diff.get("approximate"):
        yield terminal.paint("this diff is right, but not the smallest: the file was too much work", "dim")


def _sizes(checkpoint: dict[str, Any]) -> str:
    before, after = (mapping(checkpoint[side]).get("bytes") for side in ("before", "after"))
    return f"{sized(before or 0)} before, {sized(after or 0)} after"


def _statistics(found: list[dict[str, Any]], options: argparse.Namespace, terminal: Terminal) -> None:
    """How many lines came and went in each file."""
    files: dict[str, dict[str, Any]] = {}
    for one in found:
        path = one["checkpoint"]["path"]
        row = files.setdefault(
            file_of(one["checkpoint"]), {"path": path, "additions": 0, "deletions": 0, "changes": 0, "binary": False}
        )
        row["additions"] += one["diff"]["additions"]
        row["deletions"] += one["diff"]["deletions"]
        row["changes"] += 1
        row["binary"] = row["binary"] or one["diff"]["binary"]
    rows = sorted(files.values(), key=lambda row: row["path"])
    if options.json:
        terminal.json(encode({"files": rows}))
        return
    most = max((row["additions"] + row["deletions"] for row in rows), default=0)
    digits = max(4, len(str(most)))
    path_width = min(max((cells(one_line(row["path"])) for row in rows), default=0), terminal.width * 2 // 3)
    room = max(4, min(40, terminal.width - path_width - digits - 4))
    for row in rows:
        path = cut(one_line(row["path"]), path_width)
        total = row["additions"] + row["deletions"]
        plus, size = _bar(row["additions"], row["deletions"], most, room)
        bar = terminal.paint("+" * plus, "green") + terminal.paint("-" * (size - plus), "red")
        count = f"{'bin' if row['binary'] else total:>{digits}}"
        terminal.line(f"{padded(path, path_width)} | {count} {bar}".rstrip())
    added, gone = (sum(row[name] for row in rows) for name in ("additions", "deletions"))
    terminal.line(f"{counted(len(rows), 'file')}, {counted(added, 'line')} added, {counted(gone, 'line')} removed")


def _bar(added: int, gone: int, most: int, room: int) -> tuple[int, int]:
    """How many signs stand for what came, and how many there are in all; what is there has one at least."""
    total = added + gone
    size = total if most <= room else max(-(-total * room // most), bool(added) + bool(gone))
    plus = 0 if not total else round(size * added / total)
    return min(max(plus, bool(added)), size - bool(gone)), size
