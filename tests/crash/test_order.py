"""The order of system calls of one append: contents durable, line written and durable, rows committed, answer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.wire.process import HELLO, ROOT, environment

CALLS = "openat,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat"
CALL = re.compile(r"^\d+ +(\w+)\((.*)$")
PATH = re.compile(r"<(/[^>]*)>")


@pytest.fixture
def traced(tmp_path: Path) -> list[tuple[str, str]]:
    """The calls, as (name, the rest of the line), of a first append with a file's content and of a second one."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    workspace, trace = tmp_path / "workspace", tmp_path / "trace"
    workspace.mkdir()
    command = ["strace", "-f", "-y", "-s", "400", "-o", str(trace), "-e", f"trace={CALLS}"]
    command += [sys.executable, "-m", "lockstitch", "serve", "--data-dir", str(tmp_path / "home")]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=ROOT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    output = process.stdout

    def call(key: str, method: str, params: dict[str, Any]) -> Any:
        process.stdin.write(json.dumps({"id": key, "method": method, "params": params}).encode() + b"\n")  # pyright: ignore[reportOptionalMemberAccess]
        process.stdin.flush()  # pyright: ignore[reportOptionalMemberAccess]
        while line := output.readline():
            message = json.loads(line)
            if message.get("id") == key:
                return message["result"]
        errors = process.stderr.read().decode() if process.stderr else ""
        if "ptrace" in errors:
            pytest.skip(f"strace may not trace here: {errors.splitlines()[0]}")
        raise AssertionError(f"no reply: {errors}")

    call("hello", "initialize", HELLO)
    thread = call("begin", "thread/start", {"cwd": str(workspace)})["thread"]["id"]
    for key, path in (("first-reply", "a.txt"), ("second-reply", "b.txt")):
        event = {"type": "artifact.snapshot", "payload": {"path": path, "content": f"of {path}\n"}}
        call(key, "agentSession/runtimeEvents/append", {"sessionId": thread, "runtimeEvents": [event]})
    process.stdin.close()
    process.wait(30)
    process.stdout.close()
    if process.stderr:
        process.stderr.close()
    matches = (CALL.match(line) for line in trace.read_text(errors="replace").splitlines())
    return [(found[1], found[2]) for found in matches if found is not None]


def test_the_order_of_one_append(traced: list[tuple[str, str]]) -> None:
    def at(name: str, *parts: str, after: int = 0) -> int:
        for number in range(after, len(traced)):
            if re.fullmatch(name, traced[number][0]) and all(part in traced[number][1] for part in parts):
                return number
        raise AssertionError(f"no {name} with {parts} after call {after}: {traced[after:][:60]}")

    sync = "fsync|fdatasync"
    made = at("write", "thread.started")
    placed = at("rename.*", "trash", "sessions", after=at(sync, "trash", after=made))
    for folder in ("/sessions/", "/home>"):
        assert at(sync, folder, after=placed) < at("write", '\\"begin\\"'), (
            "a new thread's directories are synced first"
        )
    before = at("write", '\\"begin\\"')
    for reply in ("first-reply", "second-reply"):
        content = at("write", "of ", "/artifacts/", after=before)
        synced = at(sync, "/artifacts/", after=content)
        named = at("rename.*", "/artifacts", after=synced)
        folder = at(sync, "/artifacts/", after=named)
        line = at("write", "rollout-", "artifact.snapshot", after=before)
        durable = at(sync, "rollout-", after=line)
        committed = at("pwrite64", "timeline-v", "-wal", after=durable)
        answered = at("write", f'\\"{reply}\\"', after=before)
        assert content < synced < named < folder < line < durable < committed < answered
        before = answered
