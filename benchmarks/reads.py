"""A whole thread at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.append import CHILDREN
from benchmarks.bench import Bench
from benchmarks.histories import rollouts
from benchmarks.host import Host, Pipe
from benchmarks.measure import Floor, Row, at_most, seconds


def rows(bench: Bench) -> Iterator[Row]:
    for turns, key in ((2_000, "read.whole.2000"), (bench.roots.turns, "read.whole")):
        root = bench.roots.of_turns(turns)
        with Host(root) as host:
            yield from _whole(bench, host, rollouts(root)[0], turns, key)


def _whole(bench: Bench, host: Host, rollout: Path, turns: int, key: str) -> Iterator[Row]:
    line = host.request("thread/read", {"threadId": "deep", "includeTurns": True})

    def parse() -> None:
        for part in rollout.read_bytes().split(b"\n"):
            if part:
                msgspec.json.decode(part)

    with Pipe([sys.executable, "-I", CHILDREN, "send"]) as pipe:
        found = bench.in_turns(
            7,
            {
                "parse": lambda: seconds(parse),
                "pipe": lambda: seconds(lambda: pipe.trade(str(rollout).encode() + b"\n")),
                "ours": lambda: seconds(lambda: host.reply_to(line)),
            },
        )
    size = rollout.stat().st_size / (1 << 20)
    yield Row(
        key,
        f"`thread/read` of {turns:,} turns ({size:.0f} MiB of rollout)",
        "ms",
        found["ours"].times(1e3),
        (
            Floor("reading the file and writing it to a pipe", found["pipe"].times(1e3)),
            Floor("reading the file and parsing its lines (msgspec)", found["parse"].times(1e3)),
        ),
        (at_most(3),),
    )
