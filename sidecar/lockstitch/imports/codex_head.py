"""The head of a Codex rollout: which generation it is, and the thread that it holds.

Invariant: `session_meta` may omit anything but its id; what is missing stays missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lockstitch import codec
from lockstitch.imports.codex_plain import plain_text
from lockstitch.imports.fields import mapping, sequence, string, timestamp
from lockstitch.imports.source import SourceThread
from lockstitch_protocol.ids import is_thread_id

PREVIEW_CHARACTERS = 200
_NAME = re.compile(r"rollout-[0-9T-]{19}-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")
_CWD = re.compile(r"<cwd>(.*?)</cwd>|Current working directory: (.+)")


def is_codex(first: dict[str, Any]) -> bool:
    """Whether the first object of a file opens a Codex rollout."""
    return first.get("type") == "session_meta" or is_bare(first)


def is_bare(first: dict[str, Any]) -> bool:
    """Whether it is the oldest generation: bare items under a head without a type."""
    return (
        "type" not in first and "timestamp" in first and ("instructions" in first or "git" in first) and "id" in first
    )


def is_late_head(line: dict[str, Any]) -> bool:
    """Whether an object further down opens a rollout whose first lines are damaged, or is a line of one."""
    return line.get("type") in ("session_meta", *_ENVELOPES) and bool(mapping(line.get("payload")))


def is_plain(first: dict[str, Any]) -> bool:
    """Whether it is a line of a chat that was kept without a head, as role and text."""
    return plain_text(first) is not None and "sessionId" not in first and "created_at" in first


def describe_plain(path: Path, size: int, head: Iterable[dict[str, Any]]) -> SourceThread:
    """The thread of a chat without a head; its id is made from its first line."""
    lines = list(head)
    created = timestamp(lines[0].get("created_at"))
    preview = next((plain_text(line) for line in lines if line.get("role") == "user"), None)
    return SourceThread(
        client="codex",
        source_thread_id=_thread_id(None, lines[0]),
        path=path,
        size=size,
        preview=preview[:PREVIEW_CHARACTERS] if preview else None,
        created_at=created,
        updated_at=created,
        model=next((model for line in lines if (model := string(line.get("model")))), None),
        form="plain",
    )


def describe_thread(path: Path, size: int, head: Iterable[dict[str, Any]]) -> SourceThread:
    """The thread, from the first lines of its file."""
    lines = iter(head)
    first = next(lines)
    bare = is_bare(first)
    met = first.get("type") == "session_meta"
    meta = first if bare else mapping(first.get("payload")) if met else {}
    git = mapping(meta.get("git"))
    created = timestamp(meta.get("timestamp")) or timestamp(first.get("timestamp"))
    cwd, model, preview = string(meta.get("cwd")), None, None
    for line in lines:
        payload = mapping(line.get("payload")) if line.get("type") in _ENVELOPES else line
        if line.get("type") == "turn_context":
            model = model or string(payload.get("model"))
            cwd = cwd or string(payload.get("cwd"))
        preview = preview or typed_text(line, payload, bare)
        if bare and cwd is None and is_context(message_text(payload)):
            cwd = told_directory(message_text(payload))
        if preview and cwd and (model or bare):
            break
    return SourceThread(
        client="codex",
        source_thread_id=_thread_id(string(meta.get("id")) or string(meta.get("session_id")) or _named(path), first),
        path=path,
        size=size,
        preview=preview[:PREVIEW_CHARACTERS] if preview else None,
        cwd=cwd,
        created_at=created,
        updated_at=created,
        model=model,
        model_provider=string(meta.get("model_provider")),
        client_version=string(meta.get("cli_version")),
        source=_source(meta.get("source")),
        git={
            ours: text
            for ours, theirs in (("sha", "commit_hash"), ("branch", "branch"), ("originUrl", "repository_url"))
            if (text := string(git.get(theirs)))
        },
        parent_thread_id=_parent(meta),
        archived="archived_sessions" in path.parts,
        form="bare" if bare else "",
        base=mapping(meta.get("history_base")) or None,
        begun_at=timestamp(first.get("timestamp")) or created,
    )


_ENVELOPES = ("event_msg", "response_item", "turn_context")


def _thread_id(source_id: str | None, first: dict[str, Any]) -> str:
    if source_id is not None and is_thread_id(source_id):
        return source_id
    basis = source_id.encode() if source_id is not None else codec.canonical(first)
    return "codex-" + hashlib.sha256(basis).hexdigest()[:32]


def _named(path: Path) -> str | None:
    """The id in a rollout's own name: all that is left of it where the head is damaged."""
    found = _NAME.fullmatch(path.name)
    return found[1] if found else None


def _source(source: Any) -> str | None:
    if isinstance(source, dict):
        return next((str(name) for name in mapping(source)), None)
    return string(source)


def _parent(meta: dict[str, Any]) -> str | None:
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    parent = string(spawned.get("parent_thread_id")) or string(meta.get("parent_thread_id"))
    return parent if parent is not None and is_thread_id(parent) else None


def typed_text(line: dict[str, Any], payload: dict[str, Any], bare: bool) -> str | None:
    """What the person typed, if the line is their message."""
    if bare:
        text = message_text(payload)
        return text if payload.get("role") == "user" and text and not is_context(text) else None
    if line.get("type") != "event_msg":
        return None
    if payload.get("type") == "user_message":
        return string(payload.get("message"))
    item = mapping(payload.get("item"))
    if payload.get("type") == "item_completed" and item.get("type") == "UserMessage":
        texts = (string(mapping(part).get("text")) for part in sequence(item.get("content")))
        return "\n".join(text for text in texts if text) or None
    return None


def told_directory(text: str) -> str | None:
    """The directory that a context message tells."""
    found = _CWD.search(text)
    return (found[1] or found[2]).strip() if found else None


def message_text(payload: dict[str, Any]) -> str:
    """The text of a message item, its parts joined by nothing."""
    return "".join(message_texts(payload))


def message_texts(payload: dict[str, Any]) -> list[str]:
    """The text of each part of a message item."""
    texts: list[str] = []
    for part in sequence(payload.get("content")):
        text = mapping(part).get("text")
        if text and isinstance(text, str):
            texts.append(text)
    return texts


_CONTEXT = re.compile(r"\s*(?:<[a-z][a-zA-Z_-]*>|# AGENTS\.md instructions|# Context from my IDE setup)")


def is_context(text: str) -> bool:
    """Whether a message of role `user` is not the person's: Codex itself puts such texts before the model."""
    return _CONTEXT.match(text) is not None
