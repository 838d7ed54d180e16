"""Claude Code transcripts as our events, on small files of our own in the same shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockstitch.imports.claude_edits import read_edit
from lockstitch.imports.detect import open_source
from lockstitch.imports.edits import ABSENT
from lockstitch.imports.source import SourceEvent, SourceReading

FIXTURES = Path(__file__).parent.parent / "fixtures" / "imports"


@pytest.fixture
def reading() -> SourceReading:
    return open_source(FIXTURES / "claude_edits.jsonl")


@pytest.fixture
def events(reading: SourceReading) -> list[SourceEvent]:
    return list(reading.events(final=True))


def items(events: list[SourceEvent]) -> dict[str, dict[str, Any]]:
    return {str(e.item_id): e.payload["item"] for e in events if e.type == "item.completed"}


def test_turns_begin_where_the_person_speaks(reading: SourceReading, events: list[SourceEvent]) -> None:
    """Results, meta lines, summaries, command output and subagent prompts begin none; an interruption cancels."""
    turns = [(e.type, e.turn_id) for e in events if e.type.startswith("turn.")]
    assert turns == [
        ("turn.started", "u1"),
        ("turn.canceled", "u1"),
        ("turn.started", "u2"),
        ("turn.completed", "u2"),
        ("turn.started", "u3"),
    ]
    assert reading.open_turn is not None
    assert (reading.open_turn.turn_id, reading.open_turn.outcome) == ("u3", "open")


def test_what_the_person_sent(events: list[SourceEvent]) -> None:
    """Pictures come as data, slash commands as typed, a prompt queued while the agent worked as a message."""
    sent = [i["content"] for i in items(events).values() if i["type"] == "userMessage"]
    assert sent == [
        [{"type": "text", "text": "Weave a loom"}],
        [{"type": "text", "text": "Look"}, {"type": "image", "url": "data:image/png;base64,AAAA"}],
        [{"type": "text", "text": "and hurry"}],
        [{"type": "text", "text": "/review src"}],
    ]


def test_tools_are_paired_with_their_results(events: list[SourceEvent]) -> None:
    """A command tells its exit code only where the result does; refused and failed calls say so."""
    found = items(events)
    assert found["toolu_5"]["status"] == "failed"
    assert found["toolu_5"]["exitCode"] == 2
    assert found["toolu_6"]["status"] == "declined"
    assert found["toolu_11"]["aggregatedOutput"] == "found\nwarn"
    assert "exitCode" not in found["toolu_11"]
    assert found["toolu_7"]["server"] == "files"
    assert found["toolu_7"]["result"]["content"][1] == {"type": "image", "data": "BBBB", "mimeType": "image/png"}


def test_versions_are_what_the_source_proves(reading: SourceReading, events: list[SourceEvent]) -> None:
    """Pre-images are originalFile, post-images the replacement in it, also where somebody edited in between."""
    found = [e.payload for e in events if e.type == "artifact.snapshot" and e.payload["path"] == "src/loom.py"]
    assert [(p["op"], p.get("previousContent"), p["content"]) for p in found] == [
        ("created", None, "warp = 1\nweft = 1\n"),
        ("modified", "warp = 1\nweft = 1\n", "warp = 2\nweft = 1\n"),
        ("modified", "warp = 2\nweft = 1  # mine\n", "warp = 2\nweft = 9  # mine\n"),
        ("modified", "warp = 2\nweft = 9\n", "WARP = 3\nweft = 9\n"),
    ]
    assert found[0]["beforeAbsent"] is True
    assert found[1]["metadata"] == {
        "callId": "toolu_2",
        "beforeSource": "originalFile",
        "afterSource": "originalFile",
    }
    assert reading.account.outside == 1
    assert reading.account.edits == {"both": 5}


def test_usage_is_counted_once_a_message(reading: SourceReading, events: list[SourceEvent]) -> None:
    """The last line of a message wins, a rewritten line included; the last message waits in the closings."""
    usage = {e.key: e.payload for e in [*events, *reading.closings()] if e.type == "provider.usage"}
    assert usage["usage:msg_1"]["outputTokens"] == 40
    assert usage["usage:msg_7"]["outputTokens"] == 9
    assert usage["usage:msg_1"]["inputTokens"] == 123
    assert usage["usage:msg_1"]["cachedInputTokens"] == 100
    assert len(usage) == 9


def test_the_rest_is_kept_or_counted(reading: SourceReading, events: list[SourceEvent]) -> None:
    """Summaries, errors and unknown lines stay raw; the tool's own state is counted; titles are found."""
    kept = {e.type.removeprefix("import.source.claude.") for e in events if e.type.startswith("import.")}
    assert kept == {"compactSummary", "apiError", "novelty", "localCommandOutput", "outsideEdit"}
    assert reading.account.skipped["progress"] == 1
    assert reading.account.duplicates == 1
    assert reading.title == "Weaving session"
    assert items(events)["s1"]["type"] == "contextCompaction"
    assert items(events)["sc2:1"]["phase"] == "commentary"


def test_a_subagents_file() -> None:
    """A subagent's own file is a thread of its own whose prompts begin turns; it needs no final newline."""
    reading = open_source(FIXTURES / "claude_subagent.jsonl")
    assert reading.thread.source_thread_id == "agent-a1b2c3"
    assert reading.thread.parent_thread_id == "11111111-2222-4333-8444-555555555555"
    assert [e.type for e in reading.events()][:2] == ["turn.started", "item.completed"]


def hunks(*sizes: tuple[int, int]) -> list[dict[str, Any]]:
    return [{"oldLines": old, "newLines": new, "lines": []} for old, new in sizes]


@pytest.mark.parametrize(
    ("told", "after"),
    [
        ({"oldString": "b\n", "newString": ""}, "a\nc\n"),
        ({"oldString": "b", "newString": ""}, None),
        ({"oldString": "b", "newString": "", "structuredPatch": hunks((3, 2))}, "a\nc\n"),
        ({"oldString": "b", "newString": "", "structuredPatch": hunks((3, 3))}, "a\n\nc\n"),
        ({"oldString": "\n", "newString": ";"}, None),
        ({"oldString": "\n", "newString": ";", "replaceAll": True}, "a;b;c;"),
        ({"oldString": "zzz", "newString": "y"}, None),
        ({"oldString": "b", "newString": "B", "userModified": True}, None),
        ({"oldString": "b", "newString": "B\nB", "structuredPatch": hunks((3, 3))}, None),
    ],
)
def test_a_post_image_needs_one_result(told: dict[str, Any], after: str | None) -> None:
    """Ambiguous, missing or contradicted replacements leave the side not captured; the diff remains."""
    edit = read_edit("Edit", {"file_path": "/w/f"}, {"filePath": "/w/f", "originalFile": "a\nb\nc\n", **told}, "ok")
    assert edit is not None
    assert (edit.before, edit.after) == ("a\nb\nc\n", after)
    assert edit.diff


def test_edits_that_only_a_sentence_tells() -> None:
    """A creation is proven by its words; an edit without its original proves neither side."""
    created = read_edit(
        "Edit", {"file_path": "/w/f", "old_string": "", "new_string": "x"}, "", "File created successfully at: /w/f"
    )
    assert created is not None
    assert (created.op, created.before, created.after) == ("created", ABSENT, "x")
    edited = read_edit("Edit", {"file_path": "/w/f", "old_string": "a", "new_string": "b"}, None, "updated")
    assert edited is not None
    assert (edited.before, edited.after, edited.diff) == (None, None, "-a\n+b\n")
    written = read_edit("Write", {"file_path": "/w/f", "content": "x"}, None, "updated")
    assert written is not None
    assert (written.before, written.after) == (None, "x")
