"""Somebody saves while a restore is at work: not one of his bytes is lost, and each is in a version."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.crash.contended import contended_acts
from tests.crash.host import Host, RefusedError
from tests.crash.test_restore_kill import CHECKPOINT, started


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def scene(tmp_path: Path) -> Any:
    workspace = tmp_path / "w"
    workspace.mkdir()
    host = started(tmp_path / "home")
    thread = host.call("thread/start", cwd=str(workspace))["thread"]["id"]
    for turn, text in (("one", b"1\n"), ("two", b"2\n")):
        host.append(thread, ("turn.started", {}), turnId=turn)
        (workspace / "a.txt").write_bytes(text)
        host.append(thread, ("artifact.snapshot", {"path": "a.txt"}), turnId=turn)
        if turn == "two":
            (workspace / "new.txt").write_bytes(b"n\n")
            host.append(thread, ("artifact.snapshot", {"path": "new.txt", "beforeAbsent": True}), turnId=turn)
        host.append(thread, ("turn.completed", {}), turnId=turn)
    yield host, thread, workspace
    host.kill()


def versions(host: Host, thread: str, path: str) -> list[tuple[str, str | None]]:
    found = host.call(f"{CHECKPOINT}/list", sessionId=thread, path=path)["checkpoints"]
    return [(c["source"], (c["after"] or {}).get("sha256")) for c in reversed(found)]


def _by_rename(path: Path, data: bytes) -> None:
    staged = path.with_name(path.name + ".swp")
    staged.write_bytes(data)
    os.replace(staged, path)


def _in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


SAVES: list[Callable[[Path, bytes], None]] = [_by_rename, _in_place]


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("path", ["a.txt", "new.txt"])
@pytest.mark.parametrize("point", ["exchange", "exchanged"])
def test_an_editor_that_saves_at_the_exchange(
    scene: Any, save: Callable[[Path, bytes], None], path: str, point: str
) -> None:
    """Just before it: what came out is recorded as external. Just after it: the file on the disk is the user's."""
    host, thread, workspace = scene
    delete = path == "new.txt"
    host.arm(f"{point}@{'.old' if delete else path} 1 stop")
    key = host.send(f"{CHECKPOINT}/rewind", {"sessionId": thread, "toTurnId": "one", "confirmRestore": True})
    host.wait_stopped()
    save(workspace / path, b"saved in between\n")
    host.arm()
    host.go_on()
    host.wait(key)
    known = versions(host, thread, path)
    if point == "exchange":
        assert ("external", sha(b"saved in between\n")) in known and known[-1][0] == "restore"
        assert (workspace / path).exists() is not delete
    else:
        assert (workspace / path).read_bytes() == b"saved in between\n"
    assert sorted(os.listdir(workspace)) in ([".lockstitch", "a.txt"], [".lockstitch", "a.txt", "new.txt"])


def test_a_program_that_still_has_the_old_file_open(scene: Any) -> None:
    """It writes into what was set aside: those bytes become a version too, and the disk keeps what was restored."""
    host, thread, workspace = scene
    with open(workspace / "a.txt", "ab") as held:
        host.arm("exchanged@a.txt 1 stop")
        key = host.send(f"{CHECKPOINT}/rewind", {"sessionId": thread, "toTurnId": "one", "confirmRestore": True})
        host.wait_stopped()
        host.arm("answer 1 stop")
        host.go_on()
        host.wait_stopped()
        held.write(b"late\n")
        held.flush()
        host.arm()
        host.go_on()
        host.wait(key)
    assert (workspace / "a.txt").read_bytes() == b"1\n"
    known = versions(host, thread, "a.txt")
    assert ("external", sha(b"2\nlate\n")) in known and known[-1][1] == sha(b"1\n")
    with contextlib.suppress(RefusedError):
        host.call(f"{CHECKPOINT}/rewind", sessionId=thread, toTurnId="two", confirmRestore=True)
    assert (workspace / "a.txt").read_bytes() == b"2\n", "the late bytes are no conflict any more"


@pytest.mark.parametrize("what", ["symlink", "hardlink"])
def test_a_link_planted_between_plan_and_exchange(scene: Any, tmp_path: Path, what: str) -> None:
    """Nothing is written through it, it is put back, and every other file too."""
    host, thread, workspace = scene
    victim = tmp_path / "victim"
    victim.write_bytes(b"secret\n")
    host.arm("exchange@a.txt 1 stop")
    key = host.send(f"{CHECKPOINT}/rewind", {"sessionId": thread, "toTurnId": "one", "confirmRestore": True})
    host.wait_stopped()
    (workspace / "a.txt").rename(tmp_path / "moved")
    (os.symlink if what == "symlink" else os.link)(victim, workspace / "a.txt")
    host.arm()
    host.go_on()
    with pytest.raises(RefusedError) as refused:
        host.wait(key)
    assert refused.value.kind == "pathRefused"
    assert victim.read_bytes() == b"secret\n" and (workspace / "a.txt").read_bytes() == b"secret\n"
    assert (workspace / "a.txt").is_symlink() is (what == "symlink")
    assert sorted(os.listdir(workspace)) == [".lockstitch", "a.txt", "new.txt"]


def test_two_processes_and_an_editor(tmp_path: Path) -> None:
    """Both rewind one thread again and again while somebody saves: files stay whole, nothing that he wrote is lost."""
    counts: Counter[str] = Counter()
    contended_acts(tmp_path / "home", random.Random(1), counts, acts=6)
    assert counts["contended acts done"]
