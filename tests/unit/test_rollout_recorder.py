"""An append is all there or undone; every error of the disk has its name and its file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from lockstitch.errors import StorageError
from lockstitch.platform import files
from lockstitch.rollout.recorder import Recorder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "2026" / "12" / "01" / "rollout.jsonl"


def test_what_is_created_is_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0o777)
    try:
        Recorder.create(path).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in list(path.parents)[:4]} == {0o700}


def test_appends_follow_each_other_and_other_processes_lines(path: Path) -> None:
    one, two = Recorder.create(path), Recorder.open(path)
    one.append([b"a\n", b"b\n"])
    two.append([b"c\n"])
    one.append([b"d\n"])
    one.sync()
    one.sync_directories(path.parents[3])
    assert path.read_bytes() == b"a\nb\nc\nd\n"
    assert one.size == two.size == one.written_to == 8
    assert one.identity == two.identity
    one.close()
    one.close()
    two.close()


def test_many_and_large_chunks_arrive_whole(path: Path) -> None:
    recorder = Recorder.create(path)
    chunks = [bytes([n % 256]) * (1000 + n) for n in range(2000)]
    recorder.append(chunks)
    assert path.read_bytes() == b"".join(chunks)
    recorder.close()


def test_a_file_that_exists_is_not_created_and_a_missing_one_not_opened(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Recorder.open(path)
    Recorder.create(path).close()
    with pytest.raises(StorageError):
        Recorder.create(path)


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").write_bytes(b"")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        Recorder.open(path)


def test_short_writes_go_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder.create(path)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    recorder.append([b"0123456789\n"])
    monkeypatch.undo()
    assert path.read_bytes() == b"0123456789\n"
    recorder.close()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, "storageFull"),
        (errno.EDQUOT, "storageFull"),
        (errno.EROFS, "storageReadOnly"),
        (errno.EACCES, "storageReadOnly"),
        (errno.EPERM, "storageReadOnly"),
        (errno.EIO, "storageFailed"),
    ],
)
def test_a_write_that_stops_half_way_can_be_undone(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: str
) -> None:
    recorder = Recorder.create(path)
    recorder.append([b"before\n"])
    real, calls = os.write, 0

    def failing(fd: int, data: Any) -> int:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(number, os.strerror(number))
        return real(fd, bytes(data)[:4])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing)
        with pytest.raises(StorageError) as caught:
            recorder.append([b"half of this\n"])
    assert caught.value.kind == kind
    assert caught.value.facts == {"path": str(path), "errno": number}
    assert recorder.size == recorder.written_to == 11
    assert not recorder.cut_back(7, only_if_size=12)
    assert recorder.size == 11
    assert recorder.cut_back(7, only_if_size=recorder.written_to)
    recorder.append([b"after\n"])
    assert path.read_bytes() == b"before\nafter\n"
    recorder.close()


def test_a_failed_sync_closes_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder.create(path)

    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "sync_file", broken)
    with pytest.raises(StorageError):
        recorder.sync()
    assert recorder.closed
    with pytest.raises(StorageError):
        recorder.append([b"x"])
