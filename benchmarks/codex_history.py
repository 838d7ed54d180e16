"""Seeded sessions in the on-disk format that Codex 0.171 writes in both its modes, to be imported and to be read by it.

Ten lines a turn after one of metadata: start, context, the message twice, a call, what it did, its output, the
answer twice, the end; each fifth turn edits a file instead of running a command.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.histories import Story
from benchmarks.host import encode

_BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def write_home(home: Path, threads: int, turns: int, *, paginated: bool = True) -> Iterator[Path]:
    """Write that many sessions into a Codex home; each file as it is done."""
    story = Story(7)
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(_CONFIG)
    instructions = " ".join(story.text(400, 1000) for _ in range(28))
    for number in range(threads):
        begin = _BEGIN + timedelta(hours=2 * number)
        session = _Session(story, begin, f"/workspace{number % 10}", paginated=paginated)
        path = home / f"sessions/{begin:%Y/%m/%d}/rollout-{begin:%Y-%m-%dT%H-%M-%S}-{session.thread_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines(turns, instructions)))
        yield path


def write_session(path: Path, size: int) -> int:
    """Write one session of at least so many bytes; returns its turns."""
    session, written, turns = _Session(Story(11), _BEGIN, "/workspace", paginated=True), 0, 0
    with path.open("wb") as file:
        written += file.write(b"".join(session.lines(0, "none")))
        while written < size:
            lines = session.turn(turns, _BEGIN + timedelta(minutes=turns))
            written += file.write(b"".join(lines))
            turns += 1
    return turns


class _Session:
    """One session file, line by line."""

    def __init__(self, story: Story, begin: datetime, cwd: str, *, paginated: bool) -> None:
        self._story, self._begin, self._cwd, self._paginated = story, begin, cwd, paginated
        self.thread_id = _id_at(story, begin)
        self._ordinal = 0

    def lines(self, turns: int, instructions: str) -> Iterator[bytes]:
        thread_id, cwd = self.thread_id, self._cwd
        meta: dict[str, Any] = {"session_id": thread_id, "id": thread_id, "timestamp": _stamp(self._begin), "cwd": cwd}
        meta |= {"originator": "benchmarks", "cli_version": "0.171.0", "source": "vscode", "model_provider": "mock"}
        meta |= {"base_instructions": {"text": instructions}, "runtime_workspace_roots": [cwd]}
        meta |= {"history_mode": "paginated" if self._paginated else "legacy"}
        yield self._line(self._begin, "session_meta", meta)
        for number in range(turns):
            yield from self.turn(number, self._begin + timedelta(minutes=number))

    def turn(self, number: int, at: datetime) -> Iterator[bytes]:
        story, cwd, seconds = self._story, self._cwd, int(at.timestamp())
        turn_id, call_id, answer_id = _id_at(story, at), f"call_{number}", f"msg_a{number}"
        message, answer, output = story.text(60, 160), story.text(200, 600), story.text(300, 900)
        whose = {"turn_id": turn_id}
        of_turn = {**whose, "root_turn_id": turn_id}
        edits = number % 5 == 4
        changes = {f"{cwd}/f{number}.txt": {"type": "add", "content": message + "\n"}}
        command = f"make test-{number}"
        call = {"type": "function_call", "id": f"fc_{number}", "name": "exec_command", "call_id": call_id}
        call["arguments"] = encode({"cmd": command}).decode()
        result = {"type": "function_call_output", "id": f"fco_{number}", "call_id": call_id}

        def said(role: str, name: str, text: str) -> dict[str, Any]:
            kind = "input_text" if role == "user" else "output_text"
            content = [{"type": kind, "text": text}]
            passed = {"internal_chat_message_metadata_passthrough": whose}
            return {"type": "message", "id": name, "role": role, "content": content, **passed}

        begun = {"type": "task_started", **of_turn, "started_at": seconds, "model_context_window": 258400}
        yield self._line(at, "event_msg", {**begun, "collaboration_mode_kind": "default"})
        yield self._line(at, "turn_context", {**of_turn, **_CONTEXT, "cwd": cwd})
        yield self._line(at, "response_item", said("user", f"msg_u{number}", message))
        if self._paginated:
            spoken = {"type": "UserMessage", "id": _id_at(story, at)}
            text = {"type": "text", "text": message, "text_elements": []}
            yield self._completed(at, turn_id, {**spoken, "content": [text]})
        else:
            none: dict[str, Any] = {"images": [], "local_images": [], "text_elements": []}
            yield self._line(at, "event_msg", {"type": "user_message", "message": message, **none})
        yield self._line(at, "response_item", call)
        if self._paginated and edits:
            done = {"type": "FileChange", "id": call_id, "changes": changes, "status": "completed"}
            yield self._completed(at, turn_id, {**done, "stdout": "", "stderr": ""})
        elif self._paginated:
            done = {"type": "CommandExecution", "id": call_id, "command": ["/bin/bash", "-lc", command]}
            done |= {"process_id": str(number), "cwd": f"file://{cwd}", "source": "unified_exec_startup"}
            done |= {"parsed_cmd": [{"type": "unknown", "cmd": command}], "status": "completed"}
            done |= {"aggregated_output": output, "exit_code": 0, "duration": {"secs": 1, "nanos": 0}}
            yield self._completed(at, turn_id, done)
        elif edits:
            patched = {"type": "patch_apply_end", "call_id": call_id, **whose, "stdout": "", "stderr": ""}
            yield self._line(at, "event_msg", {**patched, "success": True, "changes": changes, "status": "completed"})
        yield self._line(at, "response_item", {**result, "output": f"Output:\n{output}"})
        if self._paginated:
            told = {"type": "AgentMessage", "id": answer_id, "content": [{"type": "Text", "text": answer}]}
            yield self._completed(at, turn_id, {**told, "phase": "final_answer"})
        else:
            yield self._line(at, "event_msg", {"type": "agent_message", "message": answer, "phase": "final_answer"})
        yield self._line(at, "response_item", said("assistant", answer_id, answer))
        ended: dict[str, Any] = {"type": "task_complete", **of_turn, "last_agent_message": answer}
        ended |= {"started_at": seconds, "completed_at": seconds + 2, "duration_ms": 2000}
        yield self._line(at + timedelta(seconds=2), "event_msg", ended)

    def _completed(self, at: datetime, turn_id: str, item: dict[str, Any]) -> bytes:
        now = int(at.timestamp() * 1000)
        about = {"type": "item_completed", "thread_id": self.thread_id, "turn_id": turn_id}
        return self._line(at, "event_msg", {**about, "item": item, "started_at_ms": now, "completed_at_ms": now})

    def _line(self, at: datetime, kind: str, payload: dict[str, Any]) -> bytes:
        line: dict[str, Any] = {"timestamp": _stamp(at)}
        if self._paginated:
            line["ordinal"] = self._ordinal
            self._ordinal += 1
        return encode({**line, "type": kind, "payload": payload}) + b"\n"


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _id_at(story: Story, at: datetime) -> str:
    """A UUID of version 7 that begins with that time, as Codex makes them."""
    tail = story.an_id()[14:]
    stamp = f"{int(at.timestamp() * 1000):012x}"
    return f"{stamp[:8]}-{stamp[8:]}-7{tail[1:]}"


_CONTEXT = {
    "approval_policy": "never",
    "approvals_reviewer": "user",
    "permission_profile": {"type": "disabled"},
    "sandbox_policy": {"type": "danger-full-access"},
    "model": "mock-model",
    "collaboration_mode": {"mode": "default", "settings": {"model": "mock-model"}},
    "summary": "none",
}

_CONFIG = """model = "mock-model"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
"""
