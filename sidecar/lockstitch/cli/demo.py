"""`lockstitch demo`: a small host that shows what the sidecar is for, in a few seconds.

Invariant: everything happens in a temporary folder, which is gone afterwards.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from lockstitch.cli.diff import shown
from lockstitch.cli.host import Host
from lockstitch.cli.outcome import FAILED, OK
from lockstitch.cli.show import heading
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import harmless, wrapped
from lockstitch.cli.transcript import Transcript
from lockstitch.codec import encode

_THREAD = "demo"
_BEFORE = 'def greet(name):\n    return "Hello " + name\n'
_AFTER = 'def greet(name="world"):\n    """Greet somebody, or everybody."""\n    return f"Hello, {name}!"\n'
_TEST = 'from greet import greet\n\n\ndef test_greets_everybody():\n    assert greet() == "Hello, world!"\n'
_USAGE = {"inputTokens": 1830, "cachedInputTokens": 1500, "outputTokens": 164, "reasoningOutputTokens": 20}
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Kept:
    """What a host can read of the demo's threads: encoded, to compare byte by byte."""

    threads: dict[str, bytes]
    patches: dict[str, str]


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Play the demo; its status says whether everything was found again."""
    folder = Path(tempfile.mkdtemp(prefix="lockstitch-demo-")).resolve()
    shown = Terminal.silent() if options.json else terminal
    try:
        return _Demo(folder, shown, terminal if options.json else None).play()
    finally:
        if options.keep:
            shown.line(f"Left behind: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


class _Demo:
    def __init__(self, folder: Path, terminal: Terminal, result: Terminal | None) -> None:
        self._workspace = folder / "workspace"
        self._data = folder / "data"
        self._log = folder / "stderr.txt"
        self._terminal = terminal
        self._result = result
        self._step = 0

    def play(self) -> int:
        self._introduce()
        host, started = self._start()
        try:
            self._record(host)
            imported = self._import(host)
            self._look(host, imported)
            before = self._kept(host, imported)
            last = self._crash(host)
        except BaseException:
            host.kill()
            raise
        self._heading("Start again, on what the killed process left behind.")
        host, again = self._start()
        try:
            checks = self._compare(host, before, imported, last)
        finally:
            status = host.close()
        checks.append(("the new process ended cleanly when its stdin was closed", status == 0))
        self._check(*checks[-1])
        return self._conclude(checks, started, again)

    # -- the steps --------------------------------------------------------------------------------
    def _introduce(self) -> None:
        self._workspace.mkdir()
        (self._workspace / "greet.py").write_bytes(_BEFORE.encode())
        paint = self._terminal.paint
        self._terminal.line(
            paint("Lockstitch", "bold") + ": the process a host spawns so that an agent's work is never lost."
        )
        self._say("This demo plays the host. Its agent is a script; the sidecar is the real one.")

    def _start(self) -> tuple[Host, float]:
        if not self._step:
            self._heading("Spawn the sidecar, as an editor or desktop app would.")
        began = time.monotonic()
        host = Host(self._data, self._log)
        try:
            result = host.ask("initialize", clientInfo={"name": "demo", "version": "1"})
        except BaseException:
            host.kill()
            raise
        took = (time.monotonic() - began) * 1000
        host.tell("initialized")
        server = result["serverInfo"]
        self._wire(
            "initialize", f"answered in {took:.0f} ms by process {host.pid}, {server['title']} {server['version']}"
        )
        self._note(f"everything is kept in {result['dataRoot']['path']}")
        return host, took

    def _record(self, host: Host) -> None:
        self._heading("A turn: the user asks, the agent edits files, the host sends what happens.")
        host.ask("thread/start", threadId=_THREAD, name="A friendlier greeting", cwd=str(self._workspace))
        self._wire("thread/start", f"thread {_THREAD}, in {self._workspace}")
        turn = self._ask_agent(host, "Make the greeting friendlier, and let it work without a name.")
        host.ask("agentSession/fileCheckpoint/capture", sessionId=_THREAD, turnId=turn, paths=["greet.py"])
        self._wire("agentSession/fileCheckpoint/capture", "greet.py as it was before the agent touched it")
        (self._workspace / "greet.py").write_bytes(_AFTER.encode())
        (self._workspace / "test_greet.py").write_bytes(_TEST.encode())
        events: list[dict[str, Any]] = [
            _item({"type": "reasoning", "id": "think_1", "summary": ["A default name, and an f-string."]}),
            {"type": "artifact.snapshot", "payload": {"path": "greet.py"}},
            {"type": "artifact.snapshot", "payload": {"path": "test_greet.py", "beforeAbsent": True}},
            _item(
                {
                    "type": "commandExecution",
                    "id": "run_1",
                    "command": "python -m pytest -q",
                    "cwd": str(self._workspace),
                    "status": "completed",
                    "aggregatedOutput": ".                                            [100%]\n1 passed in 0.01s\n",
                    "exitCode": 0,
                    "durationMs": 412,
                }
            ),
            _item(
                {"type": "agentMessage", "id": "say_1", "text": "`greet()` now greets the world; a test holds that."}
            ),
            {"type": "provider.usage", "payload": _USAGE},
            {"type": "turn.completed", "payload": {}},
        ]
        stored = host.ask("agentSession/runtimeEvents/append", sessionId=_THREAD, turnId=turn, runtimeEvents=events)
        self._wire(
            "agentSession/runtimeEvents/append", f"{len(stored['events'])} events, on the disk before the answer came"
        )

    def _ask_agent(self, host: Host, text: str) -> str:
        turn = host.ask("turn/start", threadId=_THREAD, input=[{"type": "text", "text": text}])["turn"]
        self._wire("turn/start", f"“{text}”")
        return turn["id"]

    def _import(self, host: Host) -> str:
        self._heading("Take over a session that another tool wrote (a made-up one, bundled).")
        sample = resources.files("lockstitch.cli").joinpath("sample", "claude_session.jsonl")
        with resources.as_file(sample) as path:
            job = host.ask("conversationImport/thread/commit", sourcePath=str(path), confirmed=True)["job"]
            self._wire("conversationImport/thread/commit", path.name)
            while job["status"] in ("queued", "running"):
                time.sleep(_LOOK_SECONDS)
                job = host.ask("conversationImport/job/read", jobId=job["jobId"])["job"]
        result = job["result"]
        brought = f"{result['turns']} turns, {result['items']} items, {result['checkpoints']} file checkpoints"
        self._wire("conversationImport/job/read", f"{job['status']}: {brought}")
        return result["threadId"]

    def _look(self, host: Host, imported: str) -> None:
        self._heading("What a host reads back: transcripts …")
        for thread_id in (_THREAD, imported):
            thread = host.ask("thread/read", threadId=thread_id, includeTurns=True)["thread"]
            self._terminal.lines("", *heading(thread, self._terminal), "")
            transcript = Transcript(self._terminal)
            for number, turn in enumerate(thread["turns"], 1):
                self._terminal.lines(*transcript.turn(number, turn))
        self._heading("… and for every change of a file, what it was and what it became.")
        for thread_id in (_THREAD, imported):
            self._terminal.line()
            self._terminal.lines(*shown(self._newest_diff(host, thread_id), self._terminal))

    def _newest_diff(self, host: Host, thread_id: str) -> dict[str, Any]:
        """The newest change of a file that was there before."""
        listed = host.ask("agentSession/fileCheckpoint/list", sessionId=thread_id)["checkpoints"]
        changed = next(checkpoint for checkpoint in listed if checkpoint["op"] == "modified")
        return host.ask("agentSession/fileCheckpoint/diff", sessionId=thread_id, checkpointId=changed["checkpointId"])

    def _crash(self, host: Host) -> str:
        self._heading("Kill it in the middle of a turn, without warning (SIGKILL).")
        turn = self._ask_agent(host, "Now greet in three languages.")
        message = _item({"type": "agentMessage", "id": "say_2", "text": "I begin with French."})
        host.ask("agentSession/runtimeEvents/append", sessionId=_THREAD, turnId=turn, runtimeEvents=[message])
        self._wire("agentSession/runtimeEvents/append", "“I begin with French.” … answered")
        host.kill()
        self._terminal.line(
            "  " + self._terminal.paint(f"process {host.pid} is dead; the turn was never ended", "red", "bold")
        )
        return turn

    def _kept(self, host: Host, imported: str) -> Kept:
        threads: dict[str, bytes] = {}
        patches: dict[str, str] = {}
        for thread_id in (_THREAD, imported):
            turns = host.ask("thread/turns/list", threadId=thread_id, sortDirection="asc")["data"]
            threads[thread_id] = encode([turn for turn in turns if turn["status"] == "completed"])
            for checkpoint in host.ask("agentSession/fileCheckpoint/list", sessionId=thread_id)["checkpoints"]:
                name = checkpoint["checkpointId"]
                after: dict[str, Any] = checkpoint["after"] or {}
                if after.get("contentStatus") == "available":
                    found = host.ask("agentSession/fileCheckpoint/get", sessionId=thread_id, checkpointId=name)
                    patches[name] = found.get("content", "")
        return Kept(threads, patches)

    def _compare(self, host: Host, before: Kept, imported: str, last: str) -> list[tuple[str, bool]]:
        after = self._kept(host, imported)
        listed = {thread["id"] for thread in host.ask("thread/list")["data"]}
        turns = host.ask("thread/turns/list", threadId=_THREAD, sortDirection="desc", limit=1)["data"]
        cut_off: dict[str, Any] = turns[0]
        items: list[dict[str, Any]] = cut_off["items"]
        said = [item.get("text") for item in items]
        checks = [
            ("both threads are listed", listed >= {_THREAD, imported}),
            ("every finished turn reads the same, byte for byte", after.threads == before.threads),
            (f"all {len(before.patches)} file versions are there, byte for byte", after.patches == before.patches),
            ("what was answered a moment before the kill is there", said[-1:] == ["I begin with French."]),
            (
                "the turn that was cut off reads `interrupted`",
                (cut_off["id"], cut_off["status"]) == (last, "interrupted"),
            ),
        ]
        self._terminal.line()
        for claim, holds in checks:
            self._check(claim, holds)
        return checks

    def _conclude(self, checks: list[tuple[str, bool]], started: float, again: float) -> int:
        sound = all(holds for _, holds in checks)
        if self._result is not None:
            report = {
                "ok": sound,
                "checks": [{"claim": claim, "holds": holds} for claim, holds in checks],
                "initializeMs": [round(started), round(again)],
            }
            self._result.json(encode(report))
        paint = self._terminal.paint
        self._terminal.line()
        if sound:
            self._terminal.line(
                paint("Nothing is gone.", "green", "bold") + " To go on: README.md has a host of 20 lines;"
            )
            self._terminal.line("`lockstitch import PATH` takes over sessions of your own.")
        else:
            self._terminal.line(paint("Something is gone: please report this.", "red", "bold"))
        return OK if sound else FAILED

    # -- how it is told ---------------------------------------------------------------------------
    def _heading(self, text: str) -> None:
        self._step += 1
        self._terminal.lines("", self._terminal.paint(f"{self._step}. {text}", "bold", "magenta"))

    def _say(self, text: str) -> None:
        for line in wrapped(text, min(self._terminal.width, 100)):
            self._terminal.line(line)

    def _wire(self, method: str, outcome: str) -> None:
        """One exchange: what was sent, what came of it."""
        paint = self._terminal.paint
        self._terminal.line("  " + paint("→ " + method, "cyan"))
        self._note(outcome)

    def _note(self, text: str) -> None:
        for line in wrapped(harmless(text), min(self._terminal.width, 100) - 4):
            self._terminal.line("    " + line)

    def _check(self, claim: str, holds: bool) -> None:
        mark = self._terminal.paint("✓", "green") if holds else self._terminal.paint("✗", "red")
        self._terminal.line(f"  {mark} {claim}")


def _item(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "item.completed", "payload": {"item": item}}
