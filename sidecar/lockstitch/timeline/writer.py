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
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw
from msgspec.structs import replace

from lockstitch.errors import LockstitchError, NotFoundError, StorageError
from lockstitch.platform import faults
from lockstitch.platform.at_once import AtOnce
from lockstitch.timeline.database import DamagedDatabaseError, database_errors
from lockstitch.timeline.held import Held, ending, new_group
from lockstitch.timeline.hot import HotThreads
from lockstitch.timeline.jobs import AppendJob, ExclusiveJob, Happening, Job, Streamed
from lockstitch.timeline.place import Place, damaged_database
from lockstitch.timeline.reconcile import index_unknown, reconcile
from lockstitch.timeline.requests import OwnRequests

if TYPE_CHECKING:
    from lockstitch.timeline.group import Group

log = logging.getLogger(__name__)

GROUP_JOBS = 512
GROUP_THREADS = 100
"""Each has its rollout open, and a process may open only so many files."""

_STOP, _LOOK = object(), object()

Outcomes = tuple[list[Callable[[], None]], list[Happening]]
"""What to call for the answers of a group, and what those who watch are told of it."""


class Writer(Held):
    """The writer thread of one process on one data root."""

    def __init__(
        self,
        place: Place,
        deliver: Callable[[list[Callable[[], None]], list[Happening]], None],
    ) -> None:
        """`deliver(answers, happenings)` is called from the writer thread after each group."""
        super().__init__(place)
        self._deliver = deliver
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.at_once = AtOnce()
        self._hot = HotThreads(self)
        self._turn = threading.Lock()
        """Held by who serves a group."""
        self._sleeps_long = False
        self._using = threading.Lock()
        """Held by who uses the database while lone appends leave rows uncommitted."""
        self._holds = False
        """The lock is kept from one lone append to the next, since `_holds_since` on the monotonic clock."""
        self._holds_since = 0.0
        self._held_threads: set[str] = set()
        self._held_failed = False
        self._uncommitted = False
        """A transaction is open for lone appends."""
        self._rows_wait = False
        """Rows of appends that are answered, or will be at once, wait for `store_here` or for their commit."""
        self._unstored: Group | None = None
        self._thread = threading.Thread(target=self._run, name="lockstitch-writer", daemon=True)
        self._happenings: list[Happening] = []
        self._answers: list[Callable[[], None]] = []
        self.own_requests = OwnRequests()
        self._stopped = False
        self.behind: set[str] = set()
        """Threads (ids in lower case) whose rows lag behind their rollouts, because the database failed."""
        self.pending = 0
        self.lost = False
        """Something that was accepted could not be stored: the process must not end with 0."""

    # -- from other threads -----------------------------------------------------------------------------------
    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job[Any]) -> None:
        """Queue a job. On the event loop."""
        if self._stopped:
            job.failed(ending())
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
    def _run(self) -> None:
        running = True
        while running:
            group = self._next_group()
            with self._turn:
                if _STOP in group:
                    running = False
                with self._using:
                    self._end_hold()
                jobs: list[Job[Any]] = [job for job in group if job is not _STOP and job is not _LOOK]
                asked = len(jobs)
                self._serve_group([job for job in jobs if not job.cancelled], flush_all=not running)
                self.pending -= asked
                answers, happenings = self._served()
                if answers or happenings:
                    self._deliver(answers, happenings)
                if self._database is not None:
                    self._database.checkpoint()
        if self._hot.streaming():
            self.lost = True
            log.error("streamed text that was accepted could not be stored")

    def _serve_group(self, jobs: list[Job[Any]], *, flush_all: bool) -> None:
        try:
            self._serve(jobs, flush_all=flush_all)
        except BaseException as error:
            log.exception("the writer failed")
            self._drop_database()
            self._lock.release()
            for job in jobs:
                self.fail(job, error)

    def _next_group(self) -> list[Any]:
        with self._turn:
            due = self._hot.due()
            self._sleeps_long = due is None
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

    # -- in the place of the thread ---------------------------------------------------------------------------
    def try_turn(self) -> bool:
        """Whether the thread has nothing to do; then it does nothing until one of the following is done."""
        return not self.pending and not self._stopped and self._turn.acquire(blocking=False)

    def wait_turn(self) -> None:
        """Wait until the thread is done with its group; as `try_turn` then. Raises StorageError."""
        self._turn.acquire()
        if self._stopped:
            self._turn.release()
            raise ending()

    def serve_here(self, job: Job[Any]) -> Outcomes:
        """Serve a lone job in the calling thread: the way to the other one and back takes as long as the job itself."""
        try:
            with self._using:
                self._end_hold()
            self._serve_group([job], flush_all=False)
            if self._database is not None and self._database.wants_checkpoint:
                self._queue.put(_LOOK)
            return self._served()
        finally:
            self._turn.release()

    def append_here(self, job: AppendJob) -> Outcomes:
        """Write a lone append in the calling thread: it is answered once its lines are durable.

        Its rows follow with `store_here`, which has to come next in the same thread, and are committed with those of
        appends that come soon after it, by `rest_here` at the latest; where nobody else is on the data root.
        """
        self._using.acquire()
        if self._holds and time.monotonic() - self._holds_since > self.place.hold_seconds:
            self._end_hold()
        # Another process is to see the rows with the answer.
        usual = self.behind or self._damaged or not self.place.hold_seconds or self.place.boots.others()
        if usual or not self._serve_lone(job):
            self._end_hold()
            self._serve_group([job], flush_all=False)
        return self._served()

    def store_here(self) -> None:
        """Store the rows of the append that was just answered."""
        try:
            group, self._unstored = self._unstored, None
            if group is not None:
                self._store_lone(group)
        except BaseException:
            log.exception("the writer failed")
            self._drop_database()
            self._end_hold()
        finally:
            self._using.release()
            self._turn.release()

    def rest_here(self) -> None:
        """No append has followed for a moment: commit, and let others have the lock."""
        if self._turn.acquire(blocking=False):  # else the thread does it
            try:
                with self._using:
                    self._end_hold()
            finally:
                self._turn.release()

    def settle(self) -> None:
        """Make the rows of every append that is answered visible to readers. In a reader's thread.

        Waits for no disk: while an append waits for it, the rows of those before it can be committed.
        """
        if self._rows_wait:
            with self._using:
                if self._uncommitted:
                    self._commit_held()
                self._rows_wait = False

    def _serve_lone(self, job: AppendJob) -> bool:
        """Write an append; False if it has to be judged again in the usual way."""
        if not self._holds:
            try:
                self._enter()
            except BaseException as error:
                self.fail(job, error)
                return True
            self._holds, self._uncommitted, self._holds_since = True, True, time.monotonic()
        elif not self._uncommitted:
            self._begin_transaction()
            self._uncommitted = True
        group = new_group(self)
        try:
            group.admit(job)
        except BaseException as error:
            self._damaged = isinstance(error, DamagedDatabaseError)
            group.undo(None if self._damaged else error)
            self._drop_database()
            return not self._damaged
        self._using.release()
        try:
            group.write()
        finally:
            self._using.acquire()
        self._rows_wait = True
        group.answer()
        self._unstored = group
        return True

    def _store_lone(self, group: Group) -> None:
        if not self._uncommitted:  # a reader has committed what was before
            self._begin_transaction()
            self._uncommitted = True
        self._held_threads |= group.thread_ids
        group.store()
        if group.behind:
            self._held_failed = True
            self._end_hold()

    def _commit_held(self) -> None:
        self._uncommitted = False
        try:
            self._commit()
        except (DamagedDatabaseError, StorageError, OSError, apsw.Error) as error:
            log.warning("the database did not commit, its rollouts will be read again: %s", type(error).__name__)
            self._held_failed = True

    def _end_hold(self) -> None:
        """Commit what lone appends left and release the lock, if it is held for them."""
        if not self._holds:
            return
        threads, failed = self._held_threads, self._held_failed or self._database is None
        self._holds, self._held_threads, self._held_failed = False, set(), False
        if self._uncommitted:
            self._uncommitted = False
            failed = not self._leave() or failed
        else:
            self._lock.release()
            self._hot.trim()
        if failed and threads:
            self._drop_database()
            self._lag(threads)
        self._rows_wait = False
        if self._database is not None and self._database.wants_checkpoint:
            self._queue.put(_LOOK)

    def stream_here(self, job: AppendJob) -> Outcomes | None:
        """Take streamed text in, if that needs no disk."""
        try:
            if not self._using.acquire(blocking=False):
                return None
            try:
                if not self._take_delta(job):
                    return None
            finally:
                self._using.release()
            if self._sleeps_long:
                self._sleeps_long = False
                self._queue.put(_LOOK)  # it has to know when the text is due
            return self._served()
        finally:
            self._turn.release()

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

    def _served(self) -> Outcomes:
        outcomes = self._answers, self._happenings
        self._answers, self._happenings = [], []
        if any(outcomes):
            faults.point("answer")
        return outcomes

    def answer(self, job: Job[Any], result: Any) -> None:
        self._answers.append(lambda: job.done(result))

    def fail(self, job: Job[Any], error: BaseException) -> None:
        self._answers.append(lambda: job.failed(error))

    def happened(self, happening: Happening) -> None:
        """Tell those who watch, after this group."""
        self._happenings.append(happening)

    def _reconcile(self) -> None:
        reconcile(self)

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
        group = new_group(self)
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
        if batch is None or not (self._holds or self._hot.was_fresh()) or batch.state.thread.open_turn_no is None:
            return False
        from lockstitch.timeline.group import Admission, appended

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
