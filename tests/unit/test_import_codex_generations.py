"""The same small story as each of the five generations of Codex rollouts tells it: it reads the same from all of them.

Two turns: a prompt, a command, a new file and an answer; then a prompt and an answer. What a generation cannot prove
(a command's exit, a turn's own id) is named in its row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstitch.imports.detect import open_source
from lockstitch.imports.source import SourceEvent

Line = dict[str, Any]
THREAD = "0196a000-0000-7000-8000-00000000000a"
TURNS = ("0196a000-0000-7000-8000-0000000000t1".replace("t", "a"), "0196a000-0000-7000-8000-0000000000a2")
PATCH = "*** Begin Patch\n*** Add File: notes.md\n+weft\n*** End Patch"
AT = "2026-03-01T10:00:00.500Z"


def line(kind: str, payload: Line, **more: Any) -> Line:
    return {"timestamp": AT, **more, "type": kind, "payload": payload}


def event(kind: str, **payload: Any) -> Line:
    return line("event_msg", {"type": kind, **payload})


def response(kind: str, **payload: Any) -> Line:
    return line("response_item", {"type": kind, **payload})


def said(role: str, text: str) -> Line:
    kind = "output_text" if role == "assistant" else "input_text"
    return response("message", role=role, content=[{"type": kind, "text": text}])


def usage(tokens: int) -> Line:
    return {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": tokens // 10, "total_tokens": tokens}


def counted(total: int, last: int) -> Line:
    return event("token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last)})


def context(**more: Any) -> Line:
    return line("turn_context", {"cwd": "/w", "approval_policy": "never", "model": "weaver", **more})


def shell(output: Any) -> list[Line]:
    arguments = json.dumps({"command": ["bash", "-lc", "make"], "workdir": "/w"})
    call = response("function_call", name="shell", arguments=arguments, call_id="call_1")
    return [call, response("function_call_output", call_id="call_1", output=output)]


def patched() -> list[Line]:
    done = json.dumps({"output": "Success. Updated the following files:\nA notes.md\n", "metadata": {"exit_code": 0}})
    call = response("custom_tool_call", name="apply_patch", input=PATCH, call_id="call_2", status="completed")
    return [call, response("custom_tool_call_output", call_id="call_2", output=done)]


EXITED = json.dumps({"output": "built\n", "metadata": {"exit_code": 0, "duration_seconds": 1.5}})


def bare() -> list[list[Line]]:
    """0.20 and 0.28: a head without a type, then items without a time, between them states."""
    head = {"id": THREAD, "timestamp": AT, "instructions": None, "git": {"branch": "main"}}
    state = {"record_type": "state"}
    environment = "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"
    items = [said("user", environment), said("user", "make it"), *shell(EXITED), *patched(), said("assistant", "made")]
    items += [said("user", "again"), said("assistant", "ok")]
    lines = [head, state]
    for item in items:
        lines += [item["payload"], state]
    return [lines]


def context_a_request() -> list[list[Line]]:
    """0.36 to 0.106: no task events, a turn_context before each request of the model; a turn is a prompt."""
    lines = [line("session_meta", {"id": THREAD, "cwd": "/w", "model_provider": "mock"})]
    lines += [said("user", "make it"), event("user_message", message="make it")]
    lines += [context(), *shell(EXITED), counted(60, 60), counted(60, 60)]
    lines += [context(), *patched(), counted(80, 20)]
    lines += [context(), event("agent_message", message="made"), said("assistant", "made"), counted(100, 20)]
    lines += [said("user", "again"), event("user_message", message="again"), context()]
    lines += [event("agent_message", message="ok"), said("assistant", "ok"), counted(150, 50)]
    return [lines]


def _tasks(edit: list[Line]) -> list[Line]:
    def begun(number: int) -> list[Line]:
        turn = {"turn_id": TURNS[number]}
        return [event("task_started", **turn, model_context_window=1000), context(**turn)]

    lines = [line("session_meta", {"id": THREAD, "cwd": "/w", "model_provider": "mock", "source": "cli"}), *begun(0)]
    lines += [said("user", "make it"), event("user_message", message="make it", images=[]), counted(0, 0)]
    lines += [*shell("Exit code: 0\nWall time: 1.5 seconds\nOutput:\nbuilt\n"), counted(60, 60), *edit, counted(80, 20)]
    lines += [event("agent_message", message="made", phase="final_answer"), said("assistant", "made")]
    lines += [counted(100, 20), event("task_complete", turn_id=TURNS[0], last_agent_message="made"), *begun(1)]
    lines += [said("user", "again"), event("user_message", message="again", images=[])]
    lines += [event("agent_message", message="ok"), said("assistant", "ok"), counted(150, 50)]
    return [*lines, event("task_complete", turn_id=TURNS[1], last_agent_message=None)]


def task_events() -> list[list[Line]]:
    """0.104 to 0.120: turns have ids and ends; an edit is known by its patch."""
    return [_tasks(patched())]


def patch_events() -> list[list[Line]]:
    """0.130 to 0.140: what a patch changed stands in an event, by absolute paths."""
    changes = {"/w/notes.md": {"type": "add", "content": "weft\n"}}
    call, output = patched()
    done = event("patch_apply_end", call_id="call_2", success=True, changes=changes, status="completed", stdout="")
    return [_tasks([call, done, output])]


def paginated() -> list[list[Line]]:
    """From 0.150: numbered lines, items that are told once done, a record of each request; here gone on in a file."""

    def done(turn: str, item: Line) -> Line:
        return event("item_completed", thread_id=THREAD, turn_id=turn, item=item)

    def spent(turn: str, tokens: int, response_id: str) -> Line:
        told = {"thread_id": THREAD, "turn_id": turn, "response_id": response_id, "usage": usage(tokens)}
        return line("token_usage_record", told)

    def user(turn: str, text: str) -> list[Line]:
        item = {"type": "UserMessage", "id": f"u-{text[:2]}", "content": [{"type": "text", "text": text}]}
        return [event("task_started", turn_id=turn), context(turn_id=turn), said("user", text), done(turn, item)]

    def agent(turn: str, text: str) -> list[Line]:
        item = {"type": "AgentMessage", "id": f"a-{text}", "content": [{"type": "Text", "text": text}]}
        return [done(turn, item), said("assistant", text), event("task_complete", turn_id=turn)]

    first, second = TURNS
    command = {"type": "CommandExecution", "id": "call_1", "command": ["bash", "-lc", "make"], "cwd": "file:///w"}
    command |= {
        "exit_code": 0,
        "aggregated_output": "built\n",
        "status": "completed",
        "duration": {"secs": 1, "nanos": 5},
    }
    changes = {"/w/notes.md": {"type": "add", "content": "weft\n"}}
    edit = {"type": "FileChange", "id": "call_2", "changes": changes, "status": "completed", "stdout": ""}
    meta = {"id": THREAD, "session_id": THREAD, "cwd": "/w", "model_provider": "mock", "history_mode": "paginated"}
    call, output = shell("Output:\nbuilt\n")
    lines = [line("session_meta", meta), *user(first, "make it"), call, done(first, command), output]
    lines += [spent(first, 60, "r1"), *patched()[:1], done(first, edit), *patched()[1:], spent(first, 40, "r2")]
    lines += agent(first, "made")
    kept = len(lines)
    gone = "0196a000-0000-7000-8000-0000000000af"
    taken_back = [*user(gone, "not so"), *agent(gone, "never")]
    base = {"thread_id": THREAD, "end_ordinal_exclusive": kept, "end_byte_offset": 1}
    later = [line("session_meta", {**meta, "history_base": base}) | {"timestamp": "2026-03-01T11:00:00.000Z"}]
    later += [*user(second, "again"), spent(second, 50, "r3"), *agent(second, "ok")]
    files = [lines + taken_back, later]
    return [
        [{"ordinal": n, **one} for n, one in enumerate(file, start)]
        for file, start in zip(files, (0, kept), strict=True)
    ]


GENERATIONS: list[Callable[[], list[list[Line]]]] = [bare, context_a_request, task_events, patch_events, paginated]


def read(folder: Path, files: list[list[Line]]) -> tuple[list[SourceEvent], list[SourceEvent]]:
    for number, lines in enumerate(files):
        path = folder / f"rollout-{number}.jsonl"
        path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in lines))
    reading = open_source(folder / f"rollout-{len(files) - 1}.jsonl")
    assert reading.thread.source_thread_id == THREAD
    events = list(reading.events(final=True))
    assert reading.damaged == 0
    return events, reading.closings()


@pytest.fixture(params=GENERATIONS, ids=lambda made: made.__name__)
def told(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[SourceEvent], list[SourceEvent]]:
    return (request.param.__name__, *read(tmp_path, request.param()))


def test_turns(told: tuple[str, list[SourceEvent], list[SourceEvent]]) -> None:
    """Two turns that stay, with the source's ids where it gives any; a turn that was taken back is."""
    name, events, closings = told
    gone = {turn for e in events if e.type == "thread.rolledBack" for turn in e.payload["turnIds"]}
    turns = [e.turn_id for e in events if e.type == "turn.started" and e.turn_id not in gone]
    assert turns == (["turn_1", "turn_2"] if name in ("bare", "context_a_request") else [*TURNS])
    assert len(gone) == (name == "paginated")
    ends = [e for e in events + closings if e.type == "turn.completed" and e.turn_id not in gone]
    assert [e.turn_id for e in ends] == (turns[:1] if name in ("bare", "context_a_request") else turns)
    models = {e.payload["model"] for e in events if e.type == "route.selected"}
    assert models == (set() if name == "bare" else {"weaver"})


def test_items(told: tuple[str, list[SourceEvent], list[SourceEvent]]) -> None:
    """Each prompt, answer and call once, in their order, whatever number of lines tells of it."""
    name, events, _ = told
    gone = {turn for e in events if e.type == "thread.rolledBack" for turn in e.payload["turnIds"]}
    items = [e.payload["item"] for e in events if e.type == "item.completed" and e.turn_id not in gone]
    shown = [
        item.get("text") or item.get("command") or item.get("tool") or item["content"][0]["text"] for item in items
    ]
    # The events of paginated files tell of a file change, and its call says nothing besides.
    assert [text for text in shown if text != "apply_patch"] == ["make it", "make", "made", "again", "ok"]
    assert shown.count("apply_patch") == 1
    (command,) = (item for item in items if item["type"] == "commandExecution")
    assert (command["cwd"], command["aggregatedOutput"], command["exitCode"]) == ("/w", "built\n", 0)
    assert command["durationMs"] == (1000 if name == "paginated" else 1500)


def test_edits(told: tuple[str, list[SourceEvent], list[SourceEvent]]) -> None:
    """The new file, once, with its content; where a patch alone tells of it, that is what proves it."""
    name, events, _ = told
    (edit,) = (e.payload for e in events if e.type == "artifact.snapshot")
    assert (edit["path"], edit["op"], edit["content"], edit["beforeAbsent"]) == ("notes.md", "created", "weft\n", True)
    proof = "FileChange" if name in ("patch_events", "paginated") else "patchAdd"
    assert edit["metadata"]["afterSource"] == proof, edit["metadata"]


def test_usage(told: tuple[str, list[SourceEvent], list[SourceEvent]]) -> None:
    """Growth of the totals, or the records of requests; repeats and empty counts add nothing."""
    name, events, closings = told
    spent: dict[str | None, int] = {}
    for e in events + closings:
        if e.type == "provider.usage":
            spent[e.turn_id] = spent.get(e.turn_id, 0) + e.payload["inputTokens"]
    assert list(spent.values()) == ([] if name == "bare" else [100, 50])
