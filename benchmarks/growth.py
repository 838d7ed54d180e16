"""The same requests on ten and a hundred times the data: what stays flat, and what may grow with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.bench import Bench
from benchmarks.histories import Roots, Story
from benchmarks.host import Host, spawn_until_reply
from benchmarks.measure import Floor, Row, Sample, at_most, in_turns, median_of

SCALES = (1, 10, 100)
_THREADS, _TURNS = 50, 200
FLAT = 1.5
"""What stays flat may be so many times slower on a hundred times the data: caches are only so large."""


@dataclass(frozen=True, slots=True)
class _Asked:
    key: str
    what: str
    unit: str
    factor: float
    run: Callable[[int], float]
    bound: float = FLAT


def rows(bench: Bench) -> Iterator[Row]:
    """One row a request: the largest scale against the smallest."""
    scales = SCALES[:2] if bench.quick else SCALES
    roots = {
        scale: Roots(bench.place / f"x{scale}", threads=_THREADS * scale, turns=_TURNS * scale) for scale in scales
    }
    with ExitStack() as opened:
        many = {scale: opened.enter_context(Host(roots[scale].many())) for scale in scales}
        deep = {scale: opened.enter_context(Host(roots[scale].deep())) for scale in scales}
        story = Story(31)
        for host in deep.values():
            _append(host, {"type": "turn.started", "payload": {"turnId": story.an_id()}})

        def asking(hosts: dict[int, Host], method: str, **params: Any) -> Callable[[int], float]:
            return lambda scale: median_of(20, lambda: hosts[scale].reply_to(hosts[scale].request(method, params)))

        def appending(scale: int) -> float:
            host = deep[scale]
            lines = [_line(host, {"type": "item.completed", "payload": {"item": story.item("agentMessage")}})]
            return median_of(1, lambda: host.reply_to(lines[0]))

        oldest: dict[str, Any] = {"threadId": "deep", "limit": 50, "sortDirection": "asc"}
        asked = [
            _Asked("list", "`thread/list` of 25", "ms", 1e3, asking(many, "thread/list")),
            _Asked(
                "list.cwd", "`thread/list` of 25, by cwd", "ms", 1e3, asking(many, "thread/list", cwd="/workspace3")
            ),
            _Asked("turns", "the oldest 50 turns of a thread", "ms", 1e3, asking(deep, "thread/turns/list", **oldest)),
            _Asked("items", "the oldest 50 items of a thread", "ms", 1e3, asking(deep, "thread/items/list", **oldest)),
            _Asked("append", "one durable append to that thread", "ms", 1e3, appending),
        ]
        for each in asked:
            yield _row(bench, each, scales)
        grown = {scale: host.resident / (1 << 20) for scale, host in deep.items()}
    yield _row(
        bench,
        _Asked(
            "start",
            "start to first `thread/list`",
            "ms",
            1e3,
            lambda scale: spawn_until_reply(roots[scale].many(), "thread/list"),
        ),
        scales,
    )
    yield _row(bench, _Asked("resident", "resident after all that", "MiB", 1, lambda scale: grown[scale]), scales)


def _row(bench: Bench, asked: _Asked, scales: tuple[int, ...]) -> Row:
    found = in_turns(bench.rounds(9), {str(scale): lambda scale=scale: asked.run(scale) for scale in scales})
    by_scale: dict[int, Sample] = {scale: found[str(scale)].times(asked.factor) for scale in scales}
    return Row(
        f"growth.{asked.key}",
        f"{asked.what}, on {scales[-1]} × the data",
        asked.unit,
        by_scale[scales[-1]],
        tuple(Floor(f"{scale} ×", by_scale[scale]) for scale in scales[:-1]),
        (at_most(asked.bound),),
    )


def _line(host: Host, event: dict[str, Any]) -> bytes:
    return host.request("agentSession/runtimeEvents/append", {"sessionId": "deep", "runtimeEvents": [event]})


def _append(host: Host, event: dict[str, Any]) -> None:
    host.reply_to(_line(host, event))
