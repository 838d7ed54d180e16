"""Open what is beneath a directory, one component at a time, without following a link.

Invariant: below the root no symbolic link or junction is followed, whoever swaps what at which moment: every
step is relative to the open directory of the step before.
Invariant: nothing that is not a regular file is opened, and no call waits for a FIFO or a device.

Where the system has no such calls (Windows), CAN_OPEN_BENEATH is False and `PathDirectory` checks every
component by name instead. That is good enough to read; writing a user's file must be refused there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from typing import Protocol

from lockstitch.platform import faults
from lockstitch.platform.files import open_private, replace, sync_directory, unlink


def can_open_beneath(system: object, supports_dir_fd: object) -> bool:
    """Whether a system's `os` module has all that opening beneath needs."""
    needed = ("open", "stat", "mkdir", "unlink", "rename", "rmdir")
    return (
        hasattr(system, "O_NOFOLLOW")
        and hasattr(system, "O_DIRECTORY")
        and isinstance(supports_dir_fd, set)
        and all(getattr(system, name) in supports_dir_fd for name in needed)
    )


CAN_OPEN_BENEATH = can_open_beneath(os, os.supports_dir_fd)

# O_PATH asks for search permission only, which is all that a step through a directory needs.
_STEP: int = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class LinkError(OSError):
    """A component is a symbolic link, a junction or another kind of pointer."""

    def __init__(self, name: str) -> None:
        super().__init__(errno.ELOOP, "Is a link", name)


class Directory(Protocol):
    """An open directory; names are single components. All calls raise OSError."""

    def enter(self, name: str) -> Directory:
        """Open a subdirectory; LinkError for a link, NotADirectoryError for anything else."""
        ...

    def status(self, name: str) -> os.stat_result:
        """lstat of a name."""
        ...

    def own_status(self) -> os.stat_result: ...
    def open(self, name: str, flags: int) -> int:
        """Open a regular file; LinkError for a link, OSError(EINVAL) for what is not a regular file."""
        ...

    def make_directory(self, name: str, *, durable: bool = True) -> bool:
        """Create a subdirectory, 0700 whatever the umask, and sync; False if something of that name exists."""
        ...

    def replace(self, source: str, target: str) -> None: ...
    def move(self, source: str, into: Directory, target: str) -> None:
        """Rename a name of this directory over one of another directory of the same kind and disk."""
        ...

    def names(self) -> list[str]:
        """Every name in it, in no order."""
        ...

    def unlink(self, name: str) -> None: ...
    def touch(self, name: str) -> None:
        """Say that the file was changed now."""
        ...

    def remove_directory(self, name: str) -> None:
        """Remove an empty subdirectory."""
        ...

    def sync(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Directory: ...
    def __exit__(self, *_: object) -> None: ...


def open_root(path: str | os.PathLike[str]) -> Directory:
    """Open the directory at which "beneath" starts. Links on the way to it are followed. Raises OSError."""
    if not CAN_OPEN_BENEATH:
        return PathDirectory(os.path.realpath(path, strict=True))
    return OpenDirectory(os.open(path, _STEP & ~os.O_NOFOLLOW), os.fspath(path))


def descend(root: Directory, parts: Sequence[str]) -> Directory:
    """Enter one subdirectory after the other; `root` is closed, whatever happens."""
    at = root
    for part in parts:
        try:
            following = at.enter(part)
        finally:
            at.close()
        at = following
    return at


class OpenDirectory:
    """A directory held by its descriptor."""

    def __init__(self, fd: int, where: str) -> None:
        self._fd = fd
        self.where = where

    def enter(self, name: str) -> OpenDirectory:
        try:
            fd = os.open(name, _STEP, dir_fd=self._fd)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK) and stat.S_ISLNK(self.status(name).st_mode):
                raise LinkError(name) from None
            raise
        return OpenDirectory(fd, f"{self.where}/{name}")

    def status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def own_status(self) -> os.stat_result:
        return os.fstat(self._fd)

    def fileno(self) -> int:
        """The descriptor, for calls relative to it; it stays this object's own."""
        return self._fd

    def open(self, name: str, flags: int) -> int:
        if not flags & os.O_CREAT:
            _refuse_special(name, self.status(name))  # a device may act on being opened, so it is not
        try:
            return open_private(name, flags, dir_fd=self._fd)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise LinkError(name) from None
            raise

    def make_directory(self, name: str, *, durable: bool = True) -> bool:
        try:
            faults.point("mkdir", name)
            os.mkdir(name, 0o700, dir_fd=self._fd)
        except FileExistsError:
            return False
        if stat.S_IMODE(self.status(name).st_mode) != 0o700:
            os.chmod(name, 0o700, dir_fd=self._fd)
        if durable:
            self.sync()
        return True

    def replace(self, source: str, target: str) -> None:
        replace(source, target, source_dir_fd=self._fd, target_dir_fd=self._fd)

    def move(self, source: str, into: Directory, target: str) -> None:
        assert isinstance(into, OpenDirectory)
        replace(source, target, source_dir_fd=self._fd, target_dir_fd=into.fileno())

    def names(self) -> list[str]:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._fd)
        try:
            return os.listdir(fd)
        finally:
            os.close(fd)

    def unlink(self, name: str) -> None:
        unlink(name, dir_fd=self._fd)

    def touch(self, name: str) -> None:
        os.utime(name, dir_fd=self._fd, follow_symlinks=False)

    def remove_directory(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._fd)

    def sync(self) -> None:
        sync_directory(".", dir_fd=self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> OpenDirectory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PathDirectory:
    """A directory known by its real path, for systems that cannot open relative to one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.where = os.fspath(path)

    def enter(self, name: str) -> PathDirectory:
        found = self.status(name)
        if is_pointer(found):
            raise LinkError(name)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", name)
        return PathDirectory(self._at(name))

    def status(self, name: str) -> os.stat_result:
        return os.lstat(self._at(name))

    def own_status(self) -> os.stat_result:
        return os.stat(self.where)

    def open(self, name: str, flags: int) -> int:
        before = None
        if not flags & os.O_CREAT:
            before = self.status(name)
            _refuse_special(name, before)
        fd = open_private(self._at(name), flags)
        after = os.fstat(fd)
        # What was looked at must be what was opened, and still be where it was looked for.
        where = os.path.normcase(os.path.realpath(self.where))
        same = before is None or (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino)
        if not same or where != os.path.normcase(self.where):
            os.close(fd)
            raise LinkError(name)
        return fd

    def make_directory(self, name: str, *, durable: bool = True) -> bool:
        try:
            os.mkdir(self._at(name), 0o700)
        except FileExistsError:
            return False
        os.chmod(self._at(name), 0o700)
        if durable:
            self.sync()
        return True

    def replace(self, source: str, target: str) -> None:
        replace(self._at(source), self._at(target))

    def move(self, source: str, into: Directory, target: str) -> None:
        assert isinstance(into, PathDirectory)
        replace(self._at(source), os.path.join(into.where, target))

    def unlink(self, name: str) -> None:
        unlink(self._at(name))

    def names(self) -> list[str]:
        return os.listdir(self.where)

    def touch(self, name: str) -> None:
        os.utime(self._at(name))

    def remove_directory(self, name: str) -> None:
        os.rmdir(self._at(name))

    def sync(self) -> None:
        sync_directory(self.where)

    def close(self) -> None: ...

    def _at(self, name: str) -> str:
        return os.path.join(self.where, name)

    def __enter__(self) -> PathDirectory:
        return self

    def __exit__(self, *_: object) -> None: ...


def is_pointer(found: os.stat_result) -> bool:
    """Whether lstat's answer is a symbolic link, a junction or another reparse point of Windows."""
    reparse = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0x400)
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & reparse)


def is_ours(found: os.stat_result, user: int | None) -> bool:
    """Whether `user` (the effective user id; None where the system has none) owns what was found."""
    return user is None or found.st_uid == user


def current_user() -> int | None:
    """The effective user id, or None where the system has none."""
    geteuid = getattr(os, "geteuid", None)
    return geteuid() if geteuid is not None else None


def _refuse_special(name: str, found: os.stat_result) -> None:
    if is_pointer(found):
        raise LinkError(name)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", name)
