"""`storage/gc`: what nothing refers to any more, and its removal.

What is referred to is read from the rollouts themselves, from every byte of them and of what was set aside: neither
a row that rotted nor a damaged line can make a content look unneeded.

Invariant: nothing is removed that is younger than an hour, or that a rollout names; removal is under the write lock,
after what was appended since the look is read too. Never runs by itself.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from lockstitch.artifacts.inventory import (
    Kept,
    Opener,
    documents_in,
    kept_in,
    opener_in,
    opener_of,
    remove_kept,
)
from lockstitch.artifacts.paths import folder_name
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.codec import ParseError, decode
from lockstitch.data_root import DataRoot
from lockstitch.errors import RefusedError
from lockstitch.operations.call import Call
from lockstitch.operations.runtime import Runtime
from lockstitch.platform.files import storage_errors
from lockstitch.timeline import inventory
from lockstitch.timeline.reconcile import remove as remove_path
from lockstitch.timeline.upkeep import give_back_space
from lockstitch.timeline.writer import Writer

if TYPE_CHECKING:
    from lockstitch_protocol import storage as wire

YOUNGEST_SECONDS = 3600.0
_MOST_LISTED = 1000
_HASH = re.compile(rb"[sS]ha256(?:\"\s*:\s*\"|:)([0-9a-f]{64})")
_LONGEST = 128
"""No match is longer: so many bytes are read again where a chunk or an earlier look ended."""
_CHUNK = 4 << 20


@dataclass(slots=True)
class References:
    """The hashes that files name. `look` again reads only what was added since."""

    root: DataRoot
    hashes: set[str] = field(default_factory=set[str])
    _seen: dict[tuple[Path, int], int] = field(default_factory=dict[tuple[Path, int], int])
    """By path and inode: how far the file was read."""

    def look(self) -> None:
        """Read every file that may name a content. Raises StorageError."""
        for path in self._files():
            with storage_errors(path), contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                # One that was moved meanwhile is met in its new place, at the latest under the lock.
                self._read(path, file)

    def _files(self) -> Iterator[Path]:
        root = self.root
        for top in (root.sessions, root.archived_sessions, root.trash, root.quarantine, root.journal):
            for directory, _, names in os.walk(top):
                for name in names:
                    yield Path(directory, name)

    def _read(self, path: Path, file: BinaryIO) -> None:
        found = os.fstat(file.fileno())
        key = (path, found.st_ino)
        known = self._seen.get(key, 0)
        if known == found.st_size:
            return
        start = max(0, known - _LONGEST) if known < found.st_size else 0
        file.seek(start)
        end, tail = start, b""
        while chunk := file.read(_CHUNK):
            end += len(chunk)
            data = tail + chunk
            self.hashes.update(match.decode() for match in _HASH.findall(data))
            tail = data[-_LONGEST:]
        self._seen[key] = end


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: Path
    bytes: int
    modified: float
    reason: str
    kept: Kept | None = None
    opener: Opener | None = None
    folder: str = ""
    """Of documents: the name that their thread's folder has."""


async def gc(runtime: Runtime, call: Call, params: wire.StorageGcParams) -> dict[str, Any]:
    """List what nothing refers to; remove it unless it is a dry run."""
    if not params.dry_run and runtime.refusal is not None:
        raise runtime.refusal
    await runtime.slowly(lambda: _refuse_copied(runtime.root))
    await call.progress("begin")
    references = References(runtime.root)
    await runtime.slowly(references.look)
    workspaces = await runtime.read(inventory.workspaces)
    sidecars = [runtime.contents.sidecar(workspace) for workspace in workspaces]
    oldest = runtime.clock.now() / 1_000_000 - max(YOUNGEST_SECONDS, (params.older_than_days or 0) * 86400)
    found, skipped = await runtime.slowly(lambda: _candidates(runtime.root, references, sidecars, oldest))
    found = _within(found, params.max_bytes)
    await call.progress("report", message=f"{len(found)} candidates")
    removed: list[_Candidate] = []
    given_back = 0
    if not params.dry_run:
        call.commit_point()
        removed, given_back = await runtime.exclusive(lambda writer: _remove(writer, references, found, oldest))
    await call.progress("end")
    return {
        "dryRun": params.dry_run,
        "candidates": [
            {"path": str(one.path), "bytes": one.bytes, "reason": one.reason} for one in found[:_MOST_LISTED]
        ],
        "candidateCount": len(found),
        "candidateBytes": sum(one.bytes for one in found),
        "removed": len(removed),
        "freedBytes": sum(one.bytes for one in removed) + given_back,
        "skipped": skipped,
    }


def _refuse_copied(root: DataRoot) -> None:
    """Raises RefusedError if this root is a copy: the original refers to the same contents in workspaces."""
    try:
        made_at = decode(root.root_file.read_bytes()).get("madeAt")
    except (OSError, ParseError, AttributeError):
        return
    if isinstance(made_at, str) and made_at != os.path.realpath(root.path):
        raise RefusedError(
            f"The data root {root.path} was made at {made_at}: if it is a copy, both refer to the same contents in "
            "workspaces, and only the original may clear them. If it was moved, write the new place as madeAt into "
            f"{root.root_file}.",
            kind="invalidRequest",
            reason="copiedRoot",
            path=str(root.path),
        )


def _candidates(
    root: DataRoot, references: References, sidecars: list[Sidecar], oldest: float
) -> tuple[list[_Candidate], list[dict[str, str]]]:
    with storage_errors(root.artifacts):
        found = _unneeded(opener_of(root.artifacts), root.artifacts, references, oldest)
    skipped: list[dict[str, str]] = []
    folders = _thread_folders(root)
    for sidecar in sidecars:
        if sidecar.workspace is None:
            continue
        try:
            where = sidecar.workspace / sidecar.root / "artifacts"
            found += _unneeded(opener_in(sidecar), where, references, oldest)
            for one in documents_in(sidecar):
                if one.folder.lower() not in folders and one.modified <= oldest:
                    found.append(_Candidate(one.path, one.bytes, one.modified, "threadGone", folder=one.folder))
        except OSError as error:
            skipped.append({"path": str(sidecar.workspace), "reason": os.strerror(error.errno or 0).lower()})
    return sorted(found, key=lambda one: one.modified), skipped


def _unneeded(opener: Opener, where: Path, references: References, oldest: float) -> list[_Candidate]:
    found: list[_Candidate] = []
    for kept in kept_in(opener, where):
        if kept.modified <= oldest and kept.sha256 not in references.hashes:
            reason = "unfinished" if kept.sha256 is None else "unreferenced"
            found.append(_Candidate(kept.path, kept.bytes, kept.modified, reason, kept, opener))
    return found


def _thread_folders(root: DataRoot) -> set[str]:
    return {folder_name(place.thread_id).lower() for place in root.rollouts()}


def _within(found: list[_Candidate], most: int | None) -> list[_Candidate]:
    """As many of them, the oldest first, as stay within so many bytes."""
    if most is None:
        return found
    chosen: list[_Candidate] = []
    for one in found:
        if one.bytes <= most:
            most -= one.bytes
            chosen.append(one)
    return chosen


def _remove(
    writer: Writer, references: References, found: list[_Candidate], oldest: float
) -> tuple[list[_Candidate], int]:
    """Under the lock: nobody can append now, and what was appended since the look is read first."""
    references.look()
    folders = _thread_folders(writer.place.root)
    removed: list[_Candidate] = []
    for one in found:
        if one.kept is None:
            if one.folder.lower() not in folders:
                remove_path(one.path)
                removed.append(one)
        elif one.opener is not None and one.kept.sha256 not in references.hashes:
            try:
                if remove_kept(one.opener, one.kept, older_than=oldest):
                    removed.append(one)
            except OSError:
                continue  # it stays; the next run meets it again
    return removed, give_back_space(writer)
