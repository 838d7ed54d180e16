"""`lockstitch receipt`: what a turn did, from durable facts only."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.patch import change_counts
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, lasting, moment_of, one_line, padded
from lockstitch.cli.turns import turn_id, turn_ids
from lockstitch.errors import NotFoundError

_REASONS = {"processEnded": "the process ended before the turn did"}
_COLOURS = {"completed": "green", "failed": "red", "interrupted": "yellow", "inProgress": "blue"}


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Show the receipt of one turn, by default of the last one."""
    thread_id = await local.known_thread_id(options.thread)
    if options.turn is not None:
        wanted = await turn_id(local, thread_id, options.turn)
    else:
        ids = await turn_ids(local, thread_id)
        if not ids:
            raise NotFoundError(f"Thread {thread_id} has no turns.", kind="turnNotFound", threadId=thread_id)
        wanted = ids[-1]
    if options.json:
        terminal.exactly(await local.call("turn/receipt/read", {"threadId": thread_id, "turnId": wanted}) + b"\n")
        return OK
    receipt = await local.ask("turn/receipt/read", threadId=thread_id, turnId=wanted)
    for name, lines in _sections(receipt, terminal):
        for number, line in enumerate(lines):
            terminal.line(terminal.paint(padded(name if number == 0 else "", 12), "dim") + line)
    return OK


def _sections(receipt: dict[str, Any], terminal: Terminal) -> Iterator[tuple[str, list[str]]]:
    width = min(terminal.width, 100) - 12
    status = terminal.paint(one_line(receipt["status"]), _COLOURS.get(receipt["status"], "green"))
    yield "turn", [terminal.paint(receipt["turnId"], "cyan"), f"of thread {receipt['threadId']}"]
    yield "status", [status + _times(receipt)]
    if "interruption" in receipt:
        reason = str(receipt["interruption"]["reason"])
        yield "interrupted", [_REASONS.get(reason, one_line(reason))]
    for name in ("route", "authority"):
        if name in receipt:
            yield name, [cut(_facts(receipt[name]), width)]
    yield "did", [_did(receipt["counts"])]
    if "usage" in receipt:
        usage = receipt["usage"]
        cost = receipt["cost"]
        spent = f"{usage['inputTokens']:,} tokens in, {usage['outputTokens']:,} out"
        yield "usage", [spent + ("" if cost == "unknown" else f", {cost} US dollars")]
    for name, lines in (
        ("files", list(_files(receipt["filesChanged"], width, terminal))),
        ("workers", [_worker(worker, width) for worker in receipt["workers"]]),
        ("warnings", [cut(one_line(text), width) for text in receipt["diagnostics"]]),
        ("gaps", [cut(one_line(f"{gap['itemId']}: {gap['reason']}"), width) for gap in receipt["gaps"]]),
    ):
        if lines:
            yield name, lines
    first, last = receipt["sequenceRange"]
    yield "proof", [f"lines {first} to {last} of the rollout, sum {receipt['rolloutSum']}"]
    if receipt["unavailable"]:
        yield "unknown", [", ".join(receipt["unavailable"]) + ": no fact says"]


def _times(receipt: dict[str, Any]) -> str:
    found = f", begun {moment_of(receipt['startedAt'])}"
    return found if receipt["durationMs"] is None else f"{found}, took {lasting(receipt['durationMs'])}"


def _did(counts: dict[str, int]) -> str:
    names = (
        ("items", "item"),
        ("commands", "command"),
        ("toolCalls", "tool call"),
        ("approvals", "approval"),
        ("fileCheckpoints", "file checkpoint"),
        ("workers", "worker"),
    )
    return ", ".join(counted(counts[name], noun) for name, noun in names if counts[name]) or "nothing"


def _files(files: list[dict[str, Any]], width: int, terminal: Terminal) -> Iterator[str]:
    paths = [one_line(file["path"]) for file in files]
    longest = min(max(map(cells, paths), default=0), max(20, width - 26))
    for file, path in zip(files, paths, strict=True):
        counts = change_counts(file.get("additions"), file.get("deletions"), terminal)
        name = padded(path, longest) if counts else cut(path, width - 9)
        yield f"{padded(one_line(file['op']), 9)}{name}  {counts}".rstrip()


def _worker(worker: dict[str, Any], width: int) -> str:
    attempt = f", attempt {worker['attempt']} of {worker['maxAttempts']}" if worker["attempt"] > 1 else ""
    return cut(one_line(f"{worker['kind']} {worker['workerId']}: {worker['status']}{attempt}"), width)


def _facts(value: dict[str, Any]) -> str:
    return one_line(", ".join(f"{name} {found}" for name, found in value.items() if isinstance(found, str | int)))
