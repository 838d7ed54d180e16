"""What the projection weighs against its rollouts, and how fast it comes back from them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.bench import Bench
from benchmarks.histories import database, rollouts
from benchmarks.host import spawn_until_reply
from benchmarks.measure import Floor, Goal, Row, Sample, at_least, in_turns, seconds

_MIB = 1 << 20


def rows(bench: Bench) -> Iterator[Row]:
    root = bench.roots.many()
    files = rollouts(root)
    weight = sum(file.stat().st_size for file in files)
    share = database(root).stat().st_size / weight * 100
    yield Row(
        "database.size",
        f"database, of {weight / _MIB:.0f} MiB of rollouts ({bench.roots.threads:,} threads × 20 turns)",
        "%",
        Sample((share,)),
        goals=(Goal("ours", 15),),
        note="; ".join(f"{name} {size / weight * 100:.1f} %" for name, size in _tables(database(root))),
    )
    copy = bench.place / "rebuilt"
    shutil.copytree(root, copy)

    def rebuilt() -> float:
        for found in (copy / "sqlite").iterdir():
            found.unlink()
        return spawn_until_reply(copy, "thread/list")

    def scan(decoder: msgspec.json.Decoder[object]) -> float:
        def run() -> None:
            for file in files:
                for line in file.read_bytes().split(b"\n"):
                    if line:
                        decoder.decode(line)

        return seconds(run)

    class Line(msgspec.Struct):
        payload: msgspec.Raw

    whole, shallow = msgspec.json.Decoder(), msgspec.json.Decoder(Line)
    found = in_turns(
        bench.rounds(3),
        {
            "scan": lambda: scan(whole),
            "raw": lambda: scan(shallow),
            "there": lambda: spawn_until_reply(copy, "thread/list"),
            "gone": rebuilt,
        },
    )
    shutil.rmtree(copy)
    extra = Sample(tuple(a - b for a, b in zip(found["gone"].values, found["there"].values, strict=True)))
    mib = weight / _MIB
    yield Row(
        "database.rebuild",
        "rebuild of a missing database (start to first list, less the same with it there)",
        "MiB/s",
        extra.per_second(mib),
        (
            Floor("decoding every line (msgspec)", found["scan"].per_second(mib)),
            Floor("the same, payloads left raw", found["raw"].per_second(mib)),
        ),
        (Goal("ours", 150e6 / _MIB, at_least=True), at_least(0.3)),
    )


def _tables(path: Path) -> list[tuple[str, int]]:
    """What each table and index weighs, if this SQLite can tell."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        return connection.execute(
            "SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY name ORDER BY size DESC LIMIT 6"
        ).fetchall()
    except sqlite3.Error:
        return []
    finally:
        connection.close()
