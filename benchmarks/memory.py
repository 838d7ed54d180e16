"""What the process holds in memory, and what it does while nobody asks for anything."""

from __future__ import annotations

import time
from collections.abc import Iterator

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
    length = 1.0 if bench.quick else 2.0
    with Host(bench.place / "idle") as host:
        host.call("server/status")
        time.sleep(0.5)
        cpu, switches = host.processor_seconds, host.switches
        time.sleep(length)
        cpu, switches = host.processor_seconds - cpu, host.switches - switches
    yield Row(
        "idle.wakeups", "wake-ups while idle", "per s", Sample((switches / length,)), goals=(Goal("ours", 1),),
        note=f"{cpu * 1e3:.0f} ms of processor time in {length:.0f} s",
    )  # fmt: skip
