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
from collections.abc import Callable
from typing import Any

import apsw

from lockstitch.errors import LockstitchError, StorageError
from lockstitch.platform.locks import FileLock
from lockstitch.timeline.admission import Admission, Surroundings
from lockstitch.timeline.batch import Batch
from lockstitch.timeline.database import DamagedDatabaseError, Database, database_errors
from lockstitch.timeline.group import Group, appended
from lockstitch.timeline.hot import HotThreads
from lockstitch.timeline.jobs import AppendJob, ExclusiveJob, Happening, Job, Streamed
from lockstitch.timeline.place import Place, damaged_database
from lockstitch.timeline.rebuild import open_or_rebuild
from lockstitch.timeline.stored import StoredRows

log = logging.getLogger(__name__)

LOCK_SECONDS = 10.0
GROUP_JOBS = 512

_STOP = object()


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
        self._lock = FileLock(place.root.writer_lock, fair=True)
        self._database: Database | None = None
        self._hot = HotThreads(self)
        self._thread = threading.Thread(target=self._run, name="lockstitch-writer", daemon=True)
        self._happenings: list[Happening] = []
        self._answers: list[Callable[[], None]] = []
        self._own_requests: set[str] = set()
        self.pending = 0
        self.lost = False
        """Something that was accepted could not be stored: the process must not end with 0."""

    # -- from other threads -----------------------------------------------------------------------------------
    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job[Any]) -> None:
        self.pending += 1
        self._queue.put(job)

    def stop(self) -> None:
        """Write what is queued and streamed, then end the thread."""
        self._queue.put(_STOP)
        self._thread.join()

    # -- the thread -------------------------------------------------------------------------------------------
    @property
    def database(self) -> Database:
        """The open projection; only within a group."""
        if self._database is None:
            raise RuntimeError("the database is open only within a group")
        return self._database

    @property
    def rows(self) -> StoredRows:
        return StoredRows(self.database.connection)

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
                for job in jobs:
                    self.fail(job, error)
            self.pending -= len(jobs)
            self._send()
        self._close()

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
        for job in jobs:
            if isinstance(job, ExclusiveJob):
                self._commit_group(together)
                together = []
                self._run_alone(job)
            else:
                together.append(job)
        flush = self._hot.streaming() if flush_all else self._hot.overdue(time.monotonic())
        if together or flush:
            self._commit_group(together, flush)

    def _send(self) -> None:
        answers, happenings = self._answers, self._happenings
        self._answers, self._happenings = [], []
        if answers or happenings:
            self._deliver(answers, happenings)

    def _close(self) -> None:
        self.lost = bool(self._hot.streaming())
        self._hot.close()
        if self._database is not None:
            self._database.close()
        self._lock.close()

    def answer(self, job: Job[Any], result: Any) -> None:
        self._answers.append(lambda: job.done(result))

    def fail(self, job: Job[Any], error: BaseException) -> None:
        self._answers.append(lambda: job.failed(error))

    def happened(self, happening: Happening) -> None:
        """Tell those who watch, after this group."""
        self._happenings.append(happening)

    # -- the lock and the transaction -------------------------------------------------------------------------
    def _enter(self) -> None:
        """Take the write lock and begin the transaction. Raises StorageError."""
        if not self._lock.acquire(LOCK_SECONDS):
            holder = self._lock.read_holder() or "unknown"
            raise StorageError(
                f"Process {holder} has held the write lock of {self.place.root.path} for more than "
                f"{LOCK_SECONDS:.0f} s; end it or wait, then try again.",
                kind="storageBusy",
                path=str(self.place.root.writer_lock),
                errno=0,
                pid=int(holder) if holder.isdigit() else None,
            )
        try:
            self._lock.write_holder(str(self.place.pid))
            self._begin()
        except DamagedDatabaseError:
            self._reopen(rebuild=True)
            self._begin_again()
        except BaseException:
            self._lock.release()
            raise

    def _begin(self) -> None:
        if self._database is None or not self._database.is_current():
            self._reopen(rebuild=False)
        with database_errors(self.place.root.timeline):
            self.database.connection.execute("BEGIN IMMEDIATE")
            if self._hot.version != (version := self.database.pragma("data_version")):
                self._hot.version = version
                self._hot.recheck()

    def _begin_again(self) -> None:
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise

    def _reopen(self, *, rebuild: bool) -> None:
        """Open the database anew; one that is missing or damaged is rebuilt first. Under the write lock."""
        self._hot.forget()
        if self._database is not None:
            self._database.close()
            self._database = None
        self._database = open_or_rebuild(self.place, force=rebuild)

    def _leave(self) -> None:
        """Commit and let go. A database that cannot commit loses nothing: the log has it, the tail is reduced again."""
        try:
            with database_errors(self.place.root.timeline):
                self.database.connection.execute("COMMIT")
        except (DamagedDatabaseError, StorageError, apsw.Error) as error:
            log.warning("the database did not commit, its rollouts will be read again: %s", type(error).__name__)
            self._drop_database()
        finally:
            self._lock.release()

    def _abandon(self) -> None:
        """Roll back and let go: nothing of this group was written."""
        try:
            self.database.connection.execute("ROLLBACK")
        except apsw.Error:
            self._drop_database()
        finally:
            self._lock.release()

    def _drop_database(self) -> None:
        self._hot.forget()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _rebuild_and_retry(self, job: ExclusiveJob) -> None:
        """Still under the lock: the projection is made anew, and the job tried once more."""
        try:
            self._reopen(rebuild=True)
            self._begin()
            result = job.run(self)
        except BaseException as error:
            self.fail(job, damaged_database(self.place) if isinstance(error, DamagedDatabaseError) else error)
            self._abandon()
        else:
            self.answer(job, result)
            self._leave()

    def rebuild_if_damaged(self) -> None:
        """Run within a group: entering it has already rebuilt a projection that cannot be opened."""
        with database_errors(self.place.root.timeline):
            if self.database.pragma("quick_check") != "ok":
                raise DamagedDatabaseError("quick_check failed")

    # -- groups -----------------------------------------------------------------------------------------------
    def _run_alone(self, job: ExclusiveJob) -> None:
        try:
            self._enter()
        except BaseException as error:
            self.fail(job, error)
            return
        try:
            result = job.run(self)
        except DamagedDatabaseError:
            self._rebuild_and_retry(job)
        except BaseException as error:
            self._hot.forget()
            self._abandon()
            self.fail(job, error)
        else:
            self.answer(job, result)
            self._leave()

    def _commit_group(self, jobs: list[Job[Any]], flush: list[str] | None = None) -> None:
        if not jobs and not flush:
            return
        waiting = [job for job in jobs if not (isinstance(job, AppendJob) and job.deltas and self._take_delta(job))]
        if not waiting and not flush:
            return
        try:
            self._enter()
        except BaseException as error:
            for job in waiting:
                self.fail(job, error)
            self._hot.postpone(flush or [])
            return
        group = Group(self)
        try:
            for thread_id in flush or ():
                group.flush(thread_id)
            for job in waiting:
                group.admit(job)
            group.write()
        except BaseException as error:
            group.fail_all(error)
            self._hot.forget()
            self._abandon()
            return
        try:
            group.store()
            group.answer()
        finally:  # whatever happened: what is written is committed, and the lock is let go
            self._leave()

    def _take_delta(self, job: AppendJob) -> bool:
        """Take streamed text in without the lock, if its thread is hot and its segment has room."""
        batch = self._hot.find(job.thread_id)
        if batch is None or not self._hot.is_fresh():
            return False
        admission = Admission(batch.state, self.surroundings(batch), batch.segments)
        try:
            if batch.state.thread.archived or any(s.is_full for s in batch.segments.open()):
                return False
            job.build(admission)
        except LockstitchError:
            return False  # judged again with the lock, when the rows are sure to be current
        self.answer(job, appended(batch, admission, 0))
        self.happened(Streamed(job.thread_id, admission.answers, job if job.wait_for_reply else None))
        return True

    def surroundings(self, batch: Batch) -> Surroundings:
        place = self.place
        return Surroundings(
            place.boot_id,
            place.now,
            batch.read_line,
            place.diff_of(batch.state.thread.thread_id),
            place.artifact_of,
            place.spill,
        )

    def is_own_request(self, req: str) -> bool:
        """Whether this boot committed that request itself: then the same id is another request, not a retry."""
        return req in self._own_requests

    def remember_request(self, req: str | None) -> None:
        if req is not None:
            self._own_requests.add(req)

    @property
    def hot(self) -> HotThreads:
        return self._hot
