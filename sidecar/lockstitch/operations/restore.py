"""`agentSession/fileCheckpoint/restore`: one side of one checkpoint, back on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.restore_plan import conflict_of
from lockstitch.codec import present
from lockstitch.errors import NotFoundError
from lockstitch.operations.acts import Asked, Consent, Done, perform
from lockstitch.operations.call import Call
from lockstitch.operations.file_states import FileStates, Side
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.views.checkpoints import Recorded, recorded
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol import restore as wire


async def restore(runtime: Runtime, call: Call, params: wire.RestoreParams) -> dict[str, Any]:
    """Put the file back as the checkpoint left it, or as it found it. Itself a checkpoint, so it can be undone."""
    consent = Consent.of(params.confirm_restore, params.on_conflict, params.dry_run)
    chosen: list[Recorded] = []

    def ask(view: View, thread: ThreadRow) -> Asked:
        row = checkpoint_row(view, thread, params.checkpoint_id)
        with view.rollout(thread) as rollout:
            chosen.append(recorded(view, thread, row, rollout.lines))
            states = FileStates(view, thread, rollout.lines)
            wanted = [states.wanted(path, side) for path, side in _sides(states, row, chosen[0], params.side)]
        facts = {"kind": "restore", "checkpointId": row.checkpoint_id, "side": params.side}
        return Asked(wanted, facts, record_all=True)

    done = await perform(runtime, call, params.session_id, consent, new_id("rewind"), ask)
    return _reply(runtime, done, chosen[0], params)


def checkpoint_row(view: View, thread: ThreadRow, checkpoint_id: str) -> CheckpointRow:
    """The row of a checkpoint. Raises NotFoundError."""
    row = view.rows.checkpoint(thread.thread_no, checkpoint_id)
    if row is None or row.op == "confirmed":
        raise NotFoundError(
            f"Thread {thread.thread_id} has no checkpoint {checkpoint_id}; fileCheckpoint/list shows them.",
            kind="checkpointNotFound",
            threadId=thread.thread_id,
            checkpointId=checkpoint_id,
        )
    return row


def _sides(states: FileStates, row: CheckpointRow, found: Recorded, side: str) -> list[tuple[str, Side]]:
    """The files that one side of a checkpoint is about: before a rename these are two."""
    old_key = found.old_key
    if side == "before" and row.op == "renamed" and old_key is not None:
        return [(old_key, states.side_of(row, "before")), (row.path, Side())]
    return [(row.path, states.side_of(row, side))]


def _reply(runtime: Runtime, done: Done, chosen: Recorded, params: wire.RestoreParams) -> dict[str, Any]:
    step = next(step for step in done.steps if step.wanted.path == done.steps[-1].wanted.path)
    value: dict[str, Any] = {
        "sessionId": done.thread.thread_id,
        "threadId": done.thread.thread_id,
        "checkpoint": chosen.summary(),
        "livePath": chosen.record["path"],
        "snapshotPath": chosen.snapshot_path,
        "plan": done.plan(),
    }
    overwritten = [conflict_of(each) for each in done.steps if each.external or each.action == "conflict"]
    if overwritten:
        value["conflict"] = overwritten[0]
    if done.applied:
        restored = [
            record
            for sequence, draft in done.drafts
            if draft.type == "artifact.snapshot"
            for record in [Recorded(done.thread, runtime.root_id, sequence, draft)]
            if record.record["source"] == "restore"
        ]
        value["restoredAt"] = done.at
        value["restoreCheckpointId"] = restored[-1].record["checkpointId"]
        if params.create_backup and step.acts and step.live.sha256 is not None:
            value["backupPath"] = _backup_path(runtime, done, step.live.sha256)
    return present(value)


def _backup_path(runtime: Runtime, done: Done, sha256: str) -> str | None:
    """Where the bytes are that were replaced: in the workspace relative to it, else absolute."""
    sidecar = runtime.contents_of(done.thread.thread_id).sidecar(done.thread.cwd)
    path = sidecar.path_of(sha256)
    if path is None or sidecar.workspace is None or not path.is_relative_to(sidecar.workspace):
        return None if path is None else str(path)
    return path.relative_to(sidecar.workspace).as_posix()
