"""From spawning the process to its first replies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.host import environment, spawn_until_reply
from benchmarks.measure import Floor, Row, at_most, in_turns, seconds

BARE = "bare `python -I -c pass`"


def bare() -> None:
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True, env=environment(), stdin=subprocess.DEVNULL)


def rows(bench: Bench) -> Iterator[Row]:
    empty, many = bench.place / "empty", bench.roots.many()
    spawn_until_reply(empty, "server/status")
    first = in_turns(
        bench.rounds(15),
        {
            "bare": lambda: seconds(bare),
            "empty": lambda: spawn_until_reply(empty),
            "many": lambda: spawn_until_reply(many),
        },
        warm_up=2,
    )
    later = in_turns(
        bench.rounds(5),
        {
            "bare": lambda: seconds(bare),
            "status": lambda: spawn_until_reply(empty, "server/status"),
            "list": lambda: spawn_until_reply(many, "thread/list"),
        },
    )
    count = f"{bench.roots.threads:,} threads"
    for key, what, found, goals in (
        ("empty", "start to `initialize` reply", first, (at_most(1.5),)),
        ("many", f"start to `initialize` reply, used root of {count}", first, (at_most(1.5),)),
        ("status", "start to first `server/status` reply", later, ()),
        ("list", f"start to first `thread/list` reply, {count}", later, ()),
    ):
        floors = (Floor(BARE, found["bare"].times(1e3)),)
        yield Row(f"start.{key}", what, "ms", found[key].times(1e3), floors, goals)
