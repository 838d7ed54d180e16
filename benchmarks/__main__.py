"""`python -m benchmarks`: run the row groups, print the table, write the report."""

from __future__ import annotations

import argparse
import os
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
    forks,
    growth,
    imports,
    lists,
    memory,
    pages,
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
from benchmarks.measure import LeftOut, Row
from benchmarks.yardstick import Yardsticks

GROUPS: dict[str, Group] = {
    "start": start.rows,
    "append": append.rows,
    "clients": plain.rows,
    "ping": ping.rows,
    "pages": pages.rows,
    "reads": reads.rows,
    "lists": lists.rows,
    "forks": forks.rows,
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
PEERS: dict[str, Group] = {"peers": peers.many, "peers-long": peers.long}


def main() -> int:
    """Run what was asked for; 1 if a row could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the sidecar beside its floors.")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the default: under three minutes")
    size.add_argument("--full", action="store_true", help="more rounds, and all the data that the goals speak of")
    parser.add_argument("--only", action="append", choices=[*GROUPS, *PEERS], metavar="NAME", help=", ".join(GROUPS))
    parser.add_argument("--peers", action="store_true", help="measure beside the peers instead, which are installed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="measure on that file system")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was begun is ended and removed
    begun = time.perf_counter()
    rows: list[Row] = []
    problems: list[str] = []
    left_out: list[LeftOut] = []
    with tempfile.TemporaryDirectory(prefix="benchmarks-", dir=arguments.dir, ignore_cleanup_errors=True) as place:
        bench = Bench(Path(place), Roots(Path(place), threads=1_000, turns=20_000), not arguments.full)
        yardsticks = Yardsticks(Path(place))
        groups = PEERS if arguments.peers else GROUPS
        for name in arguments.only or groups:
            yardsticks.look()
            group_begun, group_used = time.perf_counter(), _processor_seconds()
            try:
                for row in {**GROUPS, **PEERS}[name](bench):
                    if isinstance(row, LeftOut):
                        left_out.append(row)
                        print(f"left out: {row.what}: {row.why}", flush=True)
                        continue
                    if any(row.key == known.key for known in rows):
                        raise ValueError(f"a second row has the key {row.key}")
                    rows.append(row)
                    print(report.line(row), flush=True)
            except Exception as error:
                problems.append(f"{name}: {type(error).__name__}: {error}".replace(place, "…"))
                print(problems[-1], flush=True)
            took, used = time.perf_counter() - group_begun, _processor_seconds() - group_used
            print(f"-- {name}: {took:.0f} s, {used:.0f} s of processor time", flush=True)
        yardsticks.look()
        yardsticks.close()
    run = report.Run(rows, left_out, time.perf_counter() - begun, problems, yardsticks)
    if arguments.json is not None:
        arguments.json.write_bytes(report.as_json(run))
    if arguments.only is None:
        name = "-".join(("peers" if arguments.peers else "report", *(["full"] if arguments.full else [])))
        for entry in report.write(name, run):
            print("worse than in the report before:", entry)
    met = [row.met for row in rows if row.met is not None]
    print(f"{sum(met)} of {len(met)} goals met, {run.seconds:.0f} s")
    return 1 if problems else 0


def _processor_seconds() -> float:
    """What this process and the children that have ended used: says how long a run takes on a quiet machine."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    sys.exit(main())
