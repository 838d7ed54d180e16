"""Pages of turns, items and events at the beginning and at the end of a very long thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.bench import Bench
from benchmarks.histories import EVENTS_OF_LONG, LONG
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, at_most, below, median_of

_CALLS = 20
_PAGE = 50
_DEPTH = 1.2


def rows(bench: Bench) -> Iterator[Row]:
    with Host(bench.roots.deep()) as host:
        yield from _pages(bench, host, bench.roots.turns, "deep")
        yield from _hundred(bench, host)
    if not bench.quick:
        turns = 1_000_000 // EVENTS_OF_LONG
        with Host(bench.roots.of_turns(turns)) as host:
            yield from _pages(bench, host, turns, "million")


def _pages(bench: Bench, host: Host, turns: int, key: str) -> Iterator[Row]:
    """The deepest page beside the first, where reading begins: the newest turns, the first items and events."""
    events = turns * EVENTS_OF_LONG
    limit = {"threadId": "deep", "limit": _PAGE}
    ends: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "turns": ("thread/turns/list", {}, {"sortDirection": "asc"}),
        "items": ("thread/items/list", {}, {"sortDirection": "desc"}),
        "events": ("thread/events/list", {}, {"afterSequence": events - _PAGE}),
    }
    ping = host.request("server/status", {})
    for name, (method, first, deepest) in ends.items():
        lines = {
            "first": host.request(method, {**limit, **first}),
            "deepest": host.request(method, {**limit, **deepest}),
            "ping": ping,
        }
        found = bench.in_turns(
            15,
            {of: lambda line=line: median_of(_CALLS, lambda: host.reply_to(line)) for of, line in lines.items()},
            within=1.5 if bench.quick else None,
        )
        whole = f" ({len(LONG)} items each)" if name == "turns" else ""
        yield Row(
            f"page.{key}.{name}",
            f"a page of {_PAGE} {name}{whole}, the deepest of {turns:,} turns, {events:,} events",
            "ms",
            found["deepest"].times(1e3),
            (Floor("the first", found["first"].times(1e3)), Floor("a `server/status`", found["ping"].times(1e3))),
            (below(2), at_most(_DEPTH)),
            every=True,
        )


def _hundred(bench: Bench, host: Host) -> Iterator[Row]:
    """The page of the first issue of all: by a cursor in the middle of nowhere."""
    depth = bench.roots.turns * len(LONG) - 100

    def cursor_at(target: int) -> str:
        cursor, done = None, 0
        while done < target:
            step = min(500, target - done)
            page = host.call("thread/items/list", threadId="deep", limit=step, cursor=cursor)
            cursor, done = page["nextCursor"], done + step
        assert cursor is not None
        return cursor

    lines = {
        at: host.request("thread/items/list", {"threadId": "deep", "limit": 100, "cursor": cursor_at(at)})
        for at in (100, depth)
    }
    found = bench.in_turns(
        15, {str(at): lambda line=line: median_of(_CALLS, lambda: host.reply_to(line)) for at, line in lines.items()}
    )
    yield Row(
        "page.items",
        f"a page of 100 items at depth {depth + 100:,} of one thread",
        "ms",
        found[str(depth)].times(1e3),
        (Floor("the page at depth 100", found["100"].times(1e3)),),
        (at_most(1.3),),
    )
