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
    found = in_turns(
        bench.rounds(15),
        {
            "bare": lambda: seconds(bare),
            "empty": lambda: spawn_until_reply(empty),
            "many": lambda: spawn_until_reply(many),
            "status": lambda: spawn_until_reply(empty, "server/status"),
            "list": lambda: spawn_until_reply(many, "thread/list"),
        },
        warm_up=2,
    )
    floor = Floor(BARE, found["bare"].times(1e3))
    count = f"{bench.roots.threads:,} threads"
    yield Row(
        "start.initialize", "start to `initialize` reply", "ms", found["empty"].times(1e3), (floor,), (at_most(1.5),)
    )
    yield Row(
        "start.used",
        f"start to `initialize` reply, used root of {count}",
        "ms",
        found["many"].times(1e3),
        (floor,),
        (at_most(1.5),),
    )
    yield Row("start.status", "start to first `server/status` reply", "ms", found["status"].times(1e3), (floor,))
    yield Row("start.list", f"start to first `thread/list` reply, {count}", "ms", found["list"].times(1e3), (floor,))
