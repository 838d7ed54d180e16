"""Appends: one durable event, and a thousand in one request."""

from __future__ import annotations

import os
import sys
import time
from binascii import hexlify
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks.bench import Bench
from benchmarks.histories import LONG, Story
from benchmarks.host import Host, Pipe
from benchmarks.measure import Floor, Row, Sample, at_least, at_most, median_of, seconds
from lockstitch.timeline.reducer import MARK_EVERY
from lockstitch.timeline.rows import ClientEventRow, ItemRow, MarkRow, TurnRow, columns
from lockstitch.timeline.schema import TABLES

CHILDREN = str(Path(__file__).with_name("children.py"))
_DIGEST = bytes(range(16))
_AT = "2026-12-01T02:40:11.123456Z"
_TURN = (1_800_000_000_000_000, 1_800_000_000_000_000, None, None, None, None, 1000, 5, 2, 1200, 800, 150, 40, None, 1)
"""What a turn's row holds beside its ids."""

_ONE = 30
_BATCH = 1000


def rows(bench: Bench) -> Iterator[Row]:
    yield from _one(bench)
    yield from _thousand(bench)


def _one(bench: Bench) -> Iterator[Row]:
    story = Story(3)
    line = msgspec.json.encode({"id": 1, "item": story.item("agentMessage"), "room": "x" * 200}) + b"\n"
    raw = os.open(bench.place / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def write() -> None:
        os.write(raw, line)
        os.fdatasync(raw)

    child = [sys.executable, "-I", CHILDREN, "append", str(bench.place / "raw-child")]
    with Pipe(child) as pipe, Host(bench.place / "one") as host, Host(bench.place / "heard", listen=True) as listener:
        for each in (host, listener):
            each.call("thread/start", threadId="one")
            _append(each, [{"type": "turn.started", "payload": {}}])

        def ours(to: Host) -> float:
            requests = [_request(to, [_message(story)]) for _ in range(_ONE)]
            supply = iter(requests)
            return median_of(_ONE, lambda: to.reply_to(next(supply)))

        found = bench.in_turns(
            21,
            {
                "raw": lambda: median_of(_ONE, write),
                "pipe": lambda: median_of(_ONE, lambda: pipe.trade(line)),
                "ours": lambda: ours(host),
                "heard": lambda: ours(listener),
            },
        )
    os.close(raw)
    floors = (
        Floor("raw append + `fdatasync` behind a pipe", found["pipe"].times(1e6)),
        Floor("raw append + `fdatasync`", found["raw"].times(1e6)),
    )
    yield Row("append.one", "one durable append, answered", "µs", found["ours"].times(1e6), floors, (at_most(2),))
    yield Row(
        "append.one.heard", "the same, with its notifications", "µs", found["heard"].times(1e6), floors, (at_most(2),)
    )


def _thousand(bench: Bench) -> Iterator[Row]:
    story = Story(4)
    bare = _BareStore(bench.place / "bare", chained=False)
    chained = _BareStore(bench.place / "chained")
    with_ids = _BareStore(bench.place / "ids")
    processor = {"floor": 0.0, "ours": 0.0}
    batches = dict.fromkeys(processor, 0)
    with Host(bench.place / "batches") as host, Host(bench.place / "loud", listen=True) as listener:
        for each in (host, listener):
            each.call("thread/start", threadId="one")

        def events(*, ids: bool = False) -> list[dict[str, Any]]:
            found = [event for turn in story.turns(_BATCH // 8, *LONG) for event in turn]
            return [{**event, "eventId": story.an_id()} for event in found] if ids else found

        def ours(to: Host, *, ids: bool = False) -> float:
            line = _request(to, events(ids=ids))
            before = to.processor_seconds
            took = seconds(lambda: to.reply_to(line))
            if to is host and not ids:
                processor["ours"] += to.processor_seconds - before
                batches["ours"] += 1
            return took

        def floor() -> float:
            batch = events()
            before = time.process_time()
            took = seconds(lambda: bare.append(batch))
            processor["floor"] += time.process_time() - before
            batches["floor"] += 1
            return took

        found = bench.in_turns(
            15,
            {
                "floor": floor,
                "chained": lambda: seconds(_given(chained.append, events())),
                "floor ids": lambda: seconds(_given(with_ids.append, events(ids=True))),
                "ours": lambda: ours(host),
                "ids": lambda: ours(host, ids=True),
                "heard": lambda: ours(listener),
            },
            warm_up=2,
        )
    bare.close()
    chained.close()
    with_ids.close()
    ids_floor = Floor("the bare loop with a row for each id", found["floor ids"].per_second(_BATCH))
    floors = (
        Floor("bare loop: encode, write, `fdatasync`, `executemany`", found["floor"].per_second(_BATCH)),
        Floor("the same with the lines' sums", found["chained"].per_second(_BATCH)),
    )
    unit = "events/s"
    for key, name in (
        ("ours", "appends of 1,000 events in one request"),
        ("ids", "the same, each event with its own id"),
        ("heard", "the same, with notifications"),
    ):
        held = (*floors, ids_floor) if key == "ids" else floors
        yield Row(f"append.batch.{key}", name, unit, found[key].per_second(_BATCH), held, (at_least(0.3),))
    costs = {name: Sample((processor[name] / batches[name] / _BATCH * 1e6,)) for name in processor}
    yield Row(
        "append.batch.processor",
        "processor time of an event in such a batch (says more than the rate on a busy machine)",
        "µs",
        costs["ours"],
        (Floor("bare loop", costs["floor"]),),
        (at_most(1 / 0.3),),
    )


class _BareStore:
    """Encode, write, sync and insert as much as ours, without a promise more than that.

    A batch of a thousand events comes to the same lines, of the same bytes (docs/format.md; `chained`: with their
    sums), and to 625 items, 125 turns and 16 marks in the same tables. What ours does beside: read the request from a
    pipe and check it, know which turn and item an event belongs to, say where each item stands, answer.
    """

    def __init__(self, place: Path, *, chained: bool = True) -> None:
        """`chained`: sum the lines. Events with ids of their own get a row each for that, as ours do."""
        self._fd = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self._chained = chained
        self._database = apsw.Connection(f"{place}.sqlite")
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.execute(TABLES)
        self._inserts = [
            f"INSERT INTO {kind.table} VALUES({','.join('?' * len(columns(kind)))})"
            for kind in (ItemRow, TurnRow, MarkRow, ClientEventRow)
        ]
        self._sequence = self._offset = self._turn = 0
        self._turn_id, self._sum = "", b""

    def append(self, events: list[dict[str, Any]]) -> None:
        lines: list[bytes] = []
        items: list[tuple[Any, ...]] = []
        turns: list[tuple[Any, ...]] = []
        marks: list[tuple[Any, ...]] = []
        given: list[tuple[Any, ...]] = []
        more, encode = len(events), msgspec.json.encode
        for event in events:
            self._sequence += 1
            sequence, more = self._sequence, more - 1
            item = event["payload"].get("item")
            head: dict[str, Any] = {"sequence": sequence, "at": _AT, "type": event["type"]}
            event_id = event.get("eventId")
            head["eventId"] = event_id or f"evt_{sequence:032d}"
            if item is not None:
                head["turnId"], head["itemId"] = self._turn_id, item["id"]
                items.append((1, self._turn, sequence, item["id"], 2, 1, 0, self._offset, 400, 200, 200, None, None))
            else:
                if event["type"] == "turn.started":
                    self._turn, self._turn_id = self._turn + 1, event["payload"]["turnId"]
                    turns.append((1, self._turn, self._turn_id, 1, 0, sequence, sequence + 7, *_TURN))
                head["turnId"] = self._turn_id
            head["payload"], head["more"] = event["payload"], more
            if event_id is not None:
                head["digest"] = _DIGEST.hex()
                given.append((1, event_id, sequence, self._offset, 400, _DIGEST))
            line = encode(head)
            if self._chained:
                self._sum = hexlify(sha256(self._sum + line[:-1]).digest()[:8])
                line = b'%b,"sum":"%b"}\n' % (line[:-1], self._sum)
            else:
                line = b"%b%b" % (line, b" " * 25 + b"\n")
            if sequence % MARK_EVERY == 1:
                marks.append((1, sequence, self._offset))
            lines.append(line)
            self._offset += len(line)
        os.write(self._fd, b"".join(lines))
        os.fdatasync(self._fd)
        with self._database:
            for insert, rows in zip(self._inserts, (items, turns, marks, given), strict=True):
                self._database.executemany(insert, rows)

    def close(self) -> None:
        os.close(self._fd)
        self._database.close()


def _given(run: Callable[[Any], object], value: Any) -> Callable[[], object]:
    return lambda: run(value)


def _message(story: Story) -> dict[str, Any]:
    return {"type": "item.completed", "payload": {"item": story.item("agentMessage")}}


def _request(host: Host, events: list[dict[str, Any]]) -> bytes:
    return host.request("agentSession/runtimeEvents/append", {"sessionId": "one", "runtimeEvents": events})


def _append(host: Host, events: list[dict[str, Any]]) -> None:
    host.reply_to(_request(host, events))
