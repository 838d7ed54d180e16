"""The head of a Claude Code transcript: the thread that it holds, and which of its lines the person wrote.

Invariant: a line that the tool put in the person's place (command output, reminders, summaries) is not the person's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lockstitch import codec
from lockstitch.imports.fields import mapping, sequence, string, timestamp
from lockstitch.imports.source import SourceThread
from lockstitch_protocol.ids import is_id, is_thread_id

PREVIEW_CHARACTERS = 200
_TAIL_BYTES = 64 << 10
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TYPES = frozenset({"user", "assistant", "system", "summary", "progress", "file-history-snapshot", "attachment"})


def is_claude(line: dict[str, Any]) -> bool:
    """Whether an object is a line of a Claude Code transcript."""
    if "projectHash" in line or "parts" in mapping(line.get("message")):
        return False
    kind = line.get("type")
    if kind == "summary":
        return "leafUuid" in line
    if kind == "file-history-snapshot":
        return "snapshot" in line
    if kind in ("user", "assistant") and "message" in line and isinstance(line.get("uuid"), str):
        return True
    return isinstance(line.get("sessionId"), str) and isinstance(kind, str) and "payload" not in line


def is_conversation(line: dict[str, Any]) -> bool:
    """Whether a line is a message, and so says what kind of file this is."""
    return line.get("type") in ("user", "assistant")


def describe_thread(path: Path, size: int, head: Iterable[dict[str, Any]], *, lines: int) -> SourceThread | None:
    """The thread, from at most `lines` lines of its file; None where there is no message in it yet."""
    first: dict[str, Any] | None = None
    facts: dict[str, str | None] = dict.fromkeys(("sessionId", "cwd", "version", "gitBranch", "entrypoint"))
    created = model = preview = title = agent = first_turn = None
    sidechain: bool | None = None
    read = 0
    for line in head:
        read += 1
        first = first or (line if is_conversation(line) else None)
        for name in facts:
            facts[name] = facts[name] or string(line.get(name))
        created = created or (timestamp(line.get("timestamp")) if is_conversation(line) else None)
        if is_conversation(line) and sidechain is None:
            sidechain = line.get("isSidechain") is True
            agent = string(line.get("agentId")) if sidechain else None
        named = mapping(line.get("message")).get("model")
        model = model or (string(named) if named != "<synthetic>" else None)
        title = string(line.get("customTitle")) or title
        if preview is None and (preview := typed_text(line, include_sidechain=sidechain is True)) is not None:
            first_turn = string(line.get("uuid"))
        if preview and model:
            break
    session = _own_session(path, size, facts["sessionId"])
    if first is None and (session is None or read < lines):
        return None
    thread_id = f"agent-{agent}" if agent else session
    parent = session if agent and session != thread_id else None
    return SourceThread(
        client="claude",
        source_thread_id=_thread_id(thread_id, first or {}),
        path=path,
        size=size,
        title=title,
        preview=preview[:PREVIEW_CHARACTERS] if preview else None,
        cwd=facts["cwd"],
        created_at=created,
        updated_at=created,
        model=model,
        model_provider="anthropic",
        client_version=facts["version"],
        source="subagent" if agent else facts["entrypoint"],
        git={"branch": branch} if (branch := facts["gitBranch"]) else {},
        form="sidechain" if sidechain else "",
        first_turn_id=first_turn if first_turn is not None and is_id(first_turn) else None,
        parent_thread_id=parent if parent is not None and is_thread_id(parent) else None,
    )


def _own_session(path: Path, size: int, first: str | None) -> str | None:
    """The session's id: that of its first lines, or that of its name where its last lines have it.

    A session that was resumed under an id of its own may begin with copies that bear the old one.
    """
    named = path.stem
    if first is None or named == first or not _SESSION.fullmatch(named):
        return first
    with path.open("rb") as file:
        file.seek(max(size - _TAIL_BYTES, 0))
        return named if f'"sessionId":"{named}"'.encode() in file.read(_TAIL_BYTES).replace(b'": "', b'":"') else first


def _thread_id(source_id: str | None, first: dict[str, Any]) -> str:
    if source_id is not None and is_thread_id(source_id):
        return source_id
    basis = source_id.encode() if source_id is not None else codec.canonical(first)
    return "claude-" + hashlib.sha256(basis).hexdigest()[:32]


# ── who wrote a user line ──

_TOOLS_OWN = re.compile(
    r"\s*(?:<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr)|system-reminder|user-prompt-submit-hook)\b"
    r"|Caveat: The messages below were generated by the user while running local commands)"
)
_INTERRUPTED = "[Request interrupted by user"
_COMMAND = re.compile(r"<command-(name|message|args)>(.*?)</command-\1>", re.DOTALL)


def content_blocks(line: dict[str, Any]) -> list[Any]:
    """The blocks of a message; a text alone is one block."""
    message = line.get("message")
    content = message if isinstance(message, str) else mapping(message).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in sequence(content)]


def is_interruption(text: str) -> bool:
    """Whether the tool notes here that the person stopped it."""
    return text.startswith(_INTERRUPTED)


def is_tools_own(text: str) -> bool:
    """Whether a text of role `user` was put there by the tool."""
    return _TOOLS_OWN.match(text) is not None


def typed_blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The text and image blocks that the person sent; empty where the line is not the person's."""
    if line.get("type") != "user" or line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return []
    blocks = [mapping(block) for block in content_blocks(line)]
    if any(block.get("type") == "tool_result" for block in blocks):
        return []
    return [block for block in blocks if block.get("type") == "image" or _is_typed(block.get("text"))]


def _is_typed(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip()) and not is_tools_own(text) and not is_interruption(text)


def typed_text(line: dict[str, Any], *, include_sidechain: bool) -> str | None:
    """What the person typed, if the line is their message."""
    if line.get("isSidechain") is True and not include_sidechain:
        return None
    texts = (string(block.get("text")) for block in typed_blocks(line))
    return "\n".join(plain_command(text) for text in texts if text) or None


def plain_command(text: str) -> str:
    """A slash command as it was typed, out of the tags that the tool writes it in."""
    if "<command-name>" not in text:
        return text
    found = {match[1]: match[2].strip() for match in _COMMAND.finditer(text)}
    if _COMMAND.sub("", text).strip() or "name" not in found:
        return text
    return f"{found['name']} {found.get('args', '')}".strip()
