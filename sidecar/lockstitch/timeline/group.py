"""One group of jobs on its way through the writer: judged, written, stored, answered.

Invariant: nothing of a thread is written before all of the group was judged; after `write` nothing is refused.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from lockstitch.codec import decode, encode
from lockstitch.errors import LockstitchError, RefusedError, StorageError
from lockstitch.platform import faults
from lockstitch.rollout.line import EncodedAppend, Line, parse_line
from lockstitch.rollout.tail import lines_backwards, reader
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.batch import Batch
from lockstitch.timeline.database import DamagedDatabaseError, database_errors
from lockstitch.timeline.events import (
    event_json,
    event_of_bytes,
    event_of_draft,
    event_of_line,
    events_of_append,
)
from lockstitch.timeline.incoming import Answer
from lockstitch.timeline.jobs import Appended, AppendJob, Committed, CreateJob, Job, Streamed, thread_exists
from lockstitch.timeline.lines import DamagedLineError
from lockstitch.timeline.reducer import DELTAS, moment_of
from lockstitch.timeline.requests import RESEND_SECONDS
from lockstitch.timeline.segments import Segment
from lockstitch.timeline.stored import copy_of, forget_thread, store

if TYPE_CHECKING:
    from lockstitch.timeline.writer import Writer

log = logging.getLogger(__name__)


class _Admitted(msgspec.Struct):
    """One append of the group: who asked, if somebody did, and what it comes to."""

    job: Job[Any] | None
    admission: Admission
    first: int = 0
    made: EncodedAppend | None = None


class Group:
    """The jobs of one group and the batches that they fill."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._batches: dict[str, Batch] = {}
        self._admitted: dict[str, list[_Admitted]] = {}
        self.behind: set[str] = set()
        """Threads whose events are durable and whose rows could not be stored."""
        self.gone: set[str] = set()
        """Threads that turned out not to be there."""
        self._mended: set[str] = set()

    @property
    def thread_ids(self) -> set[str]:
        """The threads of this group, in lower case."""
        return set(self._batches)

    def _batch(self, thread_id: str) -> Batch:
        key = thread_id.lower()
        batch = self._batches.get(key)
        if batch is None:
            with self._writer.rotten_rows():
                batch = self._batches[key] = self._writer.hot.load(thread_id)
        return batch

    # -- judging ----------------------------------------------------------------------------------------------
    def flush(self, thread_id: str) -> None:
        """Bring a thread's rows up to its file, and write its streamed text. Raises DamagedDatabaseError."""
        try:
            with database_errors(self._writer.place.root.timeline), self._writer.rotten_rows():
                batch = self._batch(thread_id)
        except LockstitchError as error:
            log.warning("streamed text of a thread could not be written: %s", error.kind)
            if error.kind == "threadNotFound":
                self._writer.hot.forget_streams(thread_id)
                self.gone.add(thread_id.lower())
            else:
                self._writer.hot.postpone([thread_id])
            return
        admission = self._admission(batch)
        admission.flush()
        if admission.drafts:
            self._add(batch, None, admission, None)

    def admit(self, job: Job[Any]) -> None:
        """Judge one job; a refusal is its answer and nobody else's. Raises DamagedDatabaseError."""
        try:
            with database_errors(self._writer.place.root.timeline):
                if isinstance(job, CreateJob):
                    self._create(job)
                elif isinstance(job, AppendJob):
                    self._append(job)
        except DamagedDatabaseError:
            raise
        except DamagedLineError as error:
            if not self._mend(job):
                self._writer.fail(job, _damaged_line(error))
        except LockstitchError as error:
            self._writer.fail(job, error)
        except Exception as error:
            log.exception("a job could not be judged")
            # Rows that rotted may be why: they are made anew from the log, once.
            if not self._mend(job):
                self._writer.fail(job, error)

    def _mend(self, job: Job[Any]) -> bool:
        """A line that a job needs is damaged: index its thread again, which tells of it, and judge the job again."""
        key = job.thread_id.lower() if isinstance(job, AppendJob) else ""
        batch = self._batches.get(key)
        if batch is None or batch.has_lines or key in self._mended:
            return False
        self._mended.add(key)
        del self._batches[key]
        try:
            self._writer.hot.mend(key)
        except LockstitchError as error:
            self._writer.fail(job, error)
        else:
            self.admit(job)
        return True

    def _admission(self, batch: Batch) -> Admission:
        return Admission(batch.state, self._writer.surroundings(batch), batch.segments)

    def _create(self, job: CreateJob) -> None:
        key = job.thread_id.lower()
        if key in self._batches or self._writer.rows.thread(job.thread_id) is not None:
            raise thread_exists(job.thread_id)
        batch = self._batches[key] = self._writer.hot.create(job.thread_id, job.created_at)
        admission = self._admission(batch)
        admission.drafts += job.drafts
        admission.answers += range(len(job.drafts))
        self._add(batch, job, admission, None)

    def _append(self, job: AppendJob) -> None:
        batch = self._batch(job.thread_id)
        thread = batch.state.thread
        if thread.archived and not job.allow_archived:
            raise RefusedError(
                f"Thread {thread.thread_id} is archived; thread/unarchive it first.",
                kind="threadArchived",
                threadId=thread.thread_id,
            )
        if job.req is not None and job.req not in self._writer.own_requests:
            found = self._resent(batch, job, job.req)
            if found is not None:
                self._writer.answer(job, found)
                return
        admission = self._admission(batch)
        if not job.deltas:
            admission.flush()
        try:
            job.build(admission)
        except BaseException:
            admission.undo()
            raise
        if job.deltas and any(segment.is_full for segment in batch.segments.open()):
            admission.flush()
        self._add(batch, job, admission, job.req)

    def _resent(self, batch: Batch, job: AppendJob, req: str) -> Appended | None:
        """What a dead boot stored of the same request within the last minute."""
        row = batch.state.client_event(f"req:{req}")
        if row is None or not job.count:
            return None
        last = parse_line(batch.read_line(row.line_at, row.line_length))
        age = self._writer.place.clock.now() - moment_of(last.at, bytes(last.payload))
        if age > RESEND_SECONDS * 1_000_000:
            return None
        thread_id = batch.state.thread.thread_id
        lines = self._lines_of_append(batch, row.line_at + row.line_length + 1)
        events = [event_of_line(thread_id, line) for line in lines if not _is_added(line)]
        if len(events) != job.count:
            return None  # some of its events were repeats: their own ids find those
        found = b"[%b]" % b",".join(events)
        return Appended(thread_id, found, len(events), copy_of(batch.state.thread), last.turnId, 0, [])

    @staticmethod
    def _lines_of_append(batch: Batch, end: int) -> list[Line]:
        """The lines of the append whose last line ends at `end`. Raises DamagedLineError."""
        lines: list[Line] = []
        for start, stop, _ in lines_backwards(reader(batch.recorder.fd), end):
            line = parse_line(batch.read_line(start, stop - start))
            if line.more != len(lines):
                break
            lines.insert(0, line)
        return lines

    def _add(self, batch: Batch, job: Job[Any] | None, admission: Admission, req: str | None) -> None:
        key = batch.state.thread.thread_id.lower()
        admitted = self._admitted.setdefault(key, [])
        mine = _Admitted(job, admission)
        admitted.append(mine)
        if admission.drafts:
            mine.first = batch.state.thread.last_sequence + 1
            try:
                mine.made = batch.append(admission.drafts, req, admission.now())
            except Exception as error:
                # The state may be half changed: nothing of this thread's group can be trusted any more.
                log.exception("an append could not be reduced")
                self._fail_thread(key, batch, error)

    # -- writing ----------------------------------------------------------------------------------------------
    def write(self) -> None:
        """Write and sync every rollout; a thread that fails takes only its own jobs with it. Raises nothing."""
        waiting = {key: batch for key, batch in self._batches.items() if batch.has_lines}
        errors = self._writer.at_once.run([batch.write for batch in waiting.values()])
        for (key, batch), error in zip(waiting.items(), errors, strict=True):
            if error is not None:
                if not isinstance(error, LockstitchError):
                    log.error("a rollout could not be written", exc_info=error)
                self._fail_thread(key, batch, error)

    def _fail_thread(self, key: str, batch: Batch, error: BaseException | None) -> None:
        """Take a thread's part of the group back. Without an error nobody is told: it is judged again."""
        flushed: list[Segment] = []
        for admitted in self._admitted.pop(key, ()):
            job, admission = admitted.job, admitted.admission
            flushed += admission.flushed
            admission.take_back()
            if job is not None and error is not None:
                self._writer.fail(job, error)
        if batch.created_in is not None:
            batch.remove_staged()
            with suppress(apsw.Error):
                forget_thread(self._writer.database.connection, batch.state.thread.thread_no)
        self._writer.hot.failed(key, [segment for segment in flushed if segment.texts])
        self._batches.pop(key, None)

    def undo(self, error: BaseException | None) -> None:
        """Something unforeseen happened before anything was written: take all back, and tell every job if it failed."""
        for key, batch in list(self._batches.items()):
            self._fail_thread(key, batch, error)

    def store(self) -> None:
        """Rows follow the log. What fails here is made good from the log, and is no failure of the append."""
        connection, timeline = self._writer.database.connection, self._writer.place.root.timeline
        for key, batch in self._batches.items():
            try:
                with database_errors(timeline), connection:
                    faults.point("rows", timeline)
                    store(connection, batch.state)
                batch.state.stored()
            except Exception as error:
                log.warning("rows were not stored, the tail will be read again: %s", type(error).__name__)
                self.behind.add(key)
            batch.written()

    # -- answering --------------------------------------------------------------------------------------------
    def answer(self) -> None:
        """Tell who asked and who watches. Their events are durable now, whatever happens here."""
        for key, admitted in self._admitted.items():
            batch = self._batches[key]
            for each in admitted:
                self._answer_one(batch, each)
        for key in self.behind:
            self._writer.hot.drop(key)

    def _answer_one(self, batch: Batch, admitted: _Admitted) -> None:
        job, admission, first = admitted.job, admitted.admission, admitted.first
        writer, thread_id = self._writer, batch.state.thread.thread_id
        hold = None
        if job is not None:
            try:
                writer.answer(job, appended(batch, admission, first, admitted.made))
            except Exception as error:
                writer.fail(job, _damaged_line(error) if isinstance(error, DamagedLineError) else error)
            if not isinstance(job, AppendJob) or job.wait_for_reply:
                hold = job
            if isinstance(job, AppendJob):
                writer.own_requests.add(job.req)
        streamed = admission.streamed()
        if streamed:
            writer.happened(Streamed(thread_id, streamed, hold))
        if admission.drafts:
            writer.happened(Committed(thread_id, first, admission.drafts, hold))


def _is_added(line: Line) -> bool:
    """Whether the sidecar put this line before the one that was asked for: nobody was answered with it."""
    if line.type == "turn.resumed" or line.type in DELTAS:
        return True
    if line.type != "artifact.snapshot":
        return False
    return decode(bytes(line.payload)).get("checkpoint", {}).get("source") == "external"


def appended(batch: Batch, admission: Admission, first: int, made: EncodedAppend | None = None) -> Appended:
    """The answer to an append. Raises DamagedLineError if a repeated event can no longer be read."""
    thread_id = batch.state.thread.thread_id
    answers, repeated = admission.answers, 0
    if made is not None and answers == list(range(len(made.lengths))):  # almost always
        events = events_of_append(thread_id, made)
    else:
        events = b"[%b]" % b",".join([_event(thread_id, batch, admission, answer, first) for answer in answers])
        repeated = sum(type(answer) is Answer and answer.repeated is not None for answer in answers)
    # Streamed text changes no row yet, and nobody asks for it.
    thread = copy_of(batch.state.thread) if admission.drafts or repeated else batch.state.thread
    return Appended(thread_id, events, repeated, thread, admission.open_turn_id, first, admission.drafts)


def _event(thread_id: str, batch: Batch, admission: Admission, answer: int | Answer, first: int) -> bytes:
    if isinstance(answer, int):
        return event_of_draft(thread_id, first + answer, admission.drafts[answer])
    if answer.repeated is not None:
        row = answer.repeated
        return event_of_bytes(thread_id, batch.read_line(row.line_at, row.line_length))
    segment = answer.segment
    assert segment is not None
    for number, draft in enumerate(admission.drafts):
        if draft.event_id == segment.event_id:
            return event_of_draft(thread_id, first + number, draft)
    payload = encode({"itemId": segment.item_id, "delta": answer.delta})
    return event_json(
        thread_id, None, segment.type, segment.event_id, segment.at, payload, segment.turn_id, segment.item_id
    )


def _damaged_line(error: DamagedLineError) -> StorageError:
    return StorageError(
        f"A line of the rollout that this needs is damaged (offset {error.line_at}); lockstitch doctor shows what.",
        path="",
        errno=0,
        offset=error.line_at,
    )
