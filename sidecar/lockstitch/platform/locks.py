"""Locks between processes that the system drops when their holder dies: flock, or LockFileEx on Windows.

Invariant: a lock's file is never deleted here; who holds it is a matter of the system's lock, never of the
file's existence or content. What the file says about its holder is for messages only.
Invariant: a fair lock is not taken twice running by one process while another waits.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from lockstitch.errors import StorageError
from lockstitch.platform.files import identity, open_private, storage_error, write_all

_BUSY = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}
_CANNOT_LOCK = {errno.ENOLCK, errno.EPROTO, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}
_HOLDER_BYTES = 256
_FIRST_WAIT, _LONGEST_WAIT = 0.0002, 0.005


class Locking(Protocol):
    """How one operating system locks an open file without waiting."""

    def lock(self, fd: int, *, shared: bool) -> bool:
        """Take the lock, or return False at once when it is held. Raises OSError where locking does not work."""
        ...

    def unlock(self, fd: int) -> None: ...


class Flock:
    """flock(2): the lock belongs to the open file and goes with its last descriptor."""

    def __init__(self, fcntl: Any) -> None:
        self._fcntl = fcntl

    def lock(self, fd: int, *, shared: bool) -> bool:
        kind = self._fcntl.LOCK_SH if shared else self._fcntl.LOCK_EX
        try:
            self._fcntl.flock(fd, kind | self._fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True

    def unlock(self, fd: int) -> None:
        self._fcntl.flock(fd, self._fcntl.LOCK_UN)


class LockFile:
    """LockFileEx: mandatory, so it locks one byte far behind the text that says who holds it."""

    FAIL_IMMEDIATELY, EXCLUSIVE = 1, 2
    VIOLATION = 33
    OFFSET = 0x7FFF_0000

    def __init__(self, lock_file_ex: Callable[[int, int, int], int], unlock_file_ex: Callable[[int, int], int]) -> None:
        """Both take (fd, …, offset); `lock_file_ex` has flags in the middle. They return a Windows error, 0 if none."""
        self._lock, self._unlock = lock_file_ex, unlock_file_ex

    def lock(self, fd: int, *, shared: bool) -> bool:
        code = self._lock(fd, self.FAIL_IMMEDIATELY | (0 if shared else self.EXCLUSIVE), self.OFFSET)
        if code == self.VIOLATION:
            return False
        if code:
            raise OSError(errno.ENOLCK, f"LockFileEx failed with Windows error {code}")
        return True

    def unlock(self, fd: int) -> None:
        self._unlock(fd, self.OFFSET)


def locking_for(platform: str) -> Locking:
    """The way to lock on `platform`; its system modules are imported only here."""
    if platform == "win32":
        return _windows_locking()
    import fcntl

    return Flock(fcntl)


def _windows_locking() -> Locking:  # pragma: no cover - runs on Windows only; LockFile's logic is tested with fakes
    import ctypes
    import importlib

    msvcrt: Any = importlib.import_module("msvcrt")
    windows: Any = ctypes
    kernel = windows.WinDLL("kernel32", use_last_error=True)

    class Overlapped(ctypes.Structure):
        _fields_ = (
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", ctypes.c_uint32),
            ("offset_high", ctypes.c_uint32),
            ("event", ctypes.c_void_p),
        )

    word, pointer = ctypes.c_uint32, ctypes.c_void_p
    kernel.LockFileEx.argtypes = (pointer, word, word, word, word, pointer)
    kernel.UnlockFileEx.argtypes = (pointer, word, word, word, pointer)

    def lock(fd: int, flags: int, offset: int) -> int:
        at = Overlapped(offset=offset)
        done = kernel.LockFileEx(msvcrt.get_osfhandle(fd), flags, 0, 1, 0, ctypes.byref(at))
        return 0 if done else windows.get_last_error() or -1

    def unlock(fd: int, offset: int) -> int:
        at = Overlapped(offset=offset)
        done = kernel.UnlockFileEx(msvcrt.get_osfhandle(fd), 0, 1, 0, ctypes.byref(at))
        return 0 if done else windows.get_last_error() or -1

    return LockFile(lock, unlock)


_locking = locking_for(sys.platform)


class FileLock:
    """One process's hold on a lock file. Not for use by several threads at once.

    With `fair`, a second file beside it (`<name>.next`) is held by the one who waits, so that a holder that
    lets go and comes again stands behind it.
    """

    def __init__(self, path: str | os.PathLike[str], *, fair: bool = False, locking: Locking | None = None) -> None:
        self.path = Path(path)
        self.held = False
        self._fd: int | None = None
        self._locking = locking or _locking
        self._next = FileLock(f"{os.fspath(path)}.next", locking=locking) if fair else None

    def acquire(self, timeout: float, *, shared: bool = False) -> bool:
        """Take the lock within `timeout` seconds (0 = do not wait); False if it is held by somebody else.

        Raises StorageError where the file cannot be created or the file system cannot lock.
        """
        if self.held:
            raise RuntimeError(f"{self.path.name} is held already")
        deadline = time.monotonic() + timeout
        if self._next is None:
            return self._take(deadline, shared)
        if not self._next._take(deadline, shared=False):
            return False
        try:
            if self._try(shared):
                return True
            with contextlib.suppress(StorageError):
                self._next.write_holder(str(os.getpid()))
            return self._take(deadline, shared)
        finally:
            self._next.release()

    def release(self) -> None:
        """Let go; the file stays open for the next time. Harmless when not held."""
        if self._fd is not None and self.held:
            self._locking.unlock(self._fd)
        self.held = False

    def close(self) -> None:
        """Let go and close the file. Harmless when closed."""
        self.release()
        if self._next is not None:
            self._next.close()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def write_holder(self, text: str) -> None:
        """Say in the file who holds the lock. Raises StorageError."""
        if self._fd is None or not self.held:
            raise RuntimeError(f"{self.path.name} is not held")
        try:
            os.lseek(self._fd, 0, os.SEEK_SET)
            # Padded to one length, so that a shorter text needs no truncation: this is done for every group.
            write_all(self._fd, text.encode("utf-8")[:_HOLDER_BYTES].ljust(_HOLDER_BYTES))
        except OSError as error:
            raise storage_error(error, self.path) from error

    def read_holder(self) -> str | None:
        """What the last holder wrote, or None. It may be gone since: only the lock itself proves a holder."""
        return read_holder(self.path)

    def read_blocker(self) -> str | None:
        """What the one wrote who keeps us out now: the holder, or who waits first in a fair lock."""
        if self._next is not None and not is_held(self.path, locking=self._locking):
            return self._next.read_holder()
        return self.read_holder()

    def _take(self, deadline: float, shared: bool) -> bool:
        wait = _FIRST_WAIT
        while not self._try(shared):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(wait, left))
            wait = min(wait * 2, _LONGEST_WAIT)
        return True

    def _try(self, shared: bool) -> bool:
        try:
            if self._fd is None:
                self._fd = open_private(self.path, os.O_RDWR | os.O_CREAT)
            if not self._locking.lock(self._fd, shared=shared):
                return False
            # A file that was removed or replaced under us locks nobody out.
            if not self._is_in_place(self._fd):
                os.close(self._fd)
                self._fd = None
                return self._try(shared)
        except OSError as error:
            raise _lock_error(error, self.path) from error
        self.held = True
        return True

    def _is_in_place(self, fd: int) -> bool:
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == identity(fd)


def try_lock(path: str | os.PathLike[str]) -> FileLock | None:
    """The lock, held, or None when somebody holds it. Raises StorageError."""
    lock = FileLock(path)
    if lock.acquire(0):
        return lock
    lock.close()
    return None


def is_held(path: str | os.PathLike[str], *, locking: Locking | None = None) -> bool:
    """Whether anybody holds the lock (this process included). Writes nothing; a file that is not there is not held.

    Raises StorageError where the file system cannot lock.
    """
    locking = locking or _locking
    try:
        fd = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        if not locking.lock(fd, shared=True):
            return True
        locking.unlock(fd)
        return False
    except OSError as error:
        raise _lock_error(error, Path(path)) from error
    finally:
        os.close(fd)


def read_holder(path: str | os.PathLike[str]) -> str | None:
    """The text that a holder wrote into a lock file, or None."""
    with contextlib.suppress(OSError):
        fd = open_private(path, os.O_RDONLY)
        try:
            return os.read(fd, _HOLDER_BYTES).decode("utf-8", "replace").rstrip() or None
        finally:
            os.close(fd)
    return None


def _lock_error(error: OSError, path: Path) -> StorageError:
    named = storage_error(error, path)
    if error.errno not in _CANNOT_LOCK:
        return named
    reason = (error.strerror or "no reason given").lower()
    return StorageError(
        f"The file system of {named.facts['path']} cannot lock files ({reason}); "
        "put the data directory on a local disk with --data-dir or LOCKSTITCH_DATA_DIR.",
        kind="storageFailed",
        **named.facts,
    )
