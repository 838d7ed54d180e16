"""What lies in the stores: every content and every file that a write left behind, with size and age; and its removal.

Invariant: no link is followed; of a workspace only what is in our own part of it is looked at.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.platform.beneath import Directory, open_root
from lockstitch.platform.files import TEMPORARY_PREFIX

_PREFIX = re.compile(r"[0-9a-f]{2}")
_BLOB = re.compile(r"([0-9a-f]{64})(\.z)?")

Opener = Callable[[], Directory]
"""Opens the folder of a store. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A file in a store. `sha256` is None for one that a write left unfinished; `modified` is in seconds."""

    folder: str
    name: str
    path: Path
    sha256: str | None
    bytes: int
    modified: float


def opener_of(artifacts: Path) -> Opener:
    """Opens the data root's store."""
    return lambda: open_root(artifacts)


def opener_in(sidecar: Sidecar) -> Opener:
    """Opens the store in a workspace."""
    return lambda: sidecar.open_folder(("artifacts",), create=False)


def kept_in(opener: Opener, where: Path) -> Iterator[Kept]:
    """Every file of a store. Raises OSError if it cannot be opened; one that is not there holds nothing."""
    try:
        root = opener()
    except FileNotFoundError:
        return
    with root:
        yield from _files(root, "", where)
        for folder in sorted(root.names()):
            if _PREFIX.fullmatch(folder) is None:
                continue
            try:
                directory = root.enter(folder)
            except OSError:
                continue  # a link or a file stands there: nothing of ours
            with directory:
                yield from _files(directory, folder, where)


def _files(directory: Directory, folder: str, where: Path) -> Iterator[Kept]:
    for name in sorted(directory.names()):
        blob = _BLOB.fullmatch(name)
        if blob is None and not name.startswith(TEMPORARY_PREFIX):
            continue
        with contextlib.suppress(OSError):  # gone meanwhile
            found = directory.status(name)
            if stat.S_ISREG(found.st_mode):
                sha256 = None if blob is None else blob[1]
                yield Kept(folder, name, where / folder / name, sha256, found.st_size, found.st_mtime)


def remove_kept(opener: Opener, kept: Kept, *, older_than: float) -> bool:
    """Remove a file of a store, unless it is gone or was touched since; whether it was removed. Raises OSError."""
    with opener() as root, root.enter(kept.folder) if kept.folder else opener() as directory:
        try:
            found = directory.status(kept.name)
        except FileNotFoundError:
            return False
        if found.st_mtime > older_than:
            return False  # somebody is about to refer to it
        directory.unlink(kept.name)
        return True


@dataclass(frozen=True, slots=True)
class Documents:
    """The version documents of one thread in a workspace."""

    folder: str
    path: Path
    bytes: int
    modified: float


def documents_in(sidecar: Sidecar) -> Iterator[Documents]:
    """Every thread's folder of version documents. Raises OSError."""
    if sidecar.workspace is None:
        return
    try:
        root = sidecar.open_folder(("documents",), create=False)
    except FileNotFoundError:
        return
    where = sidecar.workspace / sidecar.root / "documents"
    with root:
        for name in sorted(root.names()):
            with contextlib.suppress(OSError):
                if stat.S_ISDIR(root.status(name).st_mode):
                    size, modified = measure([where / name])[1:3]
                    yield Documents(name, where / name, size, modified)


def measure(places: list[Path]) -> tuple[int, int, float, float]:
    """Files beneath these places: how many, their bytes, the newest and the oldest time of change (0 if none)."""
    files, size, newest, oldest = 0, 0, 0.0, 0.0
    for place in places:
        for path in _walk(place):
            try:
                found = os.lstat(path)
            except OSError:
                continue  # gone meanwhile
            files += 1
            size += found.st_size
            newest = max(newest, found.st_mtime)
            oldest = found.st_mtime if files == 1 else min(oldest, found.st_mtime)
    return files, size, newest, oldest


def _walk(place: Path) -> Iterator[str]:
    if not place.is_dir():
        if place.exists():
            yield os.fspath(place)
        return
    for directory, _, names in os.walk(place):
        for name in names:
            yield os.path.join(directory, name)
