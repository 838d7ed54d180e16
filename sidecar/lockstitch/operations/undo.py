"""`agentSession/fileCheckpoint/undo`: the files as they were before a restore, a rewind, or another undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.paths import path_from_wire
from lockstitch.codec import ParseError, decode, mapping
from lockstitch.errors import InvalidError, NotFoundError
from lockstitch.operations.acts import Asked, Consent, perform
from lockstitch.operations.call import Call
from lockstitch.operations.conversation import undoing
from lockstitch.operations.file_states import FileStates
from lockstitch.operations.restore import checkpoint_row
from lockstitch.operations.runtime import Runtime
from lockstitch.rollout.line import parse_line
from lockstitch.timeline.lines import DamagedLineError, Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol import restore as wire


async def undo(runtime: Runtime, call: Call, params: wire.UndoParams) -> dict[str, Any]:
    """Take an act back; all or nothing. It is an act itself, so it can be undone too."""
    if (params.rewind_id is None) == (params.restore_checkpoint_id is None):
        raise InvalidError.at("rewindId", "exactly one of rewindId and restoreCheckpointId is needed")
    consent = Consent.of(params.confirm_restore, params.on_conflict, params.dry_run)
    act_id = new_id("rewind")

    def ask(view: View, thread: ThreadRow) -> Asked:
        with view.rollout(thread) as rollout:
            states = FileStates(view, thread, rollout.lines)
            undone = params.rewind_id or _act_of(states, view, thread, params.restore_checkpoint_id or "")
            facts = _facts(view, thread, rollout.lines, undone)
            rows = _restored(states, view, thread, undone)
            wanted = [states.wanted(row.path, states.side_of(row, "before")) for row in rows]
        made: list[dict[str, str]] = facts.get("folders") or []
        folders = [path_from_wire(folder.get("path"), folder.get("pathBase64")) for folder in made]
        says = {"kind": "undo", "undoes": undone}
        return Asked(wanted, says, emptied=folders, conversation=undoing(facts, act_id))

    done = await perform(runtime, call, params.session_id, consent, act_id, ask)
    return {"plan": done.plan(), "applied": done.applied, "rewindId": act_id}


def _act_of(states: FileStates, view: View, thread: ThreadRow, checkpoint_id: str) -> str:
    row = checkpoint_row(view, thread, checkpoint_id)
    found = states.record(row).get("rewindId")
    if row.source != "restore" or not isinstance(found, str):
        raise InvalidError.at("restoreCheckpointId", "is not the checkpoint of a restore")
    return found


def _facts(view: View, thread: ThreadRow, lines: Lines, act_id: str) -> dict[str, Any]:
    """What `thread.rewound` says of the act. Raises NotFoundError."""
    row = view.rows.client_event(thread.thread_no, act_id)
    if row is not None:
        try:
            line = parse_line(lines.line(row.line_at, row.line_length))
            if line.type == "thread.rewound":
                return mapping(decode(bytes(line.payload)))
        except (DamagedLineError, ParseError):
            return {}  # its checkpoints may be sound all the same
    raise NotFoundError(
        f"Thread {thread.thread_id} knows no rewind or restore {act_id[:128]}.",
        kind="checkpointNotFound",
        threadId=thread.thread_id,
        rewindId=act_id[:128],
    )


def _restored(states: FileStates, view: View, thread: ThreadRow, act_id: str) -> list[CheckpointRow]:
    """The checkpoints of an act. They stand in one append, so the search ends where they do."""
    where = "thread_no=? AND source='restore' ORDER BY sequence DESC"
    found: list[CheckpointRow] = []
    for row in view.rows.all(CheckpointRow, where, thread.thread_no):
        if states.record(row).get("rewindId") == act_id:
            found.append(row)
        elif found:
            break
    return sorted(found, key=lambda row: row.path)
