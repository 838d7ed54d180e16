"""`lockstitch verify`: whether packs and cases are as they were made."""

from __future__ import annotations

import argparse
import os
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import FAILED, OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, one_line
from lockstitch.codec import encode
from lockstitch.errors import InvalidError

_MOST_SHOWN = 20


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Check each; the status says whether all of them hold."""
    verdicts: list[dict[str, Any]] = []
    for given, path in zip(options.paths, map(os.path.abspath, options.paths), strict=True):
        try:
            verdict = await local.ask("agentSession/replayCase/verify", path=path)
        except InvalidError:
            raise BadArgumentsError(f"{given} is not the folder of a pack or a case") from None
        verdicts.append({"path": path, **verdict})
        if not options.json:
            _show(given, verdict, terminal)
    if options.json:
        terminal.json(encode({"verdicts": verdicts}))
    return OK if all(verdict["ok"] for verdict in verdicts) else FAILED


def _show(given: str, verdict: dict[str, Any], terminal: Terminal) -> None:
    if verdict["ok"]:
        said = f"every file and {counted(verdict['itemCount'], 'item')} as recorded"
        terminal.line(f"{terminal.paint('sound', 'green')}  {one_line(given)}: {said}")
        return
    found = verdict["mismatches"]
    terminal.line(f"{terminal.paint('changed', 'red')}  {one_line(given)}: {counted(len(found), 'difference')}")
    for one in found[:_MOST_SHOWN]:
        where = one_line(f"{one['kind']} {one['id']}")
        terminal.line(f"  {where}: is {one_line(one['actual'])[:64]}, was {one_line(one['expected'])[:64]}")
    if len(found) > _MOST_SHOWN:
        terminal.line(f"  and {len(found) - _MOST_SHOWN} more; --json names them")
