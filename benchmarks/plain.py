"""Many clients at once, beside a store of the plain kind: a table of events with a JSON payload, a commit an event.

How fast the plain kind is depends on what a flush of the disk costs, so both are measured a second time on a disk
whose flush takes a millisecond.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks import slow_disk
from benchmarks.bench import Bench
from benchmarks.histories import Story
from benchmarks.host import ROOT, Host, Pipe
from benchmarks.measure import Floor, LeftOut, Row, at_least, median_of, seconds

_CLIENTS = 64
_EACH = 20
_PLAIN = 100


def rows(bench: Bench) -> Iterator[Row | LeftOut]:
    """Appends of one event by clients that do not wait for each other, each to a thread of its own."""
    yield from _row(bench, "append.clients", "", {})
    extra = slow_disk.environment(bench.place)
    where = f", on a disk whose flush takes {slow_disk.MICROSECONDS / 1000:.0f} ms"
    if extra is None:
        yield LeftOut(f"appends by {_CLIENTS} clients{where}", "that needs Linux and a C compiler")
        return
    yield from _row(bench, "append.clients.slow", where, extra)


def _row(bench: Bench, key: str, where: str, extra: dict[str, str]) -> Iterator[Row]:
    story = Story(12)
    with ExitStack() as opened:
        host = opened.enter_context(Host(bench.place / key, extra=extra))
        plain = opened.enter_context(_Plain(bench.place / f"{key}.sqlite", extra))
        names = [f"client-{number}" for number in range(_CLIENTS)]
        for name in names:
            host.call("thread/start", threadId=name)
            host.call("agentSession/runtimeEvents/append", sessionId=name, runtimeEvents=[_begin(story)])

        def ours() -> float:
            lines = [
                host.request("agentSession/runtimeEvents/append", {"sessionId": name, "runtimeEvents": [_said(story)]})
                for _ in range(_EACH)
                for name in names
            ]
            return seconds(lambda: host.pipeline(lines, _CLIENTS)) / len(lines)

        def theirs(*, anew: bool) -> float:
            return plain.store([_said(story) for _ in range(_PLAIN)], anew=anew) / _PLAIN

        def flush() -> float:
            return plain.flush() / _PLAIN

        before = host.processor_seconds
        found = bench.in_turns(
            15, {"ours": ours, "anew": lambda: theirs(anew=True), "kept": lambda: theirs(anew=False), "flush": flush}
        )
        rounds = len(found["ours"].values) + 1
        used = (host.processor_seconds - before) / rounds / _CLIENTS / _EACH
    yield Row(
        key,
        f"appends of one event by {_CLIENTS} clients at once{where}",
        "events/s",
        found["ours"].per_second(1),
        (
            Floor("a plain store: a connection and a commit an event", found["anew"].per_second(1)),
            Floor("the same, the connection kept", found["kept"].per_second(1)),
            Floor("bare writes of a line, each with `fdatasync`", found["flush"].per_second(1)),
        ),
        (at_least(20),),
        note=f"{used * 1e6:.0f} µs of processor time an event"
        + (
            "; both sides are slowed alike, by a library before the C library, and flushes that meet are shared"
            if where
            else ""
        ),
    )


def _begin(story: Story) -> dict[str, Any]:
    return {"type": "turn.started", "payload": {"turnId": story.an_id()}}


def _said(story: Story) -> dict[str, Any]:
    return {"type": "item.completed", "payload": {"item": story.item("agentMessage")}}


class _Plain(Pipe):
    """A plain store in a process of its own."""

    def __init__(self, path: Path, extra: dict[str, str]) -> None:
        self._extra = extra
        super().__init__([sys.executable, "-c", "from benchmarks.plain import serve; serve()", str(path)])

    def environment(self) -> dict[str, str]:
        found = super().environment()
        return {**found, "PYTHONPATH": os.pathsep.join((str(ROOT), found["PYTHONPATH"])), **self._extra}

    def store(self, events: list[dict[str, Any]], *, anew: bool) -> float:
        """Seconds that it took, as the store's process measured it."""
        return msgspec.json.decode(self.trade(msgspec.json.encode([anew, events]) + b"\n"))

    def flush(self) -> float:
        """Seconds for as many bare writes, each with its `fdatasync`."""
        return msgspec.json.decode(self.trade(b"null\n"))


def serve() -> None:
    """The store's process: a line of events in, the seconds it took out."""
    store = PlainStore(Path(sys.argv[1]))
    bare = os.open(f"{sys.argv[1]}.bare", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def write() -> None:
        os.write(bare, b"x" * 600)
        os.fdatasync(bare)

    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line)
        if asked is None:
            took = median_of(_PLAIN, write) * _PLAIN
        else:
            anew, events = asked
            took = seconds(lambda anew=anew, events=events: store.append("one", events, anew=anew))
        sys.stdout.buffer.write(msgspec.json.encode(took) + b"\n")
        sys.stdout.buffer.flush()


class PlainStore:
    """What hosts write for themselves: durable at `synchronous=FULL`, an index by thread, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = self._open()
        self._kept.execute(
            "CREATE TABLE event(id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, at REAL NOT NULL,"
            " type TEXT NOT NULL, payload TEXT NOT NULL)"
        )
        self._kept.execute("CREATE INDEX event_by_thread ON event(thread_id, id)")

    def _open(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path))
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    def append(self, thread_id: str, events: list[dict[str, Any]], *, anew: bool) -> None:
        """Store them one by one; `anew` opens a connection for each."""
        for event in events:
            connection = self._open() if anew else self._kept
            payload = msgspec.json.encode(event["payload"]).decode()
            with connection:
                connection.execute(
                    "INSERT INTO event(thread_id, at, type, payload) VALUES(?,?,?,?)",
                    (thread_id, time.time(), event["type"], payload),
                )
            if anew:
                connection.close()
