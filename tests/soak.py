"""The long matrices: kills at every point, random kills and damage, several writers, full disks; prints counts.

    python -m tests.soak --seconds 600 [--seed 1]

Exit status 1 if anything was lost, doubled or left behind. Each round has its own data root and seed; the seed of a
round that fails is printed, and `--seed N --rounds 1` runs it again.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.crash.contended import contended_acts
from tests.crash.host import GoneError, Host, RefusedError, database, judge, rollouts
from tests.crash.scene import CHANGES, Scene, one_event, settle_unknown, unarchive
from tests.crash.test_disk import fill
from tests.crash.test_rotten_rows import Rot, cases
from tests.crash.zygote import Process
from tests.soak_imports import import_cuts, import_mutations
from tests.soak_limits import run as run_limits
from tests.soak_model import sequences

Round = Callable[[Path, random.Random, Counter[str]], None]


def kills(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Kill at a random point of a random change, twenty times on one data root."""
    workspace = home.parent / "workspace"
    workspace.mkdir()
    scene = Scene(home, workspace, Host(home).start())
    try:
        for _ in range(20):
            change = chance.choice(CHANGES)
            thread = scene.thread()
            if change is unarchive:
                scene.host.call("thread/archive", threadId=thread)
            torn = chance.random() < 0.2
            rule = f"write {chance.randint(1, 4)} tear {chance.randint(1, 400)} kill"
            scene.host.arm(rule if torn else f"* {chance.randint(1, 45)} kill")
            with contextlib.suppress(GoneError):
                change(scene, thread)
            counts["kills"] += 1
            if chance.random() < 0.15:  # the next start dies too
                scene.host.kill()
                scene.host = Host(home, f"* {chance.randint(1, 60)} kill")
                with contextlib.suppress(GoneError):
                    scene.host.start().call("thread/list")
                counts["kills"] += 1
            if chance.random() < 0.1:
                scene.host.kill()
                for part in home.glob("sqlite/*"):
                    part.unlink()
                counts["databases lost"] += 1
            scene.restart()
            settle_unknown(scene)
            scene.check()
        scene.host.close()
        judge(home)
    finally:
        scene.host.kill()


def killed_writers(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Two to eight writers to one thread; some are killed at any moment and replaced."""
    first = Host(home).start()
    shared = first.call("thread/start")["thread"]["id"]
    answered: list[str] = []
    hosts = [first, *(Host(home).start() for _ in range(chance.randint(1, 7)))]
    moments = [(chance.random() < 0.6, chance.randint(1, 12), chance.randint(1, 9)) for _ in hosts]

    def work(number: int) -> None:
        dies, after, point = moments[number]
        host = hosts[number]
        for index in range(25):
            if dies and index == after:
                host.arm(f"* {point} kill")
            try:
                answered.extend(event["eventId"] for event in host.append(shared, ("host.note", {}), ("host.note", {})))
            except GoneError:
                counts["kills"] += 1
                return
            except RefusedError as error:
                assert error.kind == "storageBusy", error
                counts["busy"] += 1

    _together([lambda number=number: work(number) for number in range(len(hosts))])
    for host in hosts:
        host.kill()
    with Host(home).start() as host:
        ids = [event["eventId"] for event in host.events(shared)]
    _count(answered, ids, counts)
    judge(home)


def damage(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Random damage to rollouts and databases: no crash, no undamaged event lost, every loss told."""
    with Host(home).start() as host:
        threads = [host.call("thread/start")["thread"]["id"] for _ in range(3)]
        for thread in threads:
            host.append(thread, ("turn.started", {}), turnId="t")
            for number in range(chance.randint(1, 40)):
                host.append(
                    thread, *[("host.note", {"n": number, "text": "é" * chance.randint(0, 200)})] * chance.randint(1, 3)
                )
            host.append(thread, ("turn.completed", {}), turnId="t")
        known = {thread: {event["eventId"] for event in host.events(thread)} for thread in threads}
    for _ in range(8):
        counts["damages"] += 1
        if chance.random() < 0.35:
            path = database(home)
            _hurt(path, chance)
            with Host(home).start() as host:
                for thread, file in rollouts(home).items():
                    readable(host, thread, file)
            continue
        thread, path = chance.choice(list(rollouts(home).items()))
        before = path.read_bytes()
        hurt = _hurt(path, chance)
        after = path.read_bytes()
        if chance.random() < 0.3:
            for part in home.glob("sqlite/*"):
                part.unlink()
        with Host(home).start() as host:
            listed = {entry["id"] for entry in host.call("thread/list", limit=500)["data"]}
            assert listed == set(rollouts(home)), "damage hides a thread"
            events = {event["eventId"] for event in host.events(thread)}
            sent = {name: line for name, line in _names(before).items() if name in known[thread]}
            for name, line in sent.items():
                if name not in events and b"\n" + line + b"\n" in b"\n" + after:
                    counts["undamaged events lost"] += 1
                    print(f"lost though undamaged: {name} of {path}, {hurt}", file=sys.stderr)
            shown = host.call("thread/read", threadId=thread)["thread"]
            if sent.keys() - events and not (shown.get("partial") and shown.get("damage")):
                counts["untold losses"] += 1
                print(f"untold: {sent.keys() - events} of {path}, {hurt}", file=sys.stderr)
            host.append(thread, ("host.note", {"after": "damage"}))
            events_after = host.events(thread)
            assert events_after[-1]["payload"] == {"after": "damage"}
            known[thread] = {event["eventId"] for event in events_after}


def _names(data: bytes) -> dict[str, bytes]:
    """The lines of a rollout by their event ids."""
    return {
        line.split(b'"eventId":"')[1].split(b'"')[0].decode("utf-8", "replace"): line
        for line in data.split(b"\n")
        if b'"eventId":"' in line
    }


def readable(host: Host, thread: str, path: Path) -> None:
    events = host.events(thread)
    sequences = [event["sequence"] for event in events]
    assert sequences == sorted(set(sequences))
    assert host.call("thread/read", threadId=thread, includeTurns=True)


def _hurt(path: Path, chance: random.Random) -> str:
    size = path.stat().st_size
    at, length = chance.randrange(size), chance.choice((1, 1, 8, 60, 700))
    kind = chance.choice(("flip", "zero", "cut", "noise", "remove", "double", "append"))
    data = bytearray(path.read_bytes())
    if kind == "flip":
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "zero":
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif kind == "cut":
        del data[at:]
    elif kind == "noise":
        data[at : at + length] = chance.randbytes(length)
    elif kind == "remove":
        del data[at : at + length]
    elif kind == "double":
        data[at:at] = data[at : at + length]
    else:
        data += chance.choice((bytes(512), b"{", b"\n", b'{"sequence":1', chance.randbytes(90)))
    path.write_bytes(bytes(data))
    return f"{kind} of {length} at {at} of {size}"


def faults(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Errors of the disk at random points; then everything is as if the refused requests had never been."""
    workspace = home.parent / "workspace"
    workspace.mkdir()
    scene = Scene(home, workspace, Host(home).start())
    names = ("write", "sync", "syncDirectory", "rename", "create", "mkdir", "cut", "rows", "commit", "begin")
    try:
        for _ in range(30):
            thread = scene.thread()
            change = chance.choice(CHANGES)
            if change is unarchive:
                scene.host.call("thread/archive", threadId=thread)
            scene.host.arm(
                *(
                    f"{name} {chance.randint(1, 4)} fail {chance.choice((5, 13, 28, 30, 122))}"
                    for name in chance.sample(names, chance.randint(1, 3))
                )
            )
            counts["faults"] += 1
            try:
                change(scene, thread)
            except RefusedError as error:
                assert error.code == -32030, error
                scene.pending.clear()
            scene.host.arm()
            with contextlib.suppress(RefusedError):  # archived, deleted or ended by now
                one_event(scene, thread)
            scene.pending.clear()
        scene.restart()
        settle_unknown(scene)
        scene.check()
        scene.host.close()
        judge(home)
    finally:
        scene.host.kill()


def full_disks(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """A disk with so many bytes left, swept; all that is refused is as if it had never been, and room mends it."""
    if shutil.which("mount") is None or os.geteuid():
        counts["full disks left out: nothing can be mounted"] += 1
        return
    disk = home.parent / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], check=True)
    try:
        workspace = disk / "workspace"
        workspace.mkdir()
        inside = disk / "home"
        scene = Scene(inside, workspace, Host(inside, plan_in=home.parent).start())
        for _ in range(12):
            thread = scene.thread()
            change = chance.choice(CHANGES)
            if change is unarchive:
                scene.host.call("thread/archive", threadId=thread)
            fill(disk / "filler", chance.choice((0, 100, 4096, 5000, 9000, 20_000, 60_000, 200_000)))
            counts["full disks"] += 1
            try:
                change(scene, thread)
            except RefusedError as error:
                assert (error.code, error.kind) == (-32030, "storageFull"), error
                counts["refused for want of room"] += 1
                scene.pending.clear()
            except OSError:  # what the host itself writes had no room
                scene.pending.clear()
            (disk / "filler").unlink()
            with contextlib.suppress(RefusedError):  # archived, deleted or ended by now
                one_event(scene, thread)
            scene.pending.clear()
        scene.host.kill()
        scene.host = Host(inside, plan_in=home.parent).start()
        settle_unknown(scene)
        scene.check()
        scene.host.close()
        judge(inside, aside=home.parent)
    finally:
        scene.host.kill()
        subprocess.run(["umount", "-l", str(disk)], check=True)


def rotten_rows(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Every column of every table of a projection, one after the other, with values that cannot be."""
    workspace = home.parent / "workspace"
    workspace.mkdir()
    scene = Scene(home, workspace, Host(home).start())
    rot = Rot(scene)
    for case in chance.sample(sorted(cases(rot.kept)), 40):
        if case[1] == "cwd":
            continue  # another directory than the thread's own is one without its contents: that is told
        counts["rotten rows"] += rot.try_(*case)


ROUNDS: list[Round] = [
    kills,
    kills,
    killed_writers,
    damage,
    damage,
    faults,
    full_disks,
    rotten_rows,
    sequences,
    import_cuts,
    import_mutations,
    contended_acts,
]


WRONG = (
    "acknowledged events lost",
    "duplicates",
    "gaps",
    "turns left active",
    "made-up results",
    "unreadable threads",
    "undamaged events lost",
    "untold losses",
    "other failures",
)
"""What is counted and must be 0; the words that a failed check says tell which it is."""

_SAYS = {
    "lost: [": "acknowledged events lost",
    "is lost or moved": "acknowledged events lost",
    "is half there": "acknowledged events lost",
    "gap": "gaps",
    "ended twice": "duplicates",
    "was left open": "turns left active",
    "inProgress": "turns left active",
    "made up": "made-up results",
    "threadNotFound": "unreadable threads",
    "internalError": "unreadable threads",
    "damage hides a thread": "unreadable threads",
}


def _together(works: list[Callable[[], Any]]) -> None:
    failures: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _count(answered: list[str], there: list[str], counts: Counter[str]) -> None:
    counts["answered"] += len(answered)
    counts["acknowledged events lost"] += len(set(answered) - set(there))
    counts["duplicates"] += len(there) - len(set(there))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--limits", action="store_true", help="what must stay bounded, afterwards")
    parser.add_argument("--only", choices=sorted({entry.__name__ for entry in ROUNDS}))
    chosen = parser.parse_args()
    rounds = [entry for entry in ROUNDS if chosen.only in (None, entry.__name__)]
    counts: Counter[str] = Counter(dict.fromkeys(WRONG, 0))
    deadline, number = time.monotonic() + chosen.seconds, 0
    while time.monotonic() < deadline and (chosen.rounds is None or number < chosen.rounds):
        seed = chosen.seed + number
        entry = rounds[seed % len(rounds)]
        number += 1
        place = Path(tempfile.mkdtemp(prefix="soak-"))
        try:
            entry(place / "home", random.Random(seed), counts)
        except Exception as error:
            text = f"{error} {traceback.format_exc()}"
            counts[next((key for words, key in _SAYS.items() if words in text), "other failures")] += 1
            print(f"seed {seed}, {entry.__name__}: {place}", file=sys.stderr)
            traceback.print_exc()
            continue
        shutil.rmtree(place)
    Process.end_server()
    print(f"{number} rounds: " + ", ".join(f"{value} {name}" for name, value in counts.items()))
    failed = 0
    if chosen.limits:
        found, failed = run_limits()
        print(f"limits: {failed} broken, " + ", ".join(f"{value} {name}" for name, value in found.items()))
    return int(failed or any(counts[name] for name in WRONG))


if __name__ == "__main__":
    sys.exit(main())
