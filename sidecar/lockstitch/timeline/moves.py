"""Changes of whole rollouts, alone under the write lock: archive, unarchive, delete, and a fork put in place.

Invariant: each commits by one rename; rows and further clean-up follow, and a start finishes what a crash left.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from lockstitch.data_root import RolloutPlace, archived_place, session_place, unarchived_place
from lockstitch.platform.files import (
    make_private_directory,
    open_private,
    replace,
    storage_errors,
    sync_directory,
    sync_file,
    write_all,
)
from lockstitch.rollout.line import Draft, encode_line
from lockstitch.rollout.recorder import Recorder
from lockstitch.rollout.scan import Record, scan
from lockstitch.timeline import workers
from lockstitch.timeline.hot import places_of
from lockstitch.timeline.index import index_whole
from lockstitch.timeline.jobs import Removed, thread_exists
from lockstitch.timeline.rebuild import indexing
from lockstitch.timeline.reconcile import DELETED, forget, remove, tell_archived
from lockstitch.timeline.stored import store
from lockstitch.timeline.writer import Writer
from lockstitch_protocol.ids import new_id

_WRITE_BYTES = 1 << 20
_NOT_FORKED = frozenset({"thread.archived", "thread.unarchived", "thread.updated", "thread.imported", *workers.TYPES})
"""About the parent alone; what it was renamed, linked or set to is in the fork's own first line. Its workers work for
it and for nobody else."""


def set_archived(writer: Writer, thread_id: str, archived: bool) -> None:
    """Move the rollout into the archive or out of it, and record it. Twice is once.

    Raises NotFoundError, StorageError; the rollout is then where it was.
    """
    batch = writer.hot.load(thread_id)
    thread = batch.state.thread
    if bool(thread.archived) == archived:
        if archived != (thread.archived_at is not None):
            tell_archived(writer, thread_id, archived)
        return
    name = thread.path.rpartition("/")[2]
    place = archived_place(name) if archived else unarchived_place(name)
    source, target = writer.place.root.resolve(thread.path), writer.place.root.resolve(place)
    writer.hot.drop(thread_id)
    make_private_directory(target.parent)
    # CRASH: the rename decides. If we die behind it, the next to open the projection records the move.
    with storage_errors(target):
        replace(source, target)
    try:
        with storage_errors(target):
            sync_directory(target.parent)
            sync_directory(source.parent)
        writer.rows.set_place(thread.thread_no, place, archived)
        tell_archived(writer, thread.thread_id, archived)
    except BaseException:
        writer.hot.drop(thread_id)
        with contextlib.suppress(OSError):
            replace(target, source)
        raise


def delete(writer: Writer, thread_id: str) -> None:
    """Remove a thread and what only it needs; one that is gone already is no error. Raises StorageError."""
    row = writer.rows.thread(thread_id)
    if row is None:
        return
    writer.hot.drop(thread_id)
    writer.hot.forget_streams(thread_id)
    root = writer.place.root
    name = row.path.rpartition("/")[2]
    trash = root.doomed(new_id(DELETED.rstrip("_")), name)
    for place in places_of(row.path):
        path = root.resolve(place)
        with storage_errors(path):
            try:
                replace(path, trash)
            except FileNotFoundError:
                continue
            # CRASH: the rename decides. What the trash names is finished by the next to open the projection.
            try:
                sync_directory(path.parent)
                sync_directory(root.trash)
            except OSError:
                with contextlib.suppress(OSError):
                    replace(trash, path)
                raise
            break
    forget(writer, row)
    remove(trash)
    writer.happened(Removed(row.thread_id))


def write_fork(
    source: Path, end: int, until: int | None, started: Draft, closing: Callable[[str], Draft] | None, target: Path
) -> None:
    """Write a fork's rollout: its own first line, then the parent's events, renumbered and summed again.

    `end`: how much of the parent is committed; `until`: the first sequence that is not taken; `closing` makes,
    from the time of the last event, the event that ends a turn which is open there. Raises StorageError.
    """
    make_private_directory(target.parent)
    with storage_errors(target):
        fd = open_private(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            _write_lines(fd, source, end, until, started, closing)
            sync_file(fd)
        finally:
            os.close(fd)


def _write_lines(
    fd: int, source: Path, end: int, until: int | None, started: Draft, closing: Callable[[str], Draft] | None
) -> None:
    first = encode_line(1, started, b"")
    chunks, size = [first.data], len(first.data)
    previous, sequence, last_at = first.sum, 2, started.at
    parent = open_private(source, os.O_RDONLY)
    try:
        for found in scan(parent, 0, end, previous_sum=b"", next_sequence=1):
            if not isinstance(found, Record) or found.line.type in ("thread.started", "thread.recovered"):
                continue
            line = found.line
            if until is not None and line.sequence >= until:
                break
            if line.type in _NOT_FORKED:
                continue
            draft = Draft(line.type, bytes(line.payload), line.eventId, line.at, line.turnId, line.itemId, line.digest)
            encoded = encode_line(sequence, draft, previous)
            chunks.append(encoded.data)
            size += len(encoded.data)
            previous, last_at = encoded.sum, line.at
            sequence += 1
            if size > _WRITE_BYTES:
                _write(fd, chunks)
                chunks, size = [], 0
    finally:
        os.close(parent)
    if closing is not None:
        chunks.append(encode_line(sequence, closing(last_at), previous).data)
    _write(fd, chunks)


def _write(fd: int, chunks: list[bytes]) -> None:
    write_all(fd, b"".join(chunks))


def adopt(writer: Writer, staged: Path, thread_id: str, created_at: str) -> None:
    """Put a finished rollout in place as a new thread and index it.

    Raises ConflictError, StorageError; it is then staged as before.
    """
    if writer.rows.thread(thread_id) is not None:
        raise thread_exists(thread_id)
    root = writer.place.root
    place = session_place(created_at, thread_id)
    target = root.resolve(place)
    make_private_directory(target.parent)
    with storage_errors(target):
        replace(staged, target)
    try:
        with storage_errors(target):
            sync_directory(target.parent)
        _index_new(writer, RolloutPlace(thread_id, place, archived=False))
    except BaseException:
        with contextlib.suppress(OSError):
            replace(target, staged)
        raise


def _index_new(writer: Writer, found: RolloutPlace) -> None:
    recorder = Recorder.open(writer.place.root.resolve(found.path))
    try:
        around = indexing(writer.place, writer.database)
        state = index_whole(around, writer.rows, writer.rows.next_thread_number(), found, recorder)
        store(writer.database.connection, state)
    finally:
        recorder.close()
