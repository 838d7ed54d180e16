"""`lockstitch self-test`: whether this very installation works on this machine, tried on the real process.

Invariant: everything happens in a temporary folder, which is gone afterwards; the user's data root is not looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lockstitch.cli.host import Host
from lockstitch.cli.outcome import FAILED, OK
from lockstitch.cli.terminal import Terminal
from lockstitch.codec import encode
from lockstitch.data_root import DataRoot
from lockstitch.errors import LockstitchError

_BEFORE = b"first\r\nsecond\xff\n"
_AFTER = b"first\r\nsecond\xfe, changed\n"
_THREAD = "self-test"


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Try each part in turn; the status says whether all of it works."""
    folder = Path(tempfile.mkdtemp(prefix="lockstitch-self-test-")).resolve()
    try:
        trial = _Trial(folder, Terminal.silent() if options.json else terminal)
        trial.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    works = all(one["works"] for one in trial.found)
    if options.json:
        terminal.json(encode({"works": works, "checks": trial.found}))
    else:
        terminal.line("It works." if works else "It does not work here; the lines above say where it fails.")
    return OK if works else FAILED


class _Trial:
    def __init__(self, folder: Path, terminal: Terminal) -> None:
        self.found: list[dict[str, Any]] = []
        self._folder = folder
        self._terminal = terminal
        self._workspace = folder / "workspace"
        self._workspace.mkdir()

    def run(self) -> None:
        """Every part, until one of them fails: the later ones stand on the earlier ones."""
        parts: tuple[tuple[str, Callable[[], str]], ...] = (
            ("the process starts and shakes hands", self._start),
            ("a turn with a file change is recorded", self._record),
            ("its bytes come back as they were", self._bytes),
            ("a killed process loses nothing", self._kill),
            ("a lost database is rebuilt", self._rebuild),
            ("a file is put back, or refused where the system cannot", self._restore),
            ("the rollout verifies", self._verify),
            ("the process ends cleanly", self._end),
        )
        self._host: Host | None = None
        try:
            for name, part in parts:
                if not self._check(name, part):
                    return
        finally:
            if self._host is not None:
                self._host.kill()

    def _check(self, name: str, part: Callable[[], str]) -> bool:
        try:
            detail, works = part(), True
        except (LockstitchError, OSError, AssertionError, KeyError, ValueError) as error:
            detail, works = f"{type(error).__name__}: {error}", False
        self.found.append({"name": name, "works": works, "detail": detail})
        mark = self._terminal.paint("ok  ", "green") if works else self._terminal.paint("FAIL", "red")
        self._terminal.line(f"{mark} {name}{f' ({detail})' if detail else ''}")
        return works

    # -- the parts --------------------------------------------------------------------------------
    def _start(self) -> str:
        self._host = Host(self._folder / "data", self._folder / "stderr")
        hello = self._host.ask("initialize", clientInfo={"name": "self-test"})
        self._host.tell("initialized")
        return f"{hello['serverInfo']['version']}, SQLite {hello['sqliteVersion']}"

    def _record(self) -> str:
        host = self._running()
        host.ask("thread/start", threadId=_THREAD, cwd=str(self._workspace))
        words = [{"type": "text", "text": "Change the file"}]
        turn = host.ask("turn/start", threadId=_THREAD, input=words)["turn"]["id"]
        file = self._workspace / "file.txt"
        file.write_bytes(_BEFORE)
        host.ask("agentSession/fileCheckpoint/capture", sessionId=_THREAD, turnId=turn, paths=["file.txt"])
        file.write_bytes(_AFTER)
        events = [{"type": "file.changed", "payload": {"path": "file.txt"}}, {"type": "turn.completed"}]
        stored = host.ask("agentSession/runtimeEvents/append", sessionId=_THREAD, turnId=turn, runtimeEvents=events)
        return f"{stored['events'][-1]['sequence']} events"

    def _bytes(self) -> str:
        newest = self._newest()
        _expect(newest["before"]["sha256"] == hashlib.sha256(_BEFORE).hexdigest(), "the content before is another one")
        _expect(newest["after"]["sha256"] == hashlib.sha256(_AFTER).hexdigest(), "the content after is another one")
        return "sha256"

    def _kill(self) -> str:
        last = self._running().ask("thread/events/list", threadId=_THREAD)["lastSequence"]
        self._running().kill()
        self._start()
        _expect(
            self._running().ask("thread/events/list", threadId=_THREAD)["lastSequence"] == last, "events are missing"
        )
        return ""

    def _rebuild(self) -> str:
        self._stop()
        shutil.rmtree(DataRoot(self._folder / "data").sqlite)
        self._start()
        return self._bytes()

    def _restore(self) -> str:
        host, newest = self._running(), self._newest()
        try:
            host.ask(
                "agentSession/fileCheckpoint/restore",
                sessionId=_THREAD,
                checkpointId=newest["checkpointId"],
                side="before",
                confirmRestore=True,
            )
        except LockstitchError as error:
            if error.kind == "pathRefused":
                return "refused"
            raise
        _expect((self._workspace / "file.txt").read_bytes() == _BEFORE, "the file holds something else")
        return "restored"

    def _verify(self) -> str:
        found = self._running().ask("agentSession/replayCase/export", sessionId=_THREAD)
        verified = self._running().ask("agentSession/replayCase/verify", path=found["replayAbsoluteRoot"])
        _expect(verified["ok"], "what was recorded does not give what is shown")
        return f"{verified['itemCount']} items"

    def _end(self) -> str:
        self._stop()
        return ""

    def _stop(self) -> None:
        host, self._host = self._running(), None
        status = host.close()
        _expect(status == 0, f"its exit status is {status}")

    def _running(self) -> Host:
        _expect(self._host is not None, "the process is not running")
        assert self._host is not None
        return self._host

    def _newest(self) -> dict[str, Any]:
        return self._running().ask("agentSession/fileCheckpoint/list", sessionId=_THREAD)["checkpoints"][0]


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
