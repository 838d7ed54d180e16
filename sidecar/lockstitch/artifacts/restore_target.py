"""The place where a file is to be written: its open directory, and everything that forbids writing there.

Invariant: a directory is opened component by component without following a link, at the moment of writing,
whatever was looked at before. No component on another mount, no file with other names, no other spelling.
"""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lockstitch.artifacts.content import Content, available
from lockstitch.artifacts.paths import printable, refuse, workspace_path
from lockstitch.errors import LockstitchError, UnavailableError
from lockstitch.platform import faults
from lockstitch.platform.belongings import mount_of
from lockstitch.platform.beneath import LinkError, OpenDirectory, is_pointer, open_root

_BLOCK = 1 << 20


def refuse_platform(workspace: str) -> None:
    """Restoring needs handles that follow no link; say so where the system has none."""
    raise UnavailableError(
        "This system cannot open files without following links, so nothing is restored on it; read the version "
        "with fileCheckpoint/get and put it back by hand.",
        kind="workspaceUnavailable",
        path=printable(workspace),
        reason="platform",
    )


@dataclass(slots=True)
class Target:
    """An open directory and the name in it. Close it."""

    directory: OpenDirectory
    name: str
    mount: str
    """Which mount the directory is on."""

    @property
    def where(self) -> str:
        """The path, for messages."""
        return os.path.join(self.directory.where, self.name)

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        self.directory.close()


def open_target(workspace: Path, path: str, *, make: bool = False) -> Target:
    """Open the folder of a path; with `make`, missing folders are made as the user's own programs would.

    Raises FileNotFoundError if a folder is missing, RefusedError(pathRefused), UnavailableError, OSError.
    """
    _judge_name(path)
    *folders, name = path.split("/")
    at = _open_workspace(workspace)
    try:
        mount = mount_of(at.fileno())
        for folder in folders:
            at = _enter(at, folder, path, make)
            if mount_of(at.fileno()) != mount:
                refuse("mountPoint", path)
        _refuse_twin(at, name, path)
        return Target(at, name, mount)
    except BaseException:
        at.close()
        raise


@lru_cache(maxsize=4096)
def _judge_name(path: str) -> None:
    """Judged again: a journal or a rollout may be damaged or planted. Raises RefusedError."""
    if workspace_path(path, None) != path:
        refuse("outsideWorkspace", path)


class Folders:
    """The folders of a workspace while their files are seen to one after the other: each is opened once for those
    that come in a row.

    Invariant: at the moment when a folder is handed out, its path still leads to it.
    """

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._directory: OpenDirectory | None = None
        self._folder = ""
        self._identity = (0, 0)
        self._mount = ""
        self._writable: bool | None = None
        self._folds = True
        """Whether the disk may take names in the folder that differ in case for one."""

    def at(self, path: str, *, make: bool = False) -> Target:
        """As `open_target`, but the directory is closed by the next call or by `close`."""
        folder, _, name = path.rpartition("/")
        if self._directory is not None and folder == self._folder and self._is_there():
            _judge_name(path)
            self._refuse_twin(self._directory, name, path)
            return Target(self._directory, name, self._mount)
        self.close()
        target = open_target(self._workspace, path, make=make)
        found = target.directory.own_status()
        self._directory, self._folder, self._mount = target.directory, folder, target.mount
        self._identity, self._writable, self._folds = (found.st_dev, found.st_ino), None, True
        return target

    def can_write_beside(self, path: str) -> bool:
        """Whether names may be made and removed in the folder of a path, or in the nearest one that is there."""
        try:
            directory = self.at(path).directory
        except FileNotFoundError:
            return can_write_beside(self._workspace, path)
        if self._writable is None:
            self._writable = can_write(directory)
        return self._writable

    def close(self) -> None:
        """Close what is open."""
        directory, self._directory = self._directory, None
        if directory is not None:
            directory.close()

    def _refuse_twin(self, directory: OpenDirectory, name: str, path: str) -> None:
        if self._folds or not name.isascii():
            other = name.swapcase()
            _refuse_twin(directory, name, path)
            # A disk on which one name is not found in the other case folds none of this directory.
            self._folds = not name.isascii() or other == name or not _is_alone(directory, name, other)

    def _is_there(self) -> bool:
        try:
            found = os.stat(f"{self._workspace}/{self._folder}", follow_symlinks=not self._folder)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def __enter__(self) -> Folders:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_workspace(workspace: Path) -> OpenDirectory:
    try:
        found = open_root(workspace)
    except OSError as error:
        where = printable(os.fspath(workspace))
        raise UnavailableError(
            f"The workspace {where} cannot be opened. Link the thread to where it is now.",
            kind="workspaceUnavailable",
            path=where,
            reason=(error.strerror or type(error).__name__).lower(),
        ) from error
    if not isinstance(found, OpenDirectory):
        refuse_platform(os.fspath(workspace))
        raise AssertionError
    return found


def _enter(at: OpenDirectory, folder: str, path: str, make: bool) -> OpenDirectory:
    """One step down; `at` is closed if that succeeds."""
    _refuse_twin(at, folder, path)
    try:
        following = at.enter(folder)
    except LinkError:
        refuse("symlink", path)
    except NotADirectoryError:
        refuse("notADirectory", path, in_the_way="A file stands where a folder of the path was")
    except FileNotFoundError:
        if not make:
            raise
        faults.point("mkdir", folder)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o777, dir_fd=at.fileno())
            at.sync()
        return _enter(at, folder, path, False)
    at.close()
    return following


def _refuse_twin(at: OpenDirectory, name: str, path: str) -> None:
    """Refuse a name that the disk has, but spelled otherwise. Only a disk that folds names is asked for them all."""
    try:
        found = at.status(name)
    except OSError:
        return
    others = {name.swapcase()}
    if not name.isascii():
        others |= {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    others.discard(name)
    if any(_is_same(at, other, found) for other in others) and name not in at.names():
        refuse("twin", path)


def _is_alone(at: OpenDirectory, name: str, other: str) -> bool:
    """Whether there is something of one name and nothing of the other."""
    try:
        at.status(name)
    except OSError:
        return False
    try:
        at.status(other)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _is_same(at: OpenDirectory, name: str, found: os.stat_result) -> bool:
    try:
        other = at.status(name)
    except (OSError, ValueError):
        return False
    return (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino)


def missing_folders(folders: Folders, path: str) -> list[str]:
    """The folders of a path that are not there, outermost first, workspace-relative."""
    above = path.split("/")[:-1]
    for number in range(len(above), 0, -1):
        try:
            folders.at("/".join(above[:number]) + "/x")
        except FileNotFoundError:
            continue
        return ["/".join(above[: end + 1]) for end in range(number, len(above))]
    return ["/".join(above[: end + 1]) for end in range(len(above))]


def refuse_unwritable(target: Target, path: str) -> None:
    """Refuse a path whose file may not be replaced; one that is not there is fine. Raises RefusedError."""
    try:
        found = target.directory.status(target.name)
    except FileNotFoundError:
        return
    refuse_special(found, path)
    fd = os.open(target.name, _LOOK, dir_fd=target.directory.fileno())
    try:
        if mount_of(fd) != target.mount:
            refuse("mountPoint", path)
    finally:
        os.close(fd)


def can_write_beside(workspace: Path, path: str) -> bool:
    """Whether names may be made and removed in the folder of a path, or in the nearest one that is there."""
    parts = path.split("/")
    for depth in range(len(parts), 0, -1):
        with contextlib.suppress(FileNotFoundError), open_target(workspace, "/".join(parts[:depth])) as target:
            return can_write(target.directory)
    return True


def can_write(directory: OpenDirectory) -> bool:
    """Whether names may be made and removed in an open directory."""
    effective = os.access in os.supports_effective_ids
    return os.access(".", os.W_OK | os.X_OK, dir_fd=directory.fileno(), effective_ids=effective)


# O_PATH opens nothing, so that neither permissions nor devices matter; elsewhere the directory's own mount has to do.
_LOOK: int = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | getattr(os, "O_NOFOLLOW", 0) | os.O_CLOEXEC


def refuse_special(found: os.stat_result, path: str) -> None:
    """Refuse what is no regular file, and a file that has other names. Raises RefusedError."""
    if is_pointer(found):
        refuse("symlink", path)
    if stat.S_ISDIR(found.st_mode):
        refuse("directory", path, in_the_way="A folder stands where the file was")
    if not stat.S_ISREG(found.st_mode):
        refuse("specialFile", path)
    if found.st_nlink > 1:
        refuse("hardLink", path)


def read_name(directory: OpenDirectory, name: str, *, max_bytes: int) -> Content | None:
    """What a name in an open directory holds; None if there is nothing. Raises OSError for what is no file."""
    try:
        fd = directory.open(name, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(fd)
        mode = f"{found.st_mode & 0o777:04o}"
        if found.st_size > max_bytes:
            return Content("tooLarge", size=found.st_size, mode=mode)
        blocks: list[bytes] = []
        while block := os.read(fd, _BLOCK):
            blocks.append(block)
    finally:
        os.close(fd)
    return available(b"".join(blocks), mode=mode)


def remove_empty(workspace: Path, folders: Sequence[str], sync: Callable[[OpenDirectory], None]) -> None:
    """Remove those of these folders that are empty, innermost first."""
    for folder in sorted(folders, key=lambda name: name.count("/"), reverse=True):
        with contextlib.suppress(OSError, LockstitchError), open_target(workspace, folder) as target:
            faults.point("rmdir", target.name)
            os.rmdir(target.name, dir_fd=target.directory.fileno())
            sync(target.directory)
