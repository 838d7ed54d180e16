"""A thread as Markdown: what a person pastes into a review.

Invariant: nothing is cut: what a fence holds cannot end it, and an output that is kept elsewhere says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lockstitch.codec import encode, mapping
from lockstitch.exports.facts import ThreadFacts
from lockstitch.exports.summary import plain

_TICKS = re.compile("`{3,}")
_STATES = {"inProgress": "in progress", "interrupted": "interrupted"}


def markdown_of(facts: ThreadFacts) -> str:
    """The whole document."""
    thread = facts.thread
    parts = [f"# {plain(facts.title)}", "\n".join(_about(facts, thread))]
    receipts = {receipt["turnId"]: receipt for receipt in facts.receipts}
    for number, turn in enumerate(facts.turns, 1):
        parts.append(f"## Turn {number} ({_STATES.get(turn['status'], turn['status'])})")
        parts += [part for item in turn["items"] if (part := _item(item))]
        if turn.get("error"):
            parts.append(f"**Error:** {turn['error']['message']}")
        parts += _receipt(receipts.get(turn["id"]))
    return "\n\n".join(parts) + "\n"


def _about(facts: ThreadFacts, thread: dict[str, Any]) -> list[str]:
    found = [f"- Thread `{facts.thread_id}`"]
    git = mapping(thread.get("gitInfo"))
    for name, value in (
        ("Workspace", thread.get("cwd")),
        ("Model provider", thread.get("modelProvider")),
        ("Branch", git.get("branch")),
        ("Commit", git.get("sha")),
    ):
        if value:
            found.append(f"- {name}: `{plain(value)}`")
    found.append(f"- Last sequence {facts.last_sequence}, last sum `{facts.last_sum}`")
    if thread.get("usage"):
        usage = thread["usage"]
        found.append(f"- Tokens: {usage['inputTokens']} in, {usage['outputTokens']} out")
    if facts.redactions:
        counted = ", ".join(f"{count} {kind}" for kind, count in facts.redactions.items())
        found.append(f"- Secrets left out: {counted}")
    if thread.get("partial"):
        found.append("- **Partial: events of this thread are lost.**")
    for damage in thread.get("damage", ()):
        found.append(f"- Damage: bytes {damage['fromOffset']} to {damage['toOffset']}: {damage['reason']}")
    return found


def _receipt(receipt: dict[str, Any] | None) -> list[str]:
    if receipt is None or not receipt["filesChanged"]:
        return []
    lines = ["Files changed:", ""]
    for found in receipt["filesChanged"]:
        counted = "" if found.get("additions") is None else f" (+{found['additions']} -{found['deletions']})"
        lines.append(f"- `{plain(found['path'])}` {found['op']}{counted}")
    return ["\n".join(lines)]


def _item(item: dict[str, Any]) -> str:
    write = _ITEMS.get(item["type"])
    if write is None:
        return ""
    body = write(item)
    if item.get("interrupted"):
        body += "\n\n*(interrupted: no result was recorded)*"
    return body


def _user(item: dict[str, Any]) -> str:
    parts: list[str] = []
    for part in item.get("content") or ():
        if part.get("type") == "text":
            parts.append(part["text"])
        else:
            parts.append(f"[{part.get('type')}: {plain(str(part.get('path') or part.get('url') or ''))[:200]}]")
    return "**User:**\n\n" + "\n".join(f"> {line}".rstrip() for line in "\n\n".join(parts).split("\n"))


def _agent(item: dict[str, Any]) -> str:
    return f"**Agent:**\n\n{item['text']}"


def _plan(item: dict[str, Any]) -> str:
    return f"**Plan:**\n\n{item['text']}"


def _reasoning(item: dict[str, Any]) -> str:
    text = "\n\n".join([*item.get("summary", ()), *item.get("content", ())])
    return _folded("Reasoning", text) if text else ""


def _command(item: dict[str, Any]) -> str:
    told = f"exit {item['exitCode']}" if item.get("exitCode") is not None else item["status"]
    body = f"**Command** ({_STATES.get(told, told)}):\n\n{fenced(item['command'], 'sh')}"
    output = item.get("aggregatedOutput")
    if output:
        body += "\n\n" + _folded("Output" + _elsewhere(item), fenced(output))
    return body


def _elsewhere(item: dict[str, Any]) -> str:
    kept = item.get("outputRef")
    return f", its beginning: all {kept['bytes']} bytes are {kept['artifactRef']}" if kept else ""


def _change(item: dict[str, Any]) -> str:
    parts: list[str] = []
    for change in item["changes"]:
        kind = mapping(change.get("kind"))
        path = plain(change["path"])
        if kind.get("move_path"):
            path += f" → {plain(kind['move_path'])}"
        body = f"**File** `{path}` ({kind.get('type', 'update')}, {item['status']})"
        if change.get("diff"):
            body += "\n\n" + fenced(change["diff"], "diff")
        parts.append(body)
    return "\n\n".join(parts)


def _tool(item: dict[str, Any]) -> str:
    name = "/".join(str(part) for part in (item.get("server") or item.get("namespace"), item["tool"]) if part)
    body = f"**Tool** `{plain(name)}` ({_STATES.get(item['status'], item['status'])}):\n\n"
    body += fenced(_json(item.get("arguments")), "json")
    for key in ("result", "contentItems", "error"):
        if item.get(key) is not None:
            body += "\n\n" + _folded(key.capitalize() + _elsewhere(item), fenced(_json(item[key]), "json"))
    return body


def _search(item: dict[str, Any]) -> str:
    return f"**Web search:** {plain(str(item.get('query') or ''))}"


def _image(item: dict[str, Any]) -> str:
    return f"**Image viewed:** `{plain(item['path'])}`"


def _compaction(item: dict[str, Any]) -> str:
    del item
    return "*The context was compacted here.*"


_ITEMS: dict[str, Callable[[dict[str, Any]], str]] = {
    "userMessage": _user,
    "agentMessage": _agent,
    "plan": _plan,
    "reasoning": _reasoning,
    "commandExecution": _command,
    "fileChange": _change,
    "mcpToolCall": _tool,
    "dynamicToolCall": _tool,
    "webSearch": _search,
    "imageView": _image,
    "contextCompaction": _compaction,
}


def fenced(text: str, language: str = "") -> str:
    """A text as a code block that it cannot end."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _json(value: Any) -> str:
    return encode(value).decode()
