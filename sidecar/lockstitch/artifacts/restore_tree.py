"""Folders that change places with a file: listed, read, written and removed as a whole.

Invariant: everything is opened relative to the directory above it, without following a link. Nothing is removed
but regular files whose bytes are in a version, or that we wrote, and folders that are empty then.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Collection, Mapping

from lockstitch.artifacts.content import Content
from lockstitch.artifacts.restore_journal import State, Tree, tree_state
from lockstitch.artifacts.restore_target import Target, can_write, read_name
from lockstitch.platform import faults
from lockstitch.platform.belongings import mount_of
from lockstitch.platform.beneath import OpenDirectory

_ANY_SIZE = 1 << 62

FOREIGN = State("foreign")
"""What is neither a regular file nor a folder of such."""


class OddEntryError(OSError):
    """Something in a folder is neither a regular file of one name nor a folder of the same disk."""


def what_else(target: Target, files: Collection[str], folders: Collection[str]) -> str | None:
    """The first thing in a folder that is none of these, by its path within, or that may not be removed.

    Raises OSError.
    """

    def look(directory: OpenDirectory, within: str) -> str | None:
        if mount_of(directory.fileno()) != target.mount or not can_write(directory):
            return within
        for name in directory.names():
            path = f"{within}/{name}" if within else name
            found = directory.status(name)
            if stat.S_ISDIR(found.st_mode) and path in folders:
                with directory.enter(name) as following:
                    odd = look(following, path)
                if odd is not None:
                    return odd
            elif not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or path not in files:
                return path
        return None

    with target.directory.enter(target.name) as directory:
        return look(directory, "")


def read_tree(above: OpenDirectory, name: str) -> dict[str, Content]:
    """The files of a folder by their paths within it, with their bytes. Raises OSError, OddEntryError."""
    found: dict[str, Content] = {}

    def read(directory: OpenDirectory, within: str) -> None:
        for each in directory.names():
            path = f"{within}{each}"
            status = directory.status(each)
            if stat.S_ISDIR(status.st_mode):
                with directory.enter(each) as following:
                    read(following, f"{path}/")
                continue
            held = None if status.st_nlink > 1 else read_name(directory, each, max_bytes=_ANY_SIZE)
            if held is None:
                raise OddEntryError(f"{path} is no file of one name")
            found[path] = held

    with above.enter(name) as directory:
        read(directory, "")
    return found


def state_of(directory: OpenDirectory, name: str) -> State | None:
    """What is at a name: a file or a folder of files; None for nothing, FOREIGN for what is something else."""
    try:
        if not stat.S_ISDIR(directory.status(name).st_mode):
            held = read_name(directory, name, max_bytes=_ANY_SIZE)
            return None if held is None else State(held.sha256, int(held.mode or "0", 8))
        tree = read_tree(directory, name)
    except FileNotFoundError:
        return None
    except OSError:
        return FOREIGN
    return tree_state({path: State(held.sha256) for path, held in tree.items()})


def make_tree(above: OpenDirectory, name: str, tree: Tree, write: Callable[[OpenDirectory, str, str], None]) -> None:
    """Make a folder with its folders; `write(folder, name, path within)` writes each file. Raises OSError."""
    faults.point("mkdir", name)
    os.mkdir(name, 0o777, dir_fd=above.fileno())
    for path in sorted(tree):
        *folders, file = path.split("/")
        with contextlib.ExitStack() as opened:
            at = opened.enter_context(above.enter(name))
            for folder in folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, 0o777, dir_fd=at.fileno())
                at = opened.enter_context(at.enter(folder))
            write(at, file, path)


def sync_tree(above: OpenDirectory, name: str) -> None:
    """Make the names in a folder durable, and in its folders. Raises OSError."""
    with above.enter(name) as directory:
        for each in directory.names():
            if stat.S_ISDIR(directory.status(each).st_mode):
                sync_tree(directory, each)
        directory.sync()


def remove_tree(
    above: OpenDirectory, name: str, known: Callable[[str, str | None], bool], keep: Callable[[bytes], str]
) -> list[tuple[str, Content]]:
    """Remove a folder with the files in it, whose bytes are in a version if `known(path within, sha256)` says so.

    Other bytes are kept first, and returned by their path within. Raises OSError, also if what is no regular file
    stands in the way: it stays.
    """
    kept: list[tuple[str, Content]] = []

    def remove(directory: OpenDirectory, within: str) -> None:
        for each in directory.names():
            path = f"{within}{each}"
            if stat.S_ISDIR(directory.status(each).st_mode):
                with directory.enter(each) as following:
                    remove(following, f"{path}/")
                _remove_folder(directory, each)
                continue
            with contextlib.suppress(OSError):
                held = read_name(directory, each, max_bytes=_ANY_SIZE)
                if held is not None and held.data is not None and not known(path, held.sha256):
                    keep(held.data)
                    kept.append((path, held))
                directory.unlink(each)

    try:
        with above.enter(name) as directory:
            remove(directory, "")
    except FileNotFoundError:
        return []
    _remove_folder(above, name)
    return kept


def _remove_folder(above: OpenDirectory, name: str) -> None:
    faults.point("rmdir", name)
    above.remove_directory(name)


def is_folder(directory: OpenDirectory, name: str) -> bool:
    """Whether there is a folder of that name."""
    try:
        return stat.S_ISDIR(directory.status(name).st_mode)
    except FileNotFoundError:
        return False


def hashes_of(tree: Mapping[str, State]) -> Callable[[str, str | None], bool]:
    """Whether a file of a tree holds what the tree says."""
    return lambda path, sha256: path in tree and tree[path].sha256 == sha256
