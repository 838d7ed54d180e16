"""Finding a thousand sessions of other tools, and what one very large session costs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.codex_history import write_home, write_session
from benchmarks.database import import_session
from benchmarks.host import Host, decode
from benchmarks.measure import Floor, Goal, Row, Sample, seconds

_MIB = 1 << 20
_LARGE = 500 * _MIB
_SCAN = "conversationImport/source/scan"


def rows(bench: Bench) -> Iterator[Row]:
    yield from _scanned(bench)
    yield from _large(bench)


def _scanned(bench: Bench) -> Iterator[Row]:
    home, count = bench.place / "scanned", 1_000
    for _ in write_home(home, count, 2):
        pass
    with Host(bench.place / "scans") as host:

        def scan() -> None:
            found = host.call(_SCAN, sourceClient="codex", sourceRoot=str(home), limit=500)
            if len(found["threads"]) != 500 or found["nextCursor"] is None:
                raise RuntimeError("a scan did not find the sessions")

        taken = bench.in_turns(9, {"scan": lambda: seconds(scan)})
    yield Row("import.scan", f"scan of {count:,} sessions", "s", taken["scan"], goals=(Goal("ours", 1),))
    shutil.rmtree(home)


def _large(bench: Bench) -> Iterator[Row]:
    source = bench.place / "rollout-large.jsonl"
    turns = write_session(source, _LARGE // 10 if bench.quick else _LARGE)
    size = source.stat().st_size
    with Host(bench.place / "large") as host:
        host.call("server/status")
        start, before = host.peak, host.processor_seconds
        took = seconds(lambda: import_session(host, source))
        peak, processor = host.peak, host.processor_seconds - before
    parse = seconds(lambda: _decode_all(source))
    yield Row(
        "import.memory",
        f"peak memory over an import of one file of {size / _MIB:,.0f} MiB",
        "MiB",
        Sample((peak / _MIB,)),
        goals=(Goal("ours", 250),),
        note=f"{start / _MIB:.0f} MiB before it; {turns:,} turns",
    )
    yield Row(
        "import.large",
        "import of that file",
        "MiB/s",
        Sample((size / _MIB / took,)),
        (Floor("decoding its lines (msgspec)", Sample((size / _MIB / parse,))),),
        note=f"{size / _MIB / processor:.1f} MiB per second of processor time",
    )
    source.unlink()
    shutil.rmtree(bench.place / "large")


def _decode_all(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            decode(line)
