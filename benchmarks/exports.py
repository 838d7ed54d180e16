"""A thread of 10 MB handed on in every format and taken in again, beside copying its bytes durably."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.histories import LONG, Story
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, number

_BYTES = 10 << 20
_FORMATS = (("jsonl", False), ("jsonl", True), ("bundle", False), ("markdown", True), ("html", True))


def rows(bench: Bench) -> Iterator[Row]:
    """One row a format, in processor seconds: what waits for a disk is the same for all of them."""
    place = bench.place / "exports"
    place.mkdir()
    with Host(place / "root") as host:
        thread = host.call("thread/start")["thread"]["id"]
        story = Story(10)
        wanted = _BYTES // 8 if bench.quick else _BYTES
        path = Path(host.call("thread/read", threadId=thread)["thread"]["path"])
        while path.stat().st_size < wanted:
            for events in story.turns(20, *LONG):
                host.call("agentSession/runtimeEvents/append", sessionId=thread, runtimeEvents=events)
        data, names = path.read_bytes(), count()

        def copied() -> float:
            begun = time.process_time()
            _copy(data, place / f"copy{next(names)}")
            return time.process_time() - begun

        def exported(**params: Any) -> Callable[[], float]:
            def run() -> float:
                before = host.processor_seconds
                host.call("thread/export", threadId=thread, path=str(place / f"out{next(names)}"), **params)
                return max(1e-2, host.processor_seconds - before)

            return run

        runs = {"copy": copied}
        runs |= {f"{name}{', redacted' if r else ''}": exported(format=name, redact=r) for name, r in _FORMATS}
        found = bench.in_turns(5, runs, costly=True)
        for name in list(runs)[1:]:
            yield Row(
                f"export.{name.replace(', ', '.')}",
                f"{number(len(data) / (1 << 20))} MB thread as {name}",
                "ms of processor",
                found[name].times(1e3),
                (Floor("copying the bytes, with fsync", found["copy"].times(1e3)),),
            )
        yield _imported(bench, place, host, thread, data)


def _imported(bench: Bench, place: Path, host: Host, thread: str, data: bytes) -> Row:
    bundle = place / "thread.zip"
    host.call("thread/export", threadId=thread, format="bundle", path=str(bundle))
    names = count()

    def imported() -> float:
        with Host(place / f"fresh{next(names)}") as fresh:
            fresh.call("thread/list")  # what the first request brings in is not the import's
            before = fresh.processor_seconds
            fresh.call("thread/import", path=str(bundle))
            return max(1e-2, fresh.processor_seconds - before)

    def copied() -> float:
        begun = time.process_time()
        _copy(data, place / f"again{next(names)}")
        return time.process_time() - begun

    found = bench.in_turns(5, {"ours": imported, "copy": copied}, costly=True)
    return Row(
        "export.import",
        f"{number(len(data) / (1 << 20))} MB thread from a bundle",
        "ms of processor",
        found["ours"].times(1e3),
        (Floor("copying the bytes, with fsync", found["copy"].times(1e3)),),
        note="every line, sum and content is verified first",
    )


def _copy(data: bytes, target: Path) -> None:
    with target.open("wb") as file:
        file.write(data)
        os.fsync(file.fileno())
