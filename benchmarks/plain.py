"""Many clients at once, beside a store of the plain kind: a table of events with a JSON payload, a commit an event."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks.bench import Bench
from benchmarks.histories import Story
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, at_least, in_turns, seconds

_CLIENTS = 64
_EACH = 20
_PLAIN = 200


def rows(bench: Bench) -> Iterator[Row]:
    """Appends of one event by clients that do not wait for each other, each to a thread of its own."""
    story = Story(12)
    plain = PlainStore(bench.place / "plain.sqlite")
    with Host(bench.place / "clients") as host:
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
            events = [_said(story) for _ in range(_PLAIN)]
            return seconds(lambda: plain.append("one", events, anew=anew)) / _PLAIN

        found = in_turns(
            bench.rounds(15),
            {"ours": ours, "anew": lambda: theirs(anew=True), "kept": lambda: theirs(anew=False)},
        )
    yield Row(
        "append.clients",
        f"appends of one event by {_CLIENTS} clients at once",
        "events/s",
        found["ours"].per_second(1),
        (
            Floor("a plain store: a connection and a commit an event", found["anew"].per_second(1)),
            Floor("the same, the connection kept", found["kept"].per_second(1)),
        ),
        (at_least(20),),
    )


def _begin(story: Story) -> dict[str, Any]:
    return {"type": "turn.started", "payload": {"turnId": story.an_id()}}


def _said(story: Story) -> dict[str, Any]:
    return {"type": "item.completed", "payload": {"item": story.item("agentMessage")}}


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
