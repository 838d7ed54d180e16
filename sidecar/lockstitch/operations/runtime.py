"""What all operations share: the writer, the readers, the artifact stores, who watches what.

Invariant: the event loop never waits for a disk: reads run in worker threads, changes in the writer thread.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lockstitch import __version__
from lockstitch.artifacts.restore_journal import Journals
from lockstitch.data_root import DataRoot
from lockstitch.errors import LockstitchError, StorageError
from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.operations.careful import CarefulReads, DamagedReadError
from lockstitch.operations.contents import Contents, write_all_documents
from lockstitch.operations.ephemeral import Ephemeral
from lockstitch.operations.feed import LOOK_SECONDS, Feed
from lockstitch.operations.order import ThreadOrder
from lockstitch.operations.read_threads import ReadThreads
from lockstitch.operations.root_ids import known_root_id, root_id
from lockstitch.platform.files import make_private_directory
from lockstitch.settings import Settings
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.database import DamagedDatabaseError
from lockstitch.timeline.ephemeral import MemoryReader
from lockstitch.timeline.frozen import FrozenReader
from lockstitch.timeline.jobs import Appended, AppendJob, CreateJob, ExclusiveJob, Happening, Job, thread_exists
from lockstitch.timeline.lines import DamagedLineError
from lockstitch.timeline.place import HOLD_SECONDS, Place, damaged_database
from lockstitch.timeline.reader import ElsewhereError, Reader, View
from lockstitch.timeline.soundness import STUMBLES, RottenRowsError
from lockstitch.timeline.times import Clock, text_of
from lockstitch.timeline.unread import UnreadError, is_any
from lockstitch.timeline.writer import Writer

if TYPE_CHECKING:
    from lockstitch.operations.import_jobs import ImportJobs
    from lockstitch.operations.index_build import IndexBuild
    from lockstitch.operations.search import Search

log = logging.getLogger(__name__)

T = TypeVar("T")


READ_THREADS = 4
_MOST_ROUNDS = 10
"""A page whose threads are not read is looked for so many times; then everything is read."""


class Runtime:
    """One process on one data root."""

    def __init__(self, settings: Settings, boot_id: str) -> None:
        self.settings, self.boot_id, self.version = settings, boot_id, __version__
        self.root = DataRoot(Path(settings.data_root))
        self.clock = Clock()
        self.started_us = self.clock.now()
        self.boots = Boots(self.root, boot_id)
        self.order = ThreadOrder()
        self.background: set[asyncio.Task[Any]] = set()
        self.at_drain: list[Callable[[], None]] = []
        """Called when the process is about to end: what runs in the background comes to a stop."""
        self.imports: ImportJobs | None = None
        self.search: Search | None = None
        """From the first question on."""
        self.ephemeral = Ephemeral(self)
        self.root_id = ""
        self._readers = ReadThreads(READ_THREADS)
        self._slow_readers = ReadThreads(READ_THREADS)
        self.careful = CarefulReads(self)
        self.index_build: IndexBuild | None = None
        """From when threads were found that are not read yet."""
        self._processes: tuple[float, list[dict[str, object]]] = (-1.0, [])
        self._stopped = False
        self._rows_remade = False
        """Rows that a read stumbled over were made anew; a read that stumbles again is a fault of ours."""
        self.refusal: StorageError | None = None
        """Why nothing can be stored; then everything is only read."""

    # -- life -------------------------------------------------------------------------------------------------
    async def start(self) -> None:
        """Make ready: directories, locks, the projection; what a dead boot left open. Raises LockstitchError."""
        self.loop = asyncio.get_running_loop()
        try:
            if self.settings.read_only:
                raise _read_only(self.root.path)
            await self.slowly(self._prepare)
            self._open()
            opening = self.careful.in_background(self.exclusive(_open_projection))
            if not await self.careful.soon_done(opening):
                # Reads need no lock; what a start does is done as soon as it is free.
                log.warning("somebody else holds the write lock of %s: only reads are served for now", self.root.path)
                self.careful.in_background(self._recover_after(opening))
                return
        except StorageError as error:
            if error.kind in ("storageReadOnly", "storageFull"):
                await self._open_to_read(error)
            elif error.kind == "storageBusy":
                log.warning("%s", error.message)
            else:
                raise
        else:
            await self._recover()

    async def _recover_after(self, opening: asyncio.Task[None]) -> None:
        try:
            await opening
        except LockstitchError as error:
            log.warning("%s", error.message)  # the first change that gets the lock does what a start does
        else:
            await self._recover()

    async def _recover(self) -> None:
        """See to what dead boots left open."""
        if await self.slowly(self.journals.any_there):
            # brings in all that restores, a fifth of a start
            from lockstitch.operations.act_recovery import recover_orphans

            await recover_orphans(self)
        await self.interrupt_dead_turns()
        if self.refusal is None and await self.read(lambda view: is_any(view.connection)):
            await self.read_unread([])

    def _open(self) -> None:
        self.contents = Contents(self.root.artifacts, self.root.exports, self.root_id, self.boots.is_alone)
        self.journals = Journals(self.root.journal, self.boot_id)
        place = Place(
            self.root,
            self.boots,
            os.getpid(),
            self.contents.diff_of_thread,
            self.contents.artifact_of,
            self.contents.spill_of_thread,
            self.contents.owned,
            self.clock,
            self.settings.lock_seconds,
            # A plan of faults counts the steps of a change, and all of them before its answer.
            hold_seconds=HOLD_SECONDS if self.settings.faults is None else 0.0,
            root_ids=frozenset({self.root_id}),
        )
        reader = Reader(self.root, self.root_id, self.ephemeral.contents)
        self.reader: Reader | FrozenReader = reader
        self.feed = Feed(self)
        self.writer = Writer(place, self.deliver)
        reader.before = self.writer.settle
        self.writer.start()

    async def _open_to_read(self, error: StorageError) -> None:
        """Serve what can be read of a data root that takes no writes: no lock, no boot, no recovery events."""
        log.warning("the data root is only read: %s", error.message)
        if hasattr(self, "writer"):
            await self.slowly(self.writer.stop)
            self.reader.close()
            self.writer.close()
        self.boots.close()
        self.refusal = error
        self.root_id = await self.slowly(lambda: known_root_id(self.root.root_file))
        self.contents = Contents(self.root.artifacts, self.root.exports, self.root_id)
        self.reader = FrozenReader(self.root, self.root_id, self.boots, self.ephemeral.contents)
        self.feed = Feed(self)

    def _prepare(self) -> None:
        for directory in self.root.private_directories():
            make_private_directory(directory)
        self.root_id = root_id(self.root.root_file)
        self.boots.register(text_of(self.started_us))

    async def interrupt_dead_turns(self) -> None:
        """End the turns that dead boots left open, and forget those boots."""
        if self.refusal is not None:
            return
        for thread_id in await self.read(_open_threads):
            await self.attend(thread_id)
        await self.exclusive(lambda writer: self.boots.forget_dead())

    async def drain(self) -> bool:
        """Wait until everything accepted is stored; False if something could not be."""
        for stop in self.at_drain:
            stop()
        for task in list(self.background):
            with suppress(BaseException):
                await task
        if not self._stopped and self.refusal is None and hasattr(self, "writer"):
            self._stopped = True
            await self.slowly(self.writer.stop)
        await self.ephemeral.stop()
        return not (hasattr(self, "writer") and self.writer.lost)

    async def close(self) -> None:
        """Let go of everything; harmless after a failed start."""
        await self.drain()
        if hasattr(self, "feed"):
            self.feed.close()
            self.reader.close()
        if self.search is not None:
            self.search.close()
        if self.refusal is None and hasattr(self, "writer"):
            self.writer.close()
        self.ephemeral.close()
        self.boots.close()
        self._readers.close()
        self._slow_readers.close()
        if self.index_build is not None:
            self.index_build.close()

    # -- reading ----------------------------------------------------------------------------------------------
    async def read(self, look: Callable[[View], T], *, unread_too: bool = True) -> T:
        """Run `look` in a worker thread on one consistent view. A damaged projection is rebuilt first, once.

        Threads that it needs and that are not read yet are read first, unless the caller sees to the UnreadError.
        """
        for more in range(_MOST_ROUNDS):
            try:
                return await self._read(look)
            except UnreadError as error:
                if not unread_too:
                    raise
                # A filter that lets few pass: twice as many each time, and everything in the end.
                ids = None if error.thread_ids is None else error.thread_ids[: error.at_first << more]
                await self.read_unread(ids if more + 1 < _MOST_ROUNDS else None)
        return await self._read(look)

    async def read_unread(self, thread_ids: list[str] | None) -> None:
        """Read threads that the projection only names; None: all. Raises StorageError."""
        if self.index_build is None:
            from lockstitch.operations.index_build import IndexBuild  # a used data root has no need of it

            self.index_build = IndexBuild(self)
        await self.index_build.read(thread_ids)

    async def _read(self, look: Callable[[View], T]) -> T:
        try:
            return await self._readers.run(lambda: self.look(look))
        except RottenRowsError as error:
            if self._rows_remade:
                raise error.__cause__ or error from None  # a fault of ours, hence a bug
            log.warning("rows of the projection cannot be used: %s", error)
            self._rows_remade = True
        except DamagedDatabaseError:
            await self.exclusive(lambda writer: writer.rebuild_if_damaged())
        try:
            return await self._readers.run(lambda: self.look(look))
        except DamagedDatabaseError:
            # Looking at it found nothing, and still it cannot be read: then it is made anew.
            await self.exclusive(lambda writer: writer.rebuild_if_damaged(surely=True))
        try:
            return await self._readers.run(lambda: self.look(look))
        except RottenRowsError as error:
            raise error.__cause__ or error from None  # rows are new, hence not to blame
        except DamagedDatabaseError as error:
            raise damaged_database(self.root) from error

    def look(self, look: Callable[[View], T]) -> T:
        """Run `look` on one consistent view, in a worker thread. Raises what `read` sees to, and LockstitchError."""
        try:
            try:
                return self.reader.run(look)
            except ElsewhereError:
                return self.ephemeral.reader.run(look)
        except STUMBLES as error:
            raise RottenRowsError(f"rows cannot be used: {type(error).__name__}") from error
        except DamagedLineError as error:
            raise DamagedReadError(
                f"A line of the rollout is damaged (offset {error.line_at}); lockstitch doctor shows what.",
                path="",
                errno=0,
                offset=error.line_at,
            ) from error

    def reader_of(self, thread_id: str) -> Reader | FrozenReader | MemoryReader:
        """Where a thread is read, for looks that know its number already."""
        return self.ephemeral.reader if thread_id in self.ephemeral else self.reader

    def contents_of(self, thread_id: str) -> Contents:
        """Where a thread's contents are."""
        return self.ephemeral.contents.get(thread_id.lower(), self.contents)

    async def read_thread(self, thread_id: str, look: Callable[[View], T]) -> T:
        """Like `read`, of a thread whose file was looked at first, and whose turns of dead boots are seen to."""
        return await self.careful.read(thread_id, look)

    async def mend(self, thread_id: str) -> None:
        """Tell of damage that a read met, and let the rows say what can still be read."""
        await self.careful.mend(thread_id)

    async def attend(self, thread_id: str) -> None:
        """Bring a thread's rows up to its file and end its turn if the boot that served it is dead."""
        await self.careful.attend(thread_id)

    async def slowly(self, work: Callable[[], T]) -> T:
        """Run something that may take long in a worker thread of its own kind."""
        return await self._slow_readers.run(work)

    # -- writing ----------------------------------------------------------------------------------------------
    def job(self, kind: type[Any], **fields: Any) -> Any:
        """A job whose outcome `submit` waits for."""
        return kind(_ignore, _ignore, **fields)

    def enqueue(self, job: Job[T], writer: Writer | None = None) -> asyncio.Future[T]:
        """Give the job its place in the queue, by default of its thread's writer; the future is its outcome."""
        future: asyncio.Future[T] = self.loop.create_future()

        def done(result: T) -> None:
            if not future.done():
                future.set_result(result)

        def failed(error: BaseException) -> None:
            if not future.done():
                future.set_exception(error)

        job.done, job.failed = done, failed
        try:
            (writer or self._writer_of(job)).submit(job)
        except LockstitchError as error:
            failed(error)
        return future

    def _writer_of(self, job: Job[Any]) -> Writer:
        """Who takes the job. Raises ConflictError, or StorageError if nobody does."""
        if isinstance(job, (AppendJob, CreateJob)) and job.thread_id in self.ephemeral:
            if isinstance(job, CreateJob) and not job.ephemeral:
                raise thread_exists(job.thread_id)
            return self.ephemeral.writer
        if self.refusal is not None:
            raise self.refusal
        return self.writer

    async def submit(self, job: Job[T]) -> T:
        """Queue a job and wait for its outcome."""
        return await self.enqueue(job)

    async def settled(self, call: Call, job: Job[T], future: asyncio.Future[T]) -> T:
        """Wait for a queued job on behalf of a request: a cancel comes too late, and what the job causes is
        announced after the reply."""
        call.commit_point()
        self.feed.expect(job)
        call.after_reply.append(lambda: self.feed.replied(job))
        return await future

    async def perform(self, call: Call, job: Job[T]) -> T:
        """Queue a job for a request and wait for it."""
        return await self.settled(call, job, self.enqueue(job))

    def write_at_once(self, call: Call, job: AppendJob) -> Appended:
        """Perform a lone append in this thread, if the writer has nothing else to do; else NOT_NOW."""
        aside, writer = call.aside, self.writer
        if aside is None or not writer.try_turn():
            return NOT_NOW
        outcome = outcome_of(job)
        call.commit_point()
        self.feed.expect(job)
        call.after_reply.append(lambda: self.feed.replied(job))
        outcomes = aside(lambda: writer.append_here(job))
        aside.afterwards(writer.store_here, writer.rest_here)
        self._delivered(*outcomes)
        return outcome()

    def stream_at_once(self, call: Call, job: AppendJob) -> Appended:
        """Take streamed text in, if the writer has nothing else to do and it needs no disk; else NOT_NOW."""
        writer = self.writer
        if not writer.try_turn():
            return NOT_NOW
        outcome = outcome_of(job)
        taken = writer.stream_here(job)
        if taken is None:
            return NOT_NOW
        call.after_reply.append(lambda: self.feed.replied(job))
        self._delivered(*taken)
        return outcome()

    def writes_at_once(self, thread_id: str) -> bool:
        """Whether nothing stands in the way of a job on that thread but, perhaps, other jobs."""
        return (
            self.refusal is None
            and self.order.is_free(thread_id)
            and thread_id not in self.ephemeral
            and (self.index_build is None or self.index_build.is_done)  # or a thread would be read here first
        )

    async def exclusive(self, run: Callable[[Writer], Any], thread_id: str = "") -> Any:
        """Run something alone under the write lock, in the writer thread."""
        return await self.submit(self.job(ExclusiveJob, run=run, thread_id=thread_id))

    def deliver(self, answers: list[Callable[[], None]], happenings: list[Happening]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(self._delivered, answers, happenings)

    def _delivered(self, answers: list[Callable[[], None]], happenings: list[Happening]) -> None:
        self.feed.take(happenings)
        for answer in answers:
            answer()

    async def write_all_documents(self, thread_id: str) -> None:
        """Write the version documents of a thread that was made as a whole."""
        await self.read_thread(thread_id, lambda view: write_all_documents(self.contents, view, thread_id))

    @property
    def pending_writes(self) -> int:
        """How many changes are accepted and not yet stored."""
        return self.ephemeral.pending + (self.writer.pending if self.refusal is None else 0)

    # -- the rest ---------------------------------------------------------------------------------------------
    async def processes(self) -> list[dict[str, object]]:
        """Who lives on the data root; looked up again when what is known is a quarter of a second old."""
        found = self.processes_known()
        if found is None:
            now = time.monotonic()
            found = await self.slowly(self.boots.living)
            self._processes = (now, found)
        return found

    def processes_known(self) -> list[dict[str, object]] | None:
        """The same, if what is known is fresh enough."""
        known_at, found = self._processes
        return found if time.monotonic() - known_at <= LOOK_SECONDS else None

    def keep_running(self, task: asyncio.Task[Any]) -> None:
        """Hold on to a task that no request waits for."""
        self.background.add(task)
        task.add_done_callback(self.background.discard)

    def now(self) -> str:
        return text_of(self.clock.now())


def _open_projection(writer: Writer) -> None:
    """Entering a group opens the projection, and that finishes what a crash left half done."""


def _read_only(root: Path) -> StorageError:
    return StorageError(
        f"The data root {root} can only be read; make it writable and start again to change anything.",
        kind="storageReadOnly",
        path=str(root),
        errno=errno.EROFS,
    )


def outcome_of(job: Job[T]) -> Callable[[], T]:
    """Once the job is done: its result, or what it failed with is raised."""
    results: list[T] = []
    errors: list[BaseException] = []
    job.done, job.failed = results.append, errors.append

    def outcome() -> T:
        if errors:
            raise errors[0]
        return results[0]

    return outcome


def _ignore(outcome: object) -> None:
    """Until somebody waits for it, nobody is told of a job's outcome."""


def _open_threads(view: View) -> list[str]:
    found = view.connection.execute(
        "SELECT thread_id FROM thread WHERE open_turn_no IS NOT NULL UNION "
        "SELECT thread_id FROM thread WHERE thread_no IN (SELECT thread_no FROM worker WHERE status=0)"
    )
    return [thread_id for (thread_id,) in found]
