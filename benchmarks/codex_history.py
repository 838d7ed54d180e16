"""Seeded sessions in the on-disk format that Codex 0.171 writes in its paginated mode, to be imported.

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


def write_home(home: Path, threads: int, turns: int) -> Iterator[Path]:
    """Write that many sessions into a Codex home; each file as it is done."""
    story = Story(7)
    instructions = " ".join(story.text(400, 1000) for _ in range(28))
    for number in range(threads):
        begin = _BEGIN + timedelta(hours=2 * number)
        thread_id = story.an_id()
        path = home / f"sessions/{begin:%Y/%m/%d}/rollout-{begin:%Y-%m-%dT%H-%M-%S}-{thread_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = _session(story, thread_id, begin, turns, f"/workspace{number % 10}", instructions)
        path.write_bytes(b"".join(lines))
        yield path


def _session(story: Story, thread_id: str, begin: datetime, turns: int, cwd: str, instructions: str) -> Iterator[bytes]:
    ordinal = 0

    def line(at: datetime, kind: str, payload: dict[str, Any]) -> bytes:
        nonlocal ordinal
        stamp = f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"
        ordinal += 1
        return encode({"timestamp": stamp, "ordinal": ordinal - 1, "type": kind, "payload": payload}) + b"\n"

    meta = {"session_id": thread_id, "id": thread_id, "timestamp": f"{begin:%Y-%m-%dT%H:%M:%S}.000Z", "cwd": cwd}
    meta |= {"originator": "benchmarks", "cli_version": "0.171.0", "source": "vscode", "model_provider": "mock"}
    meta |= {"base_instructions": {"text": instructions}, "history_mode": "paginated"}
    yield line(begin, "session_meta", meta)
    for number in range(turns):
        at = begin + timedelta(minutes=number)
        turn_id, call_id, answer_id = story.an_id(), f"call_{number}", f"msg_a{number}"
        message, answer, output = story.text(60, 160), story.text(200, 600), story.text(300, 900)
        command = f"make test-{number}"
        if number % 5 == 4:
            changes = {f"{cwd}/f{number}.txt": {"type": "add", "content": message + "\n"}}
            done = {"type": "FileChange", "id": call_id, "changes": changes, "status": "completed"}
        else:
            done = {"type": "CommandExecution", "id": call_id, "command": ["/bin/bash", "-lc", command]}
            done |= {"cwd": f"file://{cwd}", "status": "completed", "aggregated_output": output, "exit_code": 0}
        spoken = {"type": "UserMessage", "id": story.an_id(), "content": [{"type": "text", "text": message}]}
        told = {"type": "AgentMessage", "id": answer_id, "content": [{"type": "Text", "text": answer}]}
        whose = {"turn_id": turn_id}

        def completed(item: dict[str, Any], whose: dict[str, Any] = whose) -> dict[str, Any]:
            return {"type": "item_completed", "thread_id": thread_id, **whose, "item": item}

        def said(role: str, name: str, text: str, whose: dict[str, Any] = whose) -> dict[str, Any]:
            kind = "input_text" if role == "user" else "output_text"
            content = [{"type": kind, "text": text}]
            passed = {"internal_chat_message_metadata_passthrough": whose}
            return {"type": "message", "id": name, "role": role, "content": content, **passed}

        call = {"type": "function_call", "id": f"fc_{number}", "name": "exec_command", "call_id": call_id}
        call["arguments"] = encode({"cmd": command}).decode()
        yield line(at, "event_msg", {"type": "task_started", **whose, "model_context_window": 258400})
        yield line(at, "turn_context", {**whose, "cwd": cwd, "approval_policy": "never", "model": "mock-model"})
        yield line(at, "response_item", said("user", f"msg_u{number}", message))
        yield line(at, "event_msg", completed(spoken))
        yield line(at, "response_item", call)
        yield line(at, "event_msg", completed(done))
        yield line(
            at, "response_item", {"type": "function_call_output", "call_id": call_id, "output": f"Output:\n{output}"}
        )
        yield line(at, "event_msg", completed(told))
        yield line(at, "response_item", said("assistant", answer_id, answer))
        ended = at + timedelta(seconds=2)
        yield line(ended, "event_msg", {"type": "task_complete", **whose, "last_agent_message": answer})
