"""The projection from nothing: built beside from every rollout, and put in place when it is complete.

What is slow is done by `step`, without the lock: rollouts only grow. `finish`, under it, reads what was added
meanwhile. A build that is cut off goes on where it was: what it had read stands in the staged file.

Invariant: `finish` and `rebuild` are under the write lock. The old file stays until the new one is whole and on the
disk.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from lockstitch.data_root import DataRoot, RolloutPlace
from lockstitch.errors import LockstitchError
from lockstitch.platform import faults
from lockstitch.platform.files import (
    make_private_directory,
    replace,
    stamp_of,
    storage_errors,
    sync_directory,
    sync_file,
    unlink,
)
from lockstitch.timeline import unread
from lockstitch.timeline.database import DamagedDatabaseError, Database, database_errors
from lockstitch.timeline.place import Place
from lockstitch.timeline.soundness import STUMBLES
from lockstitch.timeline.stored import StoredRows, forget_thread, store

if TYPE_CHECKING:
    from lockstitch.timeline.index import Indexing

log = logging.getLogger(__name__)

STAGED = ".build-"
"""Stands in the names of projections that are not complete, and of one that a complete one is about to replace."""

_SMALL_BYTES = 4 << 20
"""So much is read at once where a database is missing; of more, the ends first."""

_COMMIT_BYTES = 16 << 20
"""After so many bytes of rollouts what was built is committed: a kill costs no more than to read them again."""


def open_or_rebuild(place: Place, *, force: bool = False) -> Database:
    """The projection, whatever state its file is in. Raises StorageError."""
    if not force:
        try:
            database = Database(place.root.timeline)
            database.migrate()
            return database
        except DamagedDatabaseError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                log.info("there is no projection yet, it is made from the rollouts")
            else:
                log.warning("the projection is made anew from the rollouts: %s", error)
    places = list(unique(place.root.rollouts()))
    if is_small(place.root, places):
        rebuild(place)
    else:
        Build(place).begin_anew(places)
    return Database(place.root.timeline)


def is_small(root: DataRoot, places: Iterable[RolloutPlace]) -> bool:
    """Whether these rollouts are read as quickly as their ends."""
    total = 0
    for found in places:
        with contextlib.suppress(OSError):
            total += os.path.getsize(root.resolved(found.path))
        if total > _SMALL_BYTES:
            return False
    return True


def rebuild(place: Place) -> None:
    """Build the projection from the rollouts and put it in place. Raises StorageError."""
    build = Build(place)
    try:
        while build.step():
            pass
    finally:
        build.pause()
    build.finish()


class Build:
    """A projection that is being built. Used by one thread at a time."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._target = place.root.timeline
        self._staged = self._target.with_name(f"{self._target.name}{STAGED}{place.boot_id}")
        self._database: Database | None = None
        self._todo: Iterator[RolloutPlace] | None = None
        self._uncommitted = 0
        self.total = 0
        """How many rollouts there are; known after the first step."""
        self.done = 0
        """How many of them are in the new projection."""
        self.resumed = 0
        """How many of these an earlier attempt had read."""

    # -- without the lock -------------------------------------------------------------------------------------
    def step(self) -> bool:
        """Read one more rollout; False when all are read. Raises StorageError."""
        with database_errors(self._staged):
            if self._todo is None:
                self._open()
                found = list(unique(self._place.root.rollouts()))
                self.total, self._todo = len(found), iter(found)
            database = self._opened
            rows = StoredRows(database.connection)
            for place in self._todo:
                if is_current(self._place, rows, place):
                    self.done += 1
                    self.resumed += 1
                    continue
                faults.point("build", self._staged)
                self._add(database, rows, place, repair=False)
                self.done += 1
                return True
        return False

    def _add(self, database: Database, rows: StoredRows, place: RolloutPlace, *, repair: bool) -> None:
        known = rows.thread(place.thread_id)
        if known is not None:
            forget_thread(database.connection, known.thread_no)
        number = rows.next_thread_number() if known is None else known.thread_no
        index_one(self._place, database, number, place, repair=repair)
        with contextlib.suppress(OSError):
            self._uncommitted += os.path.getsize(self._place.root.resolve(place.path))
        if self._uncommitted > _COMMIT_BYTES:
            database.connection.execute("COMMIT")
            database.connection.execute("BEGIN")
            self._uncommitted = 0

    def pause(self) -> None:
        """Keep what was built so far, and let go of it."""
        database, self._database, self._todo = self._database, None, None
        if database is not None:
            with contextlib.suppress(apsw.Error):
                database.connection.execute("COMMIT")
            database.close()

    def discard(self) -> None:
        """Remove what was built."""
        self.pause()
        self._remove_staged()

    @property
    def _opened(self) -> Database:
        if self._database is None:
            self._open()
        assert self._database is not None
        return self._database

    def _open(self) -> None:
        make_private_directory(self._target.parent)  # whoever deleted the database may have taken its directory along
        self._take_over()
        try:
            if self._staged.exists():
                self._database = Database(self._staged, staged=True)
                return
        except (DamagedDatabaseError, apsw.Error) as error:
            log.info("what an earlier rebuild left cannot be used: %s", type(error).__name__)
        self._remove_staged()
        self._database = Database(self._staged, bulk=True)

    def _take_over(self) -> None:
        """Go on with what a dead process has built."""
        if self._staged.exists():
            return
        boots = self._place.boots
        head = f"{self._target.name}{STAGED}"
        for path in sorted(self._target.parent.glob(f"{head}*")):
            boot = path.name[len(head) :]
            if boot.isidentifier() and not boots.is_alive(boot):
                with contextlib.suppress(OSError):
                    for suffix in ("-journal", ""):
                        source = Path(f"{path}{suffix}")
                        if source.exists():
                            replace(source, Path(f"{self._staged}{suffix}"))
                    return

    def _remove_staged(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            _remove(Path(f"{self._staged}{suffix}"))

    # -- under the lock ---------------------------------------------------------------------------------------
    def outdated(self) -> Iterator[RolloutPlace]:
        """Rollouts that have to be read again: they were added to since, or recovery has to write to them."""
        with database_errors(self._staged):
            rows = StoredRows(self._opened.connection)
            for found in unique(self._place.root.rollouts()):
                if not is_current(self._place, rows, found):
                    yield found

    def finish(self) -> int:
        """Read what was added, repair what is torn, and put the projection in place; how many threads it has.

        Raises StorageError; nothing of it is then left.
        """
        try:
            with database_errors(self._staged):
                database = self._opened
                count = self._bring_up(database)
                database.finish_bulk()
                self._database = None
        except BaseException:
            self.discard()
            raise
        self._put_in_place()
        return count

    def begin_anew(self, places: list[RolloutPlace]) -> None:
        """Put a projection in place that names these rollouts and has read none of them. Raises StorageError."""
        self._remove_staged()
        try:
            with database_errors(self._staged):
                make_private_directory(self._target.parent)
                database = self._database = Database(self._staged, bulk=True)
                unread.add(database.connection, self._place.root, 1, places)
                database.finish_bulk()
                self._database = None
        except BaseException:
            self.discard()
            raise
        self._put_in_place()

    def _put_in_place(self) -> None:
        target = self._target
        with storage_errors(target):
            fd = os.open(self._staged, os.O_RDWR)
            try:
                sync_file(fd)
            finally:
                os.close(fd)
            # CRASH: the old file goes first, so that nobody can open it and make a -wal that the new one would take for
            # its own. Dying in between leaves none, and the next to look for it builds it again.
            old = target.with_name(f"{target.name}{STAGED}old-{self._place.boot_id}")
            if target.is_dir() and not target.is_symlink():
                replace(target, self._place.root.set_aside(target.name, self._place.boot_id))
            with contextlib.suppress(FileNotFoundError):
                replace(target, old)
            for suffix in ("-wal", "-shm"):
                _remove(Path(f"{target}{suffix}"))
            replace(self._staged, target)
            sync_directory(target.parent)
            _remove(old)

    def _bring_up(self, database: Database) -> int:
        rows = StoredRows(database.connection)
        left = {thread_id.lower(): number for thread_id, number in _numbers(database)}
        count = 0
        for place in unique(self._place.root.rollouts()):
            if not is_current(self._place, rows, place):
                self._add(database, rows, place, repair=True)
            left.pop(place.thread_id.lower(), None)
            count += 1
        for number in left.values():
            forget_thread(database.connection, number)
        database.connection.execute("DELETE FROM unread")
        return count


def _numbers(database: Database) -> list[tuple[str, int]]:
    return database.connection.execute("SELECT thread_id, thread_no FROM thread").fetchall()


def is_current(place: Place, rows: StoredRows, found: RolloutPlace) -> bool:
    """Whether the rows know that rollout, all of it, as it is on the disk now."""
    row = rows.thread(found.thread_id)
    if row is None or (row.path, bool(row.archived)) != (found.path, found.archived):
        return False
    try:
        status = os.stat(place.root.resolve(found.path))
    except OSError:
        return False
    return (row.size, row.stamp) == (status.st_size, stamp_of(status))


def unique(found: Iterable[RolloutPlace]) -> Iterator[RolloutPlace]:
    """Each thread once: of two files with one id the live one counts."""
    seen: set[str] = set()
    for place in found:
        if place.thread_id.lower() not in seen:
            seen.add(place.thread_id.lower())
            yield place


def index_one(place: Place, database: Database, number: int, found: RolloutPlace, *, repair: bool = True) -> None:
    """Index one rollout into the open transaction; one that cannot be read hides no other.

    Without `repair`, one that recovery would have to write to is left out.
    """
    from lockstitch.rollout.recorder import Recorder  # a start opens the projection and indexes nothing, mostly
    from lockstitch.timeline.index import index_whole

    rows = StoredRows(database.connection)
    around = indexing(place, database, writable=repair and not place.read_only)
    try:
        recorder = Recorder.open(place.root.resolve(found.path))
    except (FileNotFoundError, LockstitchError) as error:
        log.warning("a rollout could not be opened: %s (%s)", found.path, type(error).__name__)
        return
    try:
        state = index_whole(around, rows, number, found, recorder)
        store(database.connection, state)
        if around.shown and not repair:
            forget_thread(database.connection, number)
    except LockstitchError as error:
        log.warning("a rollout could not be indexed: %s (%s)", found.path, error.kind)
        forget_thread(database.connection, number)
    except STUMBLES:
        log.exception("a rollout could not be indexed: %s", found.path)
        forget_thread(database.connection, number)
    finally:
        recorder.close()


def indexing(place: Place, database: Database, *, writable: bool | None = None) -> Indexing:
    """What indexing into that database needs."""
    from lockstitch.timeline.index import Indexing

    return Indexing(
        place.root.path,
        place.root.quarantine,
        lambda state: store(database.connection, state),
        writable=not place.read_only if writable is None else writable,
        root_ids=place.root_ids,
    )


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        unlink(path)
