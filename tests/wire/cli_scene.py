"""What the commands are tried on: a data root with a thread in it, its workspace, and a way to run them."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from lockstitch.cli import terminal
from lockstitch.cli.local import opened
from lockstitch.cli.main import main
from lockstitch.cli.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sidecar" / "lockstitch" / "cli" / "sample" / "claude_session.jsonl"
COMMAND = [sys.executable, "-P", "-m", "lockstitch"]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("LOCKSTITCH_", "APP_SERVER_"))},
    "PYTHONPATH": os.pathsep.join([str(ROOT / "sidecar"), str(ROOT / "protocol")]),
    "PYTHONUTF8": "1",
    "TERM": "xterm",
}
THREAD = "019ad3a1-5f00-7c31-8a55-3b7e90d1c6f2"
"""The thread that the examples in the help are about."""


class Done:
    """A command that ended."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status, self.out, self.err = status, out.decode(), err.decode()

    @property
    def value(self) -> Any:
        return json.loads(self.out)


class Root:
    """A data root and the commands on it."""

    def __init__(self, path: Path, workspace: Path) -> None:
        self.path, self.workspace = path, workspace

    def spawn(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Done:
        """Run a command as a process of its own."""
        run = subprocess.run(
            [*COMMAND, *arguments, "--data-dir", str(self.path)],
            input=stdin,
            capture_output=True,
            env={**ENVIRONMENT, **environment},
            check=False,
            timeout=60,
        )
        return Done(run.returncode, run.stdout, run.stderr)

    def run(self, *arguments: str) -> Done:
        """Run a command in this process, which saves a second each."""
        return run_here(*arguments, "--data-dir", str(self.path))


def on_terminal(root: Root, *arguments: str, width: int = 80, answers: str | None = None) -> Done:
    """Run a command in this process as on a coloured terminal of that width, at which somebody types the answers."""
    out = io.StringIO()
    keyboard = None if answers is None else io.StringIO(answers)
    shown = Terminal(out, coloured=True, width=width, is_terminal=True, keyboard=keyboard)
    with mock.patch.object(terminal, "of_process", return_value=shown):
        done = root.run(*arguments)
    return Done(done.status, out.getvalue().encode(), done.err.encode())


def run_here(*arguments: str) -> Done:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = main(arguments)
    found: list[bytes] = []
    for stream in (out, err):
        stream.flush()
        found.append(stream.buffer.getvalue())  # type: ignore[attr-defined]
    return Done(status, *found)


def snapshot(path: str, content: str, checkpoint_id: str, before: str | None = None) -> dict[str, Any]:
    """The event of a file change; `before` None: the file was not there."""
    was = {"beforeAbsent": True} if before is None else {"previousContent": before}
    payload = {"path": path, "content": content, "checkpointId": checkpoint_id, **was}
    return {"type": "artifact.snapshot", "payload": payload}


async def record_the_loom(path: Path, workspace: Path) -> None:
    """The thread of the examples: a turn that creates two files, and one that changes one of them."""
    first, second = "def weave():\n    pass\n", "def weave(oil):\n    return oil\n"
    async with opened(str(path)) as local:
        await local.ask("thread/start", threadId=THREAD, name="Oil the loom", cwd=str(workspace))
        for number, (text, events) in enumerate(
            (
                ("Make a loom", [snapshot("src/loom.py", first, "ck-a1"), snapshot("notes.md", "oil\n", "ck-b1")]),
                ("Oil it", [snapshot("src/loom.py", second, "ck-a2", before=first)]),
            ),
            1,
        ):
            for event in events:
                target = workspace / event["payload"]["path"]
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(event["payload"]["content"].encode())
            turn_id = f"turn-{number}"
            user = [{"type": "text", "text": text}]
            await local.ask("turn/start", threadId=THREAD, turnId=turn_id, input=user)
            said = {"type": "agentMessage", "id": f"m{number}", "text": "Done."}
            ends = [{"type": "item.completed", "payload": {"item": said}}, {"type": "turn.completed", "payload": {}}]
            await local.ask(
                "agentSession/runtimeEvents/append", sessionId=THREAD, turnId=turn_id, runtimeEvents=[*events, *ends]
            )


def loom(folder: Path) -> Root:
    """A fresh data root and workspace with the thread of the examples."""
    workspace = folder / "loom"
    workspace.mkdir()
    asyncio.run(record_the_loom(folder / "data", workspace))
    return Root(folder / "data", workspace)
