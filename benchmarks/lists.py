"""`thread/list` with each of its filters, among a thousand threads and among a hundred times as many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import crowd
from benchmarks.bench import Bench
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, at_most, below, median_of

_FEW = 1_000
_FLAT = 1.5
_CALLS = 10

_ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "25": ("`thread/list` of 25", {"limit": 25}),
    "updated": ("the same, by the time of the last change", {"limit": 25, "sortKey": "updated_at"}),
    "100": ("the same of 100", {"limit": 100}),
    "cwd": ("of 25, by cwd", {"limit": 25, "cwd": "/workspace3"}),
    "archived": ("of 25, the archived ones", {"limit": 25, "archived": True}),
    "search": ("of 25, by a word that every title has", {"limit": 25, "searchTerm": "mend"}),
    "search.rare": ("of 25, by a word that one title has", {"limit": 25, "searchTerm": "000777"}),
}


def rows(bench: Bench) -> Iterator[Row]:
    """One row a filter: among many, beside the same among few and beside the cheapest request."""
    many = 10_000 if bench.quick else 100_000
    roots = {count: bench.place / f"crowd-{count}" for count in (_FEW, many)}
    for count, root in roots.items():
        crowd.write(root, count)
    with Host(roots[_FEW]) as few, Host(roots[many]) as host:
        ping = host.request("server/status", {})

        def asking(to: Host, params: dict[str, Any]) -> Callable[[], float]:
            line = to.request("thread/list", params)
            return lambda: median_of(_CALLS, lambda: to.reply_to(line))

        for key, (what, params) in _ASKED.items():
            if not host.call("thread/list", **params)["data"]:
                raise RuntimeError(f"nothing is found {what}")
            found = bench.in_turns(
                9,
                {
                    "few": asking(few, params),
                    "many": asking(host, params),
                    "ping": lambda: median_of(_CALLS, lambda: host.reply_to(ping)),
                },
                within=1.0 if bench.quick else None,
            )
            floors = (
                Floor(f"among {_FEW:,}", found["few"].times(1e3)),
                Floor("a `server/status`", found["ping"].times(1e3)),
            )
            # a page of a hundred is four pages of work
            goals = (at_most(_FLAT),) if key == "100" else (below(2), at_most(_FLAT))
            name = f"{what}, among {many:,} threads"
            yield Row(f"list.{key}", name, "ms", found["many"].times(1e3), floors, goals, every=True)
