"""Two processes on one data root for an hour, at a steady rate: what they hold must not grow.

    python -m tests.soak_hour [--seconds 3600] [--rate 200] [--report]

Ten threads, heard by both processes, are twenty subscriptions; each process appends to five of them, a request an
event. Every minute two threads end and two begin. Beside that it reads lists and pages, records changed files, and
searches. What is looked at: memory, handles, the write-ahead log, how long an append takes and how late the other
process hears of it, beside a raw append on the same disk; and that every subscription hears every event once, in
order. Exit status 1 if anything grew or was missed. `--report` writes the samples and their chart into
benchmarks/report. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from benchmarks import soak_report
from benchmarks.histories import LONG, Story, database, rollouts
from benchmarks.host import Host, encode
from benchmarks.measure import median_of

APPEND = "agentSession/runtimeEvents/append"
THREADS = 10
STEADY = 2
"""So many of the threads stay from the beginning to the end."""
CHURN_SECONDS = 60.0
PATIENCE = 120.0
_EVERY = 10
"""Of so many events one is timed until the other process tells of it."""


class _Event(msgspec.Struct):
    threadId: str = ""  # noqa: N815 - as on the wire
    sequence: int = 0


class _Params(msgspec.Struct):
    threadId: str = ""  # noqa: N815
    sequence: int = 0
    event: _Event | None = None


class _Line(msgspec.Struct):
    """What is looked at of a reply or a notification."""

    id: int | None = None
    method: str = ""
    params: _Params | None = None
    error: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()


class Speaker:
    """One process: requests go out without waiting, a thread of its own takes what comes back."""

    def __init__(self, root: Path) -> None:
        self.host = Host(root, listen=True)
        self.faults: list[str] = []
        self.heard: dict[str, int] = {}
        """Thread to the last sequence that was told of."""
        self.heard_at: dict[tuple[str, int], float] = {}
        self.took: deque[float] = deque()
        """How long the appends took since somebody looked."""
        self._ids = count(1 << 20)
        self._waiting: dict[int, tuple[float, Callable[[bytes, float], None] | None]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def in_flight(self) -> int:
        return len(self._waiting)

    def send(self, method: str, params: dict[str, Any], answered: Callable[[bytes, float], None] | None = None) -> None:
        """`answered` is called by the reader with the result's bytes and the time."""
        number = next(self._ids)
        line = encode({"id": number, "method": method, "params": params}) + b"\n"
        self._waiting[number] = (time.perf_counter(), answered)
        self.host.write(line)

    def ask(self, method: str, **params: Any) -> Any:
        """Wait for the result."""
        found: list[bytes] = []
        there = threading.Event()

        def answered(result: bytes, _at: float) -> None:
            found.append(result)
            there.set()

        self.send(method, params, answered)
        end = time.perf_counter() + PATIENCE
        while not there.wait(1):
            if time.perf_counter() > end or not self._reader.is_alive():
                raise TimeoutError(f"{method} was not answered; {self.faults[:3]}")
        return msgspec.json.decode(found[0])

    def append(self, thread: str, event: dict[str, Any], stored: Callable[[str, int, float], None]) -> None:
        begun = time.perf_counter()

        def answered(result: bytes, at: float) -> None:
            if result == b"null":
                return  # it was refused, which is among the faults
            self.took.append(at - begun)
            event = msgspec.json.decode(result)["events"][0]
            if event["sequence"] % _EVERY == 0:
                stored(thread, event["sequence"], at)

        self.send(APPEND, {"sessionId": thread, "runtimeEvents": [event]}, answered)

    def close(self) -> int:
        assert self.host.process.stdin is not None
        self.host.process.stdin.close()
        status = self.host.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.host.close()
        return status

    def _read(self) -> None:
        decode = msgspec.json.Decoder(_Line).decode
        while True:
            try:
                raw = self.host.line()
            except (EOFError, ValueError):
                return
            at = time.perf_counter()
            line = decode(raw)
            if line.id is not None:
                _, answered = self._waiting.pop(line.id)
                if bytes(line.error):
                    self.faults.append(f"refused: {bytes(line.error)[:200]!r}")
                if answered is not None:
                    answered(bytes(line.result) or b"null", at)
            elif line.params is not None:
                self._hear(line.method, line.params, at)

    def _hear(self, method: str, params: _Params, at: float) -> None:
        thread = params.threadId or (params.event.threadId if params.event else "")
        sequence = params.sequence or (params.event.sequence if params.event else 0)
        if method == "agentSession/eventsDropped":
            self.faults.append(f"{thread}: a subscription fell behind")
        if not sequence or thread not in self.heard:
            return
        last = self.heard[thread]
        if sequence not in (last, last + 1):  # one event may be told of in several notifications
            self.faults.append(f"{thread}: {method} of {sequence} after {last}")
        self.heard[thread] = sequence
        if sequence % _EVERY == 0 and sequence != last:
            self.heard_at[thread, sequence] = at


class Soak:
    """The threads, what is sent to them, and what is looked at."""

    def __init__(self, place: Path, rate: int) -> None:
        self.root, self.workspace = place / "root", place / "workspace"
        self.workspace.mkdir()
        self._story, self._names, self._files = Story(41), count(), count()
        self._speakers = (Speaker(self.root), Speaker(self.root))
        self._threads: list[tuple[str, Iterator[dict[str, Any]]]] = []
        self._sent = [0] * THREADS
        self._tick = 1 / rate
        self._stored_at: dict[tuple[str, int], tuple[int, float]] = {}
        self._raw = os.open(place / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self.samples: list[dict[str, Any]] = []
        for number in range(THREADS):
            self._threads.append(self._begin(number))
        self.ended = 0
        self.appended = 0

    def run(self, seconds: float, look_seconds: float) -> None:
        """Keep the pace for that long, with a look every so often."""
        begun = time.perf_counter()
        every = min(CHURN_SECONDS, seconds / 10)
        look, churn, read = begun + look_seconds, begun + every, begun + 1
        rotation = count()
        self._usage = [speaker.host.processor_seconds for speaker in self._speakers]
        self._looked, self._counted = begun, 0
        while (now := time.perf_counter()) < begun + seconds:
            due = begun + self.appended * self._tick
            if now < due:
                time.sleep(min(due - now, 0.05))
                continue
            if max(speaker.in_flight for speaker in self._speakers) > 500:
                time.sleep(0.01)  # it is behind; what is owed is sent later
                continue
            self._append(self.appended % THREADS)
            if now > read:
                self._ask_around()
                read = now + 1
            if now > look:
                self._look(now - begun)
                look = now + look_seconds
            if now > churn:
                for _ in self._speakers:
                    self._replace(STEADY + next(rotation) % (THREADS - STEADY))
                churn = now + every

    def settle(self) -> list[str]:
        """Wait for what is under way; what was wrong, and what was never told."""
        for number, (thread, _) in enumerate(self._threads):
            self._settle(number, thread)
        return [fault for speaker in self._speakers for fault in speaker.faults]

    def close(self) -> list[int]:
        os.close(self._raw)
        return [speaker.close() for speaker in self._speakers]

    def _append(self, number: int) -> None:
        thread, events = self._threads[number]
        writer = number % 2

        def stored(thread: str, sequence: int, at: float) -> None:
            self._stored_at[thread, sequence] = (writer, at)

        self._speakers[writer].append(thread, next(events), stored)
        self.appended += 1

    def _begin(self, number: int) -> tuple[str, Iterator[dict[str, Any]]]:
        """A new thread, heard by both."""
        thread = f"soak-{next(self._names)}"
        writer, other = self._speakers[number % 2], self._speakers[1 - number % 2]
        writer.heard[thread] = other.heard[thread] = 1
        writer.ask("thread/start", threadId=thread, cwd=str(self.workspace))
        other.ask("thread/resume", threadId=thread, excludeTurns=True)
        return thread, self._events()

    def _replace(self, number: int) -> None:
        """End a thread: nobody hears it any more, it is archived, another takes its place."""
        thread, _ = self._threads[number]
        self._settle(number, thread)
        for speaker in self._speakers:
            speaker.ask("thread/unsubscribe", threadId=thread)
            del speaker.heard[thread]
        self._speakers[number % 2].ask("thread/archive", threadId=thread)
        self._threads[number] = self._begin(number)
        self.ended += 1

    def _settle(self, number: int, thread: str) -> None:
        """Wait until both have heard all of a thread."""
        writer = self._speakers[number % 2]
        end = time.perf_counter() + PATIENCE
        while writer.in_flight and time.perf_counter() < end:
            time.sleep(0.002)
        last = writer.ask("thread/read", threadId=thread)["thread"]["lastSequence"]
        for speaker in self._speakers:
            while speaker.heard[thread] < last:
                if time.perf_counter() > end:
                    speaker.faults.append(f"{thread}: {speaker.heard[thread]} was the last told of, not {last}")
                    break
                time.sleep(0.01)

    def _events(self) -> Iterator[dict[str, Any]]:
        """An agent's turns without an end; every tenth changes a file."""
        for number in count():
            begin, *rest = self._story.turn(*LONG)
            yield begin
            if number % 10 == 0:
                name = f"file{next(self._files) % 50}.txt"
                (self.workspace / name).write_text(self._story.text(100, 5000))
                yield {"type": "artifact.snapshot", "payload": {"path": name}}
            yield from rest

    def _ask_around(self) -> None:
        """What windows ask for, once a second."""
        for number, speaker in enumerate(self._speakers):
            thread = self._threads[(self.appended + number) % THREADS][0]
            speaker.send("thread/list", {})
            speaker.send("thread/turns/list", {"threadId": thread})
            speaker.send("thread/items/list", {"threadId": thread, "limit": 50})
            if int(time.monotonic()) % 30 == 0:
                speaker.send("thread/search", {"query": "parser handler", "limit": 5})

    def _look(self, at: float) -> None:
        """One sample."""
        now = time.perf_counter()
        passed = now - self._looked
        late: list[float] = []
        for key, (writer, stored) in list(self._stored_at.items()):
            heard = self._speakers[1 - writer].heard_at.pop(key, None)
            self._speakers[writer].heard_at.pop(key, None)
            if heard is not None:
                late.append(max(0.0, heard - stored))
            if heard is not None or now - stored > PATIENCE:
                del self._stored_at[key]
        raw: list[float] = []
        for _ in range(5):
            begun = time.perf_counter()
            os.write(self._raw, b"x" * 512)
            os.fdatasync(self._raw)
            raw.append(time.perf_counter() - begun)
        sample: dict[str, Any] = {
            "at": round(at, 1),
            "rate": round((self.appended - self._counted) / passed, 1),
            "raw": round(statistics.median(raw) * 1e3, 3),
            "loop": round(median_of(3, lambda: sum(range(200_000))) * 1e3, 3),
            "late": _spread(late),
            "wal": _size(Path(f"{database(self.root)}-wal")),
            "database": _size(database(self.root)),
            "rollouts": sum(map(_size, [*rollouts(self.root), *(self.root / "archived_sessions").glob("*")])),
            "processes": [],
        }
        for number, speaker in enumerate(self._speakers):
            took = [speaker.took.popleft() for _ in range(len(speaker.took))]
            used = speaker.host.processor_seconds
            pid = speaker.host.process.pid
            sample["processes"].append(
                {
                    "resident": int(speaker.host.resident),
                    "handles": len(os.listdir(f"/proc/{pid}/fd")),
                    "threads": len(os.listdir(f"/proc/{pid}/task")),
                    "processor": round((used - self._usage[number]) / passed, 4),
                    "append": _spread(took),
                }
            )
            self._usage[number] = used
        self._looked, self._counted = now, self.appended
        self.samples.append(sample)


def _spread(values: list[float]) -> dict[str, float]:
    """Median and 99th percentile, in milliseconds."""
    if not values:
        return {}
    values.sort()
    return {
        "median": round(statistics.median(values) * 1e3, 3),
        "p99": round(values[min(len(values) - 1, len(values) * 99 // 100)] * 1e3, 3),
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main() -> int:
    """Run, tell, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--rate", type=int, default=200, metavar="EVENTS", help="a second, over both processes")
    parser.add_argument("--report", action="store_true", help="write benchmarks/report/soak.*")
    parser.add_argument("--note", default="", help="what else to say of the run in the report")
    given = parser.parse_args()
    look_seconds = max(1.0, min(10.0, given.seconds / 60))
    begun = time.time()
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as place:
        soak = Soak(Path(place), given.rate)
        soak.run(given.seconds, look_seconds)
        faults = soak.settle()
        statuses = soak.close()
        if statuses != [0, 0]:
            faults.append(f"ended with {statuses}")
        with Host(Path(place) / "root") as host:
            report = host.call("storage/verify")
        if not report["ok"]:
            faults.append(f"storage/verify: {msgspec.json.encode(report)[:500]!r}")
    run = soak_report.Run(
        commit=_commit(),
        seconds=given.seconds,
        rate=given.rate,
        took=time.time() - begun,
        appended=soak.appended,
        threads_ended=soak.ended,
        faults=tuple(faults),
        note=given.note,
        samples=tuple(soak.samples),
    )
    judged = soak_report.judge(run)
    for line in soak_report.told(run, judged):
        print(line)
    if given.report:
        soak_report.write(run, judged)
    return 0 if not faults and all(each.flat for each in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
