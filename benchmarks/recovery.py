"""What durability costs: the sum of a line, and a start on a large data root, after a clean end and after a kill."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.histories import LONG, Story, rollouts
from benchmarks.host import Host, spawn_until_reply
from benchmarks.measure import Floor, Row, seconds
from benchmarks.start import BARE, bare
from lockstitch.rollout.line import Draft, encode_append, is_sound

_MIB = 1 << 20
_THREAD_BYTES = 210_000
"""A rollout's size: 5,000 of them are 1 GB."""
_EVENTS = 2_000
LARGE_THREADS = 5_000


def rows(bench: Bench) -> Iterator[Row]:
    yield from _sums(bench)
    yield from _starts(bench)


def _sums(bench: Bench) -> Iterator[Row]:
    """Encoding and checking lines, beside joining the same bytes without any sum."""
    story = Story(7)
    payload = b'{"item":{"type":"agentMessage","id":"m","text":"' + story.text(380, 420).encode() + b'"}}'
    at = "2026-12-01T00:00:00.000000Z"
    drafts = [Draft("item.completed", payload, f"evt_{number:032d}", at, "turn-1") for number in range(_EVENTS)]
    lines = [line[:-1] for line in encode_append(1, drafts, b"").lines]

    def joined() -> None:
        b"".join(part for line in lines for part in (line[:200], line[200:-26], line[-26:], b"\n"))

    def check() -> None:
        before = b""
        for line in lines:
            assert is_sound(line, before)
            before = line[-18:-2]

    found = bench.in_turns(
        15,
        {
            "plain": lambda: seconds(joined),
            "encode": lambda: seconds(lambda: encode_append(1, drafts, b"")),
            "check": lambda: seconds(check),
        },
    )
    floors = (Floor("the same bytes joined, without a sum", found["plain"].times(1e6 / _EVENTS)),)
    for key, what in (("encode", "a line is made and summed"), ("check", "a line's sum is checked")):
        size = len(lines[0])
        yield Row(f"recovery.{key}", f"{what}, {size} bytes", "µs", found[key].times(1e6 / _EVENTS), floors)


def _starts(bench: Bench) -> Iterator[Row]:
    root = bench.place / "large"
    threads = LARGE_THREADS // 20 if bench.quick else LARGE_THREADS
    if not root.exists():
        fill(root, threads)
    weight = sum(path.stat().st_size for path in rollouts(root)) / _MIB
    victim = rollouts(root)[0]

    def after_a_kill() -> float:
        _kill_during_an_append(root, victim)
        return spawn_until_reply(root, "thread/list")

    found = bench.in_turns(
        9,
        {
            "bare": lambda: seconds(bare),
            "open": lambda: spawn_until_reply(root, "thread/list"),
            "killed": after_a_kill,
        },
    )
    floors = (Floor(BARE, found["bare"].times(1e3)),)
    of = f"{threads:,} threads, {weight:,.0f} MiB"
    for key, what in (
        ("open", "start to first list page"),
        ("killed", "the same after a kill during an append to an open turn"),
    ):
        yield Row(f"recovery.{key}", f"{what}, {of}", "ms", found[key].times(1e3), floors)


def fill(root: Path, threads: int) -> None:
    """Make a data root of so many threads of 200 KB."""
    events: list[dict[str, Any]] = []
    for turn in Story(8).turns(200, *LONG):
        events += turn
        if sum(len(str(event)) + 250 for event in events) > _THREAD_BYTES:
            break
    with Host(root) as host:

        def lines() -> Iterator[bytes]:
            for number in range(threads):
                thread_id = f"thread-{number:06d}"
                yield host.request("thread/start", {"threadId": thread_id})
                about = {"sessionId": thread_id, "runtimeEvents": events}
                yield host.request("agentSession/runtimeEvents/append", about)

        host.pipeline(lines(), 8)


def _kill_during_an_append(root: Path, victim: Path) -> None:
    """Leave what a kill leaves: a turn that a dead boot has opened, and half a line behind it."""
    thread_id = victim.stem[len("rollout-2026-12-01T00-00-00-") :]
    with Host(root) as host:
        host.call(
            "agentSession/runtimeEvents/append",
            sessionId=thread_id,
            turnId=f"killed-{victim.stat().st_size}",
            runtimeEvents=[{"type": "turn.started", "payload": {}}],
        )
        host.process.send_signal(signal.SIGKILL)
        host.process.wait()
    with victim.open("ab") as file:
        file.write(b'{"sequence":99999,"at":"2026-12-01T00:00:00.000000Z","type":"host.no')
