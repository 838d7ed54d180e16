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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lockstitch.artifacts.content import Content
from lockstitch.artifacts.paths import path_to_wire, refuse
from lockstitch.artifacts.restore_journal import Entry, Journal
from lockstitch.artifacts.restore_plan import MAX_FILE_BYTES
from lockstitch.artifacts.restore_target import Target, open_target, read_name, refuse_special
from lockstitch.errors import ConflictError, StorageError
from lockstitch.platform import faults
from lockstitch.platform.belongings import adopt
from lockstitch.platform.beneath import LinkError, OpenDirectory
from lockstitch.platform.exchange import RENAMES
from lockstitch.platform.files import storage_error, sync_file, write_all

_ATTEMPTS = 8
_SYNCS = 8
_BLOCK = 1 << 20
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class CameOut:
    """What had been at a path when the exchange came."""

    content: Content | None
    """Without its bytes; None: nothing was there."""
    foreseen: bool
    """Whether it was what the plan saw. If not, its bytes are in the store now."""


def stage(workspace: Path, journal: Journal, content_of: Callable[[str], bytes]) -> None:
    """Write the contents beside their targets, make them durable, and verify what the disk holds.

    Raises StorageError, RefusedError, UnavailableError; no target was touched then.
    """
    writes = [entry for entry in journal.entries if entry.to.sha256 is not None]
    for entry in writes:
        with _target(workspace, entry, make=True) as target:
            _write_part(target, entry, content_of(entry.to.sha256 or ""))

    def verify(entry: Entry) -> None:
        with _target(workspace, entry) as target:
            _verify_part(target, entry)

    # All are written before the first is synced, and several are synced at a time: the disk takes them together.
    with ThreadPoolExecutor(min(len(writes), _SYNCS) or 1) as pool:
        for _ in pool.map(verify, writes):
            pass


def _target(workspace: Path, entry: Entry, *, make: bool = False) -> Target:
    try:
        return open_target(workspace, entry.path, make=make)
    except LinkError:
        refuse("symlink", entry.path)
    except OSError as error:
        raise storage_error(error, os.path.join(workspace, entry.path)) from error


@contextlib.contextmanager
def _errors_at(target: Target) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, os.path.join(target.directory.where, target.name)) from error


def _write_part(target: Target, entry: Entry, data: bytes) -> None:
    directory = target.directory
    with _errors_at(target):
        like = None
        with contextlib.suppress(FileNotFoundError, PermissionError):
            like = directory.open(target.name, os.O_RDONLY)
        try:
            mode = entry.to.mode
            if mode is None and like is not None:
                mode = os.fstat(like).st_mode & 0o777
            # Bits that nobody knows are those of any new file of the user: the umask decides.
            faults.point("create", entry.part)
            fd = os.open(entry.part, _CREATE, 0o666 if mode is None else 0o600, dir_fd=directory.fileno())
            try:
                write_all(fd, data)
                adopt(fd, like, mode)
            finally:
                os.close(fd)
        finally:
            if like is not None:
                os.close(like)


def _verify_part(target: Target, entry: Entry) -> None:
    directory = target.directory
    with _errors_at(target):
        fd = directory.open(entry.part, os.O_RDONLY)
        try:
            sync_file(fd)
            digest = hashlib.sha256()
            while block := os.read(fd, _BLOCK):
                digest.update(block)
        finally:
            os.close(fd)
        if digest.hexdigest() != entry.to.sha256:
            raise StorageError(
                f"The disk gave back other bytes than were written beside {path_to_wire(entry.path)['path']}; "
                "nothing was changed.",
                path=path_to_wire(entry.path)["path"],
                errno=0,
            )
        RENAMES.move_new(directory.fileno(), entry.part, entry.staged)


def exchange(workspace: Path, entry: Entry, keep: Callable[[bytes], str]) -> CameOut:
    """Put one staged content in its place, or take a file away. `keep` stores bytes that nobody foresaw.

    Raises RefusedError, ConflictError or StorageError; the target is then as it was.
    """
    with _target(workspace, entry) as target, _errors_at(target):
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(FileNotFoundError):
                refuse_special(target.directory.status(target.name), entry.path)
            try:
                out = _take_away(target, entry) if entry.to.sha256 is None else _put_in_place(target, entry)
            except FileExistsError:
                continue
            if out is None:
                return CameOut(None, entry.was.sha256 is None)
            return _judge(target, entry, out, keep)
    raise ConflictError(
        f"{path_to_wire(entry.path)['path']} changes faster than it can be replaced; close what writes it, then "
        "try again.",
        kind="conflict",
        files=[path_to_wire(entry.path)],
    )


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
        raise ConflictError(
            f"{path_to_wire(entry.path)['path']} appeared anew while it was being replaced; it was left alone.",
            kind="conflict",
            files=[path_to_wire(entry.path)],
        ) from None
    return out


def _judge(target: Target, entry: Entry, out: str, keep: Callable[[bytes], str]) -> CameOut:
    """Look at what came out; what may not be replaced, or cannot be recorded, is put back at once."""
    directory = target.directory
    try:
        refuse_special(directory.status(out), entry.path)
        found = read_name(directory, out, max_bytes=MAX_FILE_BYTES)
        if found is None or found.data is None:
            raise ConflictError(
                f"{path_to_wire(entry.path)['path']} grew too large to be recorded; it was left alone.",
                kind="conflict",
                files=[path_to_wire(entry.path)],
            )
        foreseen = found.sha256 == entry.was.sha256
        if not foreseen:
            keep(found.data)
    except BaseException:
        _give_back(target, entry, out)
        raise
    entry.came_out = found.sha256
    told = Content("available", None, found.sha256, found.size, found.encoding, found.eol, found.mode)
    return CameOut(told, foreseen)


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
    for folder in sorted({entry.path.rpartition("/")[0] for entry in entries}):
        try:
            with open_target(workspace, f"{folder}/x" if folder else "x") as target:
                target.directory.sync()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise storage_error(error, os.path.join(workspace, folder)) from error


def retire(workspace: Path, journal: Journal, keep: Callable[[bytes], str]) -> list[tuple[str, Content]]:
    """After the restore is recorded: remove what was set aside.

    Returns what somebody wrote into it meanwhile, through a file that he still had open: those bytes are in the
    store, and their owner shall hear of them. Raises OSError where a folder cannot be written.
    """
    late: list[tuple[str, Content]] = []
    for entry in journal.entries:
        try:
            target = open_target(workspace, entry.path)
        except FileNotFoundError:
            continue
        with target:
            expected = entry.came_out or entry.was.sha256
            late += [(entry.path, found) for found in remove_held(target.directory, entry, expected, keep)]
    sync_folders(workspace, journal.entries)
    return late


def remove_held(
    directory: OpenDirectory, entry: Entry, expected: str | None, keep: Callable[[bytes], str]
) -> list[Content]:
    """Remove our names beside a target; contents other than `expected` and our own are kept, and returned."""
    found: list[Content] = []
    for name in (entry.aside, entry.staged, entry.spare):
        try:
            held = read_name(directory, name, max_bytes=1 << 62)
        except OSError:
            continue  # not a file of ours any more: whoever put it there keeps it
        if held is None:
            continue
        if held.data is not None and held.sha256 not in (expected, entry.to.sha256):
            keep(held.data)
            found.append(held)
        directory.unlink(name)
    with contextlib.suppress(FileNotFoundError):
        directory.unlink(entry.part)
    return found
