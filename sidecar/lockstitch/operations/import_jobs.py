"""Imports as jobs: one after the other, each a series of appends, told as it goes on.

Invariant: an import enters through the append path like everything else; what is stored of a job that was
stopped or killed is whole appends, and the next import of the same source goes on behind them.
Invariant: jobs live as long as the process; what they brought is in the threads.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from lockstitch.codec import decode, encode
from lockstitch.errors import ConflictError, LockstitchError, NotFoundError, RefusedError
from lockstitch.imports.growth import Held, Told
from lockstitch.imports.shared import Unshared, compare
from lockstitch.imports.source import SourceThread
from lockstitch.imports.steps import Step, Steps, Stored, key_of_directory
from lockstitch.operations.call import Call
from lockstitch.operations.import_family import family_of, kept_by
from lockstitch.operations.order import ThreadOrder
from lockstitch.rollout.line import Draft, payload_span
from lockstitch.timeline import moves
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.hot import FORMAT
from lockstitch.timeline.jobs import Appended, AppendJob, CreateJob
from lockstitch.timeline.reader import View
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

log = logging.getLogger(__name__)

MOST_AT_ONCE = 3
"""Jobs that run at a time: while one waits for the disk another reads."""

_REMEMBERED = 1000
_TELL_SECONDS = 0.25


@dataclass(slots=True)
class ImportJob:
    """One import that was asked for."""

    job_id: str
    source: SourceThread
    replace: bool
    created_at: str
    updated_at: str
    status: str = "queued"
    phase: str = "queued"
    done: Counter[str] = field(default_factory=Counter[str])
    known: Counter[str] = field(default_factory=Counter[str])
    read_bytes: int = 0
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    cancelled: bool = False
    """Somebody asked that it stop."""
    calls: list[Call] = field(default_factory=list[Call])
    """The requests that want to be told how it goes on."""

    @property
    def key(self) -> tuple[str, str, str, bool]:
        return self.source.client, self.source.source_thread_id.lower(), str(self.source.path), self.replace

    def as_wire(self) -> dict[str, Any]:
        """ImportJob of the protocol."""
        value: dict[str, Any] = {
            "jobId": self.job_id,
            "sourceClient": self.source.client,
            "sourceThreadId": self.source.source_thread_id,
            "status": self.status,
            "progress": {
                "phase": self.phase,
                "completedItems": self.done["items"],
                "totalItems": self.known["items"],
                "completedTurns": self.done["turns"],
                "totalTurns": self.known["turns"],
            },
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
        }
        if self.result is not None:
            value["result"] = self.result
        if self.error is not None:
            value["error"] = self.error
        return value


class ImportJobs:
    """The queue of one process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._jobs: OrderedDict[str, ImportJob] = OrderedDict()
        self._queue: asyncio.Queue[ImportJob] = asyncio.Queue()
        self._workers = 0
        self._order = ThreadOrder()
        self._stopped = False
        runtime.at_drain.append(self._stop)

    def offer(self, call: Call, source: SourceThread, *, replace: bool) -> ImportJob:
        """Queue an import; one of the same source that has not ended is the answer too."""
        now = self._runtime.now()
        job = ImportJob(new_id("import"), source, replace, now, now)
        going = ("queued", "running")
        waiting = (known for known in self._jobs.values() if known.status in going and not known.cancelled)
        known = next((known for known in waiting if known.key == job.key), None)
        if known is not None:
            known.calls.append(call)
            return known
        job.calls.append(call)
        self._jobs[job.job_id] = job
        if len(self._jobs) > _REMEMBERED:
            ended = (name for name, known in self._jobs.items() if known.status in ("completed", "failed"))
            self._jobs.pop(next(ended, ""), None)
        self._queue.put_nowait(job)
        if self._workers < MOST_AT_ONCE:
            self._workers += 1
            self._runtime.keep_running(asyncio.get_running_loop().create_task(self._work()))
        return job

    def find(self, job_id: str) -> ImportJob | None:
        return self._jobs.get(job_id)

    def _stop(self) -> None:
        self._stopped = True

    async def _work(self) -> None:
        """Run what is queued, then end; at shutdown what has not run fails."""
        try:
            while not self._queue.empty():
                await self._run(self._queue.get_nowait())
        finally:
            self._workers -= 1

    async def _run(self, job: ImportJob) -> None:
        job.status = "running"
        try:
            # Of two sessions that begin alike the second must see what the first brought.
            async with (
                self._order.turn(f"turn {job.source.first_turn_id or job.source.source_thread_id}"),
                self._order.turn(job.source.source_thread_id),
            ):
                await _Run(self._runtime, job, lambda: self._stopped).run()
            job.status = job.phase = "completed"
        except LockstitchError as error:
            job.status = job.phase = "failed"
            job.error = {"kind": error.kind, "message": error.message, **error.facts}
        except Exception:
            error_id = new_id("error")
            log.exception("an import failed (%s)", error_id)
            job.status = job.phase = "failed"
            message = "The import failed by a fault of this program; the log says more."
            job.error = {"kind": "internalError", "message": message, "errorId": error_id}
        job.updated_at = self._runtime.now()
        for call in job.calls:
            await call.progress("end", message=job.status if job.error is None else job.error["message"])
        job.calls.clear()


class _Run:
    """One job being done."""

    def __init__(self, runtime: Runtime, job: ImportJob, stopped: Callable[[], bool]) -> None:
        self._runtime, self._job, self._stopped = runtime, job, stopped
        self._thread_id = job.source.source_thread_id
        self._told_at = 0.0

    async def run(self) -> None:
        """Bring in what is new. Raises LockstitchError."""
        runtime, job = self._runtime, self._job
        self._check_stopped()
        for call in job.calls:
            await call.progress("begin", message=job.source.path.name, current=0, total=job.source.size)
        job.phase = "reading_source"
        stored = await held_by(runtime, job.source)
        if stored is not None and job.replace:
            await runtime.exclusive(lambda writer: moves.delete(writer, self._thread_id))
            stored = None
        steps = await self._steps(stored)
        try:
            try:
                behind = await runtime.slowly(steps.open)
            except ConflictError as error:
                if error.facts.get("reason") != "sourceChanged":
                    raise
                await runtime.slowly(steps.close)
                branch = await self._branch(error, stored)
                if behind := branch is not None:
                    self._thread_id = branch
                    stored = await held_by(runtime, replace(job.source, source_thread_id=branch))
                    steps = await self._steps(stored)
                    behind = await runtime.slowly(steps.open)
            if behind:
                job.phase = "building_history"
                await self._append_all(steps, exists=stored is not None)
        finally:
            await runtime.slowly(steps.close)
        job.phase = "finalizing"
        if job.done["checkpoints"]:
            await runtime.write_all_documents(self._thread_id)
        job.result = {
            "threadId": self._thread_id,
            **{name: job.done[name] for name in ("turns", "items", "checkpoints")},
            "skipped": steps.skipped,
            "damaged": steps.damaged,
        }
        if steps.unshared is not None and steps.unshared.holder is not None:
            job.result |= {"sharedItems": steps.unshared.items, "forkedFromId": steps.unshared.holder}

    async def _steps(self, stored: Stored | None) -> Steps:
        """The import of the source into the thread, less what other threads hold of it."""
        runtime, source = self._runtime, self._job.source
        family = await family_of(runtime, source, self._thread_id)
        unshared = None if family is None else Unshared(family.kept, runtime.contents.spill, family.begun)
        thread_id = None if self._thread_id == source.source_thread_id else self._thread_id
        # Contents of an imported thread lie in the data root: it has no workspace until it is linked to one.
        sidecar = runtime.contents.sidecar(None)
        return Steps(
            source.path, stored, sidecar, runtime.contents, unshared=unshared, thread_id=thread_id, described=source
        )

    async def _branch(self, changed: ConflictError, stored: Stored | None) -> str | None:
        """The thread for what a second file of the session holds behind the lines that both have.

        None where it has no others. Raises `changed` where the files are not such a pair.
        """
        runtime, source = self._runtime, self._job.source
        if stored is None:
            raise changed
        kept = await kept_by(runtime, self._thread_id)
        found = await runtime.slowly(lambda: compare(source.path, kept, runtime.contents.spill))
        if not found.shared or found.changed or (found.first_new is None and source.size >= stored.held.read_bytes):
            raise changed
        if found.first_new is None:
            return None
        named = f"{self._thread_id}\0{found.first_new}".lower()
        return f"{source.client}-{sha256(named.encode()).hexdigest()[:32]}"

    def _check_stopped(self) -> None:
        if self._job.cancelled:
            raise RefusedError(
                "The import was cancelled; import again, and it goes on where it stopped.",
                kind="requestCancelled",
                threadId=self._thread_id,
            )
        if self._stopped():
            raise RefusedError(
                "The process ended before the import did; import again, and it goes on where it stopped.",
                kind="requestCancelled",
            )

    async def _append_all(self, steps: Steps, *, exists: bool) -> None:
        """Write one step while the next is made."""
        job, iterator = self._job, iter(steps)
        pending: asyncio.Future[Appended] | None = None
        written: Step | None = None
        try:
            while (step := await self._runtime.slowly(lambda: next(iterator, None))) is not None:
                job.known += step.counts
                job.phase = "persisting_history"
                if pending is not None and written is not None:
                    await pending
                    await self._count(written)
                    self._check_stopped()
                if not exists:
                    creating = self._runtime.enqueue(await self._creation(steps))
                    pending, exists = self._enqueue(step), True
                    await creating
                else:
                    pending = self._enqueue(step)
                written = step
            if pending is not None and written is not None:
                await pending
                await self._count(written)
        except BaseException:
            if pending is not None:
                pending.add_done_callback(lambda future: future.cancelled() or future.exception())
            raise

    async def _count(self, step: Step) -> None:
        job = self._job
        job.done += step.counts
        job.read_bytes, job.updated_at = step.read_bytes, self._runtime.now()
        if (now := time.monotonic()) - self._told_at >= _TELL_SECONDS:
            self._told_at = now
            share = 100 * step.read_bytes / max(job.source.size, 1)
            for call in job.calls:
                await call.progress(
                    "report",
                    message=job.phase,
                    percentage=round(min(share, 100.0), 1),
                    current=step.read_bytes,
                    total=job.source.size,
                )

    async def _creation(self, steps: Steps) -> CreateJob:
        payload = await self._runtime.slowly(lambda: _started(steps, self._runtime))
        nothing, at = steps.nothing_read(), steps.started_at
        drafts = [
            Draft("thread.started", encode(payload), new_id("evt"), at),
            # Without it a crash would leave a thread that nobody knows to be imported.
            Draft(nothing.type, encode(nothing.payload), new_id("evt"), at),
        ]
        return self._runtime.job(CreateJob, thread_id=self._thread_id, created_at=at, drafts=drafts)

    def _enqueue(self, step: Step) -> asyncio.Future[Appended]:
        job: AppendJob = self._runtime.job(
            AppendJob, thread_id=self._thread_id, build=_adding(step), wait_for_reply=False, allow_archived=True
        )
        return self._runtime.enqueue(job)


def _adding(step: Step) -> Callable[[Admission], None]:
    def build(admission: Admission) -> None:
        source = admission.state.imported()
        if source is None or source.read_bytes != step.follows:
            raise ConflictError(
                f"Thread {admission.thread_id} is being imported by another process; wait for it to end.",
                kind="conflict",
                threadId=admission.thread_id,
            )
        begun: list[str] = []
        for event in step.events:
            if event.type == "turn.started" and event.turn_id is not None:
                begun.append(event.turn_id)
            elif event.type == "thread.rolledBack":
                _check_rollback(admission, event.payload["turnIds"], begun)
            turn_id = event.turn_id
            if turn_id is not None and turn_id != admission.open_turn_id and event.type != "turn.started":
                admission.reopen(turn_id, event.at or admission.now())
            admission.add(event)
        admission.answers.clear()  # nobody reads them

    return build


def _check_rollback(admission: Admission, turn_ids: list[str], begun: list[str]) -> None:
    """What the source took back must be what would be taken back here: no turn that came in another way.

    `begun`: the turns of this append so far; those that are taken back leave it.
    """
    count = len(turn_ids)
    newest = begun[: -count - 1 : -1]
    newest += [turn.turn_id for turn in admission.state.last_visible_turns(count - len(newest))]
    del begun[max(len(begun) - count, 0) :]
    if [turn_id.lower() for turn_id in newest] != [turn_id.lower() for turn_id in turn_ids]:
        raise ConflictError(
            f"The source took turns back, and thread {admission.thread_id} has turns of its own behind them. "
            "Import it with replaceExisting to make the thread anew.",
            kind="conflict",
            threadId=admission.thread_id,
            use="replaceExisting",
        )


def _started(steps: Steps, runtime: Runtime) -> dict[str, Any]:
    """The payload of `thread.started`. Looks at the disk for the directory's key."""
    thread, unshared = steps.thread, steps.unshared
    payload: dict[str, Any] = {"format": FORMAT, "threadId": thread.source_thread_id}
    if thread.cwd is not None:
        payload.update(cwd=thread.cwd, workspaceKey=key_of_directory(thread.cwd), workspaceLinked=False)
    for name, value in (
        ("model", thread.model),
        ("modelProvider", thread.model_provider),
        ("name", thread.title),
        ("source", thread.source or "unknown"),
        ("threadSource", "subagent" if thread.parent_thread_id else None),
        ("cliVersion", thread.client_version),
        ("gitInfo", thread.git or None),
        ("parentThreadId", thread.parent_thread_id),
    ):
        if value is not None:
            payload[name] = value
    origin: dict[str, Any] = {
        "client": thread.client,
        "sourceThreadId": thread.source_thread_id,
        "sourcePath": str(thread.path),
    }
    if unshared is not None and unshared.holder is not None:
        payload["forkedFrom"] = {"threadId": unshared.holder, "rootId": unshared.kept.roots[unshared.holder]}
        origin["shared"] = unshared.as_stored()
    payload["importedFrom"] = origin
    payload["bootId"] = runtime.boot_id
    return payload


async def held_by(runtime: Runtime, source: SourceThread) -> Stored | None:
    """What the thread of that id holds of the source; None without one. Raises ConflictError if it is another's."""
    thread_id = source.source_thread_id

    def look(view: View) -> Stored:
        row = view.thread(thread_id)
        found = view.rows.import_source(row.thread_no)
        if found is None or (found.client, found.source_thread_id.lower()) != (source.client, thread_id.lower()):
            raise ConflictError(
                f"There is a thread {row.thread_id} already that was not imported from that session; "
                "delete or keep it, it is not touched by an import.",
                kind="threadExists",
                threadId=row.thread_id,
            )
        with view.rollout(row) as rollout:
            line = rollout.lines.line(found.line_at, found.line_length)
        start, length = payload_span(line)
        told: dict[str, Any] = decode(line[start : start + length])
        closings = told.get("closings")
        document = told.get("document")
        last = None if document is None else {key: Told.from_stored(kept) for key, kept in document["told"].items()}
        held = Held(found.read_bytes, told["readSha256"], told["events"], frozenset(closings or ()), last)
        name = told.get("name") if closings is not None else row.name
        parts = {part["bytes"]: part["sha256"] for part in told.get("parts") or ()}
        return Stored(held, closings is not None, name, row, parts, document)

    try:
        return await runtime.read_thread(thread_id, look)
    except NotFoundError:
        return None


def jobs_of(runtime: Runtime) -> ImportJobs:
    """The imports of this process."""
    if runtime.imports is None:
        runtime.imports = ImportJobs(runtime)
    return runtime.imports
