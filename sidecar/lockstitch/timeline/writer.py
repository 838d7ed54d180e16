"""The one write path: a single thread that takes queued jobs in groups, and commits each group at once.

Order of a group: write lock, transaction, the tail that others left, admission, lines, one fdatasync a rollout
(the commit point), rows, commit, answers, notifications.

Invariant: the database is never ahead of the log. A failure before the commit point leaves no trace; one after
it cuts nothing, the tail is reduced again, and the answer is success. One thread's failure fails no other's.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Protocol

import apsw

from lockstitch.errors import LockstitchError, NotFoundError, StorageError
from lockstitch.platform import faults
from lockstitch.platform.at_once import AtOnce
from lockstitch.platform.locks import FileLock
from lockstitch.timeline.admission import Admission, Surroundings
from lockstitch.timeline.batch import Batch
from lockstitch.timeline.database import DamagedDatabaseError, Database, database_errors
from lockstitch.timeline.group import Group, appended
from lockstitch.timeline.hot import HotThreads
from lockstitch.timeline.jobs import AppendJob, ExclusiveJob, Happening, Job, Streamed
from lockstitch.timeline.place import Place, damaged_database
from lockstitch.timeline.read_up import WriterRows
from lockstitch.timeline.rebuild import open_or_rebuild
from lockstitch.timeline.reconcile import index_unknown, reconcile
from lockstitch.timeline.requests import OwnRequests
from lockstitch.timeline.soundness import RottenRowsError, rotten_rows
from lockstitch.timeline.stored import StoredRows

log = logging.getLogger(__name__)

GROUP_JOBS = 512
GROUP_THREADS = 100
"""Each has its rollout open, and a process may open only so many files."""

_STOP = object()


class WriteLock(Protocol):
    """What keeps others out while a group is written."""

    def acquire(self, timeout: float) -> bool: ...
    def release(self) -> None: ...
    def write_holder(self, text: str) -> None: ...
    def read_blocker(self) -> str | None: ...
    def close(self) -> None: ...


class Writer:
    """The writer thread of one process on one data root."""

    def __init__(
        self,
        place: Place,
        deliver: Callable[[list[Callable[[], None]], list[Happening]], None],
    ) -> None:
        """`deliver(answers, happenings)` is called from the writer thread after each group."""
        self.place = place
        self._deliver = deliver
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock: WriteLock = FileLock(place.root.writer_lock, fair=True)
        self._database: Database | None = None
        self.at_once = AtOnce()
        self._hot: HotThreads = HotThreads(self)
        self._thread = threading.Thread(target=self._run, name="lockstitch-writer", daemon=True)
        self._happenings: list[Happening] = []
        self._answers: list[Callable[[], None]] = []
        self.own_requests = OwnRequests()
        self._damaged = False
        self._stopped = False
        self._remade = False
        """The projection was made anew because of its rows. Once is enough: what goes on is a fault of ours."""
        self.behind: set[str] = set()
        """Threads (ids in lower case) whose rows lag behind their rollouts, because the database failed."""
        self.waits_since: float | None = None
        """Since when, on the monotonic clock, the lock is waited for."""
        self.pending = 0
        self.lost = False
        """Something that was accepted could not be stored: the process must not end with 0."""

    # -- from other threads -----------------------------------------------------------------------------------
    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job[Any]) -> None:
        """Queue a job. On the event loop."""
        if self._stopped:
            job.failed(StorageError("The process is ending and stores nothing more.", path="", errno=0))
            return
        self.pending += 1
        self._queue.put(job)

    def stop(self) -> None:
        """Write what is queued and streamed, then end the thread. The database stays open until `close`."""
        self._stopped = True
        self._queue.put(_STOP)
        self._thread.join()

    def close(self) -> None:
        """Let go of the database, when nobody reads any more: the last one to close it tidies it up."""
        self._drop_database()
        self.at_once.close()
        self._lock.close()

    # -- the thread -------------------------------------------------------------------------------------------
    @property
    def database(self) -> Database:
        """The open projection; only within a group."""
        if self._database is None:
            raise RuntimeError("the database is open only within a group")
        return self._database

    @property
    def rows(self) -> StoredRows:
        return WriterRows(self)

    def _run(self) -> None:
        running = True
        while running:
            group = self._next_group()
            if _STOP in group:
                running = False
                group = [job for job in group if job is not _STOP]
            jobs: list[Job[Any]] = [job for job in group if not job.cancelled]
            self.pending -= len(group) - len(jobs)
            try:
                self._serve(jobs, flush_all=not running)
            except BaseException as error:
                log.exception("the writer failed")
                self._drop_database()
                self._lock.release()
                for job in jobs:
                    self.fail(job, error)
            self.pending -= len(jobs)
            self._send()
            if self._database is not None:
                self._database.checkpoint()
        if self._hot.streaming():
            self.lost = True
            log.error("streamed text that was accepted could not be stored")

    def _next_group(self) -> list[Any]:
        due = self._hot.due()
        try:
            group = [self._queue.get(timeout=None if due is None else max(0.0, due - time.monotonic()))]
        except queue.Empty:
            return []
        while len(group) < GROUP_JOBS:
            try:
                group.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return group

    def _serve(self, jobs: list[Job[Any]], *, flush_all: bool) -> None:
        together: list[Job[Any]] = []
        threads: set[str] = set()
        for job in jobs:
            if isinstance(job, ExclusiveJob):
                self._commit_group(together)
                together = []
                self._run_alone(job)
                continue
            if len(threads) > GROUP_THREADS:
                self._commit_group(together)
                together, threads = [], set()
            together.append(job)
            threads.add(getattr(job, "thread_id", ""))
        flush = self._hot.streaming() if flush_all else self._hot.overdue(time.monotonic())
        if together or flush:
            self._commit_group(together, flush)

    def _send(self) -> None:
        answers, happenings = self._answers, self._happenings
        self._answers, self._happenings = [], []
        if answers or happenings:
            faults.point("answer")
            self._deliver(answers, happenings)

    def answer(self, job: Job[Any], result: Any) -> None:
        self._answers.append(lambda: job.done(result))

    def fail(self, job: Job[Any], error: BaseException) -> None:
        self._answers.append(lambda: job.failed(error))

    def happened(self, happening: Happening) -> None:
        """Tell those who watch, after this group."""
        self._happenings.append(happening)

    # -- the lock and the transaction -------------------------------------------------------------------------
    def _enter(self) -> None:
        """Take the write lock and begin the transaction. Raises StorageError; then nothing is held."""
        self.waits_since = time.monotonic()
        try:
            if not self._lock.acquire(self.place.lock_seconds):
                raise self._busy()
        finally:
            self.waits_since = None
        try:
            with suppress(StorageError):  # it only serves messages
                self._lock.write_holder(str(self.place.pid))
            try:
                self._begin()
            except DamagedDatabaseError:
                self._damaged = True
                self._begin()
        except DamagedDatabaseError as error:
            self._let_go()
            raise damaged_database(self.place.root) from error
        except BaseException:
            self._let_go()
            raise

    def _busy(self) -> StorageError:
        holder = self._lock.read_blocker() or "unknown"
        return StorageError(
            f"Process {holder} has held the write lock of {self.place.root.path} for more than "
            f"{self.place.lock_seconds:.0f} s; end it or wait, then try again.",
            kind="storageBusy",
            path=str(self.place.root.writer_lock),
            errno=0,
            pid=int(holder) if holder.isdigit() else None,
        )

    def _begin(self) -> None:
        if self._damaged or self._database is None or not self._database.is_current():
            self._drop_database()
            self._database = open_or_rebuild(self.place, force=self._damaged)
            self._damaged = False
            self._begin_transaction()
            with database_errors(self.place.root.timeline), self.rotten_rows():
                reconcile(self)
            self._commit()
        self._begin_transaction()

    def _begin_transaction(self) -> None:
        with database_errors(self.place.root.timeline):
            faults.point("begin", self.place.root.timeline)
            self.database.connection.execute("BEGIN IMMEDIATE")
            if self._hot.version != (version := self.database.pragma("data_version")):
                self._hot.version = version
                self._hot.recheck()

    def _commit(self) -> None:
        with database_errors(self.place.root.timeline):
            faults.point("commit", self.place.root.timeline)
            self.database.connection.execute("COMMIT")
            faults.point("committed", self.place.root.timeline)

    def _leave(self) -> bool:
        """Commit and let go. A database that cannot commit loses nothing: the log has it, the tail is read again."""
        try:
            self._commit()
        except (DamagedDatabaseError, StorageError, OSError, apsw.Error) as error:
            log.warning("the database did not commit, its rollouts will be read again: %s", type(error).__name__)
            self._damaged = self._damaged or isinstance(error, DamagedDatabaseError)
            self._let_go()
            return False
        self._lock.release()
        self._hot.trim()
        return True

    def _abandon(self) -> None:
        """Roll back and let go: nothing of this group was written."""
        try:
            self.database.connection.execute("ROLLBACK")
        except (RuntimeError, apsw.Error):
            self._drop_database()
        finally:
            self._lock.release()

    def _let_go(self) -> None:
        """Close the database, which rolls back what was begun, and release the lock."""
        self._drop_database()
        self._lock.release()

    def _drop_database(self) -> None:
        self._hot.forget()
        database, self._database = self._database, None
        if database is not None:
            with suppress(apsw.Error):
                database.close()

    @contextmanager
    def rotten_rows(self) -> Generator[None]:
        """What rotten rows lead to is a damaged database, once in the life of a process."""
        if self._remade:
            try:
                yield
            except RottenRowsError as error:
                raise error.__cause__ or error from None
            return
        try:
            with rotten_rows():
                yield
        except RottenRowsError as error:
            log.warning("rows of the projection cannot be used, it is made anew: %s", error)
            self._remade = True
            raise

    def rebuild_if_damaged(self, *, surely: bool = False) -> None:
        """Look at the projection with fresh eyes and make it anew if it is damaged. Alone, within a group."""
        self._drop_database()
        self._damaged = surely
        self._begin()
        if surely:
            return
        with database_errors(self.place.root.timeline):
            if self.database.pragma("quick_check") != "ok":
                raise DamagedDatabaseError("quick_check failed")

    @contextmanager
    def without_transaction(self) -> Generator[None]:
        """For what SQLite does only by itself, and for putting another file in its place. Alone, within a group."""
        self._commit()
        try:
            yield
        finally:
            self._begin()

    def close_database(self) -> None:
        """Let go of the file; the end of `without_transaction` opens what is there then."""
        self._drop_database()

    # -- groups -----------------------------------------------------------------------------------------------
    def _run_alone(self, job: ExclusiveJob) -> None:
        for last in (False, True):
            try:
                self._enter()
            except BaseException as error:
                self.fail(job, error)
                return
            before = len(self._happenings)
            try:
                with database_errors(self.place.root.timeline), self.rotten_rows():
                    result = job.run(self)
            except DamagedDatabaseError:
                self._damaged = True
                self._let_go()
                del self._happenings[before:]
                if last:
                    self.fail(job, damaged_database(self.place.root))
            except BaseException as error:
                self._hot.forget()
                self._abandon()
                self.fail(job, error)
                return
            else:
                self.answer(job, result)
                if not self._leave():
                    self._lag({job.thread_id.lower()})
                if job.wait_for_reply:
                    caused = self._happenings[before:]
                    self._happenings[before:] = [replace(happening, hold=job) for happening in caused]
                return

    def _commit_group(self, jobs: list[Job[Any]], flush: list[str] | None = None) -> None:
        if not jobs and not flush:
            return
        waiting: list[Job[Any]] = []
        busy: set[str] = set()
        for job in jobs:
            if isinstance(job, AppendJob):
                # What came before a delta on its thread stands before it, in the log and in what is told.
                if job.deltas and job.thread_id.lower() not in busy and self._take_delta(job):
                    continue
                busy.add(job.thread_id.lower())
            waiting.append(job)
        if not waiting and not flush:
            return
        if self._try_group(waiting, flush or [], last=False):
            return
        self._try_group(waiting, flush or [], last=True)

    def _try_group(self, jobs: list[Job[Any]], flush: list[str], *, last: bool) -> bool:
        """Write one group; False if the database turned out to be damaged before anything was written."""
        try:
            self._enter()
        except BaseException as error:
            for job in jobs:
                self.fail(job, error)
            self._hot.postpone(flush)
            return True
        if self.behind and (error := self._catch_up()) is not None:
            # Rows may lag by one group, not by more: while the database takes none, nothing more is taken in.
            for job in jobs:
                self.fail(job, error)
            self._hot.postpone(flush)
            self._lock.release()
            return True
        group = Group(self)
        answered = len(self._answers)
        try:
            for thread_id in flush:
                group.flush(thread_id)
            for job in jobs:
                group.admit(job)
        except DamagedDatabaseError:
            self._damaged = True
            group.undo(damaged_database(self.place.root) if last else None)
            if not last:
                del self._answers[answered:]  # judged again
            self._let_go()
            return last
        except BaseException as error:
            group.undo(error)
            self._hot.forget()
            self._abandon()
            return True
        # CRASH: from here on nothing of the group fails as a whole: some of it may be durable.
        group.write()
        group.store()
        group.answer()
        behind = group.behind if self._leave() else group.thread_ids
        if behind:
            self._lag(behind)
        return True

    def _lag(self, threads: set[str]) -> None:
        """The database did not take what the rollouts have: try once more at once, else with the next group."""
        self.behind |= threads
        with suppress(LockstitchError):
            self._enter()
            if self._catch_up() is None:
                self._abandon()
            else:
                self._lock.release()

    def _catch_up(self) -> StorageError | None:
        """Bring rows that lag up to their rollouts, in a transaction of its own; why that is not possible, or None."""
        try:
            with database_errors(self.place.root.timeline):
                for key in sorted(self.behind):
                    try:
                        self._hot.load(key)
                    except NotFoundError:
                        index_unknown(self, key)  # a new thread, of which not even the first row was stored
            self._commit()
            self.behind = set()
            self._begin_transaction()
        except (DamagedDatabaseError, apsw.Error) as error:
            log.warning("rows could not be brought up to their rollouts: %s", type(error).__name__)
            self._damaged = isinstance(error, DamagedDatabaseError)
            self._drop_database()
            return damaged_database(self.place.root)
        except StorageError as error:
            self._drop_database()
            return error
        return None

    def _take_delta(self, job: AppendJob) -> bool:
        """Take streamed text in without the lock, if its thread is hot and its segment has room."""
        batch = self._hot.find(job.thread_id)
        if batch is None or not self._hot.is_fresh() or batch.state.thread.open_turn_no is None:
            return False
        admission = Admission(batch.state, self.surroundings(batch), batch.segments)
        try:
            if batch.state.thread.archived or any(s.is_full for s in batch.segments.open()):
                return False
            job.build(admission)
        except LockstitchError:
            admission.undo()
            return False  # judged again with the lock, when the rows are sure to be current
        self.answer(job, appended(batch, admission, 0))
        self.happened(Streamed(job.thread_id, admission.streamed(), job if job.wait_for_reply else None))
        return True

    def surroundings(self, batch: Batch) -> Surroundings:
        place = self.place
        return Surroundings(
            place.boot_id,
            place.boots.is_alive,
            place.now,
            batch.read_line,
            place.diff_of(batch.state.thread.thread_id),
            place.artifact_of,
            place.spill_of(batch.state.thread.thread_id),
        )

    @property
    def hot(self) -> HotThreads:
        return self._hot
