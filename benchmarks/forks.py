"""A fork of a long thread: how long it takes, and what it costs on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.histories import database, rollouts
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, Sample, seconds

_MIB = 1 << 20


def rows(bench: Bench) -> Iterator[Row]:
    root = bench.roots.deep()
    (parent,) = rollouts(root)
    data, names = parent.read_bytes(), count()

    def copied() -> float:
        target = bench.place / f"copied{next(names)}"
        took = seconds(lambda: _copy(data, target))
        target.unlink()
        return took

    with Host(root) as host:
        forks: list[str] = []
        host.call("thread/list")
        before = _allocated(database(root))

        def forked() -> float:
            line = host.request("thread/fork", {"threadId": "deep", "excludeTurns": True})
            found: list[bytes] = []
            took = seconds(lambda: found.append(host.reply_to(line)))
            forks.append(found[0].partition(b'"id":"')[2].partition(b'"')[0].decode())
            return took

        found = bench.in_turns(3, {"copy": copied, "ours": forked}, warm_up=0, costly=True)
        made = [path for path in rollouts(root) if path != parent]
        rows_cost = (_allocated(database(root)) - before) / len(made)
        lines_cost = sum(map(_allocated, made)) / len(made)
        for thread in forks:
            host.call("thread/delete", threadId=thread)
    what = f"`thread/fork` of {bench.roots.turns:,} turns"
    yield Row(
        "fork.time",
        what,
        "ms",
        found["ours"].times(1e3),
        (Floor("writing as many bytes, with fsync", found["copy"].times(1e3)),),
    )
    yield Row(
        "fork.disk",
        f"what that fork costs on the disk: lines {lines_cost / _MIB:.0f} MiB, rows {rows_cost / _MIB:.0f} MiB",
        "MiB",
        Sample(((lines_cost + rows_cost) / _MIB,)),
        (Floor("the parent's rollout", Sample((_allocated(parent) / _MIB,))),),
        note="file versions and large outputs are shared; lines are not, since each is summed with the one before it",
    )


def _copy(data: bytes, target: Path) -> None:
    with target.open("wb") as file:
        file.write(data)
        os.fsync(file.fileno())


def _allocated(path: Path) -> int:
    """Bytes of the disk's blocks."""
    return path.stat().st_blocks * 512
