"""`storage/*`: what is stored is counted, checked, made anew, and cleared of what nobody needs."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host
from tests.wire.process import environment

covers = pytest.mark.covers


@pytest.fixture
def home(tmp_path: Path) -> Iterator[tuple[Host, Path, str]]:
    """A host of its own on a new data root, with a thread that has a file version and a large output."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with Host(tmp_path) as host:
        thread = host.thread(cwd=str(workspace))
        turn = host.turn(thread)
        host.snapshot(thread, turn, {"path": "a.txt", "content": "one\n"})
        output = {"itemId": "big", "command": "cat", "exitCode": 0, "aggregatedOutput": "x" * 100_000}
        host.append(thread, turn, ("command.exited", output))
        host.append(thread, turn, ("turn.completed", {}))
        yield host, tmp_path / "data", thread


def plant(folder: Path, content: bytes, *, hours: float) -> Path:
    """Put a content into a store, as if so many hours ago."""
    name = hashlib.sha256(content).hexdigest()
    path = folder / name[:2] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return age(path, hours)


def age(path: Path, hours: float) -> Path:
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


def stored(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@covers("storage/report")
def test_report_counts_what_lies_on_the_disk(home: tuple[Host, Path, str]) -> None:
    host, root, thread = home
    orphan = plant(root / "artifacts", b"nobody's", hours=0)
    found = host.call("storage/report")
    classes = {one["name"]: one for one in found["classes"]}
    (rollout,) = root.glob("sessions/*/*/*/*.jsonl")
    assert (classes["sessions"]["bytes"], classes["sessions"]["files"]) == (rollout.stat().st_size, 1)
    assert classes["sessions"]["oldest"] <= classes["sessions"]["newest"]
    assert classes["artifacts"]["bytes"] == sum(path.stat().st_size for path in stored(root / "artifacts"))
    assert classes["workspaces"]["files"] == len(stored(root.parent / "workspace" / ".lockstitch")) - 1  # .gitignore
    assert found["orphans"] == {"bytes": orphan.stat().st_size, "files": 1}
    copies = found["safetyCopies"]
    assert (
        copies["bytes"] > 0 and copies["budgetBytes"] == 4 << 30 and copies["skipped"] == 0 and "advice" not in copies
    )
    (shown,) = found["threads"]
    assert (shown["threadId"], shown["bytes"], shown["contents"]) == (thread, rollout.stat().st_size, 2)
    assert found["database"]["pages"] * found["database"]["pageBytes"] >= 4096
    assert host.call("storage/report", threadLimit=0)["threads"] == []


def gone(host: Host, **params: Any) -> tuple[set[str], dict[str, Any]]:
    found = host.call("storage/gc", **params)
    return {one["path"] for one in found["candidates"]}, found


@covers("storage/gc")
def test_gc_removes_what_nothing_refers_to(home: tuple[Host, Path, str]) -> None:
    host, root, thread = home
    (sidecar,) = (path for path in (root.parent / "workspace" / ".lockstitch").iterdir() if path.is_dir())
    needed = stored(root / "artifacts") | stored(sidecar / "artifacts")
    for path in needed:
        age(path, 50)
    young = plant(root / "artifacts", b"young", hours=0.9)
    old = plant(root / "artifacts", b"old", hours=30)
    beside = plant(sidecar / "artifacts", b"in the workspace", hours=2)
    unfinished = old.with_name(".tmp-0123456789abcdef")
    unfinished.write_bytes(b"half")
    age(unfinished, 3)
    strange = old.parent / "README"
    strange.write_text("the user's")
    age(strange, 90)
    documents = sidecar / "documents" / "thread-that-is-gone"
    documents.mkdir()
    (documents / "x.json").write_text("{}")
    age(documents / "x.json", 5)
    everything = {str(path) for path in (old, beside, unfinished, documents)}
    paths, found = gone(host)
    assert paths == everything
    assert (found["dryRun"], found["removed"], found["freedBytes"]) == (True, 0, 0)
    assert {one["reason"] for one in found["candidates"]} == {"unreferenced", "unfinished", "threadGone"}
    assert gone(host, olderThanDays=1)[0] == {str(old)}
    assert gone(host, maxBytes=old.stat().st_size)[0] == {str(old)}
    assert old.exists()
    paths, found = gone(host, dryRun=False)
    assert paths == everything
    assert found["removed"] == 4
    assert not any(Path(path).exists() for path in everything)
    assert all(path.exists() for path in (young, strange, *needed))
    assert host.call("storage/verify")["ok"]
    host.call("thread/delete", threadId=thread)
    assert stored(root / "artifacts") == {young, strange}


def test_gc_of_a_damaged_thread_removes_nothing_that_it_named(home: tuple[Host, Path, str]) -> None:
    """The line that names the output is rotten, and so the projection knows it no more; the bytes still say it."""
    host, root, thread = home
    (rollout,) = root.glob("sessions/*/*/*/*.jsonl")
    data = bytearray(rollout.read_bytes())
    data[data.index(b'"exitCode"') + 1] ^= 1
    rollout.write_bytes(data)
    assert host.read(thread)["partial"]
    for path in stored(root / "artifacts"):
        age(path, 5)
    assert gone(host, dryRun=False)[1]["removed"] == 0


def test_gc_refuses_a_copied_root(home: tuple[Host, Path, str]) -> None:
    host, root, _ = home
    host.close()
    copied = root.parent / "copied" / "data"
    copied.parent.mkdir()
    root.rename(copied)
    with Host(copied.parent) as other:
        refused = other.refused("invalidRequest", "storage/gc")
        assert refused.data["reason"] == "copiedRoot"


@covers("storage/verify")
def test_verify_names_what_differs(home: tuple[Host, Path, str]) -> None:
    host, root, thread = home
    found = host.call("storage/verify")
    assert (found["ok"], found["threads"], found["contents"], found["differences"]) == (True, 1, 2, [])
    assert found["events"] == host.read(thread)["lastSequence"]
    host.close()
    name = hashlib.sha256(b"x" * 100_000).hexdigest()
    (blob,) = (path for path in stored(root / "artifacts") if path.name.startswith(name))
    blob.write_bytes(b"rotten")
    (database,) = root.glob("sqlite/*.sqlite")
    connection = sqlite3.connect(database)
    connection.execute("UPDATE thread SET name='another'")
    connection.execute("DELETE FROM event_mark")
    connection.execute("UPDATE item SET status=4 WHERE item_id='big'")
    connection.commit()
    connection.close()
    with Host(root.parent) as other:
        found = other.call("storage/verify", threadId=thread)
        assert not found["ok"]
        seen = {(one["kind"], one.get("table"), one["reason"]) for one in found["differences"]}
        assert seen == {
            ("content", None, "corrupt"),
            ("projection", "thread", "different"),
            ("projection", "item", "different"),
            ("projection", "event_mark", "missing"),
        }
        rebuilt = other.call("storage/rebuild")
        assert rebuilt["threads"] == 1
        seen = {one["kind"] for one in other.call("storage/verify")["differences"]}
        assert seen == {"content"}
        assert other.read(thread).get("name") is None
        (rollout,) = root.glob("sessions/*/*/*/*.jsonl")
        data = bytearray(rollout.read_bytes())
        data[data.index(b'"a.txt"') + 1] ^= 1
        rollout.write_bytes(data)
        (damage,) = [one for one in other.call("storage/verify")["differences"] if one["kind"] == "damage"]
        assert damage["told"] is True
        assert damage["fromOffset"] < damage["toOffset"]


@covers("storage/rebuild")
def test_rebuild_tells_how_far_it_is_and_changes_no_answer(home: tuple[Host, Path, str]) -> None:
    host, root, thread = home
    for _ in range(30):
        host.thread()
    before = host.read(thread, turns=True)
    found = host.call("storage/rebuild", progressToken="again")
    assert (found["threads"], found["resumed"]) == (31, 0)
    assert not list(root.glob("sqlite/*.build-*"))
    assert host.heard("$/progress", token="again")["value"]["kind"] == "begin"
    assert host.read(thread, turns=True) == before
    host.append(thread, None, ("host.note", {}))
    assert host.call("storage/verify")["ok"]


def test_the_command_says_it_to_a_person(home: tuple[Host, Path, str]) -> None:
    host, root, thread = home
    host.close()
    plant(root / "artifacts", b"nobody's", hours=2)

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "lockstitch", "storage", *arguments, "--data-dir", str(root)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout

    assert thread in run()[1]
    assert "that no thread refers to" in run("report")[1]
    status, said = run("clear")
    assert (status, "could be removed" in said) == (0, True)
    assert "1 file removed" in run("clear", "--yes")[1]
    assert "from 1 thread" in run("rebuild")[1]
    assert run("verify")[0] == 0
    name = hashlib.sha256(b"x" * 100_000).hexdigest()
    for path in (root / "artifacts").glob(f"*/{name}*"):
        path.unlink()
    status, said = run("verify")
    assert status == 1
    assert f"content missing, sha256 {name}" in " ".join(said.split()), "words are wrapped, never a hash"
