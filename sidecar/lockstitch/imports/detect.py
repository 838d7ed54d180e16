"""Tells by its content which tool wrote a session file, and opens the reader for it.

Invariant: a name or a folder decides nothing; what is not supported is refused with the name of what was found.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from lockstitch import codec
from lockstitch.errors import InvalidError
from lockstitch.imports import claude_head, codex_head, gemini_head
from lockstitch.imports.chain import with_earlier_files
from lockstitch.imports.claude import ClaudeReading
from lockstitch.imports.codex import CodexReading
from lockstitch.imports.codex_plain import PlainReading
from lockstitch.imports.document import MAX_BYTES, Document, is_document, read_document
from lockstitch.imports.fields import mapping
from lockstitch.imports.gemini import GeminiReading
from lockstitch.imports.lines import SourceLine, read_lines
from lockstitch.imports.source import SourceReading, SourceThread

HEAD_LINES = 200
HEAD_BYTES = 8 << 20
SNIFFED_LINES = 20
CHUNK_BYTES = 64 << 10
_SNIFFED_BYTES = 4096
_PACKED = (
    (b"\x1f\x8b", "packed with gzip: unpack it first"),
    (b"(\xb5/\xfd", "packed with zstd: unpack it first"),
    (b"PK\x03\x04", "a zip file: unpack it first"),
    (b"\xff\xfe", "text in UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16: save it as UTF-8"),
    (b"SQLite format 3", "a database"),
)
_SUPPORTED = "Codex rollouts (0.20 and later), Claude Code transcripts, and Gemini CLI sessions"


def open_source(path: Path, described: SourceThread | None = None) -> SourceReading:
    """Open a session file for reading. Raises NotFoundError, or InvalidError naming what it is instead.

    `described`: what `describe` said of it, which is asked again if the file was written since.
    """
    if described is not None:
        found = _regular(path)
        if (found.st_size, found.st_mtime_ns) != (described.size, described.stamp):
            described = None
    described = described or describe(path)
    thread = with_earlier_files(described, describe)
    if thread.client == "gemini":
        return GeminiReading(_with_document(thread))
    if thread.client == "claude":
        return ClaudeReading(thread, sidechain=thread.form == "sidechain")
    return PlainReading(thread) if thread.form == "plain" else CodexReading(thread, bare=thread.form == "bare")


def _with_document(thread: SourceThread) -> SourceThread:
    """The thread with the lines of its document, if it is one; described by all of it."""
    found = _document(thread.path)
    if found is None:
        return thread
    described = gemini_head.describe_document(thread.path, thread.size, found)
    return replace(described, document=found.lines, settled=found.settled, size=len(found.lines))


def _document(path: Path) -> Document | None:
    """The document that a file holds, if it is one with messages."""
    with path.open("rb") as file:
        if not is_document(file):
            return None
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise _refuse(path, f"one JSON document of more than {MAX_BYTES >> 20} MiB")
    found = read_document(path, size)
    return found if found is not None and found.has_list and gemini_head.is_document(found) else None


def describe(path: Path, *, lines: int = HEAD_LINES, size: int = HEAD_BYTES) -> SourceThread:
    """The thread of a file from its first lines, as many as that takes; raises InvalidError where no reader fits."""
    found = _regular(path)
    with path.open("rb") as file:
        looks_like_one, is_array = is_document(file), _begins_with(file, b"[")
        if is_array and (tool := _name_of_elements(path)) is not None:
            raise _refuse(
                path, f"a JSON array of {tool} lines: write its elements one a line, as {tool} does (jq -c '.[]')"
            )
        thread = _described_document(path, found.st_size, size) if looks_like_one else None
        if thread is None:
            file.seek(0)
            thread = _describe_lines(path, found, _objects(file, lines, size), lines if found.st_size <= size else 0)
    return replace(thread, stamp=found.st_mtime_ns)


def _describe_lines(path: Path, found: os.stat_result, head: Iterator[dict[str, Any]], lines: int) -> SourceThread:
    """The thread of a file of lines. `lines`: how many `head` gives at most; 0 if the file may have more in them."""
    seen: list[dict[str, Any]] = []
    for line in head:
        seen.append(line)
        if codex_head.is_codex(line) if len(seen) == 1 else codex_head.is_late_head(line):
            return codex_head.describe_thread(path, found.st_size, chain([line], head))
        if gemini_head.is_head(line) and not claude_head.is_claude(line):
            return gemini_head.describe_lines(path, found.st_size, chain([line], head))
        if claude_head.is_claude(line):
            thread = claude_head.describe_thread(path, found.st_size, chain(seen, head), lines=lines)
            if thread is not None:
                return thread
            raise _refuse(path, "a Claude Code transcript without a message")
        if len(seen) == 1 and codex_head.is_plain(line):
            return codex_head.describe_plain(path, found.st_size, chain([line], islice(head, SNIFFED_LINES - 1)))
        if len(seen) == SNIFFED_LINES:
            break
    raise _refuse(path, _name(path, seen))


def _regular(path: Path) -> os.stat_result:
    """The file's status. A FIFO would keep the reader for ever, and a device may have no end."""
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise _refuse(path, "not a regular file")
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidError.at("sourcePath", f"there is no file {path}") from None
    except OSError as error:
        raise _refuse(path, "a directory" if path.is_dir() else f"not readable ({error.strerror})") from None
    return found


def _described_document(path: Path, size: int, head_bytes: int) -> SourceThread | None:
    """The thread of a document, from its beginning where that tells enough."""
    found = read_document(path, head_bytes) if size > head_bytes else None
    # Without an id in front of the messages it stands behind them.
    if found is not None and found.has_list and gemini_head.is_head(found.head):
        return gemini_head.describe_document(path, size, found)
    whole = _document(path)
    return None if whole is None else gemini_head.describe_document(path, size, whole)


def _refuse(path: Path, found: str) -> InvalidError:
    message = f"The file {path.name} is {found}; what can be imported is {_SUPPORTED}."
    return InvalidError(message, errors=[{"path": "sourcePath", "message": message}])


def _begins_with(file: BinaryIO, mark: bytes) -> bool:
    file.seek(0)
    return file.read(_SNIFFED_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(mark)


def _objects(file: BinaryIO, lines: int, size: int) -> Iterator[dict[str, Any]]:
    """The objects among the first lines of a file, read as they are asked for; damaged ones left out."""
    for count, line in enumerate(read_lines(file, chunk_bytes=CHUNK_BYTES), 1):
        if isinstance(line, SourceLine) and (record := mapping(line.value)):
            yield record
        if count >= lines or line.offset + line.length >= size:
            return


def _name(path: Path, head: list[dict[str, Any]]) -> str:
    """What else a file is, for the message that refuses it."""
    first = head[0] if head else {}
    if "projectHash" in first:
        return "a Gemini CLI session without an id"
    if "parts" in mapping(first.get("message")):
        return "a Qwen session"
    if first.get("type") == "session" and "version" in first:
        return "a pi session"
    return _name_document(path)


def _name_document(path: Path) -> str:
    """A file that is one JSON document over many lines, or no JSON."""
    with path.open("rb") as file:
        start = file.read(_SNIFFED_BYTES)
    for mark, name in _PACKED:
        if start.startswith(mark):
            return name
    if start[1:64:2] and not any(start[1:64:2]):
        return "text in UTF-16: save it as UTF-8"
    if not start.strip():
        return "empty"
    if start.lstrip()[:1] not in b"{[":
        return "not JSON"
    if start.lstrip()[:1] == b"{" and start.split(b"\n")[0].strip() != b"{":
        return "a JSONL file of an unknown tool"
    for mark, name in (
        (b'"projectHash"', "a Gemini CLI session without a message"),
        (b'"trajectory"', "a SWE-agent trajectory"),
        (b'"messages"', "a session of another tool"),
        (b'"role"', "a Cline conversation"),
    ):
        if mark in start:
            return name
    return "a JSON document of an unknown tool"


def _name_of_elements(path: Path) -> str | None:
    """Whose lines somebody put into an array."""
    found = read_document(path, HEAD_BYTES)
    lines = [] if found is None else found.lines[:HEAD_BYTES].split(b"\n", SNIFFED_LINES)[:SNIFFED_LINES]
    for line in lines:
        try:
            record = mapping(codec.decode(line)) if line else {}
        except (codec.ParseError, codec.TooDeepError):
            continue
        if codex_head.is_codex(record) or codex_head.is_late_head(record):
            return "Codex"
        if record and claude_head.is_claude(record):
            return "Claude Code"
    return None
