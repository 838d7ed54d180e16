"""Acts that were cut off by a kill: finished if they are recorded in the rollout, else every file put back.

Invariant: a journal is taken over only from a dead boot, by one process, and stays until its work is done.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstitch.artifacts import restore_act
from lockstitch.artifacts.capture import read_file
from lockstitch.artifacts.content import Content, reference
from lockstitch.artifacts.paths import path_to_wire
from lockstitch.artifacts.restore_journal import Journal
from lockstitch.artifacts.restore_plan import MAX_FILE_BYTES
from lockstitch.artifacts.restore_rollback import roll_back
from lockstitch.artifacts.restore_target import remove_empty
from lockstitch.errors import LockstitchError, NotFoundError
from lockstitch.operations.snapshots import Snapshots, stored_events
from lockstitch.platform.beneath import CAN_OPEN_BENEATH, OpenDirectory
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.checkpoints import ABSENT, Snapshot, path_key
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.jobs import AppendJob
from lockstitch.timeline.reader import View

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

log = logging.getLogger(__name__)


async def recover_orphans(runtime: Runtime) -> None:
    """See to the acts of dead boots. What cannot be done now is tried again at the next start or act."""
    if not CAN_OPEN_BENEATH or runtime.refusal is not None:
        return
    journals, alive = runtime.journals, runtime.boots.is_alive
    try:
        found = await runtime.slowly(lambda: journals.take_over(alive))
    except OSError as error:
        log.warning("journals of restores could not be looked at: %s", type(error).__name__)
        return
    for path, journal in found:
        try:
            await _recover(runtime, path, journal)
        except (LockstitchError, OSError) as error:
            log.warning("a restore that was cut off could not be seen to yet: %s", type(error).__name__)


async def _recover(runtime: Runtime, path: Path, journal: Journal) -> None:
    workspace = Path(journal.workspace)
    sidecar = runtime.contents.sidecar(journal.workspace)
    recorded = await is_recorded(runtime, journal.thread_id, journal.restore_id)

    def work() -> tuple[list[tuple[str, Content]], bool]:
        if not recorded:
            done = roll_back(workspace, journal, sidecar.put)
            return done.rescued, done.complete
        late = restore_act.retire(workspace, journal, sidecar.put)
        remove_empty(workspace, journal.emptied, OpenDirectory.sync)
        return late, True

    rescued, complete = await runtime.slowly(work)
    if rescued:
        await record_rescued(runtime, journal.thread_id, rescued)
    if complete:
        await runtime.slowly(lambda: runtime.journals.remove(path))


async def is_recorded(runtime: Runtime, thread_id: str, act_id: str) -> bool:
    """Whether the act is in the thread's rollout: asked in the writer, which has read the file to its end.

    Raises StorageError if that cannot be found out.
    """
    # CRASH: the projection alone does not know; the kill may have come between the lines and the rows.
    found: list[bool] = []

    def look(admission: Admission) -> None:
        found.append(admission.state.client_event(act_id) is not None)

    job: Any = runtime.job(AppendJob, thread_id=thread_id, build=look, allow_archived=True)
    job.wait_for_reply = False
    try:
        await runtime.submit(job)
    except NotFoundError:
        return False  # deleted since: nobody can undo it any more, and half a restore is worse than none
    return found[0]


async def record_rescued(runtime: Runtime, thread_id: str, rescued: list[tuple[str, Content]]) -> None:
    """Record bytes that came between as external versions, and then what is in their place now."""
    snapshots = Snapshots(runtime, thread_id)
    try:
        await snapshots.open()
    except NotFoundError:
        return  # the bytes are in the store all the same

    def known(view: View) -> list[tuple[str, Content]]:
        number = view.thread(thread_id).thread_no
        query = "SELECT 1 FROM file_checkpoint WHERE thread_no=? AND path=? AND after_sha=? AND version_no IS NOT NULL"
        return [
            (path, content)
            for path, content in rescued
            for wire in [path_to_wire(path)]
            if view.connection.execute(
                query, (number, path_key(wire["path"], wire.get("pathBase64")), content.sha256)
            ).fetchone()
            is None
        ]

    unknown = await runtime.read_thread(thread_id, known)

    def make() -> list[Incoming]:
        events: list[Incoming] = []
        for path, content in unknown:
            events.append(_event(snapshots, path, "external", reference(content)))
            if snapshots.workspace is not None:
                events.append(_event(snapshots, path, "capture", _present(snapshots, path)))
        return events

    events = await runtime.slowly(make)
    if not events:
        return

    def build(admission: Admission) -> None:
        for event in events:
            admission.add(event)

    job: Any = runtime.job(AppendJob, thread_id=thread_id, build=build, allow_archived=True)
    job.wait_for_reply = False
    done = await runtime.submit(job)
    await snapshots.write_documents(done.thread, stored_events(done))


def _present(snapshots: Snapshots, path: str) -> dict[str, Any]:
    """What is at a path now, its bytes stored."""
    assert snapshots.workspace is not None
    assert snapshots.sidecar is not None
    found = read_file(Path(snapshots.workspace), path, max_bytes=MAX_FILE_BYTES)
    if found.status == "missing":
        return ABSENT
    if found.data is not None:
        snapshots.sidecar.put(found.data)
    return reference(found)


def _event(snapshots: Snapshots, path: str, source: str, after: dict[str, Any]) -> Incoming:
    wire = path_to_wire(path)
    op = "external" if source == "external" else None
    snapshot = Snapshot(wire["path"], source, after, op=op, place=snapshots.place())
    if "pathBase64" in wire:
        snapshot.fields["pathBase64"] = wire["pathBase64"]
    return Incoming("artifact.snapshot", {}, own=True, outside=True, snapshot=snapshot)
