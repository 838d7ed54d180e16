"""What the process holds in memory, and what it does while nobody asks for anything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.bench import Bench
from benchmarks.host import Host
from benchmarks.measure import Goal, Row, Sample

_MIB = 1 << 20


def rows(bench: Bench) -> Iterator[Row]:
    with Host(bench.roots.deep()) as host:
        host.call("server/status")
        time.sleep(0.5)
        start = host.resident
        cursor, count = None, 0
        while True:
            page = host.call("thread/turns/list", threadId="deep", limit=100, cursor=cursor)
            count += len(page["data"])
            cursor = page["nextCursor"]
            if cursor is None:
                break
        after = host.resident
        whole = host.request("thread/read", {"threadId": "deep", "includeTurns": True})
        host.reply_to(whole)
        time.sleep(0.5)
        read = host.resident
    yield Row("memory.start", "resident after start", "MiB", Sample((start / _MIB,)), goals=(Goal("ours", 60),))
    yield Row(
        "memory.pages", f"resident after reading {count:,} turns by pages", "MiB", Sample((after / _MIB,)),
        goals=(Goal("ours", 90),),
    )  # fmt: skip
    yield Row("memory.whole", "resident after one whole `thread/read` of it", "MiB", Sample((read / _MIB,)))
    yield from _idle(bench)


def _idle(bench: Bench) -> Iterator[Row]:
    """Alone; and while it is subscribed and another process lives on the data root."""
    length = 3.0 if bench.quick else 10.0
    root = bench.place / "idle"
    looks = "a look goes to a thread of the pool and back: up to four wake-ups"
    for key, what, watched, others, goals, note in (
        ("idle", "wake-ups while idle", False, 0, (Goal("ours", 1.2),), ""),
        ("idle.watched", "the same, subscribed to a thread: one look a second", True, 0, (Goal("ours", 4.4),), looks),
        ("idle.others", "the same, another process on the data root: four looks a second", True, 1, (), looks),
    ):
        with ExitStack() as opened:
            host = opened.enter_context(Host(root, listen=watched))
            host.call("server/status")
            if watched:
                host.call("thread/start")
            for _ in range(others):
                opened.enter_context(Host(root)).call("server/status")
            time.sleep(1.0)
            cpu, switches = host.processor_seconds, host.switches
            time.sleep(length)
            cpu, switches = host.processor_seconds - cpu, host.switches - switches
        yield Row(
            f"memory.{key}", what, "per s", Sample((switches / length,)), goals=goals,
            note="; ".join(filter(None, (f"{cpu * 1e3:.0f} ms of processor time in {length:.0f} s", note))),
        )  # fmt: skip
