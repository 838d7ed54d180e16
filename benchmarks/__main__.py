"""`python -m benchmarks`: run the row groups, print the table, write the report."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import (
    append,
    capture,
    database,
    deltas,
    diffs,
    evidence,
    exports,
    growth,
    imports,
    memory,
    peers,
    ping,
    plain,
    reads,
    recovery,
    report,
    restore,
    start,
)
from benchmarks.bench import Bench, Group
from benchmarks.histories import Roots
from benchmarks.measure import Row

GROUPS: dict[str, Group] = {
    "start": start.rows,
    "append": append.rows,
    "clients": plain.rows,
    "ping": ping.rows,
    "reads": reads.rows,
    "database": database.rows,
    "capture": capture.rows,
    "restore": restore.rows,
    "diffs": diffs.rows,
    "deltas": deltas.rows,
    "exports": exports.rows,
    "memory": memory.rows,
    "evidence": evidence.rows,
    "growth": growth.rows,
    "imports": imports.rows,
    "recovery": recovery.rows,
}
PEERS: dict[str, Group] = {"peers": peers.rows}


def main() -> int:
    """Run what was asked for; 1 if a row could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the sidecar beside its floors.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and less data; no report is written")
    parser.add_argument("--only", action="append", choices=[*GROUPS, *PEERS], metavar="NAME", help=", ".join(GROUPS))
    parser.add_argument("--peers", action="store_true", help="measure beside the peers instead, which are installed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="measure on that file system")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was begun is ended and removed
    begun = time.perf_counter()
    rows: list[Row] = []
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="benchmarks-", dir=arguments.dir, ignore_cleanup_errors=True) as place:
        threads, turns = (200, 4_000) if arguments.quick else (1_000, 20_000)
        bench = Bench(Path(place), Roots(Path(place), threads=threads, turns=turns), arguments.quick)
        groups = PEERS if arguments.peers else GROUPS
        for name in arguments.only or groups:
            group_begun = time.perf_counter()
            try:
                for row in groups[name](bench):
                    rows.append(row)
                    print(report.line(row), flush=True)
            except Exception as error:
                problems.append(f"{name}: {type(error).__name__}: {error}".replace(place, "…"))
                print(problems[-1], flush=True)
            print(f"-- {name}: {time.perf_counter() - group_begun:.0f} s", flush=True)
    took = time.perf_counter() - begun
    if arguments.json is not None:
        arguments.json.write_bytes(report.as_json(rows, took, problems))
    if not arguments.quick and arguments.only is None:
        for entry in report.write("peers" if arguments.peers else "report", rows, took, problems):
            print("worse than in the report before:", entry)
    met = [row.met for row in rows if row.met is not None]
    print(f"{sum(met)} of {len(met)} goals met, {took:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
