"""The same requests on ten and a hundred times the data: what stays flat, and what may grow with it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import crowd
from benchmarks.bench import Bench
from benchmarks.histories import Roots, Story
from benchmarks.host import Host, spawn_until_reply
from benchmarks.measure import Floor, Row, Sample, at_most, median_of, seconds

SCALES = (1, 10, 100)
FLAT = 1.5
"""What stays flat may be so many times slower on a hundred times the data: caches are only so large."""


@dataclass(frozen=True, slots=True)
class _Asked:
    key: str
    what: str
    run: Callable[[int], float]
    unit: str = "ms"
    factor: float = 1e3
    rounds: int = 9
    linear: bool = False
    """It has to grow with the data, and is told per piece of it."""


def rows(bench: Bench) -> Iterator[Row]:
    """One row a request: the largest scale against the smallest."""
    threads, turns = (30, 100) if bench.quick else (50, 200)
    crowds = {scale: bench.place / f"crowd-x{scale}" for scale in SCALES}
    for scale, root in crowds.items():
        crowd.write(root, threads * scale)
    roots = Roots(bench.place / "growth", threads=0, turns=0)
    with ExitStack() as opened:
        many = {scale: opened.enter_context(Host(crowds[scale])) for scale in SCALES}
        deep = {scale: opened.enter_context(Host(roots.of_turns(turns * scale))) for scale in SCALES}
        story = Story(31)
        for host in deep.values():
            _append(host, {"type": "turn.started", "payload": {"turnId": story.an_id()}})

        def asking(hosts: dict[int, Host], method: str, **params: Any) -> Callable[[int], float]:
            return lambda scale: median_of(10, lambda: hosts[scale].reply_to(hosts[scale].request(method, params)))

        def appending(scale: int) -> float:
            host = deep[scale]
            lines = [_line(host, {"type": "item.completed", "payload": {"item": story.item("agentMessage")}})]
            return median_of(1, lambda: host.reply_to(lines[0]))

        def once(scale: int, method: str, **params: Any) -> float:
            host = deep[scale]
            line = host.request(method, {"threadId": "deep", **params})
            return seconds(lambda: host.reply_to(line)) / scale

        oldest: dict[str, Any] = {"threadId": "deep", "limit": 50, "sortDirection": "asc"}
        of = f"{turns} turns"
        asked = [
            _Asked("list", "`thread/list` of 25", asking(many, "thread/list")),
            _Asked("list.cwd", "`thread/list` of 3, by cwd", asking(many, "thread/list", cwd="/workspace3", limit=3)),
            _Asked(
                "list.search", "`thread/list` of 3, by a word", asking(many, "thread/list", searchTerm="e", limit=3)
            ),
            _Asked("turns", "the oldest 50 turns of a thread", asking(deep, "thread/turns/list", **oldest)),
            _Asked("items", "the oldest 50 items of a thread", asking(deep, "thread/items/list", **oldest)),
            _Asked("events", "its first 50 events", asking(deep, "thread/events/list", threadId="deep", limit=50)),
            _Asked("append", "one durable append to that thread", appending),
            _Asked(
                "read",
                f"whole `thread/read`, per {of}",
                lambda scale: once(scale, "thread/read", includeTurns=True),
                linear=True,
                rounds=5,
            ),
            _Asked(
                "fork",
                f"`thread/fork`, per {of}",
                lambda scale: once(scale, "thread/fork", excludeTurns=True),
                linear=True,
                rounds=3,
            ),
        ]
        for each in asked:
            yield _row(bench, each)
        grown = {scale: host.resident / (1 << 20) for scale, host in many.items()}
    yield _row(
        bench,
        _Asked(
            "start",
            "start to first `thread/list`",
            lambda scale: spawn_until_reply(crowds[scale], "thread/list"),
        ),
    )
    yield _row(
        bench,
        _Asked(
            "rebuild",
            f"the same without a database, until all is known, per {threads} threads",
            lambda scale: _rebuilt(crowds[scale]) / scale,
            rounds=3,
            linear=True,
        ),
    )
    yield _row(bench, _Asked("resident", "resident after all those lists", lambda scale: grown[scale], "MiB", 1))


def _rebuilt(root: Path) -> float:
    shutil.rmtree(root / "sqlite")

    def run() -> None:
        with Host(root) as host:
            host.call("thread/list")
            while host.call("server/status")["projectionLag"]:
                time.sleep(0.005)

    return seconds(run)


def _row(bench: Bench, asked: _Asked) -> Row:
    found = bench.in_turns(
        asked.rounds,
        {str(scale): lambda scale=scale: asked.run(scale) for scale in SCALES},
        warm_up=0 if asked.linear else 1,
        costly=asked.linear,
        within=1.0 if bench.quick else None,
    )
    by_scale: dict[int, Sample] = {scale: found[str(scale)].times(asked.factor) for scale in SCALES}
    return Row(
        f"growth.{asked.key}",
        f"{asked.what}, on {SCALES[-1]} × the data",
        asked.unit,
        by_scale[SCALES[-1]],
        tuple(Floor(f"{scale} ×", by_scale[scale]) for scale in SCALES[:-1]),
        (at_most(FLAT),),
    )


def _line(host: Host, event: dict[str, Any]) -> bytes:
    return host.request("agentSession/runtimeEvents/append", {"sessionId": "deep", "runtimeEvents": [event]})


def _append(host: Host, event: dict[str, Any]) -> None:
    host.reply_to(_line(host, event))
