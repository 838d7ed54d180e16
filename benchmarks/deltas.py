"""Streamed text at ten thousand deltas a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.histories import Story, rollouts
from benchmarks.host import Host
from benchmarks.measure import Goal, Row, Sample

_RATE = 10_000
_TICK = 0.01


def rows(bench: Bench) -> Iterator[Row]:
    length = 1.0 if bench.quick else 3.0
    for key, each, listen in (("single", 1, False), ("tens", 10, False), ("tens.heard", 10, True)):
        cpu, growth, late = _stream(bench.place / f"deltas-{key}", each, length, listen=listen)
        name = "a request each" if each == 1 else f"{each} a request"
        name += ", listened to" if listen else ""
        note = "" if late < 0.1 else f"the process was {late:.1f} s behind at the end"
        yield Row(
            f"deltas.{key}.cpu", f"{_RATE:,} deltas/s, {name}: processor", "% of a core", Sample((cpu * 100,)),
            goals=(Goal("ours", 40),), note=note,
        )  # fmt: skip
        yield Row(
            f"deltas.{key}.growth", f"{_RATE:,} deltas/s, {name}: rollout growth per text", "×", Sample((growth,)),
            goals=(Goal("ours", 1.3),),
        )  # fmt: skip


def _stream(root: Path, each: int, length: float, *, listen: bool) -> tuple[float, float, float]:
    """Processor share, rollout bytes per byte of text, and how far behind the process was at the end."""
    story = Story(6)
    with Host(root, listen=listen) as host:
        host.call("thread/start", threadId="one")
        host.call(
            "agentSession/runtimeEvents/append",
            sessionId="one",
            runtimeEvents=[{"type": "turn.started", "payload": {}}],
        )
        before_size, text = _size(root), 0
        before = host.processor_seconds
        start = time.perf_counter()
        ticks = int(length / _TICK)
        flying = 0
        for tick in range(ticks):
            due = start + tick * _TICK
            time.sleep(max(0.0, due - time.perf_counter()))
            lines: list[bytes] = []
            for _ in range(int(_RATE * _TICK) // each):
                words = [story.text(4, 6) for _ in range(each)]
                text += sum(map(len, words))
                events = [{"type": "message.delta", "payload": {"itemId": "said", "delta": word}} for word in words]
                lines.append(
                    host.request("agentSession/runtimeEvents/append", {"sessionId": "one", "runtimeEvents": events})
                )
            host.write(b"".join(lines))
            flying += len(lines)
            while flying > len(lines):  # the replies of the tick before
                host.reply()
                flying -= 1
        while flying:
            host.reply()
            flying -= 1
        took = time.perf_counter() - start
        host.call(
            "agentSession/runtimeEvents/append",
            sessionId="one",
            runtimeEvents=[{"type": "turn.completed", "payload": {}}],
        )
        cpu = (host.processor_seconds - before) / length  # of the time that the text should have taken
    return cpu, (_size(root) - before_size) / text, max(0.0, took - length)


def _size(root: Path) -> int:
    return sum(file.stat().st_size for file in rollouts(root))
