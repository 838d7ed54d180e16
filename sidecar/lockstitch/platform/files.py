"""Durable, private file operations by portable calls: sync, replace, atomic write, error naming.

Invariant: what is created here is 0600 (directories 0700) whatever the umask, is not inherited by children,
and no link is followed in the last component of a path that is opened.
Invariant: only calls on a whole path translate errors; `open_private`, `sync_file`, `sync_directory` and
`replace` raise OSError, so that a caller can tell a missing file from a full disk. `storage_errors` translates.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from lockstitch.errors import StorageError
from lockstitch.platform import faults

TEMPORARY_PREFIX = ".tmp-"
"""Names of staged files begin so; one that is left after a crash may be removed once nobody writes."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
# ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL and ERROR_WRITE_PROTECT of Windows do not all have an errno of their own.
_WINDOWS_FULL = {39, 112}
_WINDOWS_READ_ONLY = {19}
_NO_DIRECTORY_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
_REPLACE_WAITS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)

_OPEN_FLAGS: int = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a planted FIFO must not block us; no effect on a regular file
    | getattr(os, "O_NOINHERIT", 0)
    | getattr(os, "O_BINARY", 0)
)


def storage_error(error: OSError, path: str | os.PathLike[str]) -> StorageError:
    """Name what the disk said: storageFull, storageReadOnly or storageFailed, with `path` and `errno`."""
    where = os.fspath(path)
    number = error.errno or 0
    windows = getattr(error, "winerror", None)
    if number in _FULL or windows in _WINDOWS_FULL:
        kind, message = "storageFull", f"There is no space left to write {where}; free some space and try again."
    elif number in _READ_ONLY or windows in _WINDOWS_READ_ONLY:
        kind, message = (
            "storageReadOnly",
            f"{where} cannot be written: {_reason(error)}. Check who owns it and its mode.",
        )
    else:
        kind, message = "storageFailed", f"The disk failed at {where}: {_reason(error)}."
    return StorageError(_printable(message), kind=kind, path=_printable(where), errno=number)


@contextlib.contextmanager
def storage_errors(path: str | os.PathLike[str]) -> Generator[None, None, None]:
    """Turn an OSError of the block into the StorageError that names `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _printable(text: str) -> str:
    """A path may hold bytes that are not Unicode; a reply may not."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def file_sync_for(platform: str, system: Any, fcntl: Any) -> Callable[[int], None]:
    """The call that makes a file's content survive power loss on `platform`; `system` is the `os` module."""
    if platform == "darwin":

        def full_sync(fd: int) -> None:
            try:
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            except OSError as error:
                # COMPAT: network and FUSE file systems know no F_FULLFSYNC; fsync is the most they offer.
                if error.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY, errno.ENODEV):
                    raise
                system.fsync(fd)

        return full_sync
    if platform == "win32":
        return system.fsync  # FlushFileBuffers
    return getattr(system, "fdatasync", system.fsync)


if sys.platform == "win32":
    _fcntl: Any = None
else:
    import fcntl as _fcntl

_sync: Callable[[int], None] = file_sync_for(sys.platform, os, _fcntl)


def sync_file(fd: int) -> None:
    """Make the content of an open file survive power loss. Raises OSError."""
    faults.point("sync", fd)
    _sync(fd)
    faults.point("synced", fd)


def sync_directory(path: str | os.PathLike[str], *, dir_fd: int | None = None) -> None:
    """Make the names in a directory survive power loss. Raises OSError.

    Windows cannot sync a directory (NTFS keeps names in its own log), and neither can some network disks.
    """
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        sync_open_directory(fd)
    finally:
        os.close(fd)


def sync_open_directory(fd: int) -> None:
    """Like `sync_directory`, of a directory that is open."""
    faults.point("syncDirectory", fd)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise


def make_private_directory(path: str | os.PathLike[str]) -> None:
    """Create a directory and its missing parents, each 0700 whatever the umask and durable. Raises StorageError.

    A directory that exists keeps its mode: it may be somebody else's choice.
    """
    path = Path(path)
    with storage_errors(path):
        missing: list[Path] = []
        at = path
        while not at.is_dir() and at != at.parent:
            missing.append(at)
            at = at.parent
        for at in reversed(missing):
            try:
                faults.point("mkdir", at)
                os.mkdir(at, 0o700)
            except FileExistsError:
                if not at.is_dir():  # it is a file: os.mkdir's own error says so
                    raise
                continue  # another process was quicker
            if stat.S_IMODE(os.lstat(at).st_mode) != 0o700:
                os.chmod(at, 0o700)
            sync_directory(at.parent)


def open_private(path: str | os.PathLike[str], flags: int, *, dir_fd: int | None = None) -> int:
    """Open a regular file of ours and return its descriptor; raises OSError.

    Follows no link, blocks on no FIFO, is not inherited. With O_CREAT the file is 0600 whatever the umask,
    also if it was wider before.
    """
    if flags & os.O_CREAT:
        faults.point("create", path)
    fd = os.open(path, flags | _OPEN_FLAGS, 0o600, dir_fd=dir_fd)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
        if flags & os.O_CREAT and sys.platform != "win32" and stat.S_IMODE(found.st_mode) != 0o600:
            os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def write_some(fd: int, data: memoryview) -> int:
    """Write what the system takes in one call, and say how much that was. Raises OSError."""
    faults.point("write", fd)
    written = os.write(fd, faults.whole(data))
    if written == len(data):
        faults.point("written", fd)
    return written


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write every byte; a short write of a nearly full disk goes on until it is an error."""
    view = memoryview(data)
    while view:
        view = view[write_some(fd, view) :]


def cut(fd: int, size: int) -> None:
    """Cut an open file back to `size`. Raises OSError."""
    faults.point("cut", fd)
    os.ftruncate(fd, size)


def unlink(path: str | os.PathLike[str], *, dir_fd: int | None = None) -> None:
    """Remove a name. Raises OSError."""
    faults.point("unlink", path)
    os.unlink(path, dir_fd=dir_fd)


def write_atomically(path: str | os.PathLike[str], data: bytes, mode: int = 0o600) -> None:
    """Put `data` at `path` in one step that survives power loss, or leave what was there. Raises StorageError."""
    path = Path(path)
    with storage_errors(path):
        # A short name of its own, not the target's with a suffix: some disks stop at 143 bytes.
        staged = path.with_name(TEMPORARY_PREFIX + os.urandom(8).hex())
        fd = open_private(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            try:
                write_all(fd, data)
                if mode != 0o600 and sys.platform != "win32":
                    os.fchmod(fd, mode)
                sync_file(fd)
            finally:
                os.close(fd)
            replace(staged, path)
        except BaseException:
            with contextlib.suppress(OSError):
                unlink(staged)
            raise
        sync_directory(path.parent)


def replace(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_dir_fd: int | None = None,
    target_dir_fd: int | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Rename over `target`, with patience: on Windows a virus scanner or an indexer holds files for moments.

    Raises OSError; `target` is then as it was.
    """
    faults.point("rename", target)
    for wait in _REPLACE_WAITS:
        try:
            os.replace(source, target, src_dir_fd=source_dir_fd, dst_dir_fd=target_dir_fd)
        except PermissionError:
            sleep(wait)
        else:
            break
    else:
        os.replace(source, target, src_dir_fd=source_dir_fd, dst_dir_fd=target_dir_fd)
    faults.point("renamed", target)


def identity(fd: int) -> tuple[int, int]:
    """Which file this is, whatever its name: device and inode (on Windows volume and file index)."""
    found = os.fstat(fd)
    return found.st_dev, found.st_ino


def stamp_of(status: os.stat_result) -> int:
    """A number that is another one once somebody has written to the file or put another in its place; never 0.

    Always 1 on Windows, which may write a file's times down long after its bytes.
    """
    if sys.platform == "win32":
        return 1
    return ((status.st_mtime_ns ^ (status.st_ino << 20)) & ((1 << 62) - 1)) or 1


def set_modified(fd: int, nanoseconds: int) -> None:
    """Set a file's time of change back, where the system can; what was undone then leaves no trace."""
    if os.utime in os.supports_fd:
        with contextlib.suppress(OSError):
            os.utime(fd, ns=(nanoseconds, nanoseconds))


def free_bytes(path: str | os.PathLike[str]) -> tuple[int, int]:
    """How many bytes we may still write on the disk of `path`, and how large the disk is. Raises OSError."""
    import shutil  # brings in every kind of compression

    found = shutil.disk_usage(path)
    return found.free, found.total


def has_entries(directory: Path) -> bool:
    """Whether there may be something in it: a look that brings in nothing of what acts on it."""
    try:
        return bool(os.listdir(directory))
    except FileNotFoundError:
        return False
    except OSError:
        return True  # who takes over tells of it
