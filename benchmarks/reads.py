"""Pages at any depth, and a whole thread at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.append import CHILDREN
from benchmarks.bench import Bench
from benchmarks.histories import rollouts
from benchmarks.host import Host, Pipe
from benchmarks.measure import Floor, Row, at_most, in_turns, median_of, seconds


def rows(bench: Bench) -> Iterator[Row]:
    root = bench.roots.deep()
    with Host(root) as host:
        yield from _pages(bench, host)
        yield from _whole(bench, host, rollouts(root)[0])
    with Host(bench.roots.many()) as host:
        yield from _lists(bench, host)


def _pages(bench: Bench, host: Host) -> Iterator[Row]:
    depth = bench.roots.turns * 5 - 100

    def cursor_at(target: int) -> str:
        cursor, done = None, 0
        while done < target:
            step = min(500, target - done)
            page = _page(host, "thread/items/list", limit=step, cursor=cursor)
            cursor, done = page["nextCursor"], done + step
        assert cursor is not None
        return cursor

    def turn(name: str, line: bytes) -> Any:
        return lambda: median_of(20, lambda: host.reply_to(line))

    items = {"shallow": cursor_at(100), "deep": cursor_at(depth)}
    lines = {
        name: host.request("thread/items/list", {"threadId": "deep", "limit": 100, "cursor": cursor})
        for name, cursor in items.items()
    }
    newest = _page(host, "thread/turns/list", limit=50)["nextCursor"]
    oldest = _page(host, "thread/turns/list", limit=50, sortDirection="asc")["nextCursor"]
    lines["turns"] = host.request("thread/turns/list", {"threadId": "deep", "limit": 50, "cursor": newest})
    lines["turns, oldest"] = host.request(
        "thread/turns/list", {"threadId": "deep", "limit": 50, "cursor": oldest, "sortDirection": "asc"}
    )
    ping = host.request("server/status", {})
    found = in_turns(
        bench.rounds(15),
        {"ping": turn("ping", ping), **{name: turn(name, line) for name, line in lines.items()}},
    )
    yield Row(
        "page.items",
        f"a page of 100 items at depth {depth + 100:,} of one thread",
        "ms",
        found["deep"].times(1e3),
        (
            Floor("the page at depth 100", found["shallow"].times(1e3)),
            Floor("a `server/status`", found["ping"].times(1e3)),
        ),
        (at_most(1.3),),
    )
    yield Row(
        "page.turns",
        "a page of 50 whole turns, the oldest",
        "ms",
        found["turns, oldest"].times(1e3),
        (Floor("the newest", found["turns"].times(1e3)),),
        (at_most(1.2),),
    )


def _page(host: Host, method: str, **params: Any) -> Any:
    return host.call(method, threadId="deep", **params)


def _whole(bench: Bench, host: Host, rollout: Path) -> Iterator[Row]:
    line = host.request("thread/read", {"threadId": "deep", "includeTurns": True})

    def parse() -> None:
        for part in rollout.read_bytes().split(b"\n"):
            if part:
                msgspec.json.decode(part)

    with Pipe([sys.executable, "-I", CHILDREN, "send"]) as pipe:
        found = in_turns(
            bench.rounds(7),
            {
                "parse": lambda: seconds(parse),
                "pipe": lambda: seconds(lambda: pipe.trade(str(rollout).encode() + b"\n")),
                "ours": lambda: seconds(lambda: host.reply_to(line)),
            },
        )
    size = rollout.stat().st_size / (1 << 20)
    yield Row(
        "read.whole",
        f"`thread/read` of {bench.roots.turns:,} turns ({size:.0f} MiB of rollout)",
        "ms",
        found["ours"].times(1e3),
        (
            Floor("reading the file and writing it to a pipe", found["pipe"].times(1e3)),
            Floor("reading the file and parsing its lines (msgspec)", found["parse"].times(1e3)),
        ),
        (at_most(3),),
    )


def _lists(bench: Bench, host: Host) -> Iterator[Row]:
    line = host.request("thread/list", {})
    ping = host.request("server/status", {})
    found = in_turns(
        bench.rounds(15),
        {
            "ping": lambda: median_of(20, lambda: host.reply_to(ping)),
            "list": lambda: median_of(20, lambda: host.reply_to(line)),
        },
    )
    yield Row(
        "list",
        f"`thread/list` of 25 among {bench.roots.threads:,} threads",
        "ms",
        found["list"].times(1e3),
        (Floor("a `server/status`", found["ping"].times(1e3)),),
    )
