"""Finds session files below a directory and tells what they hold, from their first lines and their last bytes.

Invariant: no file is read whole; one thread is listed once, however many files it has that go on from each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lockstitch import codec
from lockstitch.errors import InvalidError, LockstitchError, NotFoundError
from lockstitch.imports.detect import describe
from lockstitch.imports.fields import mapping, string, timestamp
from lockstitch.imports.lines import SourceLine, read_lines
from lockstitch.imports.source import SourceThread

CLIENTS = ("codex", "claude", "gemini")
HEAD_LINES = 40
HEAD_BYTES = 128 << 10
TAIL_BYTES = 8 << 10
_TITLES = (b'"customTitle"', b'"aiTitle"', b'"thread_name"')
_FOLDERS = {"codex": ("sessions",), "claude": ("projects",), "gemini": ("tmp",)}
_SUFFIXES = (".jsonl", ".json")
_NO_SESSIONS = frozenset(
    {"history.jsonl", "session_index.jsonl", "logs.json", "projects.json", "settings.json", "package.json"}
)


def scan_sources(
    client: str | None,
    root: Path,
    *,
    project_path: str | None = None,
    query: str | None = None,
    include_archived: bool = False,
) -> Iterator[SourceThread]:
    """List the sessions below `root` (a tool's home, any directory, or one file), newest first.

    `client` None takes whatever reader fits. `query` is looked for in title, first prompt, directory and id.
    Raises NotFoundError for a root that does not exist.
    """
    if client is not None and client not in CLIENTS:
        raise InvalidError.at("sourceClient", f"is not one of {', '.join(CLIENTS)}")
    if not root.exists():
        raise NotFoundError(f"There is no directory {root}.", kind="threadNotFound", path=str(root))
    titles = read_titles(root)
    found = (_describe_file(path) for path in _session_files(client, root, include_archived))
    threads = _join_files(thread for thread in found if thread is not None)
    for thread in sorted(threads, key=lambda thread: (thread.updated_at or "", thread.source_thread_id), reverse=True):
        titled = replace(thread, title=titles.get(thread.source_thread_id, thread.title))
        if (client is None or titled.client == client) and _matches(titled, project_path, query):
            yield titled


def read_titles(root: Path) -> dict[str, str]:
    """The names that a person gave in Codex: thread id → name, the last line of an id wins."""
    titles: dict[str, str] = {}
    try:
        with (root / "session_index.jsonl").open("rb") as file:
            for line in read_lines(file):
                entry = mapping(line.value) if isinstance(line, SourceLine) else {}
                thread_id, name = string(entry.get("id")), string(entry.get("thread_name"))
                if thread_id is not None and name is not None:
                    titles[thread_id] = name
    except OSError:
        pass  # most homes have none
    return titles


def given_title(thread: SourceThread) -> str | None:
    """The name that a person gave the thread in Codex, which stands in its home and not in its file."""
    for folder in thread.path.parents:
        if thread.client == "codex" and folder.name in ("sessions", "archived_sessions"):
            return read_titles(folder.parent).get(thread.source_thread_id)
    return None


def _session_files(client: str | None, root: Path, include_archived: bool) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    roots: list[Path] = []
    for each in [client] if client else CLIENTS:
        for home in (root, root / f".{each}"):
            roots += [home / name for name in _FOLDERS[each] if _holds_sessions(each, home / name)]
            if each == "codex" and include_archived and (home / "sessions").is_dir():
                roots += [folder for folder in (home / "archived_sessions",) if folder.is_dir()]
    if roots:
        # What lies in the folder itself counts too: copies that somebody put beside the tool's own.
        yield from sorted(path for path in root.iterdir() if _is_named_like_one(path.name) and path.is_file())
    for folder in roots or [root]:
        for where, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if include_archived or name != "archived_sessions")
            for name in sorted(files):
                if _is_named_like_one(name):
                    yield Path(where, name)


def _holds_sessions(client: str, folder: Path) -> bool:
    # Many a directory has a `tmp`; that of Gemini CLI has sessions two levels down.
    return folder.is_dir() and (client != "gemini" or any(folder.glob("*/chats")))


def _is_named_like_one(name: str) -> bool:
    return name.endswith(_SUFFIXES) and name not in _NO_SESSIONS


def _describe_file(path: Path) -> SourceThread | None:
    """The thread of a file; None where no reader fits, or the file is gone or unreadable."""
    try:
        return with_tail(describe(path, lines=HEAD_LINES, size=HEAD_BYTES))
    except (LockstitchError, OSError):
        return None


def with_tail(thread: SourceThread) -> SourceThread:
    """The thread with what only the end of its file tells: the time of its last line, a late title."""
    start = max(thread.size - TAIL_BYTES, 0)
    with thread.path.open("rb") as file:
        file.seek(start)
        lines = file.read(TAIL_BYTES).split(b"\n")
    title = made = updated_at = None
    for data in reversed(lines[1:] if start else lines):  # the first may be cut
        named = any(mark in data for mark in _TITLES)
        if updated_at is None or (named and title is None):
            record = _decode(data)
            updated_at = updated_at or timestamp(record.get("timestamp"))
            title = title or _title(record)
            made = made or string(record.get("aiTitle"))
    updated_at = updated_at or thread.updated_at or modified_at(thread.path)
    return replace(thread, title=title or thread.title or made, updated_at=updated_at)


def modified_at(path: Path) -> str:
    """When the file was last written, where no line tells a time."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _decode(data: bytes) -> dict[str, Any]:
    try:
        return mapping(codec.decode(data))
    except (codec.ParseError, codec.TooDeepError):
        return {}


def _title(record: dict[str, Any]) -> str | None:
    payload = mapping(record.get("payload"))
    named = payload.get("thread_name") if payload.get("type") == "thread_name_updated" else None
    return string(record.get("customTitle")) or string(named)


def _join_files(threads: Iterator[SourceThread]) -> list[SourceThread]:
    """One entry a thread: of several files, the one written last, with the others named.

    Two files of one Claude Code session went apart, unless they are the same: each of them holds something.
    """
    joined: dict[tuple[object, ...], SourceThread] = {}
    for thread in threads:
        name: tuple[object, ...] = (thread.client, thread.source_thread_id)
        if thread.client == "claude":
            name = (*name, thread.size, thread.updated_at)
        other = joined.get(name)
        if other is None:
            joined[name] = thread
            continue
        newer, older = (thread, other) if _later(thread, other) else (other, thread)
        paths = tuple(sorted({*newer.other_paths, *older.other_paths, older.path}))
        joined[name] = replace(newer, other_paths=paths, title=newer.title or older.title)
    return list(joined.values())


def _later(thread: SourceThread, other: SourceThread) -> bool:
    return (thread.updated_at or "", str(thread.path)) > (other.updated_at or "", str(other.path))


def _matches(thread: SourceThread, project_path: str | None, query: str | None) -> bool:
    if project_path is not None:
        wanted, cwd = project_path.rstrip("/"), (thread.cwd or "").rstrip("/")
        if cwd != wanted and not cwd.startswith(wanted + "/"):
            return False
    if query:
        texts = (thread.title, thread.preview, thread.cwd, thread.source_thread_id)
        return any(query.casefold() in text.casefold() for text in texts if text)
    return True
