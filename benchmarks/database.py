"""What the projection weighs against its rollouts, and how fast it comes back from them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from benchmarks.bench import Bench
from benchmarks.codex_history import write_home
from benchmarks.histories import database, rollouts
from benchmarks.host import Host, RequestFailedError, decode, spawn_until_reply
from benchmarks.measure import Floor, Goal, Row, Sample, at_least, in_turns, seconds

_MIB = 1 << 20
_IMPORT_SECONDS = 12.0


def rows(bench: Bench) -> Iterator[Row]:
    yield from _imported(bench)
    root = bench.roots.many()
    yield _size("reported", "a host's events", root, bench.roots.threads)
    yield from _rebuilt(bench, root)


def _size(key: str, of: str, root: Path, threads: int) -> Row:
    weight = sum(file.stat().st_size for file in rollouts(root))
    share = _pages(database(root)) / weight * 100
    what = f"database of {weight / _MIB:.0f} MiB of rollouts ({of}: {threads:,} threads × 20 turns)"
    note = "; ".join(f"{name} {size / weight * 100:.1f} %" for name, size in _tables(database(root)))
    return Row(f"database.{key}", what, "%", Sample((share,)), goals=(Goal("ours", 15),), note=note)


def _imported(bench: Bench) -> Iterator[Row]:
    """The weight after an import, and how fast that was; as many sessions as go into the time."""
    root, home = bench.place / "imported", bench.place / "codex"
    paths = list(write_home(home, bench.roots.threads // 2, 20))
    weight = took = 0.0
    done = 0
    with Host(root) as host:
        try:
            for path in paths:
                took += seconds(lambda path=path: import_session(host, path))
                weight += path.stat().st_size
                done += 1
                if took > _IMPORT_SECONDS:
                    break
        except RequestFailedError as error:
            if error.kind != "methodNotFound":
                raise
            return
    yield _size("imported", "imported from Codex", root, done)
    parse = seconds(lambda: [decode(line) for path in paths[:done] for line in path.read_bytes().splitlines()])
    yield Row(
        "import",
        f"import of {done:,} Codex sessions, one after the other",
        "MiB/s",
        Sample((weight / _MIB / took,)),
        (Floor("decoding their lines (msgspec)", Sample((weight / _MIB / parse,))),),
    )
    shutil.rmtree(home)


def import_session(host: Host, path: Path) -> None:
    """Import a session and wait for its end."""
    job = host.call("conversationImport/thread/commit", sourcePath=str(path), confirmed=True)["job"]
    while job["status"] in ("queued", "running"):
        time.sleep(0.002)
        job = host.call("conversationImport/job/read", jobId=job["jobId"])["job"]
    if job["status"] != "completed":
        raise RuntimeError(f"the import of a session failed: {job.get('error')}")


def _rebuilt(bench: Bench, root: Path) -> Iterator[Row]:
    files = rollouts(root)
    weight = sum(file.stat().st_size for file in files)
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


def _pages(path: Path) -> int:
    """Bytes of the database's pages, those that are still in its WAL too."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.pragma("page_count") * connection.pragma("page_size")
    finally:
        connection.close()


def _tables(path: Path) -> list[tuple[str, int]]:
    """What the largest tables and indexes weigh."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        found = connection.execute(
            "SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY name ORDER BY size DESC LIMIT 5"
        )
        return list(found)  # pyright: ignore[reportArgumentType]
    except apsw.Error:
        return []  # this SQLite was built without dbstat
    finally:
        connection.close()
