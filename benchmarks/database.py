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
from benchmarks.host import Host, RequestFailedError, decode
from benchmarks.measure import Floor, Goal, Row, Sample, at_least, seconds
from benchmarks.recovery import LARGE_THREADS, fill

_MIB = 1 << 20
_IMPORT_SECONDS = 4.0


def rows(bench: Bench) -> Iterator[Row]:
    yield from _imported(bench)
    root = bench.roots.many()
    yield _size("reported", "a host's events", root, bench.roots.threads)
    copy = bench.place / "rebuilt"
    if bench.quick:
        shutil.copytree(root, copy)
    else:
        large = bench.place / "large"  # a gigabyte; the starts of `recovery` are measured on it too
        fill(large, LARGE_THREADS)
        root = copy = large
    yield from _rebuilt(bench, root, copy)


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
        "import.sessions",
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


def _rebuilt(bench: Bench, root: Path, copy: Path) -> Iterator[Row]:
    """From a start without a database: the first page, and all of it."""
    files = rollouts(root)
    weight = sum(file.stat().st_size for file in files)
    lines = list(_some_lines(files, weight))
    scanned = sum(map(len, lines))

    def started(*, gone: bool) -> tuple[float, float]:
        """Seconds to the first page of the list, and until nothing of the rollouts is unknown."""
        if gone:
            for found in (copy / "sqlite").iterdir():
                found.unlink()
        begun = time.perf_counter()
        with Host(copy) as host:
            host.call("thread/list")
            first = time.perf_counter() - begun
            while host.call("server/status")["projectionLag"]:
                time.sleep(0.005)
            return first, time.perf_counter() - begun

    firsts: list[float] = []

    def rebuilt() -> float:
        first, whole = started(gone=True)
        firsts.append(first)
        return whole

    def scan(decoder: msgspec.json.Decoder[object]) -> float:
        return seconds(lambda: [decoder.decode(line) for line in lines]) * weight / scanned

    class Line(msgspec.Struct):
        payload: msgspec.Raw

    whole, shallow = msgspec.json.Decoder(), msgspec.json.Decoder(Line)
    found = bench.in_turns(
        3,
        {
            "scan": lambda: scan(whole),
            "raw": lambda: scan(shallow),
            "there": lambda: started(gone=False)[1],
            "gone": rebuilt,
        },
        warm_up=0,
        costly=True,
    )
    extra = Sample(tuple(a - b for a, b in zip(found["gone"].values, found["there"].values, strict=True)))
    mib = weight / _MIB
    of = f"{len(files):,} threads, {mib:,.0f} MiB"
    yield Row(
        "database.rebuild",
        f"rebuild of a missing database, {of} (start until all is known, less the same with it there)",
        "MiB/s",
        extra.per_second(mib),
        (
            Floor("decoding every line (msgspec)", found["scan"].per_second(mib)),
            Floor("the same, payloads left raw", found["raw"].per_second(mib)),
        ),
        (Goal("ours", 150e6 / _MIB, at_least=True), at_least(0.3)),
    )
    yield Row(
        "database.rebuild.first",
        f"start to the first list page while the database is missing, {of}",
        "s",
        Sample(tuple(firsts)),
        (Floor("the same with it there", found["there"]),),
        (Goal("ours", 1),),
    )


def _some_lines(files: list[Path], weight: int) -> Iterator[bytes]:
    """Whole lines of some files, some 64 MiB at most: the floor need not hold a gigabyte in memory."""
    for file in files[:: max(1, weight // (64 * _MIB))]:
        yield from file.read_bytes().splitlines()


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
