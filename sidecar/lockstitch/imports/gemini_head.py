"""The head of a Gemini CLI session, in either form, and the thread that it holds.

Invariant: a directory is told only where its sha256 is the session's `projectHash`, or a file of the home names it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lockstitch import codec
from lockstitch.imports.document import Document
from lockstitch.imports.fields import mapping, sequence, string, timestamp
from lockstitch.imports.source import SourceThread
from lockstitch_protocol.ids import is_thread_id

PREVIEW_CHARACTERS = 200
AGENT = frozenset({"gemini", "model", "assistant"})
_MOST_TOLD_BYTES = 1 << 20


def is_head(line: dict[str, Any]) -> bool:
    """Whether an object opens a session: the first line of the newer form, or the members of a document."""
    return isinstance(line.get("sessionId"), str) and ("projectHash" in line or "startTime" in line)


def is_document(document: Document) -> bool:
    """Whether a document is a session, or the saved history of one."""
    if is_head(document.head):
        return True
    first = next(elements(document), dict[str, Any]())
    if "projectHash" in document.head and ("type" in first or "role" in first):
        return True  # without an id, its first message names it
    return "parts" in first and isinstance(first.get("role"), str) and document.list_name != "messages"


def elements(document: Document) -> Iterator[dict[str, Any]]:
    """The messages of a document, decoded one by one; damaged ones left out."""
    for line in document.lines.split(b"\n"):
        try:
            value = codec.decode(line) if line else None
        except (codec.ParseError, codec.TooDeepError):
            continue
        if found := mapping(value):
            yield found


def describe_document(path: Path, size: int, document: Document) -> SourceThread:
    """The thread of a document."""
    return _describe(path, size, document.head, elements(document))


def describe_lines(path: Path, size: int, head: Iterable[dict[str, Any]]) -> SourceThread:
    """The thread, from the first lines of its file."""
    lines = iter(head)
    first = next(line for line in lines if is_head(line))
    return _describe(path, size, first, _spread(lines))


def _spread(lines: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for line in lines:
        patch = mapping(line.get("$set"))
        yield from map(mapping, sequence(patch.get("messages"))) if patch else (line,)


def _describe(path: Path, size: int, head: dict[str, Any], messages: Iterable[dict[str, Any]]) -> SourceThread:
    first: dict[str, Any] | None = None
    created = timestamp(head.get("startTime"))
    preview = model = None
    for message in messages:
        if first is None:
            first = message
            # A document may end with its head: the first message is there in any case.
            created = created or _time_of(message) or timestamp(head.get("start_time"))
        model = model or string(message.get("model"))
        if preview is None and is_persons(message):
            preview = " ".join(typed_texts(message)).strip() or None
        if preview and model:
            break
    session = string(head.get("sessionId"))
    basis = session.encode() if session else codec.canonical(first or head)
    own = session if session and is_thread_id(session) else "gemini-" + hashlib.sha256(basis).hexdigest()[:32]
    project = string(head.get("projectHash"))
    return SourceThread(
        client="gemini",
        source_thread_id=own,
        path=path,
        size=size,
        title=string(head.get("summary")),
        preview=preview[:PREVIEW_CHARACTERS] if preview else None,
        cwd=_directory(path, project, sequence(head.get("directories"))),
        created_at=created,
        updated_at=timestamp(head.get("lastUpdated")) or created,
        # A saved history tells no model in its messages.
        model=model or (None if session else string(mapping(head.get("meta")).get("model"))),
        model_provider="google",
        source="subagent" if head.get("kind") == "subagent" else string(head.get("kind")),
        project_hash=project,
    )


def _time_of(message: dict[str, Any]) -> str | None:
    return timestamp(message.get("timestamp", message.get("ts")))


def is_persons(message: dict[str, Any]) -> bool:
    """Whether the person sent a message: role user, and not what a tool answered."""
    if message.get("type", message.get("role")) != "user":
        return False
    parts = [mapping(part) for part in parts_of(message)]
    return not parts or any("functionResponse" not in part for part in parts)


def parts_of(message: dict[str, Any]) -> list[Any]:
    """The parts of a message; a text alone is one."""
    content = message.get("content", message.get("parts", message.get("message")))
    if isinstance(content, str):
        return [{"text": content}] if content else []
    if mapping(content):
        return [content]
    return [{"text": part} if isinstance(part, str) else part for part in sequence(content)]


def typed_texts(message: dict[str, Any]) -> list[str]:
    """What was typed: the text that was shown, where it differs from what the model was given."""
    shown = message.get("displayContent")
    if shown:
        message = {"content": shown}
    return [text for part in parts_of(message) if (text := string(mapping(part).get("text")))]


def is_hash_of(project_hash: str | None, directory: str) -> bool:
    """Whether a session's `projectHash` is that of a directory."""
    return project_hash is not None and _sha256(directory) == project_hash


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _directory(path: Path, project_hash: str | None, told: list[Any]) -> str | None:
    """The project's directory: from the head, the marker in the session's folder, or the list of the home."""
    for directory in told:
        if isinstance(directory, str) and is_hash_of(project_hash, directory):
            return directory
    folder = path.parent.parent
    if path.parent.name != "chats":
        return None
    marked = _read(folder / ".project_root").strip()
    if marked and (is_hash_of(project_hash, marked) or folder.name != project_hash):
        return marked
    try:
        projects = mapping(
            mapping(codec.decode(_read(folder.parent.parent / "projects.json").encode())).get("projects")
        )
    except (codec.ParseError, codec.TooDeepError):
        return None
    for directory, name in projects.items():
        if name == folder.name or is_hash_of(project_hash, directory):
            return directory
    return None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_TOLD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""  # most folders have none
