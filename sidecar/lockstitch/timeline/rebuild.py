"""The projection from nothing: built beside from every rollout, and put in place when it is complete.

Invariant: under the write lock. The old file stays until the new one is whole and on the disk.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lockstitch.data_root import RolloutPlace
from lockstitch.errors import LockstitchError
from lockstitch.platform.files import make_private_directory, replace, storage_errors, sync_directory, sync_file, unlink
from lockstitch.rollout.recorder import Recorder
from lockstitch.timeline.database import DamagedDatabaseError, Database
from lockstitch.timeline.index import Indexing, index_whole
from lockstitch.timeline.place import Place
from lockstitch.timeline.soundness import STUMBLES
from lockstitch.timeline.stored import StoredRows, forget_thread, store

log = logging.getLogger(__name__)

STAGED = ".build-"
"""Stands in the names of projections that are not complete, and of one that a complete one is about to replace."""


def open_or_rebuild(place: Place, *, force: bool = False) -> Database:
    """The projection, whatever state its file is in. Raises StorageError."""
    if not force:
        try:
            database = Database(place.root.timeline)
            database.migrate()
            return database
        except DamagedDatabaseError as error:
            log.info("the projection is rebuilt: %s", error)
    rebuild(place)
    return Database(place.root.timeline)


def rebuild(place: Place) -> None:
    """Build the projection from the rollouts and put it in place. Raises StorageError."""
    target = place.root.timeline
    staged = target.with_name(f"{target.name}{STAGED}{place.boot_id}")
    make_private_directory(target.parent)  # whoever deleted the database may have taken its directory along
    _remove(staged)
    database = Database(staged, bulk=True)
    try:
        for number, found in enumerate(unique(place.root.rollouts()), 1):
            index_one(place, database, number, found)
        database.finish_bulk()
    except BaseException:
        database.close()
        _remove(staged)
        raise
    with storage_errors(target):
        fd = os.open(staged, os.O_RDWR)
        try:
            sync_file(fd)
        finally:
            os.close(fd)
        # CRASH: the old file goes first, so that nobody can open it and make a -wal that the new one would take for
        # its own. Dying in between leaves none, and the next to look for it builds it again.
        old = target.with_name(f"{target.name}{STAGED}old-{place.boot_id}")
        with contextlib.suppress(FileNotFoundError):
            replace(target, old)
        for suffix in ("-wal", "-shm"):
            _remove(Path(f"{target}{suffix}"))
        replace(staged, target)
        sync_directory(target.parent)
        _remove(old)


def unique(found: Iterable[RolloutPlace]) -> Iterator[RolloutPlace]:
    """Each thread once: of two files with one id the live one counts."""
    seen: set[str] = set()
    for place in found:
        if place.thread_id.lower() not in seen:
            seen.add(place.thread_id.lower())
            yield place


def index_one(
    place: Place,
    database: Database,
    number: int,
    found: RolloutPlace,
    known: tuple[int, bytes] | None = None,
) -> None:
    """Index one rollout into the open transaction; one that cannot be read hides no other."""
    rows = StoredRows(database.connection)
    around = indexing(place, database)
    try:
        recorder = Recorder.open(place.root.resolve(found.path))
    except (FileNotFoundError, LockstitchError) as error:
        log.warning("a rollout could not be opened: %s (%s)", found.path, type(error).__name__)
        return
    try:
        state = index_whole(around, rows, number, found, recorder, known)
        store(database.connection, state)
    except LockstitchError as error:
        log.warning("a rollout could not be indexed: %s (%s)", found.path, error.kind)
        forget_thread(database.connection, number)
    except STUMBLES:
        log.exception("a rollout could not be indexed: %s", found.path)
        forget_thread(database.connection, number)
    finally:
        recorder.close()


def indexing(place: Place, database: Database) -> Indexing:
    """What indexing into that database needs."""
    return Indexing(
        place.root.path,
        place.root.quarantine,
        lambda state: store(database.connection, state),
        writable=not place.read_only,
        root_ids=place.root_ids,
    )


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        unlink(path)
