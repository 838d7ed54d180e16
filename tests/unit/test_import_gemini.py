"""Gemini CLI sessions as our events, in both forms, on small files of our own in the same shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.property.import_pieces import Thread

from lockstitch.imports.detect import open_source
from lockstitch.imports.document import take_apart
from lockstitch.imports.growth import endings
from lockstitch.imports.source import SourceEvent

FIXTURES = Path(__file__).parent.parent / "fixtures" / "imports"
DOCUMENT, LINES = FIXTURES / "gemini_document.json", FIXTURES / "gemini_lines.jsonl"


def read(path: Path) -> list[SourceEvent]:
    reading = open_source(path)
    return [*reading.events(final=True), *endings(reading)]


def items(events: list[SourceEvent]) -> dict[str, dict[str, Any]]:
    return {str(e.item_id): e.payload["item"] for e in events if e.type == "item.completed"}


def test_turns_and_what_was_said() -> None:
    """A prompt begins a turn, a cancelled request cancels it; pictures come along; what was shown is what was typed."""
    events = read(DOCUMENT)
    assert [(e.type, e.turn_id) for e in events if e.type.startswith("turn.")] == [
        ("turn.started", "gm-1"), ("turn.completed", "gm-1"), ("turn.started", "gm-6"), ("turn.canceled", "gm-6"),
        ("turn.started", "gm-8"), ("turn.completed", "gm-8"),
    ]  # fmt: skip
    found = items(events)
    assert found["gm-6"]["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image", "url": "data:image/png;base64,AAAA"},
    ]
    assert found["gm-2:thoughts"]["summary"] == ["**Plan** One file is enough."]
    assert found["gm-5"]["text"] == 'Done, with "quotes", {braces} and ] brackets.'


def test_calls_and_their_results_are_one_object() -> None:
    """A refused call is declined and changes nothing; an exit code is what the output tells."""
    found = items(read(DOCUMENT))
    assert found["write_file-2"]["status"] == "declined"
    command = found["run_shell_command-1"]
    assert (command["status"], command["exitCode"], command["aggregatedOutput"], command["cwd"]) == (
        "failed", 3, "2 2 13 pattern.txt", "/home/ada/loom",
    )  # fmt: skip


def test_sides_are_only_what_writes_prove() -> None:
    """A new file is absent before; an edit's sides are proven by the write before it, else there is only its diff."""
    edits = [e.payload for e in read(DOCUMENT) if e.type == "artifact.snapshot"]
    assert [(e["path"], e["op"], e.get("previousContent"), e.get("content")) for e in edits] == [
        ("pattern.txt", "created", None, "over\nunder\n"),
        ("pattern.txt", "modified", "over\nunder\n", "over\nbeneath\n"),
        ("other.txt", "modified", None, None),
    ]
    assert edits[0]["beforeAbsent"] and edits[2]["beforeNotCaptured"] and edits[2]["afterNotCaptured"]
    assert edits[2]["metadata"]["beforeSource"] == "notCaptured" and edits[2]["diff"].startswith("---")


def test_the_directory_is_the_one_that_the_project_hash_proves(tmp_path: Path) -> None:
    """By a path of a call, by the marker beside the sessions, or by the home's list; never by a guess."""
    reading = open_source(DOCUMENT)
    assert reading.thread.cwd is None
    list(reading.events())
    assert reading.found_cwd == "/home/ada/loom"
    chats = tmp_path / "tmp" / "loom" / "chats"
    chats.mkdir(parents=True)
    (chats / "s.json").write_bytes(DOCUMENT.read_bytes())
    assert open_source(chats / "s.json").thread.cwd is None
    (tmp_path / "projects.json").write_text('{"projects":{"/home/ada/loom":"loom"}}')
    assert open_source(chats / "s.json").thread.cwd == "/home/ada/loom"
    (chats.parent / ".project_root").write_text("/home/ada/loom\n")
    assert open_source(chats / "s.json").thread.cwd == "/home/ada/loom"


def test_lines_last_wins_and_rewind_takes_back() -> None:
    """A message written again renews what it told; $set.messages takes nothing away; $rewindTo takes turns back."""
    events = read(LINES)
    found = items(events)
    assert [e.payload for e in events if e.type == "thread.rolledBack"] == [{"numTurns": 1, "turnIds": ["gm-6"]}]
    assert found["gm-9"]["text"] == "A woven pattern, as you asked."
    assert found["write_file-1"]["status"] == "completed"
    assert [e.item_id for e in events if e.type == "item.completed"].count("write_file-1") == 1
    names = ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens")
    usage = [tuple(e.payload[name] for name in names) for e in events if e.type == "provider.usage"]
    assert usage == [(101, 20, 15, 5), (120, 0, 7, 0), (5, 0, 2, 0)]
    assert open_source(LINES).thread.source == "main"


def test_a_rewritten_document_adds_what_is_new(tmp_path: Path) -> None:
    """The last message may grow; a message before it that changes makes it another source."""
    source = tmp_path / "session.json"
    document = json.loads(DOCUMENT.read_bytes())
    messages = document["messages"]
    half = json.loads(json.dumps(messages[1]))
    half["toolCalls"][0]["status"] = "executing"
    del half["toolCalls"][0]["result"], half["toolCalls"][0]["resultDisplay"], half["tokens"]
    thread = Thread()
    for written in ([messages[0]], [messages[0], half], messages[:2], messages):
        source.write_text(json.dumps({**document, "lastUpdated": f"{len(written)}", "messages": written}))
        assert thread.take(source) > 0
        source.write_text(json.dumps({**document, "lastUpdated": "later", "messages": written}))
        assert thread.take(source) == 0
    whole = Thread()
    whole.take(source)
    assert thread.told() == whole.told()


@pytest.mark.parametrize("indent", [None, 2])
def test_damage_in_a_document_costs_one_message(indent: int | None) -> None:
    """What stands before and behind the bytes that cannot be read is read."""
    value = {"sessionId": "s", "messages": [{"id": str(n), "list": [{"id": "x"}, {"id": "y"}]} for n in range(4)]}
    data = json.dumps({**value, "summary": "t"}, indent=indent).encode()
    for hurt in (b'"1', b'1"}}', b"1\x00"):
        found = take_apart(data.replace(b'"1"', hurt))
        assert found is not None
        lines = found.lines.split(b"\n")[:-1]
        assert [json.loads(line)["id"] for line in (lines[0], *lines[-2:])] == ["0", "2", "3"]
        assert len(lines) == 4
        assert found.head == {"sessionId": "s", "summary": "t"}
