"""A plan for files, shown before it is carried out: what restore, rewind and undo have in common.

Invariant: nothing is changed before somebody has seen the plan and said yes, or said `--yes` beforehand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, one_line, wrapped
from lockstitch.codec import encode

_WORDS = {
    "write": ("write", "green"),
    "delete": ("delete", "red"),
    "keep": ("keep", "dim"),
    "conflict": ("CONFLICT", "yellow"),
    "unavailable": ("CANNOT", "yellow"),
}
_REASONS = {
    "changed": "holds something that was never recorded",
    "backup": "what it holds now is recorded first",
    "firstSeen": "what it holds now is recorded first",
    "notCaptured": "what it was is not known",
    "missing": "its content is gone",
    "corrupt": "its recorded content is damaged",
    "tooLarge": "it was too large to be recorded",
    "unreadable": "it could not be read",
}


async def carry_out(
    local: Local, options: argparse.Namespace, terminal: Terminal, method: str, params: dict[str, Any]
) -> int:
    """Plan, show, ask, do. The status is 1 if the plan would be refused, or nobody said yes."""
    planned = await local.ask(method, **params, dryRun=True)
    plan: list[dict[str, Any]] = planned["plan"]
    refused = [step for step in plan if step["action"] in ("conflict", "unavailable")]
    acting = [step for step in plan if step["action"] in ("write", "delete")]
    if options.dry_run and options.json:
        terminal.json(encode(planned))
    if not options.json:
        terminal.lines(*plan_lines(plan, terminal))
    if refused and not options.json:
        terminal.lines("", *_refusal(refused, terminal))
    if options.dry_run or (refused and not options.json):
        return FAILED if refused else OK
    if not acting and not refused and not params.get("conversation"):
        if options.json:
            terminal.json(encode(planned))
        else:
            terminal.line("Nothing to do.")
        return OK
    if not options.yes and not _agreed(acting, options, terminal):
        terminal.line("Nothing was changed.")
        return FAILED
    done = await local.ask(method, **params, confirmRestore=True)
    if options.json:
        terminal.json(encode(done))
    else:
        terminal.line(terminal.paint("Done.", "green"))
        terminal.line(f"`lockstitch undo {one_line(str(params['sessionId']))}` takes it back.")
    return OK


def _agreed(acting: list[dict[str, Any]], options: argparse.Namespace, terminal: Terminal) -> bool:
    if options.json or not terminal.can_ask:
        raise BadArgumentsError("nothing was changed: give --yes, or run it on a terminal, where it asks")
    return terminal.ask(f"\nChange {counted(len(acting), 'file')}?" if acting else "\nDo it?")


def plan_lines(plan: list[dict[str, Any]], terminal: Terminal) -> Iterator[str]:
    """One line a file: what is done to it, and why if that is not plain."""
    if not plan:
        yield "No file is concerned."
        return
    for step in plan:
        word, colour = _WORDS.get(step["action"], (str(step["action"]), "dim"))
        reason = str(step.get("reason") or "")
        said = _REASONS.get(reason, reason)
        note = f"  {one_line(said)}" if said else ""
        path = cut(one_line(step["path"]), max(16, terminal.width - 10 - cells(note)))
        yield terminal.paint(f"{word:8}", colour) + "  " + path + terminal.paint(note, "dim")


def _refusal(refused: list[dict[str, Any]], terminal: Terminal) -> Iterator[str]:
    yield terminal.paint("It would be refused, and nothing was changed.", "red")
    if any(step["action"] == "conflict" for step in refused):
        yield from wrapped(
            "`lockstitch diff THREAD FILE --live` shows what the files hold; `--on-conflict backup` records that "
            "before they are replaced.",
            terminal.width,
        )
    if any(step["action"] == "unavailable" for step in refused):
        yield from wrapped("What cannot be had is left out by naming the other files.", terminal.width)
