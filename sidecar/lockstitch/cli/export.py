"""`lockstitch export`: a thread as a document, a bundle, an evidence pack or a replay case."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, harmless, one_line, wrapped
from lockstitch.codec import encode

_FOLDERS = {"pack": "evidence/export", "case": "agentSession/replayCase/export"}


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Write it, and say where and what was left out."""
    thread_id = await local.known_thread_id(options.thread)
    target = None if options.to is None else new_path(options.to)
    if options.format in _FOLDERS:
        return await _folder(local, options, terminal, thread_id, target)
    if target is None and options.format == "bundle":
        target = new_path(f"lockstitch-{thread_id}.zip")
    redact = options.format != "bundle" and not options.with_secrets
    found = await local.ask("thread/export", threadId=thread_id, format=options.format, path=target, redact=redact)
    if target is None and not options.json:
        terminal.exactly(found["content"].encode())
        return OK
    _say(terminal, options, found, found.get("path"))
    return OK


def new_path(given: str) -> str:
    """The absolute path of something to make. Raises BadArgumentsError if it is there, or has no folder to be in."""
    if os.path.lexists(given):
        raise BadArgumentsError(f"{given} exists already, and nothing is written over: give another name")
    path = os.path.abspath(given)
    if not os.path.isdir(os.path.dirname(path)):
        raise BadArgumentsError(f"{given} cannot be made: there is no folder {os.path.dirname(path)}")
    return path


async def _folder(
    local: Local, options: argparse.Namespace, terminal: Terminal, thread_id: str, target: str | None
) -> int:
    params: dict[str, Any] = {"sessionId": thread_id, "redact": not options.with_secrets}
    if options.format == "pack":
        params |= {"includeEvents": False, "includeArtifacts": False}
    found = await local.ask(_FOLDERS[options.format], **params)
    found = found.get("evidencePack", found)
    where = found.get("packAbsoluteRoot") or found["replayAbsoluteRoot"]
    if target is not None:
        shutil.move(where, target)
        where = target
    if options.json:
        terminal.json(encode({**found, "path": where}))
        return OK
    _say(terminal, options, found, where)
    for gap in found.get("knownGaps", ()):
        first, *more = wrapped(one_line(gap), terminal.width - 11)
        terminal.line(f"  {terminal.paint('missing', 'yellow')}  {first}")
        terminal.lines(*(f"           {line}" for line in more))
    return OK


def _say(terminal: Terminal, options: argparse.Namespace, found: dict[str, Any], where: str | None) -> None:
    if options.json:
        terminal.json(encode(found))
        return
    terminal.line(f"{terminal.paint(harmless(str(where)), 'cyan')}")
    redactions: dict[str, int] = found.get("redactions") or {}
    left_out = sum(redactions.values())
    if left_out:
        terminal.line(f"  {counted(left_out, 'secret')} left out")
    if found.get("warning"):
        terminal.lines(*(f"  {line}" for line in wrapped(found["warning"], terminal.width - 2)))
    if found.get("partial"):
        terminal.line("  Events of the thread are lost; `lockstitch doctor` says which.")
