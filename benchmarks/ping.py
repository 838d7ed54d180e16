"""The cheapest request, one at a time and a hundred in flight."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from benchmarks.append import CHILDREN
from benchmarks.bench import Bench
from benchmarks.host import Host, Pipe
from benchmarks.measure import Floor, Goal, Row, at_least, seconds

_COUNT = 2000
_WINDOW = 100


def rows(bench: Bench) -> Iterator[Row]:
    with Host(bench.place / "ping") as host, Pipe([sys.executable, "-I", CHILDREN, "echo"]) as echo:
        host.call("server/status")
        lines = [host.request("server/status", {}) for _ in range(_COUNT)]
        found = bench.in_turns(
            9,
            {
                "echo": lambda: seconds(_sequential(echo, lines)),
                "ours": lambda: seconds(_sequential(host, lines)),
                "echo piped": lambda: seconds(_pipelined(echo, lines)),
                "ours piped": lambda: seconds(_pipelined(host, lines)),
            },
        )
    for key, name, suffix, goal in (
        ("sequential", "one at a time", "", 15_000),
        ("pipelined", f"{_WINDOW} in flight", " piped", 40_000),
    ):
        yield Row(
            f"ping.{key}",
            f"`server/status`, {name}",
            "requests/s",
            found[f"ours{suffix}"].per_second(_COUNT),
            (Floor("bare thread-and-loop echo", found[f"echo{suffix}"].per_second(_COUNT)),),
            (Goal("ours", goal, at_least=True), at_least(0.4)),
        )


def _sequential(pipe: Pipe, lines: list[bytes]) -> Callable[[], None]:
    def run() -> None:
        for line in lines:
            pipe.trade(line)

    return run


def _pipelined(pipe: Pipe, lines: list[bytes]) -> Callable[[], None]:
    """Two windows in turns, so that the process never waits for us."""
    half = _WINDOW // 2
    windows = [b"".join(lines[start : start + half]) for start in range(0, _COUNT, half)]

    def run() -> None:
        pipe.write(windows[0])
        for window in (*windows[1:], b""):
            pipe.write(window)
            for _ in range(half):
                pipe.line()

    return run
