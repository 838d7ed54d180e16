"""Search over all threads, and a thread's replay."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.append import CHILDREN
from benchmarks.bench import Bench
from benchmarks.histories import SHORT, Story, rollouts
from benchmarks.host import Host, Pipe
from benchmarks.measure import Floor, Row, Sample, at_most, seconds

_REPLAYED = 10 << 20
"""Bytes of the rollout that is replayed."""


def rows(bench: Bench) -> Iterator[Row]:
    yield from _search(bench)
    yield from _replay(bench)


def _search(bench: Bench) -> Iterator[Row]:
    root = bench.roots.many()
    sessions = root / "sessions"
    with Host(root) as host:
        host.call("thread/start", threadId="needle")
        turn = host.call("turn/start", threadId="needle", input=[{"type": "text", "text": "where is zyzzogeton"}])
        host.call("turn/interrupt", threadId="needle", turnId=turn["turn"]["id"])
        host.call("thread/list", limit=1)
        before = host.processor_seconds
        while "indexing" in host.call("thread/search", query="zyzzogeton"):
            pass
        built = host.processor_seconds - before
        size = sum(path.stat().st_size for path in rollouts(root))
        index = sum(path.stat().st_size for path in (root / "sqlite").glob("search-*"))
        lines = {
            name: host.request("thread/search", {"query": query})
            for name, query in (("rare", "zyzzogeton"), ("common", "parser module"))
        }

        def grep(*options: str) -> float:
            command = ["grep", "-r", "-i", "-F", *options, str(sessions)]
            return seconds(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False))

        found = bench.in_turns(
            9,
            {
                "grep": lambda: grep("-e", "zyzzogeton"),
                "rare": lambda: seconds(lambda: host.reply_to(lines["rare"])),
                "common": lambda: seconds(lambda: host.reply_to(lines["common"])),
            },
        )
    note = f"index built once in {built:.1f} s of processor time"
    weight = f"search index of {size / (1 << 20):.0f} MiB of rollouts"
    yield Row(
        "search.size", weight, "%", Sample((index / size * 100,)), note="apart from the database, by a first search"
    )
    for name, what in (("rare", "one message in all"), ("common", "two words that most items hold, the best 20")):
        yield Row(
            f"search.{name}",
            f"`thread/search` over {bench.roots.threads:,} threads: {what}",
            "ms",
            found[name].times(1e3),
            (Floor(f"`grep -r` of the rollouts ({size / (1 << 20):.0f} MiB)", found["grep"].times(1e3)),),
            (at_most(1),) if name == "rare" else (),
            note if name == "rare" else "",
        )


def _replay(bench: Bench) -> Iterator[Row]:
    root = bench.place / "replayed"
    with Host(root) as host:
        host.call("thread/start", threadId="replayed")
        story = Story(3)
        while (size := rollouts(root)[0].stat().st_size) < (_REPLAYED >> (2 if bench.quick else 0)):
            events = [event for turn in story.turns(100, *SHORT) for event in turn]
            host.call("agentSession/runtimeEvents/append", sessionId="replayed", runtimeEvents=events)
        line = host.request("thread/replay", {"threadId": "replayed"})
        yield from _replayed(bench, host, line, rollouts(root)[0], size)


def _replayed(bench: Bench, host: Host, line: bytes, rollout: Path, size: int) -> Iterator[Row]:
    with Pipe([sys.executable, "-I", CHILDREN, "send"]) as pipe:
        found = bench.in_turns(
            7,
            {
                "pipe": lambda: seconds(lambda: pipe.trade(str(rollout).encode() + b"\n")),
                "ours": lambda: seconds(lambda: host.reply_to(line)),
            },
        )
    yield Row(
        "replay",
        f"`thread/replay` at `max` of a thread of {size / (1 << 20):.0f} MiB",
        "MiB/s",
        found["ours"].per_second(size / (1 << 20)),
        (Floor("reading the file and writing it to a pipe", found["pipe"].per_second(size / (1 << 20))),),
    )
