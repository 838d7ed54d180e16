"""Read a user's file as it is now, honestly, and without touching or following anything.

Invariant: no link is followed below the workspace, no FIFO or device is opened, no timestamp is set by us.
Invariant: what comes back as available was the file's whole content at one moment: it was read twice alike,
and neither the file nor its name changed meanwhile. Anything else says why.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from lockstitch.artifacts.content import MISSING, Content, available
from lockstitch.artifacts.paths import printable, refuse
from lockstitch.errors import UnavailableError
from lockstitch.platform.beneath import Directory, LinkError, descend, is_pointer, open_root

CHANGED = "changed while reading"
_ATTEMPTS = 5
_BLOCK = 8 << 20
_GONE = (errno.ENOENT, errno.ENOTDIR)


def read_file(workspace: Path, path: str, *, max_bytes: int) -> Content:
    """Capture one file; `path` is workspace-relative and has passed `workspace_path`.

    An absent file is `missing`; a larger one `tooLarge`, with size and mode; one that cannot be read, or does
    not stand still, `unreadable` with a reason. Raises RefusedError(pathRefused) for a link, directory or
    special file, UnavailableError(workspaceUnavailable) where there is no workspace.
    """
    *folders, name = path.split("/")
    root = _open_workspace(workspace)
    try:
        with descend(root, folders) as directory:
            return read_in(directory, name, path, max_bytes=max_bytes)
    except OSError as error:
        return not_read(error, path)


def read_in(directory: Directory, name: str, path: str, *, max_bytes: int) -> Content:
    """As `read_file`, in the open folder of the path."""
    try:
        for _ in range(_ATTEMPTS):
            content = _read_once(directory, name, path, max_bytes)
            if content is not None:
                return content
        return Content("unreadable", reason=CHANGED, mode=_mode(directory.status(name)))
    except OSError as error:
        return not_read(error, path)


def check_target(workspace: Path, path: str, *, writing: bool) -> None:
    """Refuse a path by what the disk shows there: links, special files, and hard links if it is to be written.

    A path that is absent, also with its folders, is fine. Raises as `read_file` does.
    """
    *folders, name = path.split("/")
    root = _open_workspace(workspace)
    try:
        with descend(root, folders) as directory:
            found = directory.status(name)
    except LinkError:
        refuse("symlink", path)
    except OSError:
        return
    _refuse_special(found, path)
    if writing and found.st_nlink > 1:
        refuse("hardLink", path)


def _open_workspace(workspace: Path) -> Directory:
    try:
        return open_root(workspace)
    except OSError as error:
        where = printable(os.fspath(workspace))
        raise UnavailableError(
            f"The workspace {where} cannot be opened ({_reason(error)}). Link the thread to where it is now.",
            kind="workspaceUnavailable",
            path=where,
            reason=_reason(error),
        ) from error


def _read_once(directory: Directory, name: str, path: str, max_bytes: int) -> Content | None:
    """One attempt; None when the file did not stand still."""
    named = directory.status(name)
    _refuse_special(named, path)
    if named.st_size > max_bytes:
        return Content("tooLarge", size=named.st_size, mode=_mode(named), reason=f"larger than {max_bytes} bytes")
    try:
        fd = directory.open(name, os.O_RDONLY)
    except PermissionError as error:
        return Content("unreadable", size=named.st_size, mode=_mode(named), reason=_reason(error))
    except FileNotFoundError:
        return None  # replaced just now, or gone: the next attempt tells
    try:
        before = os.fstat(fd)
        data = _read_whole(fd, before.st_size)
        # A second look finds what a clock of milliseconds hides: a write within the same tick.
        if data is None or not _reads_the_same(fd, data):
            return None
        after = os.fstat(fd)
    finally:
        os.close(fd)
    now = directory.status(name)
    if not _stamp(named) == _stamp(before) == _stamp(after) == _stamp(now):
        return None
    return available(data, mode=_mode(after))


def _read_whole(fd: int, size: int) -> bytes | None:
    """All bytes if there are exactly `size`."""
    blocks: list[bytes] = []
    left = size + 1
    while left > 0 and (block := os.read(fd, min(left, _BLOCK))):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks) if left == 1 else None


def _reads_the_same(fd: int, data: bytes) -> bool:
    os.lseek(fd, 0, os.SEEK_SET)
    at = 0
    while block := os.read(fd, _BLOCK):
        if not data.startswith(block, at):
            return False
        at += len(block)
    return at == len(data)


def _stamp(found: os.stat_result) -> tuple[int, int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _refuse_special(found: os.stat_result, path: str) -> None:
    if is_pointer(found):
        refuse("symlink", path)
    if stat.S_ISDIR(found.st_mode):
        refuse("directory", path)
    if not stat.S_ISREG(found.st_mode):
        refuse("specialFile", path)


def not_read(error: OSError, path: str) -> Content:
    """What is told of a file that could not be read. Raises RefusedError for a link."""
    if isinstance(error, LinkError):
        refuse("symlink", path)
    if error.errno in _GONE:
        return MISSING
    return Content("unreadable", reason=_reason(error))


def _mode(found: os.stat_result) -> str:
    return f"{found.st_mode & 0o777:04o}"


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
