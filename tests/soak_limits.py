"""What must stay bounded, once each: `python -m tests.soak --limits`. Takes minutes and 2 GB of disk."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.crash.host import GoneError, Host, RefusedError, appended, judge, rollouts
from tests.crash.zygote import ROOT
from tests.wire.process import environment

METHOD = "agentSession/runtimeEvents/append"
MIB = 1 << 20


def eight_writers(home: Path, counts: Counter[str]) -> None:
    """Eight processes, 2,000 appends each, to one thread: gapless, sound, and nothing but storageBusy on the way."""
    hosts = [Host(home).start() for _ in range(8)]
    thread = hosts[0].call("thread/start")["thread"]["id"]
    stored: list[str] = []

    def work(host: Host) -> None:
        keys: list[Any] = []
        for number in range(2000):
            keys.append(host.send(METHOD, appended(thread, ("host.note", {"n": number}))))
            if len(keys) == 50 or number == 1999:
                for key in keys:
                    try:
                        stored.append(host.wait(key, 120.0)["events"][0]["eventId"])
                    except RefusedError as error:
                        assert error.kind == "storageBusy", error
                        counts["busy"] += 1
                keys = []

    together([lambda host=host: work(host) for host in hosts])
    events = hosts[0].events(thread)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1)), "a gap"
    assert sorted(event["eventId"] for event in events[1:]) == sorted(stored)
    assert len(events) == len(stored) + 1
    for host in hosts:
        host.close()
    (database,) = home.glob("sqlite/*.sqlite")
    connection = sqlite3.connect(database)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    judge(home)
    counts["appends of eight processes"] = len(stored)


def side_files(home: Path, counts: Counter[str]) -> None:
    """100,000 appends under three steady readers: the -wal stays small, the log too, and holds no word of it."""
    most = 0
    with Host(home) as host:
        host.start()
        threads = [host.call("thread/start")["thread"]["id"] for _ in range(4)]
        readers = [Host(home).start() for _ in range(3)]
        over = threading.Event()

        def read(reader: Host) -> None:
            number = 0
            while not over.is_set():
                number += 1
                thread = threads[number % 4]
                reader.call("thread/list")
                reader.call("thread/events/list", threadId=thread, limit=50)
                reader.call("thread/read", threadId=thread)

        def write() -> None:
            nonlocal most
            for batch in range(200):
                keys = [
                    host.send(METHOD, appended(threads[number % 4], ("host.note", {"text": "secret-word"})))
                    for number in range(500)
                ]
                for key in keys:
                    host.wait(key, 120.0)
                for wal in home.glob("sqlite/*-wal"):
                    most = max(most, wal.stat().st_size)
                counts["appends under readers"] += 500
                del batch
            over.set()

        together([write, *(lambda reader=reader: read(reader) for reader in readers)])
        for reader in readers:
            reader.close()
    counts["largest -wal, KiB"] = most // 1024
    assert most < 32 * MIB, f"the -wal grew to {most}"
    logs = list(home.glob("log/*"))  # none, where nothing was worth a line
    assert sum(path.stat().st_size for path in logs) < 16 * MIB
    for path in logs:
        assert b"secret-word" not in path.read_bytes(), "the log holds a transcript"


def large_events(home: Path, counts: Counter[str]) -> None:
    """Field report B46: one event of 64 MiB is refused by its limit or stored whole; other pages are served."""
    with Host(home) as host:
        thread = host.start().call("thread/start")["thread"]["id"]
        text = "y" * ((64 << 20) - 4096)
        host.append(thread, ("host.note", {"text": text}))
        host.append(thread, ("host.note", {"n": 3}))
        page = host.call("thread/events/list", threadId=thread, afterSequence=2)
        assert [event["payload"] for event in page["data"]] == [{"n": 3}]
        try:
            host.append(thread, ("host.note", {"text": text + "y" * 8192}))
        except RefusedError as error:
            assert error.kind == "messageTooLarge"
        else:
            raise AssertionError("a message above the limit was taken")
        counts["memory with 64 MiB, MiB"] = peak(host.process.pid)
        assert peak(host.process.pid) < 640
    with Host(home) as host:
        (event,) = host.start().call("thread/events/list", threadId=thread, afterSequence=1, limit=1)["data"]
        assert event["payload"]["text"] == text
    judge(home)


def large_rollout(home: Path, counts: Counter[str]) -> None:
    """A rollout of 1 GB: opened, listed, paged, appended to and made anew in bounded memory."""
    with Host(home) as host:
        thread = host.start().call("thread/start")["thread"]["id"]
        host.append(thread, ("turn.started", {}), turnId="t")
        for _ in range(64):
            host.append(thread, *[("host.note", {"text": "z" * (4 * MIB)})] * 4)
    (path,) = rollouts(home).values()
    assert path.stat().st_size > 1000 * MIB
    for gone in (False, True):
        for part in home.glob("sqlite/*") if gone else ():
            part.unlink()
        with Host(home) as host:
            host.start().call("thread/list")
            assert host.call("thread/read", threadId=thread)["thread"]["lastSequence"] >= 258
            host.call("thread/turns/list", threadId=thread)
            host.call("thread/events/list", threadId=thread, afterSequence=255, limit=2)
            host.append(thread, ("host.note", {"text": "on"}))
            name = "memory making 1 GB anew, MiB" if gone else "memory with 1 GB, MiB"
            counts[name] = peak(host.process.pid)
            assert peak(host.process.pid) < 640


def deaf_client(home: Path, counts: Counter[str]) -> None:
    """A client that watches a thread and never reads, while another process appends 300 MB to it."""
    with Host(home) as writer:
        thread = writer.start().call("thread/start")["thread"]["id"]
        command = [sys.executable, "-m", "lockstitch", "serve", "--data-dir", str(home)]
        pipe = subprocess.PIPE
        deaf = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment(), cwd=ROOT)
        assert deaf.stdin is not None
        assert deaf.stdout is not None
        for id_, method, params in (
            (1, "initialize", {"clientInfo": {"name": "deaf"}}),
            (2, "thread/resume", {"threadId": thread}),
        ):
            deaf.stdin.write(json.dumps({"id": id_, "method": method, "params": params}).encode() + b"\n")
        deaf.stdin.flush()
        while b'"id":2' not in deaf.stdout.readline():
            pass
        for _ in range(300):
            writer.append(thread, *[("host.note", {"text": "w" * 100_000})] * 10)
        counts["memory beside a deaf client, MiB"] = peak(deaf.pid)
        assert peak(deaf.pid) < 600
        seen: list[int] = []
        last = writer.call("thread/read", threadId=thread)["thread"]["lastSequence"]
        while not seen or seen[-1] < last:
            line = deaf.stdout.readline()
            assert line, "the client is not told of every event"
            message = json.loads(line)
            if message["method"] == "agentSession/event":
                seen.append(message["params"]["event"]["sequence"])
        assert seen == list(range(2, last + 1)), "what the client missed is read from the log once it reads again"
        deaf.stdin.close()
        deaf.stdout.read()
        assert deaf.wait(30) == 0


LIMITS: list[Callable[[Path, Counter[str]], None]] = [
    eight_writers,
    side_files,
    large_events,
    large_rollout,
    deaf_client,
]


def together(works: list[Callable[[], Any]]) -> None:
    """Run them at once; the first failure is raised."""
    failures: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads), "somebody hangs"


def peak(pid: int) -> int:
    """MiB of memory that the process has had at most."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) >> 10
    raise GoneError("no VmHWM")


def run(only: list[str] | None = None) -> tuple[Counter[str], int]:
    """Run the limits; what was counted, and how many failed."""
    counts: Counter[str] = Counter()
    failed = 0
    for limit in LIMITS:
        if only and limit.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="limits-") as place:
            try:
                limit(Path(place) / "home", counts)
            except BaseException as error:
                failed += 1
                print(f"{limit.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
            else:
                print(f"{limit.__name__}: holds", flush=True)
    return counts, failed


if __name__ == "__main__":
    os.environ.pop("LOCKSTITCH_FAULTS", None)
    found, wrong = run(sys.argv[1:])
    print(", ".join(f"{value} {name}" for name, value in found.items()))
    sys.exit(bool(wrong))
