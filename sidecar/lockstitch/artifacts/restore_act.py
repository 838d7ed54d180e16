"""Do a restore: stage all contents beside their targets, then exchange them, one atomic call a file.

Invariant: no target is touched before every content is whole, verified and on the disk.
Invariant: nothing that had been in place is removed by the exchange: it is set aside and hashed, and goes only
after the restore is recorded, when what was set aside is in a version.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lockstitch.artifacts.content import Content
from lockstitch.artifacts.paths import path_to_wire, refuse
from lockstitch.artifacts.restore_journal import Entry, Journal, State, tree_state
from lockstitch.artifacts.restore_plan import MAX_FILE_BYTES
from lockstitch.artifacts.restore_target import Folders, Target, open_target, read_name, refuse_special
from lockstitch.artifacts.restore_tree import hashes_of, is_folder, make_tree, read_tree, remove_tree, sync_tree
from lockstitch.errors import ConflictError, StorageError
from lockstitch.platform import faults
from lockstitch.platform.at_once import AtOnce
from lockstitch.platform.belongings import adopt
from lockstitch.platform.beneath import LinkError, OpenDirectory
from lockstitch.platform.exchange import RENAMES
from lockstitch.platform.files import storage_error, sync_file, write_all

_ATTEMPTS = 8
_TOGETHER = 32
"""So many contents are on their way to the disk at a time, each with its file open."""

_BLOCK = 1 << 20
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class CameOut:
    """What had been at a path when the exchange came."""

    content: Content | None
    """Without its bytes; None: nothing was there."""
    foreseen: bool
    """Whether it was what the plan saw. If not, its bytes are in the store now."""


@dataclass(slots=True)
class _Part:
    """A content that is written and open until it is verified."""

    entry: Entry
    path: str
    sha256: str | None
    fd: int

    def verify(self) -> None:
        """Read back what is on the disk. Raises StorageError, OSError."""
        os.lseek(self.fd, 0, os.SEEK_SET)
        digest = hashlib.sha256()
        while block := os.read(self.fd, _BLOCK):
            digest.update(block)
        if digest.hexdigest() != self.sha256:
            shown = path_to_wire(self.path)["path"]
            raise StorageError(
                f"The disk gave back other bytes than were written beside {shown}; nothing was changed.",
                path=shown,
                errno=0,
            )


_NOTHING = CameOut(None, True)
_disk = AtOnce()


def stage(workspace: Path, journal: Journal, content_of: Callable[[str], bytes]) -> None:
    """Write the contents beside their targets, make them durable, and verify what the disk holds.

    Raises StorageError, RefusedError, UnavailableError; no target was touched then.
    """
    writes = [entry for entry in journal.entries if entry.to.sha256 is not None]
    parts: list[_Part] = []

    def settle() -> None:
        """Have what was written on the disk; several at a time, which the disk takes together."""
        for part, error in zip(parts, _disk.run([partial(sync_file, part.fd) for part in parts]), strict=True):
            with _errors_at(os.path.join(workspace, part.path)):
                if error is not None:
                    raise error
                part.verify()
        close()

    def close() -> None:
        for part in parts:
            os.close(part.fd)
        parts.clear()

    def add(part: _Part) -> None:
        parts.append(part)
        if len(parts) == _TOGETHER:
            settle()

    try:
        with Folders(workspace) as folders:
            for entry in writes:
                target = _target(workspace, folders, entry, make=True)
                with _errors_at(target.where):
                    _write(target, entry, content_of, add)
            settle()
            for entry in writes:
                target = _target(workspace, folders, entry)
                with _errors_at(target.where):
                    if entry.makes_folder:
                        sync_tree(target.directory, entry.part)
                    RENAMES.move_new(target.directory.fileno(), entry.part, entry.staged)
    finally:
        close()


def _target(workspace: Path, folders: Folders, entry: Entry, *, make: bool = False) -> Target:
    try:
        return folders.at(entry.path, make=make)
    except LinkError:
        refuse("symlink", entry.path)
    except OSError as error:
        raise storage_error(error, os.path.join(workspace, entry.path)) from error


@contextlib.contextmanager
def _errors_at(where: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, where) from error


def _write(target: Target, entry: Entry, content_of: Callable[[str], bytes], add: Callable[[_Part], None]) -> None:
    if not entry.makes_folder:
        add(_write_part(target.directory, entry.part, entry, entry.path, entry.to, content_of))
        return
    tree = entry.tree or {}

    def write(directory: OpenDirectory, name: str, within: str) -> None:
        add(_write_part(directory, name, entry, f"{entry.path}/{within}", tree[within], content_of))

    make_tree(target.directory, entry.part, tree, write)


def _write_part(
    directory: OpenDirectory, name: str, entry: Entry, path: str, to: State, content_of: Callable[[str], bytes]
) -> _Part:
    data = content_of(to.sha256 or "")
    like = None
    if entry.tree is None:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            like = directory.open(path.rpartition("/")[2], os.O_RDONLY)
    try:
        mode = to.mode
        if mode is None and like is not None:
            mode = os.fstat(like).st_mode & 0o777
        # Bits that nobody knows are those of any new file of the user: the umask decides.
        faults.point("create", name)
        fd = os.open(name, _CREATE, 0o666 if mode is None else 0o600, dir_fd=directory.fileno())
        try:
            write_all(fd, data)
            adopt(fd, like, mode)
        except BaseException:
            os.close(fd)
            raise
    finally:
        if like is not None:
            os.close(like)
    return _Part(entry, path, to.sha256, fd)


def exchange(workspace: Path, journal: Journal, keep: Callable[[bytes], str]) -> dict[str, CameOut]:
    """Put what is staged in its place, file by file, and take files away. `keep` stores bytes that nobody foresaw.

    Returns for each path what came out. Raises RefusedError, ConflictError or StorageError; the target that it is
    about is then as it was, those before it are not.
    """
    out: dict[str, CameOut] = {}
    with Folders(workspace) as folders:
        for entry in journal.entries:
            target = _target(workspace, folders, entry)
            with _errors_at(target.where):
                out.update(_exchange(target, entry, keep))
    return out


def _exchange(target: Target, entry: Entry, keep: Callable[[bytes], str]) -> dict[str, CameOut]:
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(FileNotFoundError):
            if not entry.takes_folder:
                refuse_special(target.directory.status(target.name), entry.path)
        try:
            out = _take_away(target, entry) if entry.to.sha256 is None else _put_in_place(target, entry)
        except FileExistsError:
            continue
        entry.held = () if out is None else (out,)
        if out is not None:
            return _judge(target, entry, out, keep)
        nothing = CameOut(None, entry.was.sha256 is None)
        return dict.fromkeys((entry.path, *_members(entry)), nothing)
    raise _conflict(entry, "changes faster than it can be replaced; close what writes it, then try again.")


def _members(entry: Entry) -> list[str]:
    return [f"{entry.path}/{path}" for path in entry.tree or {}]


def _conflict(entry: Entry, what: str) -> ConflictError:
    told = path_to_wire(entry.path)
    return ConflictError(f"{told['path']} {what}", kind="conflict", files=[told])


def _take_away(target: Target, entry: Entry) -> str | None:
    try:
        RENAMES.move_new(target.directory.fileno(), target.name, entry.aside)
    except FileNotFoundError:
        return None
    return entry.aside


def _put_in_place(target: Target, entry: Entry) -> str | None:
    """The name under which what had been there now is; None if nothing was. Raises FileExistsError."""
    fd = target.directory.fileno()
    try:
        if RENAMES.exchange(fd, entry.staged, target.name):
            return entry.staged
    except FileNotFoundError:
        RENAMES.move_new(fd, entry.staged, target.name)
        return None
    # COMPAT: a disk that cannot exchange. In between there is no file, and one that appears is not overwritten.
    out = _take_away(target, entry)
    try:
        RENAMES.move_new(fd, entry.staged, target.name)
    except FileExistsError:
        # What appeared is the newest: it stays, and what had been there goes on as a conflict.
        raise _conflict(entry, "appeared anew while it was being replaced; it was left alone.") from None
    return out


def _judge(target: Target, entry: Entry, out: str, keep: Callable[[bytes], str]) -> dict[str, CameOut]:
    """Look at what came out; what may not be replaced, or cannot be recorded, is put back at once."""
    directory = target.directory
    try:
        if entry.takes_folder:
            return _judge_folder(directory, entry, out)
        refuse_special(directory.status(out), entry.path)
        found = read_name(directory, out, max_bytes=MAX_FILE_BYTES)
        if found is None or found.data is None:
            raise _conflict(entry, "grew too large to be recorded; it was left alone.")
        foreseen = found.sha256 == entry.was.sha256
        if not foreseen:
            keep(found.data)
    except BaseException:
        _give_back(target, entry, out)
        raise
    entry.came_out = found.sha256
    return {entry.path: CameOut(found.without_data(), foreseen), **dict.fromkeys(_members(entry), _NOTHING)}


def _judge_folder(directory: OpenDirectory, entry: Entry, out: str) -> dict[str, CameOut]:
    """A folder is replaced only while it holds what the plan saw, to the last byte. Raises ConflictError."""
    try:
        found = read_tree(directory, out)
    except OSError:
        found = None
    if found is None or tree_state({path: State(held.sha256) for path, held in found.items()}) != entry.was:
        raise _conflict(entry, "was changed while it was being replaced; it was left alone. Try again.")
    files = {f"{entry.path}/{path}": CameOut(held.without_data(), True) for path, held in found.items()}
    return {entry.path: _NOTHING, **files}


def _give_back(target: Target, entry: Entry, out: str) -> None:
    fd = target.directory.fileno()
    with contextlib.suppress(OSError):
        if entry.to.sha256 is None or out == entry.aside:
            if entry.to.sha256 is not None:
                RENAMES.move_new(fd, target.name, entry.staged)
            RENAMES.move_new(fd, out, target.name)
        else:
            RENAMES.exchange(fd, out, target.name)


def sync_folders(workspace: Path, entries: Iterable[Entry]) -> None:
    """Make the new names durable, each folder once. Raises StorageError."""
    folders = sorted({entry.path.rpartition("/")[0] for entry in entries})

    def sync(folder: str) -> None:
        with contextlib.suppress(FileNotFoundError), open_target(workspace, f"{folder}/x" if folder else "x") as target:
            target.directory.sync()

    for folder, error in zip(folders, _disk.run([partial(sync, folder) for folder in folders]), strict=True):
        with _errors_at(os.path.join(workspace, folder)):
            if error is not None:
                raise error


def retire(workspace: Path, journal: Journal, keep: Callable[[bytes], str]) -> list[tuple[str, Content]]:
    """After the restore is recorded: remove what was set aside.

    Returns what somebody wrote into it meanwhile, through a file that he still had open: those bytes are in the
    store, and their owner shall hear of them. Raises OSError where a folder cannot be written.
    """
    late: list[tuple[str, Content]] = []
    with Folders(workspace) as folders:
        for entry in journal.entries:
            if entry.held == ():
                continue
            try:
                target = folders.at(entry.path)
            except FileNotFoundError:
                continue
            late += remove_held(target.directory, entry, entry.came_out or entry.was.sha256, keep, entry.held)
    sync_folders(workspace, journal.entries)
    return late


def remove_held(
    directory: OpenDirectory,
    entry: Entry,
    expected: str | None,
    keep: Callable[[bytes], str],
    held: tuple[str, ...] | None = None,
) -> list[tuple[str, Content]]:
    """Remove our names beside a target; contents other than `expected` and our own are kept, and returned with
    their paths. `held`: the only name that there is, if that is known.
    """
    found: list[tuple[str, Content]] = []
    for name in (entry.aside, entry.staged, entry.spare) if held is None else held:
        if entry.tree is not None and is_folder(directory, name):
            kept = remove_tree(directory, name, hashes_of(entry.tree), keep)
            found += [(f"{entry.path}/{path}", content) for path, content in kept]
            continue
        try:
            content = read_name(directory, name, max_bytes=1 << 62)
        except OSError:
            continue  # not a file of ours any more: whoever put it there keeps it
        if content is None:
            continue
        if content.data is not None and content.sha256 not in (expected, entry.to.sha256):
            keep(content.data)
            found.append((entry.path, content))
        directory.unlink(name)
    if held is None:
        _remove_part(directory, entry, keep)
    return found


def _remove_part(directory: OpenDirectory, entry: Entry, keep: Callable[[bytes], str]) -> None:
    """Remove what was being staged: whatever a file of ours holds, we were writing it."""
    if entry.tree is not None and is_folder(directory, entry.part):
        ours = entry.tree
        remove_tree(directory, entry.part, lambda path, _: path in ours, keep)
        return
    with contextlib.suppress(FileNotFoundError):
        directory.unlink(entry.part)
