"""Tells by its content which tool wrote a session file, and opens the reader for it.

Invariant: a name or a folder decides nothing; what is not supported is refused with the name of what was found.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from lockstitch.errors import InvalidError
from lockstitch.imports import claude_head, codex_head
from lockstitch.imports.chain import with_earlier_files
from lockstitch.imports.claude import ClaudeReading
from lockstitch.imports.codex import CodexReading
from lockstitch.imports.fields import mapping
from lockstitch.imports.lines import SourceLine, read_lines
from lockstitch.imports.source import SourceReading, SourceThread

HEAD_LINES = 200
HEAD_BYTES = 8 << 20
SNIFFED_LINES = 20
CHUNK_BYTES = 64 << 10
_SNIFFED_BYTES = 4096
_SUPPORTED = "Codex rollouts (.jsonl, 0.20 and later) and Claude Code transcripts (.jsonl)"


def open_source(path: Path) -> SourceReading:
    """Open a session file for reading. Raises NotFoundError, or InvalidError naming what it is instead."""
    thread = with_earlier_files(describe(path), describe)
    head = read_head(thread.files[0])
    if thread.client == "codex":
        return CodexReading(thread, bare=codex_head.is_bare(next(head)))
    first = next((line for line in head if claude_head.is_conversation(line)), dict[str, Any]())
    return ClaudeReading(thread, sidechain=first.get("isSidechain") is True)


def describe(path: Path, *, lines: int = HEAD_LINES, size: int = HEAD_BYTES) -> SourceThread:
    """The thread of a file from its first lines, as many as that takes; raises InvalidError where no reader fits."""
    head = read_head(path, lines=lines, size=size)
    seen: list[dict[str, Any]] = []
    for line in head:
        seen.append(line)
        if len(seen) == 1 and codex_head.is_codex(line):
            return codex_head.describe_thread(path, path.stat().st_size, chain(seen, head))
        if claude_head.is_claude(line):
            return claude_head.describe_thread(path, path.stat().st_size, chain(seen, head))
        if len(seen) == SNIFFED_LINES:
            break
    raise _refuse(path, _name(path, seen))


def _refuse(path: Path, found: str) -> InvalidError:
    message = f"The file {path.name} is {found}; what can be imported is {_SUPPORTED}."
    return InvalidError(message, errors=[{"path": "sourcePath", "message": message}])


def read_head(path: Path, *, lines: int = HEAD_LINES, size: int = HEAD_BYTES) -> Iterator[dict[str, Any]]:
    """The objects among the first lines of a file, read as they are asked for; damaged ones left out."""
    try:
        # A FIFO would keep the reader for ever, and a device may have no end.
        kind = path.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise _refuse(path, "not a regular file")
        with path.open("rb") as file:
            yield from _objects(file, lines, size)
    except FileNotFoundError:
        raise InvalidError.at("sourcePath", f"there is no file {path}") from None
    except (IsADirectoryError, PermissionError) as error:
        raise _refuse(path, "a directory" if path.is_dir() else f"not readable ({error.strerror})") from None


def _objects(file: BinaryIO, lines: int, size: int) -> Iterator[dict[str, Any]]:
    for count, line in enumerate(read_lines(file, chunk_bytes=CHUNK_BYTES), 1):
        if isinstance(line, SourceLine) and (record := mapping(line.value)):
            yield record
        if count >= lines or line.offset + line.length >= size:
            return


def _name(path: Path, head: list[dict[str, Any]]) -> str:
    """What else a file is, for the message that refuses it."""
    first = head[0] if head else {}
    if "projectHash" in first:
        return "a Gemini CLI session"
    if "parts" in mapping(first.get("message")):
        return "a Qwen session"
    if first.get("type") == "session" and "version" in first:
        return "a pi session"
    return _name_document(path)


def _name_document(path: Path) -> str:
    """A file that is one JSON document over many lines, or no JSON."""
    with path.open("rb") as file:
        start = file.read(_SNIFFED_BYTES)
    if not start.strip():
        return "empty"
    if start.lstrip()[:1] not in b"{[":
        return "not JSON"
    if start.lstrip()[:1] == b"{" and start.split(b"\n")[0].strip() != b"{":
        return "a JSONL file of an unknown tool"
    for mark, name in (
        (b'"projectHash"', "a Gemini CLI session"),
        (b'"trajectory"', "a SWE-agent trajectory"),
        (b'"messages"', "a session of another tool"),
        (b'"role"', "a Cline conversation"),
    ):
        if mark in start:
            return name
    return "a JSON document of an unknown tool"
