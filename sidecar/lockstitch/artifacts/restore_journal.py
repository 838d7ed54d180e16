"""The journal of a restore: what is about to be done to which files, so that a kill at any point can be made good.

Invariant: a journal is durable before the first byte is staged, and is removed after the last trace of the
restore is gone. Its file name begins with the boot that works on it; only a dead boot's journal is taken over.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from lockstitch.artifacts.paths import exact_bytes, path_from_wire, path_to_wire
from lockstitch.codec import ParseError, decoder, encode
from lockstitch.errors import InvalidError
from lockstitch.platform.files import (
    open_private,
    replace,
    storage_errors,
    sync_directory,
    sync_file,
    unlink,
    write_all,
)

VERSION = 2
_SUFFIX = ".json"
_STAGED = ".new"
_DAMAGED = ".damaged"


class State(msgspec.Struct, frozen=True):
    """What is, was or shall be at a path: bytes by their hash, and permission bits. `sha256` None: no file."""

    sha256: str | None = None
    mode: int | None = None

    def is_at(self, found: State, other: State) -> bool:
        """Whether `found` is this state rather than `other`: the bits count only where the bytes do not tell."""
        if found.sha256 != self.sha256:
            return False
        return self.sha256 != other.sha256 or self.mode is None or found.mode == self.mode


Tree = dict[str, State]
"""The files of a folder, by their paths within it."""

_TREE = "tree:"


def tree_state(tree: Tree) -> State:
    """A folder as the state of one path: what is in it, by the hashes of its files."""
    told = [b"%b\0%b\n" % (exact_bytes(path), (state.sha256 or "").encode()) for path, state in sorted(tree.items())]
    return State(_TREE + hashlib.sha256(b"".join(told)).hexdigest())


def is_tree(state: State) -> bool:
    """Whether a state is that of a folder."""
    return state.sha256 is not None and state.sha256.startswith(_TREE)


class Entry(msgspec.Struct):
    """One file: from which state to which. The token makes the names of what is staged and what is set aside."""

    path: str
    was: State
    to: State
    token: str
    tree: Tree | None = None
    """Of a file that changes places with a folder: the files in that, of which one of the states is `tree_state`."""
    came_out: str | None = None
    """After the exchange: the hash of what had been there; not in the journal's file."""
    held: tuple[str, ...] | None = None
    """After the exchange: the name beside the target of what had been there, if anything was; not in the file."""

    @property
    def makes_folder(self) -> bool:
        """Whether the folder is what shall be."""
        return self.tree is not None and is_tree(self.to)

    @property
    def takes_folder(self) -> bool:
        """Whether the folder is what was."""
        return self.tree is not None and not self.makes_folder

    def new_folders(self) -> list[str]:
        """The folders that come with the folder, itself first, workspace-relative."""
        if self.tree is None or not self.makes_folder:
            return []
        parts = [path.split("/")[:-1] for path in self.tree]
        found = {"/".join([self.path, *folder[:number]]) for folder in parts for number in range(len(folder) + 1)}
        return sorted(found)

    @property
    def part(self) -> str:
        """The name under which the new content is being written."""
        return f".lockstitch-{self.token}.part"

    @property
    def staged(self) -> str:
        """The name of the new content once it is whole; after an exchange, of what had been there."""
        return f".lockstitch-{self.token}.new"

    @property
    def aside(self) -> str:
        """The name of what had been there, where it was renamed aside."""
        return f".lockstitch-{self.token}.old"

    @property
    def spare(self) -> str:
        """A third name, for a swap of the other two where the system cannot exchange them at once."""
        return f".lockstitch-{self.token}.spare"


class Journal(msgspec.Struct):
    """One restore of one or many files, all or nothing."""

    restore_id: str
    thread_id: str
    workspace: str
    entries: list[Entry]
    folders: list[str] = []
    """Folders that were not there and that this restore makes, outermost first."""
    emptied: list[str] = []
    """Folders that an earlier restore had made and that go at the end, if they are empty then."""


class _State(msgspec.Struct):
    sha256: str | None = None
    mode: int | None = None


class _File(msgspec.Struct):
    path: str
    sha256: str | None = None
    mode: int | None = None
    pathBase64: str | None = None  # noqa: N815


class _Entry(msgspec.Struct):
    path: str
    was: _State
    to: _State
    token: str
    pathBase64: str | None = None  # noqa: N815
    tree: list[_File] | None = None


class _Journal(msgspec.Struct):
    version: int
    restoreId: str  # noqa: N815
    threadId: str  # noqa: N815
    workspace: dict[str, str]
    entries: list[_Entry]
    folders: list[dict[str, str]] = []
    emptied: list[dict[str, str]] = []


_journal = decoder(_Journal)


def encode_journal(journal: Journal) -> bytes:
    """A journal as its file holds it."""
    entries: list[dict[str, Any]] = [
        {
            **path_to_wire(entry.path),
            "was": {"sha256": entry.was.sha256, "mode": entry.was.mode},
            "to": {"sha256": entry.to.sha256, "mode": entry.to.mode},
            "token": entry.token,
            **({} if entry.tree is None else {"tree": _told(entry.tree)}),
        }
        for entry in journal.entries
    ]
    return encode(
        {
            # An older program must not take a folder for a file.
            "version": 1 if all(entry.tree is None for entry in journal.entries) else VERSION,
            "restoreId": journal.restore_id,
            "threadId": journal.thread_id,
            "workspace": path_to_wire(journal.workspace),
            "entries": entries,
            "folders": [path_to_wire(folder) for folder in journal.folders],
            "emptied": [path_to_wire(folder) for folder in journal.emptied],
        }
    )


def decode_journal(data: bytes) -> Journal:
    """A journal from its file's bytes. Raises codec.ParseError."""
    found = _journal(data)
    if found.version not in (1, VERSION):
        raise ParseError(f"a journal of version {found.version}")
    if any(not entry.token.isalnum() for entry in found.entries):
        raise ParseError("a token that is none")
    try:
        return Journal(
            found.restoreId,
            found.threadId,
            _path(found.workspace),
            [
                Entry(
                    path_from_wire(entry.path, entry.pathBase64),
                    State(entry.was.sha256, entry.was.mode),
                    State(entry.to.sha256, entry.to.mode),
                    entry.token,
                    None if entry.tree is None else _tree(entry.tree),
                )
                for entry in found.entries
            ],
            [_path(folder) for folder in found.folders],
            [_path(folder) for folder in found.emptied],
        )
    except InvalidError as error:
        raise ParseError(error.message) from None


def _told(tree: Tree) -> list[dict[str, Any]]:
    return [{**path_to_wire(path), "sha256": state.sha256, "mode": state.mode} for path, state in tree.items()]


def _tree(told: list[_File]) -> Tree:
    return {path_from_wire(one.path, one.pathBase64): State(one.sha256, one.mode) for one in told}


def _path(told: dict[str, str]) -> str:
    return path_from_wire(told.get("path"), told.get("pathBase64"))


class Journals:
    """The journals of one data root, seen from one boot."""

    def __init__(self, directory: Path, boot_id: str) -> None:
        self._directory, self._boot_id = directory, boot_id

    def write(self, journal: Journal) -> Path:
        """Make the journal durable. Raises StorageError."""
        path = self._directory / f"{self._boot_id}.{journal.restore_id}{_SUFFIX}"
        staged = path.with_suffix(_STAGED)  # named after the boot as well, so that a later one may remove it
        with storage_errors(path):
            fd = open_private(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                try:
                    write_all(fd, encode_journal(journal))
                    sync_file(fd)
                finally:
                    os.close(fd)
                replace(staged, path)
                sync_directory(self._directory)
            except BaseException:
                for name in (staged, path):
                    with contextlib.suppress(OSError):
                        unlink(name)
                raise
        return path

    def remove(self, path: Path) -> None:
        """The restore is over, one way or the other. Raises StorageError."""
        with storage_errors(path):
            with contextlib.suppress(FileNotFoundError):
                unlink(path)
            sync_directory(self._directory)

    def any_there(self) -> bool:
        """Whether there may be something to take over: a look that brings in nothing of what acts on it."""
        try:
            return bool(os.listdir(self._directory))
        except FileNotFoundError:
            return False
        except OSError:
            return True  # who takes over tells of it

    def take_over(self, is_alive: Callable[[str], bool]) -> list[tuple[Path, Journal]]:
        """The journals of dead boots, made ours by a rename, which only one process can win."""
        found: list[tuple[Path, Journal]] = []
        for path in self._orphans(is_alive):
            ours = path.with_name(f"{self._boot_id}.{path.name.partition('.')[2]}")
            try:
                os.rename(path, ours)
                data = ours.read_bytes()
            except FileNotFoundError:
                continue
            try:
                found.append((ours, decode_journal(data)))
            except ParseError:
                # Nothing is done by what cannot be read; the file is kept for a person to look at.
                os.rename(ours, ours.with_name(ours.name + _DAMAGED))
        return found

    def _orphans(self, is_alive: Callable[[str], bool]) -> list[Path]:
        """The journals of dead boots; what one of them had only begun to write goes, since nothing was done by it."""
        try:
            names = sorted(os.listdir(self._directory))
        except FileNotFoundError:
            return []
        dead = [name for name in names if name.endswith((_SUFFIX, _STAGED)) and not is_alive(name.partition(".")[0])]
        for name in dead:
            if name.endswith(_STAGED):
                with contextlib.suppress(FileNotFoundError):
                    unlink(self._directory / name)
        return [self._directory / name for name in dead if name.endswith(_SUFFIX)]
