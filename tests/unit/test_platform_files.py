"""Files are durable, private and replaced in one step; what the disk says is named."""

from __future__ import annotations

import errno
import os
import stat
import types
from pathlib import Path

import pytest

from lockstitch.errors import StorageError
from lockstitch.platform import files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request: pytest.FixtureRequest):
    before = os.umask(request.param)
    yield
    os.umask(before)


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
def test_what_the_disk_says_is_named(number: int, kind: str):
    """Each errno becomes a kind of the contract, with path and errno beside it."""
    error = files.storage_error(OSError(number, os.strerror(number)), "/some/where")
    assert (error.kind, error.facts) == (kind, {"path": "/some/where", "errno": number})
    assert "/some/where" in error.message


def test_windows_disk_full_is_named():
    """Windows says a full disk with a number of its own."""
    error = OSError(errno.EINVAL, "disk full")
    error.winerror = 112
    assert files.storage_error(error, "x").kind == "storageFull"


def test_a_path_that_is_not_unicode_can_be_reported():
    """Facts and message can always be encoded."""
    error = files.storage_error(OSError(errno.EIO, "bad"), os.fsdecode(b"/a/\xff"))
    (error.message + error.facts["path"]).encode("utf-8")


def test_files_and_directories_are_private_whatever_the_umask(tmp_path: Path, umask: None):
    """0600 and 0700, created parents included."""
    files.make_private_directory(tmp_path / "a" / "b")
    files.write_atomically(tmp_path / "a" / "b" / "f", b"x")
    os.close(files.open_private(tmp_path / "a" / "g", os.O_WRONLY | os.O_CREAT))
    assert [mode(tmp_path / p) for p in ("a", "a/b", "a/b/f", "a/g")] == [0o700, 0o700, 0o600, 0o600]


def test_a_wide_file_is_narrowed_when_opened_for_creation(tmp_path: Path):
    """A file that a backup tool brought back as 0644 does not stay so."""
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "f").chmod(0o644)
    os.close(files.open_private(tmp_path / "f", os.O_RDWR | os.O_CREAT))
    assert mode(tmp_path / "f") == 0o600


def test_make_private_directory_over_a_file(tmp_path: Path):
    """A file in the way is a StorageError, not a success."""
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(StorageError):
        files.make_private_directory(tmp_path / "f" / "d")
    with pytest.raises(StorageError):
        files.make_private_directory(tmp_path / "f")


def test_open_private_follows_no_link_and_blocks_on_no_fifo(tmp_path: Path):
    """A planted link, FIFO or directory is an error at once."""
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dir").mkdir()
    for name in ("link", "fifo", "dir"):
        with pytest.raises(OSError):
            os.close(files.open_private(tmp_path / name, os.O_RDONLY))


def test_write_atomically_leaves_the_old_file_on_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A full disk at any step leaves the old bytes and no staged file."""
    target = tmp_path / "f"
    files.write_atomically(target, b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("sync_file", "write_all"):
        with monkeypatch.context() as patch:
            patch.setattr(files, name, full)
            with pytest.raises(StorageError) as caught:
                files.write_atomically(target, b"new")
        assert caught.value.kind == "storageFull"
        assert target.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["f"]
    files.write_atomically(target, b"new", 0o640)
    assert (target.read_bytes(), mode(target)) == (b"new", 0o640)


def test_replace_is_patient_and_then_honest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Field report B44. Three PermissionErrors, then success: success. For ever: an error, and the old file intact."""
    (tmp_path / "a").write_bytes(b"new")
    (tmp_path / "b").write_bytes(b"old")
    real, refusals, waits = os.replace, [3], list[float]()

    def replace(*arguments: object, **options: object) -> None:
        if refusals[0]:
            refusals[0] -= 1
            raise PermissionError(errno.EACCES, "in use")
        real(*arguments, **options)

    monkeypatch.setattr(os, "replace", replace)
    refusals[0] = 1000
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "a", tmp_path / "b", sleep=waits.append)
    assert (tmp_path / "b").read_bytes() == b"old"
    assert 0.1 < sum(waits) < 2
    refusals[0] = 3
    files.replace(tmp_path / "a", tmp_path / "b", sleep=waits.append)
    assert (tmp_path / "b").read_bytes() == b"new"


class Calls:
    """Stands for `os` and `fcntl`: remembers what was called."""

    F_FULLFSYNC = 51

    def __init__(self, full_sync_error: int = 0) -> None:
        self.seen: list[str] = []
        self.full_sync_error = full_sync_error

    def fsync(self, fd: int) -> None:
        self.seen.append("fsync")

    def fdatasync(self, fd: int) -> None:
        self.seen.append("fdatasync")

    def fcntl(self, fd: int, command: int) -> None:
        assert command == self.F_FULLFSYNC
        self.seen.append("F_FULLFSYNC")
        if self.full_sync_error:
            raise OSError(self.full_sync_error, "no")


@pytest.mark.parametrize(
    ("platform", "refusal", "expected"),
    [
        ("linux", 0, ["fdatasync"]),
        ("darwin", 0, ["F_FULLFSYNC"]),
        ("darwin", errno.ENOTSUP, ["F_FULLFSYNC", "fsync"]),
        ("win32", 0, ["fsync"]),
    ],
)
def test_each_platform_syncs_in_its_way(platform: str, refusal: int, expected: list[str]):
    """fdatasync on Linux, F_FULLFSYNC on macOS (fsync where a disk lacks it), fsync = FlushFileBuffers on Windows."""
    calls = Calls(refusal)
    files.file_sync_for(platform, calls, calls)(3)
    assert calls.seen == expected


def test_a_failed_full_sync_is_not_hidden():
    """An I/O error of F_FULLFSYNC is no reason to fall back."""
    calls = Calls(errno.EIO)
    with pytest.raises(OSError):
        files.file_sync_for("darwin", calls, calls)(3)


def test_a_system_without_fdatasync_uses_fsync():
    """Not every POSIX has fdatasync."""
    seen = list[int]()
    files.file_sync_for("freebsd", types.SimpleNamespace(fsync=seen.append), None)(7)
    assert seen == [7]
