"""Two processes put files back at once while somebody edits them; what he wrote is on the disk or in a version."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import threading
from collections import Counter
from pathlib import Path

from tests.crash.host import Host, RefusedError

CHECKPOINT = "agentSession/fileCheckpoint"
NAMES = [f"d{number % 3}/f{number}.txt" for number in range(12)]
TURNS = ["one", "two", "three"]


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Editor(threading.Thread):
    """Somebody who, again and again, takes a file away whole, keeps it, and puts another in its place."""

    def __init__(self, workspace: Path, keeps: Path, chance: random.Random) -> None:
        super().__init__()
        self._workspace, self._keeps, self._chance = workspace, keeps, chance
        self.saved: list[bytes] = []
        self.over = threading.Event()
        self.pace = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            file = self._workspace / self._chance.choice(NAMES)
            data = f"user {number} {file.name}\n".encode()
            (self._keeps / "next").write_bytes(data)
            with contextlib.suppress(FileNotFoundError):
                os.rename(file, self._keeps / str(number))
            with contextlib.suppress(FileExistsError):  # it is back already
                os.link(self._keeps / "next", file)
                self.saved.append(data)
            (self._keeps / "next").unlink()
            self.pace.wait(0.03)


def contended_acts(home: Path, chance: random.Random, counts: Counter[str], acts: int = 40) -> None:
    """Rewinds by two processes to random turns; whole files only, nothing lost, nothing left behind."""
    workspace, keeps = home.parent / "contended", home.parent / "keeps"
    workspace.mkdir()
    keeps.mkdir()
    hosts = [Host(home).start(), Host(home).start()]
    try:
        thread = hosts[0].call("thread/start", cwd=str(workspace))["thread"]["id"]
        for turn in TURNS:
            hosts[0].append(thread, ("turn.started", {}), turnId=turn)
            for name in NAMES:
                file = workspace / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{turn} {name}\n")
            hosts[0].append(thread, *[("artifact.snapshot", {"path": name}) for name in NAMES], turnId=turn)
            hosts[0].append(thread, ("turn.completed", {}), turnId=turn)
        editor = Editor(workspace, keeps, random.Random(chance.random()))
        seeds = [chance.random() for _ in hosts]

        def work(number: int) -> None:
            own = random.Random(seeds[number])
            for _ in range(acts):
                conflict = own.choice(["backup", "backup", "refuse"])
                params = {"sessionId": thread, "toTurnId": own.choice(TURNS), "onConflict": conflict}
                try:
                    hosts[number].call(f"{CHECKPOINT}/rewind", **params, confirmRestore=True)
                    counts["contended acts done"] += 1
                except RefusedError as error:
                    assert error.kind == "conflict", error
                    counts["contended acts refused"] += 1

        workers = [threading.Thread(target=work, args=(number,)) for number in range(len(hosts))]
        editor.start()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        editor.over.set()
        editor.join()
        counts["saved by an editor meanwhile"] += len(editor.saved)
        there = [
            file.read_bytes() for file in (*keeps.iterdir(), *(workspace / name for name in NAMES)) if file.exists()
        ]
        assert all(data.startswith((b"user", b"one", b"two", b"three")) and data.endswith(b".txt\n") for data in there)
        assert not list(workspace.rglob(".lockstitch-*")) and not os.listdir(home / "journal")
        known = {_sha(data) for data in there} | _versions(hosts[1], thread)
        lost = [data for data in editor.saved if _sha(data) not in known]
        assert not lost, f"lost: {lost}"
        for host in hosts:
            assert host.close() == 0
    finally:
        for host in hosts:
            host.kill()


def _versions(host: Host, thread: str) -> set[str]:
    """The hashes of all contents that can be had."""
    found: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = host.call(f"{CHECKPOINT}/list", sessionId=thread, limit=5000, **cursor)
        for checkpoint in page["checkpoints"]:
            for side in (checkpoint["before"], checkpoint["after"]):
                if side and side["contentStatus"] == "available":
                    found.add(side["sha256"])
        if page["nextCursor"] is None:
            return found
        cursor = {"cursor": page["nextCursor"]}
