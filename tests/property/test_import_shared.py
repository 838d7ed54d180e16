"""Real session files, read and counted again independently; skipped where they do not lie beside the repository."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from lockstitch.imports.detect import open_source
from lockstitch.imports.source import SourceEvent
from lockstitch_protocol.ids import is_id, is_thread_id

SHARED = Path(__file__).parents[3] / "shared" / "data" / "sessions"
FIXTURES = Path(__file__).parent.parent / "fixtures" / "imports"
PLAIN = SHARED / "codex" / "jazzyalex__agent-sessions__002.jsonl"
"""The one file that is a chat without a head, and counted by hand."""

CODEX = sorted(p for p in (SHARED / "codex").glob("*.jsonl") if p != PLAIN)
GEMINI = sorted((SHARED / "gemini").glob("*.json*"))
CLAUDE = sorted((SHARED / "claude").glob("*.jsonl"))
OURS = sorted(FIXTURES.glob("*.json*"))
TELLS = {"exec_command_end", "mcp_tool_call_end", "dynamic_tool_call_response", "view_image_tool_call"}
TOOLS = {"commandExecution", "dynamicToolCall", "mcpToolCall", "imageView"}

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared session files are not beside the repository")


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


def read(path: Path) -> tuple[list[SourceEvent], list[SourceEvent]]:
    reading = open_source(path)
    events = list(reading.events(final=True))
    return events, reading.closings()


def raw_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        if line.strip():
            value = json.loads(line)
            if isinstance(value, dict):
                yield value


def count(events: list[SourceEvent], *types: str) -> int:
    done = {e.item_id for e in events if e.type in ("item.completed", "item.started")}
    return sum(1 for i in done if kinds(events)[i] in types)


def kinds(events: list[SourceEvent]) -> dict[str | None, str]:
    return {e.item_id: e.payload["item"]["type"] for e in events if e.type.startswith("item.")}


@pytest.mark.parametrize("path", [*CODEX, PLAIN, *CLAUDE, *GEMINI, *OURS], ids=name)
def test_events_are_well_formed_and_the_same_each_time(path: Path) -> None:
    """Ids are valid and unique, keys unique, turns bracketed, lines in order; a second reading is equal."""
    events, closings = read(path)
    assert read(path) == (events, closings)
    everything = events + closings
    assert is_thread_id(open_source(path).thread.source_thread_id)
    assert len({e.key for e in everything}) == len(everything)
    assert [e.line for e in everything] == sorted(e.line for e in everything)
    open_turn: str | None = None
    for event in everything:
        if event.type == "thread.rolledBack":
            assert open_turn is None
        if event.type == "turn.started":
            assert open_turn is None
            open_turn = event.turn_id
        assert event.turn_id == open_turn
        if event.type in ("turn.completed", "turn.canceled", "turn.failed"):
            open_turn = None
        if event.item_id is not None:
            assert is_id(event.item_id)
            assert event.turn_id is not None
        assert event.turn_id is None or is_id(event.turn_id)
        assert event.at is None or re.fullmatch(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z", event.at)


@pytest.mark.parametrize("path", CODEX, ids=name)
def test_codex_messages_calls_and_edits_agree_with_a_plain_count(path: Path) -> None:
    """Each prompt, each call, and each file that a tool reports as changed is there, and nothing more."""
    events, closings = read(path)
    prompts = tools = edits = 0
    applied: set[str] = set()
    waiting: set[str | None] = set()
    said: Counter[tuple[str, bool]] = Counter()
    bare = "type" not in next(raw_lines(path))
    files = open_source(path).thread.files  # a thread that was taken back goes on in another file
    for line in chain.from_iterable(map(raw_lines, files)):
        payload = line if bare else line.get("payload", {})
        kind, item = payload.get("type"), payload.get("item", {})
        text = json.dumps(payload.get("content", ""))
        prompts += kind == "user_message" or item.get("type") == "UserMessage"
        prompts += bare and kind == "message" and payload["role"] == "user" and "<environment_context>" not in text
        # A call waits for its output; an event that tells of a call is that call's if it waits, else a call of its own.
        call_id = payload.get("call_id") or item.get("id")
        if kind in ("function_call", "custom_tool_call", "tool_search_call"):
            tools += 1
            waiting.add(call_id)
        elif kind in TELLS or item.get("type") in ("CommandExecution", "McpToolCall"):
            tools += call_id not in waiting
            waiting.discard(call_id)
        elif str(kind).endswith("_output"):
            waiting.discard(call_id)
        if kind == "agent_message" and "message" in payload:
            said[payload["message"], True] += 1
        elif item.get("type") == "AgentMessage" or (kind == "message" and payload["role"] == "assistant"):
            for part in (item or payload)["content"]:
                said[part.get("text", ""), bool(item)] += 1
        changes = payload if kind == "patch_apply_end" else item if item.get("type") == "FileChange" else {}
        if changes.get("status") == "completed":
            edits += len(changes["changes"])
            applied.add(changes.get("call_id") or changes["id"])
        if str(kind).endswith("call_output") and payload["call_id"] not in applied:
            output = json.dumps(payload["output"])
            if "Success. Updated the following files:" in output:
                edits += len(re.findall(r"n[AMD] ", output.split("following files:")[1]))
    assert count(events, "userMessage") == prompts
    # Each text is written twice, as an event and as the model's message, or once.
    answers = {text: max(said[text, True], said[text, False]) for text, _ in said if text}
    assert count(events, "agentMessage") == sum(answers.values())
    assert sum(e.type == "artifact.snapshot" for e in events) == edits
    assert count(events + closings, *TOOLS) == tools


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_claude_messages_calls_and_edits_agree_with_a_plain_count(path: Path) -> None:
    """Each prompt, each tool_use and each edit that succeeded is there, and nothing more."""
    events, closings = read(path)
    seen: set[str] = set()
    prompts: set[str] = set()
    answers: set[tuple[str, int]] = set()
    uses: Counter[str] = Counter()
    names: dict[str, str] = {}
    edits = 0
    first = next(line for line in raw_lines(path) if line.get("type") in ("user", "assistant"))
    for line in raw_lines(path):
        kind, uuid = line.get("type"), line.get("uuid", "")
        uses["lines"] += kind == "tool_use"
        if kind == "attachment" and line["attachment"].get("commandMode") == "prompt":
            prompts.add(uuid)
        if kind not in ("user", "assistant"):
            continue
        message = line["message"] if isinstance(line["message"], dict) else {"content": line["message"]}
        content = message.get("content", [])
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        by_model = kind == "assistant" and not line.get("isApiErrorMessage") and message.get("model") != "<synthetic>"
        texts = enumerate(b.get("text") if b["type"] == "text" else None for b in blocks)
        answers |= {(uuid, number) for number, text in texts if text and by_model}
        for block in blocks:
            if block["type"] == "tool_use" and uuid not in seen:
                uses["blocks"] += 1
                names[block.get("id", "")] = block["name"]
            if block["type"] == "tool_result" and not block.get("is_error"):
                edits += names.get(block.get("tool_use_id", ""), "") in ("Edit", "Write", "MultiEdit")
        texts = [b.get("text", "image") for b in blocks]
        typed = [t for t in texts if not t.startswith(("<local-command", "Caveat: The messages", "[Request inter"))]
        side = bool(line.get("isSidechain")) and not first.get("isSidechain")
        own = line.get("isMeta") or line.get("isCompactSummary") or side
        if kind == "user" and typed and not own and all(b["type"] != "tool_result" for b in blocks):
            prompts.add(uuid)
        seen.add(uuid)
    assert count(events, "userMessage") == len(prompts)
    assert count(events, "agentMessage") == len(answers)
    assert count(events + closings, *TOOLS) == uses.total()
    assert sum(e.type == "artifact.snapshot" for e in events) == edits


@pytest.mark.parametrize("path", [*CLAUDE, *FIXTURES.glob("claude_*.jsonl")], ids=name)
def test_claude_sides_are_what_the_lines_prove(path: Path) -> None:
    """A pre-image is the post-image before it or an originalFile; a post-image is that with the replacement."""
    told: dict[str, dict[str, Any]] = {}
    for line in raw_lines(path):
        result = line.get("toolUseResult")
        if isinstance(result, dict) and "filePath" in result:
            told[line["message"]["content"][0]["tool_use_id"]] = result
    last: dict[str, str] = {}
    for payload in (e.payload for e in read(path)[0] if e.type == "artifact.snapshot"):
        result = told.get(payload["metadata"]["callId"], {})
        original = result.get("originalFile")
        if "oldString" in result:
            assert payload["previousContent"] == original
            assert payload["content"] == original.replace(result["oldString"], result["newString"], 1)
        if "previousContent" in payload and result:
            external = payload["previousContent"] != last.get(payload["path"], payload["previousContent"])
            assert not external or payload["previousContent"] in (original, result.get("originalFileContents"))
        if "content" in payload:
            last[payload["path"]] = payload["content"]


@pytest.mark.parametrize("path", GEMINI, ids=name)
def test_gemini_messages_and_calls_agree_with_a_plain_count(path: Path) -> None:
    """Each prompt, each answer with a text and each call is there once; of an id that comes twice the last counts."""
    text = path.read_text(encoding="utf-8")
    records = list(raw_lines(path)) if path.suffix == ".jsonl" else [json.loads(text)]
    listed = [m for r in records for m in r.get("messages", r.get("history", [r]))]
    messages = {m.get("id", str(i)): m for i, m in enumerate(listed) if "type" in m or "role" in m}.values()
    prompts = [m for m in messages if m.get("type", m.get("role")) == "user"]
    said = [
        m for m in messages if m.get("type", m.get("role")) in ("gemini", "model") and ("parts" in m or m["content"])
    ]
    events, closings = read(path)
    assert count(events + closings, "userMessage") == len(prompts)
    assert count(events + closings, "agentMessage") == len(said)
    assert count(events + closings, *TOOLS) == sum(len(m.get("toolCalls", [])) for m in messages)


def test_a_chat_without_a_head_is_read() -> None:
    """Lines of an older interface: a prompt, a call with its result, an answer."""
    events, closings = read(PLAIN)
    assert [e.payload["item"]["type"] for e in events + closings if e.type == "item.completed"] == [
        "userMessage", "dynamicToolCall", "agentMessage",
    ]  # fmt: skip


TABLE = Path(__file__).with_name("import_shared.txt")


def test_the_table_of_all_files_is_as_recorded() -> None:
    """Turns, items by type, edits with both sides, one or none, damaged lines: of each file."""
    rows = [row_of(path) for path in [*CODEX, PLAIN, *CLAUDE, *GEMINI]]
    assert "\n".join(rows) + "\n" == TABLE.read_text(encoding="utf-8")


def row_of(path: Path) -> str:
    """One line of the table."""
    reading = open_source(path)
    everything = [*reading.events(final=True), *reading.closings()]
    turns = sum(e.type == "turn.started" for e in everything)
    items = Counter(kinds(everything).values())
    told = ", ".join(f"{number} {kind}" for kind, number in sorted(items.items())) or "none"
    edits, one = reading.account.edits, reading.account.edits["after"] + reading.account.edits["before"]
    return (
        f"{name(path)}: {turns} turns; items: {told}; edits: {edits['both']} both sides, {one} one side, "
        f"{edits['none']} none, {reading.account.outside} outside; {reading.damaged} damaged"
    )
