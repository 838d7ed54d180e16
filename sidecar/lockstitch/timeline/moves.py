"""Changes of whole rollouts, alone under the write lock: archive, unarchive, delete, and a fork put in place.

Invariant: each commits by one rename; rows and further clean-up follow, and a start finishes what a crash left.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from lockstitch.data_root import RolloutPlace, archived_place, session_place, unarchived_place
from lockstitch.errors import ConflictError
from lockstitch.platform.files import (
    make_private_directory,
    open_private,
    replace,
    storage_errors,
    sync_directory,
    sync_file,
    unlink,
    write_all,
)
from lockstitch.rollout.line import Draft, Line, encode_line
from lockstitch.rollout.recorder import Recorder
from lockstitch.rollout.renumber import Renumbering
from lockstitch.rollout.scan import Record, scan
from lockstitch.rollout.tail import reader
from lockstitch.timeline import workers
from lockstitch.timeline.hot import places_of
from lockstitch.timeline.index import index_whole
from lockstitch.timeline.jobs import Committed, Removed, thread_exists
from lockstitch.timeline.rebuild import indexing
from lockstitch.timeline.reconcile import DELETED, forget, remove, tell_archived
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.stored import forget_thread, store
from lockstitch.timeline.writer import Writer
from lockstitch_protocol.ids import new_id

_WRITE_LINES = 1024
_NOT_FORKED = frozenset(
    {
        "thread.started",
        "thread.recovered",
        "thread.archived",
        "thread.unarchived",
        "thread.updated",
        "thread.imported",
        *workers.TYPES,
    }
)
"""About the parent and its file alone; what it was renamed, linked or set to is in the fork's own first line. Its
workers work for it and for nobody else."""


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
    write_all(fd, first.data)
    fork = Renumbering(first.sum, _NOT_FORKED, until)
    chunks: list[bytes] = []
    parent = open_private(source, os.O_RDONLY)
    try:
        for block in fork.sound_lines(reader(parent), end):
            write_all(fd, block)
        for line in _judged(parent, fork, end):
            if until is not None and line.sequence >= until:
                break
            if line.type in _NOT_FORKED:
                continue
            draft = Draft(line.type, bytes(line.payload), line.eventId, line.at, line.turnId, line.itemId, line.digest)
            chunks.append(fork.add(draft))
            if len(chunks) == _WRITE_LINES:
                write_all(fd, b"".join(chunks))
                chunks.clear()
    finally:
        os.close(parent)
    if closing is not None:
        chunks.append(fork.add(closing(fork.last_at or started.at)))
    write_all(fd, b"".join(chunks))


def _judged(parent: int, fork: Renumbering, end: int) -> Iterator[Line]:
    """The lines behind those that are as they were written."""
    if fork.ended or fork.offset >= end:
        return
    for found in scan(parent, fork.offset, end, previous_sum=fork.source_sum, next_sequence=fork.source_sequence):
        if isinstance(found, Record):
            yield found.line


def adopt(writer: Writer, staged: Path, thread_id: str, created_at: str, *, archived: bool = False) -> None:
    """Put a finished rollout in place as a new thread, live or archived, and index it.

    Raises ConflictError, StorageError; it is then staged as before.
    """
    if writer.rows.thread(thread_id) is not None:
        raise thread_exists(thread_id)
    root = writer.place.root
    place = session_place(created_at, thread_id)
    if archived:
        place = archived_place(place.rpartition("/")[2])
    target = root.resolve(place)
    make_private_directory(target.parent)
    with storage_errors(target):
        replace(staged, target)
    try:
        with storage_errors(target):
            sync_directory(target.parent)
        _index(writer, writer.rows.next_thread_number(), RolloutPlace(thread_id, place, archived))
    except BaseException:
        with contextlib.suppress(OSError):
            replace(target, staged)
        raise


def supersede(writer: Writer, staged: Path, known: ThreadRow, *, archived: bool) -> None:
    """Put a rollout in the place of one that it begins with, byte for byte, as the caller found it in `known`.

    Raises NotFoundError; ConflictError if the thread went on since; StorageError. It is then staged as before.
    """
    thread = writer.hot.load(known.thread_id).state.thread
    if (thread.size, thread.last_sum) != (known.size, known.last_sum):
        raise ConflictError(
            f"Thread {thread.thread_id} was written to while it was imported; import it again.",
            kind="threadExists",
            threadId=thread.thread_id,
        )
    writer.hot.drop(known.thread_id)
    root, name = writer.place.root, thread.path.rpartition("/")[2]
    place = archived_place(name) if archived else unarchived_place(name)
    old, target = root.resolve(thread.path), root.resolve(place)
    make_private_directory(target.parent)
    with storage_errors(target):
        # CRASH: the rename decides: before it the thread is as it was, behind it the next look reduces what is new.
        replace(staged, target)
        sync_directory(target.parent)
        if target != old:
            unlink(old)
            sync_directory(old.parent)
    forget_thread(writer.database.connection, thread.thread_no)
    _index(writer, thread.thread_no, RolloutPlace(thread.thread_id, place, archived))
    drafts = _drafts_from(target, known)
    writer.happened(Committed(thread.thread_id, known.last_sequence + 1, drafts))


def _drafts_from(rollout: Path, known: ThreadRow) -> list[Draft]:
    """The events behind those that the row knows, for those who watch the thread."""
    fd = open_private(rollout, os.O_RDONLY)
    try:
        size, due = os.fstat(fd).st_size, known.last_sequence + 1
        found = scan(fd, known.size, size, previous_sum=known.last_sum.encode(), next_sequence=due)
        lines = [record.line for record in found if isinstance(record, Record)]
    finally:
        os.close(fd)
    return [Draft(x.type, bytes(x.payload), x.eventId, x.at, x.turnId, x.itemId, x.digest) for x in lines]


def _index(writer: Writer, number: int, found: RolloutPlace) -> None:
    recorder = Recorder.open(writer.place.root.resolve(found.path))
    try:
        around = indexing(writer.place, writer.database)
        state = index_whole(around, writer.rows, number, found, recorder)
        store(writer.database.connection, state)
    finally:
        recorder.close()
