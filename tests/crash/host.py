"""A small host for the crash tests: the real process over its stdio, faults armed in it, its data root judged."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.crash.zygote import Process

PATIENCE = 30.0


class RefusedError(Exception):
    """An error reply."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(json.dumps(error)[:1000])
        self.code, self.data = error["code"], error.get("data") or {}
        self.kind = self.data.get("kind")


class GoneError(Exception):
    """The process ended instead of answering."""


class Host:
    """One process on a data root. `plan` is the file of its faults; `arm` writes it."""

    def __init__(
        self,
        home: Path,
        *rules: str,
        env: dict[str, str] | None = None,
        user: int | None = None,
        plan_in: Path | None = None,
    ) -> None:
        self.home = home
        self.plan = (plan_in or home.parent) / f"plan-{os.urandom(4).hex()}"
        self.arm(*rules)
        environment = {
            **os.environ,
            "LOCKSTITCH_FAULTS": str(self.plan),
            **(env or {}),
        }
        self.process = Process(["--data-dir", str(home), "--log-level", "warning"], environment, user)
        self.notifications: list[dict[str, Any]] = []
        self.stderr: list[bytes] = []
        self._replies: dict[Any, dict[str, Any]] = {}
        self._arrived = threading.Condition()
        self._closed = False
        self._next = 0
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=lambda: self.stderr.extend(self.process.stderr), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    # -- life ---------------------------------------------------------------------------------------------------
    def start(self) -> Host:
        """Shake hands."""
        self.hello = self.call("initialize", clientInfo={"name": "crash", "version": "1"})
        self.send("initialized", notify=True)
        return self

    def close(self) -> int:
        """End it as a host does; its exit status."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        self._tidy()
        return status

    def kill(self) -> None:
        """SIGKILL, as a power cut looks to a process."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self._tidy()

    def _tidy(self) -> None:
        for reader in self._readers:
            reader.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def wait_stopped(self) -> None:
        """Wait until the process has stopped itself."""
        until(lambda: _state(self.process.pid) == "T")

    def arm(self, *rules: str) -> None:
        """Faults from now on; none: all is well again."""
        staged = self.plan.with_suffix(".new")
        staged.write_text("".join(f"{rule}\n" for rule in rules))
        os.replace(staged, self.plan)

    def trace(self, run: Callable[[], Any]) -> list[str]:
        """The names of the points that `run` passes."""
        found = Path(f"{self.plan}.trace")
        found.unlink(missing_ok=True)
        self.arm("* - trace")
        run()
        self.arm()
        return found.read_text().splitlines() if found.exists() else []

    # -- talk ---------------------------------------------------------------------------------------------------
    def call(self, method: str, **params: Any) -> Any:
        return self.wait(self.send(method, params))

    def send(self, method: str, params: dict[str, Any] | None = None, *, key: Any = None, notify: bool = False) -> Any:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notify:
            self._next += 1
            key = message["id"] = self._next if key is None else key
        try:
            data = memoryview(json.dumps(message).encode() + b"\n")
            while data:
                data = data[self.process.stdin.write(data) :]
        except OSError:
            raise GoneError(self.told()) from None
        return key

    def wait(self, key: Any, patience: float = PATIENCE) -> Any:
        """The result for that request. Raises RefusedError, GoneError, TimeoutError."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: key in self._replies or self._closed, patience):
                raise TimeoutError(f"no answer to {key}: {self.told()}")
            if key not in self._replies:
                raise GoneError(self.told())
            reply = self._replies.pop(key)
        if "error" in reply:
            raise RefusedError(reply["error"])
        return reply["result"]

    def notice(self, method: str, test: Callable[[dict[str, Any]], bool] = lambda params: True) -> dict[str, Any]:
        """Wait for a notification; its params."""
        with self._arrived:
            found: list[dict[str, Any]] = []

            def look() -> bool:
                found[:] = [n["params"] for n in self.notifications if n["method"] == method and test(n["params"])]
                return bool(found) or self._closed

            if not self._arrived.wait_for(look, PATIENCE) or not found:
                raise TimeoutError(f"no {method}; had {[n['method'] for n in self.notifications][-20:]} {self.told()}")
            return found[0]

    def told(self) -> str:
        return b"".join(self.stderr)[-2000:].decode("utf-8", "replace")

    def append(self, thread: str, *events: tuple[str, dict[str, Any]], **params: Any) -> list[dict[str, Any]]:
        return self.call("agentSession/runtimeEvents/append", **appended(thread, *events, **params))["events"]

    def events(self, thread: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["sequence"] if found else 0
            page = self.call("thread/events/list", threadId=thread, afterSequence=after, limit=5000)
            found += page["data"]
            if not page["hasMore"]:
                return found

    def _read(self) -> None:
        with contextlib.suppress(ValueError):
            for line in self.process.stdout:
                message = json.loads(line)
                with self._arrived:
                    if "method" in message:
                        self.notifications.append(message)
                    else:
                        self._replies[message.get("id")] = message
                    self._arrived.notify_all()
        with self._arrived:
            self._closed = True
            self._arrived.notify_all()


def appended(thread: str, *events: tuple[str, dict[str, Any]], **params: Any) -> dict[str, Any]:
    """The params of an append."""
    return {"sessionId": thread, "runtimeEvents": [{"type": t, "payload": p} for t, p in events], **params}


def until(test: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Wait for a condition that nothing announces."""
    deadline = time.monotonic() + patience
    while not (found := test()):
        if time.monotonic() > deadline:
            raise TimeoutError("the condition did not come true")
        time.sleep(0.005)
    return found


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# -- the data root, judged from outside ------------------------------------------------------------------------------
def rollouts(home: Path) -> dict[str, Path]:
    """Every rollout by its thread id."""
    found = [*home.glob("sessions/*/*/*/rollout-*.jsonl"), *home.glob("archived_sessions/rollout-*.jsonl")]
    return {path.stem[len("rollout-2026-12-01T00-00-00-") :]: path for path in found}


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a rollout whose every byte is sound: sums chain, sequences have no gap."""
    data = path.read_bytes()
    assert data.endswith(b"\n"), f"{path} ends in the middle of a line"
    found: list[dict[str, Any]] = []
    previous = b""
    for raw in data[:-1].split(b"\n"):
        line = json.loads(raw)
        expected = hashlib.sha256(previous + raw[:-26]).hexdigest()[:16]
        assert line["sum"] == expected, f"the sum of {path} breaks at sequence {line['sequence']}"
        assert line["sequence"] == len(found) + 1, f"{path} has a gap before {line['sequence']}"
        previous = expected.encode()
        found.append(line)
    promised = 0
    for line in found:
        assert not promised or line.get("more", 0) == promised - 1, f"an append of {path} is not whole"
        promised = line.get("more", 0)
    assert promised == 0, f"the last append of {path} is not whole"
    return found


TABLES = ("thread", "turn", "item", "file_checkpoint", "event_mark", "client_event", "import_source", "spilled_output")


def database(home: Path) -> Path:
    (found,) = home.glob("sqlite/timeline-v*.sqlite")
    return found


def rows(home: Path, aside: Path | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """Every row, thread numbers replaced by thread ids: a rebuild numbers them by their files' names."""
    copied = (aside or home.parent) / f"copy-{os.urandom(4).hex()}"
    copied.mkdir()
    for part in home.glob("sqlite/timeline-v*"):
        shutil.copy(part, copied)
    connection = sqlite3.connect(next(copied.glob("*.sqlite")))
    try:
        names = dict(connection.execute("SELECT thread_no, thread_id FROM thread"))
        return {
            # The last column of a thread is about the file and not about what is in it: a copy has another one.
            table: sorted(
                (
                    (names[row[0]], *(row[1:-1] if table == "thread" else row[1:]))
                    for row in connection.execute(f"SELECT * FROM {table}")
                ),
                key=repr,
            )
            for table in TABLES
        }
    finally:
        connection.close()
        shutil.rmtree(copied)


def rebuilt_rows(home: Path, aside: Path | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """The rows that a start without a database makes of a copy of this data root."""
    copied = (aside or home.parent) / f"rebuilt-{os.urandom(4).hex()}"
    shutil.copytree(home, copied, ignore=shutil.ignore_patterns("sqlite", "boots", "trash"))
    with Host(copied) as host:
        host.start().call("storage/report")  # for which every thread has to be read
    found = rows(copied)
    shutil.rmtree(copied)
    return found


def judge(home: Path, aside: Path | None = None) -> dict[str, list[dict[str, Any]]]:
    """All that must hold of a data root on which nothing runs; the lines of every thread."""
    found = {thread: lines(path) for thread, path in rollouts(home).items()}
    for path in home.glob("log/*"):
        log = path.read_bytes()
        assert b"xxxxxxxx" not in log and b'"marker"' not in log, "the log holds a transcript"
    for thread, events in found.items():
        open_turns = interrupted(events)
        assert len(open_turns) == len(set(open_turns)), f"{thread}: a turn was interrupted twice"
    with Host(home, plan_in=aside) as host:  # ends the turns that a clean end left open
        host.start().call("thread/list")
    stored, made = rows(home, aside), rebuilt_rows(home, aside)
    for table in TABLES:
        different = set(stored[table]) ^ set(made[table])
        assert stored[table] == made[table], f"{table} is not what a rebuild makes: {sorted(different, key=repr)[:4]}"
    leaks = list(leftovers(home))
    assert not leaks, f"left behind: {leaks}"
    return found


def interrupted(events: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """(turn id, how often it was resumed before) of each interruption by recovery."""
    resumed: dict[str, int] = {}
    found: list[tuple[str, int]] = []
    for event in events:
        if event["type"] == "turn.resumed":
            resumed[event["turnId"]] = resumed.get(event["turnId"], 0) + 1
        if event["type"] == "turn.interrupted":
            found.append((event["turnId"], resumed.get(event["turnId"], 0)))
    return found


def leftovers(home: Path) -> Iterator[str]:
    """What a crash left and no start removed. Contents' own staged files are gc's."""
    for path in home.rglob("*"):
        name = path.relative_to(home).as_posix()
        if name.startswith("artifacts/"):
            continue
        if path.parent.name == "trash" or path.name.startswith((".tmp-", ".root_", ".new-")) or ".build-" in path.name:
            yield name
        if path.parent.name == "boots":
            yield name
