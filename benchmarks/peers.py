"""Beside the Codex app-server: the same histories, the same requests, in turns in one run.

The peer is the native program in the npm package `@openai/codex`; `make bench-peers` puts it under `.venv/peers`.
It runs offline, without a login, on a home of its own. What it read of a home is what it indexed itself; ours is
imported from the same files.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.codex_history import write_home
from benchmarks.histories import database
from benchmarks.host import ROOT, Host, Pipe, RequestFailedError, decode, encode, packaged, spawn_until_reply
from benchmarks.measure import Floor, Goal, LeftOut, Row, Sample, at_least, at_most, median_of, seconds

_MIB = 1 << 20
_WINDOW = 100


class Codex(Pipe):
    """A Codex app-server on a home of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._next = 0
        super().__init__([str(program()), "app-server"])
        client = {"name": "benchmarks", "title": None, "version": "1"}
        self.call("initialize", clientInfo=client, capabilities={"experimentalApi": True})
        self.write(b'{"method":"initialized"}\n')

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TMPDIR")}
        return {**kept, "HOME": str(self._home.parent), "CODEX_HOME": str(self._home)}

    def request(self, method: str, params: dict[str, Any]) -> bytes:
        """The line of a request."""
        self._next += 1
        return encode({"id": self._next, "method": method, "params": params}) + b"\n"

    def reply_to(self, line: bytes) -> bytes:
        """The reply to the only request in flight, as it came; notifications are passed over."""
        self.write(line)
        while True:
            found = self.line()
            if found.startswith(b'{"id"'):
                return found

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request. Raises RequestFailedError."""
        reply = decode(self.reply_to(self.request(method, params)))
        if "error" in reply:
            raise RequestFailedError(method, reply["error"])
        return reply["result"]


def program() -> Path:
    """The peer's program. Raises FileNotFoundError where it is not installed."""
    places = (ROOT / ".venv" / "peers" / "node_modules").glob("@openai/codex-*/vendor/*/bin/codex*")
    for place in sorted(places):
        if place.stem == "codex":
            return place
    raise FileNotFoundError("the peer is not installed; `make bench-peers` does it")


def long(bench: Bench) -> Iterator[Row]:
    """Threads of many turns: first open, whole reads, pages, forks."""
    for turns in (2_000,) if bench.quick else (2_000, 20_000):
        yield from _long(bench, turns)


def many(bench: Bench) -> Iterator[Row | LeftOut]:
    """Homes of many threads: starts, lists, the cheapest request."""
    home, root, threads = bench.place / "peer-many", bench.place / "ours-many", bench.roots.threads
    paths = list(write_home(home, threads, 20))
    weight = sum(path.stat().st_size for path in paths) / _MIB

    def indexed() -> None:
        with Codex(home) as peer:
            while len(_pages(peer)) < threads:
                time.sleep(0.02)

    theirs = seconds(indexed)
    ours = seconds(lambda: import_home(root, home))
    yield Row(
        "peer.import",
        f"all {threads:,} threads of a Codex home ({weight:.0f} MiB) known",
        "s",
        Sample((ours,)),
        (Floor("the peer's first index of it", Sample((theirs,))),),
        (at_most(1),),
        "ours is a whole import: every item, file version and sum; the peer reads the head of each file",
    )
    yield from _starts(bench, home, root)
    with Host(root) as host, Codex(home) as peer:
        host.call("thread/list")
        while host.call("server/status")["projectionLag"]:
            time.sleep(0.05)  # the index that was lost just now is made again behind the first page
        for number in range(0, threads, 50):
            for server in (host, peer):
                server.call("thread/archive", threadId=_id_of(paths[number]))
        yield from _lists(bench, host, peer)
        yield from _cheapest(bench, host, peer)


def import_home(root: Path, home: Path) -> None:
    """Import every session of a Codex home, several at once."""
    with Host(root) as host:
        paths = sorted((home / "sessions").rglob("*.jsonl"))
        jobs = [host.call("conversationImport/thread/commit", sourcePath=str(path), confirmed=True) for path in paths]
        for told in jobs:
            while (job := told["job"])["status"] in ("queued", "running"):
                time.sleep(0.005)
                told = host.call("conversationImport/job/read", jobId=job["jobId"])  # noqa: PLW2901
            if job["status"] == "failed":
                raise RequestFailedError("conversationImport/thread/commit", job["error"] or {})


def _id_of(rollout: Path) -> str:
    """The thread id in the name of a Codex rollout."""
    return rollout.stem[len("rollout-2026-12-01T00-00-00-") :]


def _pages(server: Host | Codex) -> list[str]:
    """The ids of all threads, by pages."""
    found: list[str] = []
    cursor = None
    while True:
        page = server.call("thread/list", limit=100, cursor=cursor)
        found += [thread["id"] for thread in page["data"]]
        cursor = page["nextCursor"]
        if cursor is None:
            return found


def _starts(bench: Bench, home: Path, root: Path) -> Iterator[Row | LeftOut]:
    line = {"limit": 25}

    def start(*, listed: bool) -> float:
        begun = time.perf_counter()
        with Codex(home) as peer:
            if listed:
                peer.reply_to(peer.request("thread/list", line))
            return time.perf_counter() - begun

    def without_index(forget: Callable[[], None], run: Callable[[], float]) -> Callable[[], float]:
        def measured() -> float:
            forget()
            return run()

        return measured

    def forget_theirs() -> None:
        for found in home.glob("*.sqlite*"):
            found.unlink()

    def forget_ours() -> None:
        shutil.rmtree(database(root).parent)

    runs = {
        "peer": lambda: start(listed=False),
        "ours": lambda: spawn_until_reply(root),
        "peer list": lambda: start(listed=True),
        "ours list": lambda: spawn_until_reply(root, "thread/list"),
    }
    program = packaged()
    if program is not None:
        command = [str(program), "serve"]
        runs["packaged"] = lambda: spawn_until_reply(root, command=command)
        runs["packaged list"] = lambda: spawn_until_reply(root, "thread/list", command=command)
    found = bench.in_turns(9, runs, within=15)
    gone = bench.in_turns(
        3,
        {
            "peer": without_index(forget_theirs, lambda: start(listed=True)),
            "ours": without_index(forget_ours, lambda: spawn_until_reply(root, "thread/list")),
        },
        warm_up=0,
    )
    count = f"{bench.roots.threads:,} threads"
    first = f"start to first `thread/list` reply, {count}"
    asked = [
        ("start", f"start to `initialize` reply, {count}", found["ours"], found["peer"], at_most(1)),
        ("first", first, found["ours list"], found["peer list"], at_most(4)),
        ("gone", f"the same on a home whose index is gone, {count}", gone["ours"], gone["peer"], at_most(0.1)),
    ]
    if program is None:
        yield LeftOut("the start of the packaged program", "it is not built; `make binary` does it")
    else:
        name = "the packaged program: start to `initialize` reply"
        asked.append(("packaged", name, found["packaged"], found["peer"], at_most(1)))
        name = "the packaged program: start to first `thread/list` reply"
        asked.append(("packaged.first", name, found["packaged list"], found["peer list"], at_most(4)))
    for key, what, mine, peer, goal in asked:
        yield Row(f"peer.{key}", what, "ms", mine.times(1e3), (Floor("the peer", peer.times(1e3)),), (goal,))
    with Host(root) as host, Codex(home) as peer:
        host.call("thread/list")
        peer.call("thread/list", limit=25)
        resident = Sample((resident_bytes(peer) / _MIB,))
        yield Row(
            "peer.resident",
            "resident after start and a first `thread/list`",
            "MiB",
            Sample((host.resident / _MIB,)),
            (Floor("the peer", resident),),
            (Goal("ours", 60),),
        )


def resident_bytes(pipe: Pipe) -> float:
    """Resident memory of a child in bytes (Linux)."""
    pages = Path(f"/proc/{pipe.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _lists(bench: Bench, host: Host, peer: Codex) -> Iterator[Row]:
    threads = bench.roots.threads
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "25": (f"`thread/list` of 25 among {threads:,} threads", {"limit": 25}),
        "100": ("`thread/list` of 100", {"limit": 100}),
        "cwd": ("`thread/list` of 25, by cwd", {"limit": 25, "cwd": "/workspace3"}),
        "archived": ("`thread/list`, the archived ones", {"limit": 25, "archived": True}),
        "search": ("`thread/list` of 25, by search", {"limit": 25, "searchTerm": "parser"}),
    }
    for key, (what, params) in asked.items():
        mine = host.request("thread/list", params)
        theirs = peer.request("thread/list", params)
        indexed = peer.request("thread/list", {**params, "useStateDbOnly": True})
        found = bench.in_turns(
            9,
            {
                "ours": lambda line=mine: median_of(10, lambda: host.reply_to(line)),
                "peer": lambda line=theirs: median_of(5, lambda: peer.reply_to(line)),
                "indexed": lambda line=indexed: median_of(5, lambda: peer.reply_to(line)),
            },
        )
        counts = [len(decode(to.reply_to(line))["result"]["data"]) for to, line in ((host, mine), (peer, theirs))]
        note = "" if counts[0] == counts[1] else f"ours gives {counts[0]} threads, the peer {counts[1]}"
        ours = found["ours"].times(1e3)
        floor = Floor("the peer", found["peer"].times(1e3))
        yield Row(f"peer.list.{key}", what, "ms", ours, (floor,), (at_most(1 / 8),), note)
        floor = Floor("the peer, its database only", found["indexed"].times(1e3))
        yield Row(f"peer.list.{key}.indexed", "the same", "ms", ours, (floor,), (at_most(1),))


def _cheapest(bench: Bench, host: Host, peer: Codex) -> Iterator[Row]:
    count = 1000
    mine = [host.request("server/status", {}) for _ in range(count)]
    theirs = [peer.request("thread/loaded/list", {}) for _ in range(count)]

    def sequential(pipe: Host | Codex, lines: list[bytes]) -> Callable[[], float]:
        return lambda: seconds(lambda: [pipe.trade(line) for line in lines])

    def pipelined(pipe: Host | Codex, lines: list[bytes]) -> Callable[[], float]:
        half = _WINDOW // 2
        windows = [b"".join(lines[start : start + half]) for start in range(0, count, half)]

        def run() -> None:
            pipe.write(windows[0])
            for window in (*windows[1:], b""):
                pipe.write(window)
                for _ in range(half):
                    pipe.line()

        return lambda: seconds(run)

    found = bench.in_turns(
        7,
        {
            "ours": sequential(host, mine),
            "peer": sequential(peer, theirs),
            "ours piped": pipelined(host, mine),
            "peer piped": pipelined(peer, theirs),
        },
    )
    for suffix, what in (("", "one at a time"), (" piped", f"{_WINDOW} in flight")):
        yield Row(
            f"peer.cheapest{suffix.replace(' ', '.')}",
            f"the cheapest request, {what} (ours `server/status`, the peer's `thread/loaded/list`)",
            "requests/s",
            found[f"ours{suffix}"].per_second(count),
            (Floor("the peer", found[f"peer{suffix}"].per_second(count)),),
            (at_least(1),),
        )


def _long(bench: Bench, turns: int) -> Iterator[Row]:
    """One thread of many turns, in both of the peer's modes."""
    root = bench.place / f"ours-long-{turns}"
    homes = {mode: bench.place / f"peer-{mode}-{turns}" for mode in ("legacy", "paginated")}
    for mode, home in homes.items():
        list(write_home(home, 1, turns, paginated=mode == "paginated"))
    import_home(root, homes["paginated"])
    with Host(root) as host, Codex(homes["legacy"]) as legacy, Codex(homes["paginated"]) as paginated:
        pipes: dict[str, Host | Codex] = {"ours": host, "legacy": legacy, "paginated": paginated}
        thread = {name: _pages(pipe)[0] for name, pipe in pipes.items()}
        opened = {name: _resume(pipe, thread[name]) for name, pipe in pipes.items()}
        floors = tuple(Floor(f"the peer, {mode}", Sample((opened[mode] * 1e3,))) for mode in homes)
        yield Row(
            f"peer.open.{turns}",
            f"first `thread/resume` of {turns:,} turns",
            "ms",
            Sample((opened["ours"] * 1e3,)),
            floors,
            (at_most(1),),
        )

        if turns > 5_000:
            yield _paged(pipes, thread, turns)

        def lines(method: str, **params: Any) -> dict[str, bytes]:
            return {name: pipe.request(method, {"threadId": thread[name], **params}) for name, pipe in pipes.items()}

        for key, what, wanted, factor in (
            ("read", f"`thread/read` of {turns:,} turns", lines("thread/read", includeTurns=True), 5),
            (
                "page.summary",
                f"a page of 25 turns of {turns:,}, summary",
                lines("thread/turns/list", limit=25, itemsView="summary"),
                1,
            ),
            (
                "page.full",
                f"a page of 25 turns of {turns:,}, full",
                lines("thread/turns/list", limit=25, itemsView="full"),
                1,
            ),
        ):
            found = bench.in_turns(
                3,
                {
                    name: lambda name=name, line=line: seconds(lambda: pipes[name].reply_to(line))
                    for name, line in wanted.items()
                },
                warm_up=0 if turns > 5_000 else 1,
                within=20,
            )
            # the peer's better mode comes first: the ratio is to it
            better = sorted(homes, key=lambda mode: found[mode].median)
            floors = tuple(Floor(f"the peer, {mode}", found[mode].times(1e3)) for mode in better)
            yield Row(f"peer.{key}.{turns}", what, "ms", found["ours"].times(1e3), floors, (at_most(1 / factor),))
        forked = {
            name: seconds(
                lambda pipe=pipe, name=name: pipe.call("thread/fork", threadId=thread[name], excludeTurns=True)
            )
            for name, pipe in pipes.items()
        }
        better = sorted(homes, key=lambda mode: forked[mode])
        floors = tuple(Floor(f"the peer, {mode}", Sample((forked[mode] * 1e3,))) for mode in better)
        ours = Sample((forked["ours"] * 1e3,))
        yield Row(f"peer.fork.{turns}", f"`thread/fork` of {turns:,} turns", "ms", ours, floors, (at_most(1),))
        yield Row(
            f"peer.resident.{turns}",
            "resident after all that",
            "MiB",
            Sample((host.resident / _MIB,)),
            tuple(Floor(f"the peer, {mode}", Sample((resident_bytes(pipes[mode]) / _MIB,))) for mode in homes),
        )


def _paged(pipes: dict[str, Host | Codex], thread: dict[str, str], turns: int) -> Row:
    """Memory after all turns were read by pages; the peer's legacy mode takes a second for each of them."""
    resident: dict[str, float] = {}
    for name in ("ours", "paginated"):
        pipe, cursor, count = pipes[name], None, 0
        while cursor is not None or not count:
            page = pipe.call("thread/turns/list", threadId=thread[name], limit=100, cursor=cursor)
            count += len(page["data"])
            cursor = page["nextCursor"]
        resident[name] = resident_bytes(pipe) / _MIB
    return Row(
        f"peer.pages.resident.{turns}",
        f"resident after reading {turns:,} turns by pages",
        "MiB",
        Sample((resident["ours"],)),
        (Floor("the peer, paginated", Sample((resident["paginated"],))),),
        (Goal("ours", 90),),
    )


def _resume(pipe: Host | Codex, thread_id: str) -> float:
    return seconds(lambda: pipe.call("thread/resume", threadId=thread_id, excludeTurns=True))
