"""Codex rollouts of each generation as our events, on small files of our own in the same shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockstitch.imports import apply_patch, codex_calls
from lockstitch.imports.detect import open_source
from lockstitch.imports.edits import relative_path
from lockstitch.imports.source import SourceEvent, SourceReading

FIXTURES = Path(__file__).parent.parent / "fixtures" / "imports"


def read(name: str) -> tuple[SourceReading, list[SourceEvent]]:
    reading = open_source(FIXTURES / name)
    return reading, list(reading.events(final=True))


def items(events: list[SourceEvent]) -> dict[str, dict[str, Any]]:
    return {str(e.item_id): e.payload["item"] for e in events if e.type == "item.completed"}


def snapshots(events: list[SourceEvent]) -> dict[str, dict[str, Any]]:
    return {e.payload["path"]: e.payload for e in events if e.type == "artifact.snapshot"}


def rollout(tmp_path: Path, *lines: dict[str, Any]) -> Path:
    head = {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": "t-1", "cwd": "/w"}}
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in (head, *lines)))
    return path


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:01Z", "type": "event_msg", "payload": {"type": kind, **payload}}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:01Z", "type": "response_item", "payload": {"type": kind, **payload}}


def test_head_of_a_rollout() -> None:
    """The thread keeps the source's id, directory, git state and first prompt."""
    thread = open_source(FIXTURES / "codex_g1.jsonl").thread
    assert thread.source_thread_id == "6f1c2a58-0c1e-4c55-9a8e-1f2e3d4c5b6a"
    assert (thread.cwd, thread.model, thread.preview) == ("/home/ada/loom", "weaver-1", "Please plan the weave")
    assert thread.git == {"sha": "a" * 40, "branch": "main", "originUrl": "https://example.invalid/loom.git"}
    assert thread.created_at == "2026-03-01T10:00:00.000000Z"


def test_turns_begin_at_prompts_where_no_event_says_so() -> None:
    """Without task events a turn starts at each user_message; the last one's abort is held back."""
    reading, events = read("codex_g1.jsonl")
    turns = [(e.type, e.turn_id) for e in events if e.type.startswith("turn.")]
    assert turns == [("turn.started", "turn_1"), ("turn.completed", "turn_1"), ("turn.started", "turn_2")]
    assert reading.open_turn is None
    closings = reading.closings()
    assert [e.type for e in closings] == ["item.started", "turn.canceled"]
    assert closings[0].payload["item"]["command"] == "rm -r cloth"
    assert closings[1].payload == {"reason": "interrupted"}


def test_texts_written_twice_are_one_item() -> None:
    """A message and its display event, a reasoning and its display event: one item each."""
    reading, events = read("codex_g1.jsonl")
    texts = [i["text"] for i in items(events).values() if i["type"] == "agentMessage"]
    assert texts == ["I will write it down.", "Done."]
    assert [i["summary"] for i in items(events).values() if i["type"] == "reasoning"] == [["**Looking**"]]
    assert reading.account.encrypted == 1


def test_calls_carry_what_their_outputs_tell() -> None:
    """Exit code, duration and output proper come out of each of the output shapes."""
    _, events = read("codex_g1.jsonl")
    found = items(events)
    assert found["call_a"]["exitCode"] == 0
    assert found["call_a"]["durationMs"] == 200
    assert found["call_a"]["command"].startswith("apply_patch <<'EOF'")
    assert found["call_d"] == {
        "type": "commandExecution",
        "id": "call_d",
        "command": "make check",
        "cwd": "/home/ada/loom/sub",
        "status": "failed",
        "source": "agent",
        "commandActions": [],
        "aggregatedOutput": "make: *** [check] Error 1\n",
        "exitCode": 2,
        "durationMs": 1500,
    }
    assert found["call_b"]["status"] == "failed"
    assert found["call_e"]["arguments"] == {"plan": [{"step": "weave", "status": "in_progress"}]}
    assert found["call_f"] == {"type": "imageView", "id": "call_f", "path": "/home/ada/loom/cloth.png"}
    assert found["search_1"]["query"] == "warp and weft"


def test_patch_text_proves_adds_only() -> None:
    """An add proves its content, an update and a delete prove no content; a failed patch records nothing."""
    reading, events = read("codex_g1.jsonl")
    found = snapshots(events)
    assert set(found) == {"notes/plan.md", "src/loom.py", "old.txt", "sub/deep.txt"}
    assert found["notes/plan.md"]["content"] == "# Plan\n\nweave\n"
    assert found["notes/plan.md"]["beforeAbsent"] is True
    update = found["src/loom.py"]
    assert update["beforeNotCaptured"] is True
    assert update["afterNotCaptured"] is True
    assert update["diff"] == "@@\n-warp = 1\n+warp = 2\n"
    assert found["old.txt"]["op"] == "deleted"
    assert found["old.txt"]["beforeNotCaptured"] is True
    assert reading.account.edits == {"both": 2, "none": 1, "after": 1}


def test_usage_is_the_growth_of_the_totals() -> None:
    """Repeated and empty counts add nothing; a turn's usages add up to the last total."""
    _, events = read("codex_g1.jsonl")
    usage = [e.payload for e in events if e.type == "provider.usage"]
    assert [u["inputTokens"] for u in usage] == [100, 150]
    assert sum(u["outputTokens"] for u in usage) == 30


def test_usage_after_a_reset_of_the_totals(tmp_path: Path) -> None:
    """Where the totals begin anew, the last request is what was used."""

    def count(total: int, last: int) -> dict[str, Any]:
        def usage(tokens: int) -> dict[str, int]:
            return {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}

        return event("token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last)})

    lines = [event("user_message", message="hi"), count(100, 100), count(40, 40), count(60, 20)]
    events = list(open_source(rollout(tmp_path, *lines)).events())
    assert [e.payload["inputTokens"] for e in events if e.type == "provider.usage"] == [100, 40, 20]


def test_changes_of_a_patch() -> None:
    """`changes` give adds and deletes by content, renames with both paths; outside and .git paths are counted."""
    reading, events = read("codex_g3.jsonl")
    found = snapshots(events)
    assert set(found) == {"src/frame.py", "gone.txt", "new.txt"}
    assert (found["src/frame.py"]["op"], found["src/frame.py"]["oldPath"]) == ("renamed", "src/loom.py")
    assert found["gone.txt"]["previousContent"] == "bye\r\n"
    assert "content" not in found["gone.txt"]
    assert found["new.txt"]["metadata"]["afterSource"] == "FileChange"
    assert reading.account.outside == 2
    assert items(events)["call_2"]["status"] == "declined"


def test_task_events_name_the_turns() -> None:
    """Turn ids, ends and failures are the source's; unknown lines are kept raw."""
    reading, events = read("codex_g3.jsonl")
    assert reading.thread.parent_thread_id == "0195a000-aaaa-7000-8000-000000000000"
    assert [e.payload for e in events if e.type == "turn.completed"] == [{"durationMs": 321}]
    (closing,) = reading.closings()
    assert (closing.type, closing.payload) == ("turn.failed", {"error": {"message": "usage limit"}})
    assert items(events)["call_3"]["result"]["content"] == [{"type": "text", "text": "hello"}]
    assert sum(i["type"] == "contextCompaction" for i in items(events).values()) == 1
    raw = {e.type: e.payload["raw"] for e in events if e.type.startswith("import.source.")}
    assert raw["import.source.codex.brand_new_line"]["payload"] == {"secret": "kept"}
    authority = [e.payload for e in events if e.type == "authority.set"]
    assert authority[0] == {"mode": "on-request", "sandbox": "read-only"}


def test_paginated_items() -> None:
    """Item ids are the source's, pictures come with the prompt, records count the tokens."""
    reading, events = read("codex_g4.jsonl")
    found = items(events)
    assert found["item-user-1"]["content"] == [
        {"type": "text", "text": "Look at this"},
        {"type": "image", "url": "data:image/png;base64,AAAA"},
    ]
    assert found["rs_1"]["content"] == ["raw"]
    assert found["m_1"]["phase"] == "commentary"
    assert found["call_1"]["aggregatedOutput"] == "hi\n"
    assert found["call_1"]["durationMs"] == 2
    assert found["plan-1"]["text"] == "1. look"
    assert [e.payload["inputTokens"] for e in events if e.type == "provider.usage"] == [10, 20]
    assert snapshots(events)["n.txt"]["content"] == "n\n"
    assert reading.thread.base is not None
    assert reading.open_turn is not None
    assert reading.open_turn.outcome == "open"
    assert [e.key for e in reading.closings()] == ["item:call_9:started"]


def test_bare_items() -> None:
    """The oldest generation: prompts are the user messages that are no context."""
    reading, events = read("codex_bare.jsonl")
    assert reading.thread.cwd == "/home/ada/loom"
    assert [i["type"] for i in items(events).values()] == ["userMessage", "commandExecution", "agentMessage"]


def test_a_second_add_of_a_path_is_a_change_of_unknown_content(tmp_path: Path) -> None:
    """Codex says "add" where it writes over a file: what was there is not known, and not absent."""
    change = {"changes": {"/w/a.txt": {"type": "add", "content": "x"}}, "success": True, "status": "completed"}
    lines = [event("user_message", message="hi")]
    lines += [event("patch_apply_end", call_id=f"c{n}", **change) for n in range(2)]
    found = [e.payload for e in open_source(rollout(tmp_path, *lines)).events() if e.type == "artifact.snapshot"]
    assert [(p["op"], p.get("beforeAbsent"), p.get("beforeNotCaptured")) for p in found] == [
        ("created", True, None),
        ("modified", None, True),
    ]


def test_a_command_that_goes_on_is_completed_again(tmp_path: Path) -> None:
    """A process that outlives its call's output gets its end from the later event, under a key of its own."""
    told = {"type": "CommandExecution", "id": "c1", "command": ["sleep", "9"], "cwd": "file:///w", "exit_code": 0}
    lines = [
        event("task_started", turn_id="t"),
        item("function_call", name="exec_command", arguments='{"cmd":"sleep 9"}', call_id="c1"),
        event("item_completed", turn_id="t", item={**told, "status": "completed", "aggregated_output": "done"}),
        item("function_call_output", call_id="c1", output="Process running with session ID 7\nOutput:\n"),
    ]
    reading = open_source(rollout(tmp_path, *lines))
    done = [e for e in reading.events() if e.type == "item.completed"]
    assert [e.payload["item"]["aggregatedOutput"] for e in done] == ["done"]
    assert reading.account.duplicates == 1


def test_a_search_told_twice_is_one_item(tmp_path: Path) -> None:
    """The event and the response item of a search are one; what it found is kept."""
    action = {"type": "search", "query": "weft", "url": None}
    lines = [
        event("user_message", message="hi"),
        event("web_search_end", call_id="ws", query="weft", action=action, results=[{"title": "Weft"}]),
        item("web_search_call", status="completed", action=action),
    ]
    reading = open_source(rollout(tmp_path, *lines))
    (search,) = (i for i in items(list(reading.events())).values() if i["type"] == "webSearch")
    assert search["results"] == [{"title": "Weft"}]
    assert search["action"] == {"type": "search", "query": "weft"}
    assert reading.account.duplicates == 1


def test_results_without_a_call_and_odd_ids_are_kept(tmp_path: Path) -> None:
    """An output that belongs to nothing stays raw; ids that cannot be ours are replaced, repeated ones numbered."""
    lines = [
        event("user_message", message="hi"),
        item("function_call_output", call_id="nobody", output="x"),
        item("function_call", name="f", arguments="not json", call_id="bad id"),
        item("function_call_output", call_id="bad id", output=[{"type": "input_image", "image_url": "data:x"}]),
        item("function_call", name="f", arguments="{}", call_id="same"),
        item("function_call_output", call_id="same", output="1"),
        item("function_call", name="f", arguments="{}", call_id="SAME"),
        item("function_call_output", call_id="SAME", output="2"),
    ]
    events = list(open_source(rollout(tmp_path, *lines)).events())
    assert [e.type for e in events if e.type.startswith("import")] == ["import.source.codex.function_call_output"]
    calls = [i for i in items(events).values() if i["type"] == "dynamicToolCall"]
    assert calls[0]["id"].startswith("src_")
    assert calls[0]["arguments"] == {"input": "not json"}
    assert calls[0]["contentItems"] == [{"type": "inputImage", "imageUrl": "data:x"}]
    assert [c["id"] for c in calls[1:]] == ["same", "SAME:2"]


def test_a_very_large_unknown_line_is_kept_by_its_digest(tmp_path: Path) -> None:
    """What is opaque and large is named by bytes and sha256, with where it stands in the source."""
    line = {"timestamp": "2026-03-01T10:00:01Z", "type": "novelty", "payload": {"x": "y" * 100_000}}
    (event_,) = open_source(rollout(tmp_path, line)).events()
    assert set(event_.payload) == {"bytes", "sha256", "preview", "sourceOffset", "sourceLength"}
    assert (event_.payload["sourceOffset"], event_.payload["sourceLength"]) == event_.line


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"output":"a\\n","metadata":{"exit_code":1,"duration_seconds":0.25}}', ("a\n", 1, 250, "failed")),
        ("Exit code: 0\nWall time: 2 seconds\nTotal output lines: 9\nOutput:\nb", ("b", 0, 2000, "completed")),
        ("Wall time: 0.1 seconds\nOutput:\nExit code: 3\nWall time: 5 seconds\nOutput:\nc", ("c", 3, 100, "failed")),
        (
            "Chunk ID: x\nWall time: 1 seconds\nProcess running with session ID 5\nOutput:\n",
            ("", None, 1000, "completed"),
        ),
        ("unsupported call: shell", ("unsupported call: shell", None, None, "failed")),
        ("exec command rejected by user", ("exec command rejected by user", None, None, "declined")),
        ('{"output": 5}', ('{"output": 5}', None, None, "completed")),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], ("a\nb", None, None, "completed")),
        ({"content": "no", "success": False}, ("no", None, None, "failed")),
        (None, ("", None, None, "completed")),
    ],
)
def test_outputs(output: Any, expected: tuple[str, int | None, int | None, str]) -> None:
    """Each shape of output gives its text, exit code, duration and status, and no more than it says."""
    found = codex_calls.read_output(output)
    assert (found.text, found.exit_code, found.duration_ms, found.status) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("apply_patch <<'EOF'", "/w"),
        ("cd sub && apply_patch <<'EOF'", "/w/sub"),
        ("cd '/else where' && apply_patch <<'EOF'", "/else where"),
        ("cd $HOME && apply_patch", None),
        ("make; cd x; make && apply_patch", None),
    ],
)
def test_directory_of_a_patch_in_a_script(script: str, expected: str | None) -> None:
    """Only a `cd` that the script tells in full moves a patch's relative paths."""
    assert apply_patch.directory_of(script, "/w") == expected


@pytest.mark.parametrize(
    ("path", "workspace", "expected"),
    [
        ("/w/a/../b.txt", "/w/", "b.txt"),
        ("a/b", "/w", "a/b"),
        ("../x", "/w", None),
        ("/wide/x", "/w", None),
        ("/w", "/w", None),
        ("/w/.GIT/config", "/w", None),
        ("/w/sub/.lockstitch/x", "/w", None),
        ("/w/~/x", "/w", None),
        ("/w/nul.txt", "/w", None),
        ("C:\\Work\\a.txt", "c:\\work", "a.txt"),
        ("file:///w/a%20b", "/w", "a b"),
        ("a.txt", None, "a.txt"),
        ("/a.txt", None, None),
        ("/x", "/", "x"),
        ("a\x00b", "/w", None),
    ],
)
def test_paths_relative_to_the_session(path: str, workspace: str | None, expected: str | None) -> None:
    """A path is relative to the session's directory, or has no checkpoint."""
    assert relative_path(path, None, workspace) == expected
