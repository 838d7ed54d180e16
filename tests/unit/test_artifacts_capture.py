"""A file is read as it is, or the reason why not is told; nothing is followed, nothing blocks."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from lockstitch.artifacts import capture
from lockstitch.artifacts.capture import check_target, read_file
from lockstitch.errors import LockstitchError, RefusedError, UnavailableError
from lockstitch.platform import beneath

DIRECTORIES = [
    pytest.param(beneath.open_root, id="handles"),
    pytest.param(lambda path: beneath.PathDirectory(os.path.realpath(path, strict=True)), id="paths"),
]


@pytest.fixture(params=DIRECTORIES, autouse=True)
def opened(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to look at a workspace: by handles, and by checked paths as on Windows."""
    monkeypatch.setattr(capture, "open_root", request.param)


def reason(call: Callable[[], object]) -> str:
    with pytest.raises(LockstitchError) as caught:
        call()
    assert caught.value.kind == "pathRefused"
    return caught.value.facts["reason"]


@pytest.mark.parametrize(
    "name",
    ["a.txt", "-dash.txt", "公共 函数 é.txt", "e\u0301", "new\nline", "back\\slash", os.fsdecode(b"\xff\xe9"), "d/e/f"],
)
def test_bytes_and_mode_come_back(tmp_path: Path, name: str):
    """Whatever the name, exactly; mode is permission bits only."""
    data = bytes(range(256)) * 3
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    file.chmod(0o4751)
    content = read_file(tmp_path, name, max_bytes=len(data))
    assert (content.status, content.data, content.size, content.mode) == ("available", data, len(data), "0751")


def test_absent_files(tmp_path: Path):
    """Absent, also when a folder is absent or a file stands in its place."""
    (tmp_path / "file").write_bytes(b"")
    for name in ("x", "no/x", "file/x"):
        assert read_file(tmp_path, name, max_bytes=10).status == "missing"
        check_target(tmp_path, name, writing=True)


def test_a_file_over_the_limit(tmp_path: Path):
    """Not read; size and mode are told."""
    (tmp_path / "big").write_bytes(b"x" * 11)
    (tmp_path / "big").chmod(0o600)
    content = read_file(tmp_path, "big", max_bytes=10)
    assert (content.status, content.data, content.size, content.mode) == ("tooLarge", None, 11, "0600")


def test_no_link_is_followed(tmp_path: Path):
    """Neither the file nor a folder of it; the workspace itself may be reached through one."""
    outside = tmp_path / "outside"
    workspace = tmp_path / "ws"
    (outside / "d").mkdir(parents=True)
    (outside / "secret").write_bytes(b"secret")
    (outside / "d" / "secret").write_bytes(b"secret")
    workspace.mkdir()
    (workspace / "a").write_bytes(b"a")
    (workspace / "link").symlink_to(outside / "secret")
    (workspace / "inside").symlink_to("a")
    (workspace / "broken").symlink_to("nowhere")
    (workspace / "dir").symlink_to(outside)
    (tmp_path / "to-ws").symlink_to(workspace)
    for name in ("link", "inside", "broken", "dir", "dir/secret", "dir/d/secret", "dir/none"):
        assert reason(lambda name=name: read_file(workspace, name, max_bytes=100)) == "symlink"
        assert reason(lambda name=name: check_target(workspace, name, writing=False)) == "symlink"
    assert read_file(tmp_path / "to-ws", "a", max_bytes=100).data == b"a"


def test_nothing_special_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A FIFO without a writer does not hang us; sockets, devices and directories are named."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dir").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # a socket's path may be short only
        listener.bind("socket")
        for name, expected in (("fifo", "specialFile"), ("socket", "specialFile"), ("dir", "directory")):
            assert reason(lambda name=name: read_file(tmp_path, name, max_bytes=100)) == expected
            assert reason(lambda name=name: check_target(tmp_path, name, writing=False)) == expected
    assert read_file(tmp_path, "fifo/x", max_bytes=100).status == "missing"


def test_hard_links_are_refused_for_writing_only(tmp_path: Path):
    """Writing one name would change the other."""
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert read_file(tmp_path, "a", max_bytes=100).data == b"a"
    check_target(tmp_path, "a", writing=False)
    assert reason(lambda: check_target(tmp_path, "a", writing=True)) == "hardLink"


def test_a_workspace_that_is_gone(tmp_path: Path):
    """Not a missing file: the workspace is unavailable."""
    with pytest.raises(UnavailableError) as caught:
        read_file(tmp_path / "gone", "a", max_bytes=100)
    assert caught.value.kind == "workspaceUnavailable"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int):
    """The reason is told. (By a fake: tests may run as a user who may read everything.)"""
    (tmp_path / "a").write_bytes(b"a")

    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(beneath, "open_private", refuse)
    content = read_file(tmp_path, "a", max_bytes=100)
    assert (content.status, content.reason) == ("unreadable", os.strerror(number).lower())


def test_a_file_that_does_not_stand_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Read again a few times, then said so; if it comes to rest, it is read."""
    file = tmp_path / "a"
    file.write_bytes(b"0")
    real, left = capture._read_whole, [3]  # pyright: ignore[reportPrivateUsage]

    def write_while_reading(fd: int, size: int) -> bytes | None:
        data = real(fd, size)
        if left[0]:
            left[0] -= 1
            stamps = file.stat()
            with file.open("r+b") as other:
                other.write(b"%d" % left[0])
            os.utime(file, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))  # as a write within the same tick would
        return data

    monkeypatch.setattr(capture, "_read_whole", write_while_reading)
    content = read_file(tmp_path, "a", max_bytes=100)
    assert (content.status, content.data) == ("available", b"0")
    assert left == [0]
    left[0] = 1000
    content = read_file(tmp_path, "a", max_bytes=100)
    assert (content.status, content.reason, content.mode) == ("unreadable", "changed while reading", "0644")


def test_a_file_replaced_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An editor's rename over the file gives the new content, a link put there is refused, a deletion is missing."""
    file = tmp_path / "a"
    real = capture._read_whole  # pyright: ignore[reportPrivateUsage]
    steps: list[Callable[[], object]] = []

    def swap(fd: int, size: int) -> bytes | None:
        data = real(fd, size)
        if steps:
            steps.pop()()
        return data

    monkeypatch.setattr(capture, "_read_whole", swap)
    file.write_bytes(b"old")
    (tmp_path / "b").write_bytes(b"new")
    steps.append(lambda: os.replace(tmp_path / "b", file))
    assert read_file(tmp_path, "a", max_bytes=100).data == b"new"
    (tmp_path / "l").symlink_to("/etc/passwd")
    steps.append(lambda: os.replace(tmp_path / "l", file))
    with pytest.raises(RefusedError):
        read_file(tmp_path, "a", max_bytes=100)
    file.unlink()
    file.write_bytes(b"x")
    steps.append(file.unlink)
    assert read_file(tmp_path, "a", max_bytes=100).status == "missing"


def test_reading_leaves_no_trace_and_no_descriptor(tmp_path: Path):
    """Neither mtime nor mode change, and every descriptor is closed."""
    file = tmp_path / "d" / "a"
    file.parent.mkdir()
    file.write_bytes(b"a")
    before, open_before = file.stat(), len(os.listdir("/proc/self/fd"))
    for name in ("d/a", "d/none", "no/a"):
        read_file(tmp_path, name, max_bytes=100)
    after = file.stat()
    assert (before.st_mtime_ns, before.st_mode, before.st_ctime_ns) == (
        after.st_mtime_ns,
        after.st_mode,
        after.st_ctime_ns,
    )
    assert len(os.listdir("/proc/self/fd")) == open_before
