"""From spawning the process to its first replies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.host import environment, packaged, spawn_until_reply
from benchmarks.measure import Floor, LeftOut, Row, at_most, seconds

BARE = "bare `python -I -c pass`"


def bare() -> None:
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True, env=environment(), stdin=subprocess.DEVNULL)


def rows(bench: Bench) -> Iterator[Row | LeftOut]:
    empty, many = bench.place / "empty", bench.roots.many()
    spawn_until_reply(empty, "server/status")
    program = packaged()
    command = None if program is None else [str(program), "serve"]
    runs = {
        "bare": lambda: seconds(bare),
        "empty": lambda: spawn_until_reply(empty),
        "many": lambda: spawn_until_reply(many),
    }
    if command is not None:
        runs["packaged"] = lambda: spawn_until_reply(many, command=command)
    first = bench.in_turns(15, runs, warm_up=2)
    runs = {
        "bare": lambda: seconds(bare),
        "status": lambda: spawn_until_reply(empty, "server/status"),
        "list": lambda: spawn_until_reply(many, "thread/list"),
    }
    if command is not None:
        runs["packaged"] = lambda: spawn_until_reply(many, "thread/list", command=command)
    later = bench.in_turns(5, runs)
    count = f"{bench.roots.threads:,} threads"
    asked = [
        ("empty", "start to `initialize` reply", first, "empty", (at_most(1.5),)),
        ("many", f"start to `initialize` reply, used root of {count}", first, "many", (at_most(1.5),)),
        ("status", "start to first `server/status` reply", later, "status", ()),
        ("list", f"start to first `thread/list` reply, {count}", later, "list", ()),
    ]
    if command is None:
        yield LeftOut("the start of the packaged program", "it is not built; `make binary` does it")
    else:
        what = f"the packaged program: start to `initialize` reply, used root of {count}"
        asked.append(("packaged", what, first, "packaged", (at_most(1.5),)))
        what = f"the packaged program: start to first `thread/list` reply, {count}"
        asked.append(("packaged.list", what, later, "packaged", ()))
    for key, what, found, of, goals in asked:
        floors = (Floor(BARE, found["bare"].times(1e3)),)
        yield Row(f"start.{key}", what, "ms", found[of].times(1e3), floors, goals)
