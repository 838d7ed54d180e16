"""`agentSession/fileCheckpoint/rewind`: all files of a thread, or some, to before or after a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.paths import path_from_wire, path_of_key, printable, workspace_path
from lockstitch.errors import NotFoundError
from lockstitch.operations.acts import Asked, Consent, perform
from lockstitch.operations.call import Call
from lockstitch.operations.conversation import hiding, refuse_hiding
from lockstitch.operations.file_states import FileStates, Side
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread_reads import turn_of
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol import restore as wire


async def rewind(runtime: Runtime, call: Call, params: wire.RewindParams) -> dict[str, Any]:
    """Put every file back that changed since; all or nothing, and the conversation with them if that is asked."""
    consent = Consent.of(params.confirm_restore, params.on_conflict, params.dry_run)
    act_id = new_id("rewind")

    def ask(view: View, thread: ThreadRow) -> Asked:
        turn = turn_of(view, thread, params.to_turn_id)
        before = params.position == "before"
        facts: dict[str, Any] = {"kind": "rewind", "toTurnId": turn.turn_id, "position": params.position}
        sequence = turn.first_sequence - 1 if before else turn.last_sequence
        with view.rollout(thread) as rollout:
            states = FileStates(view, thread, rollout.lines)
            paths = _chosen(states.touched_after(sequence), params, thread)
            sides = [
                states.before_edits_since(path, sequence) if before else states.at(path, sequence) for path in paths
            ]
            found = _without_contradictions(states, dict(zip(paths, sides, strict=True)), sequence)
            wanted = [states.wanted(path, side) for path, side in found.items()]
        conversation = None
        if params.conversation:
            refuse_hiding(view, thread, turn)
            conversation = hiding(turn.turn_id, keep=not before, act_id=act_id)
        return Asked(wanted, facts, conversation=conversation)

    done = await perform(runtime, call, params.session_id, consent, act_id, ask)
    return {"plan": done.plan(), "applied": done.applied, "rewindId": act_id}


def _without_contradictions(states: FileStates, sides: dict[str, Side], sequence: int) -> dict[str, Side]:
    """Of a path and one beneath it only one can have been a file, the one that was told of last: what goes when a
    file takes the place of a folder, or the other way round, is not always reported. Of which nothing is known was
    none, then."""
    keys = {path_of_key(key): key for key, side in sides.items() if side != Side()}
    for path, key in keys.items():
        parts = path.split("/")
        for number in range(1, len(parts)):
            above = keys.get("/".join(parts[:number]))
            if above is None:
                continue
            pair = sorted((above, key), key=lambda one: states.told_of(one, sequence))
            files = [one for one in pair if sides[one].reference is not None]
            unknown = [one for one in pair if sides[one].unavailable == "notCaptured"]
            if len(files) + len(unknown) == 2 and files:
                sides[(unknown or files)[0]] = Side()
    return sides


def _chosen(touched: list[str], params: wire.RewindParams, thread: ThreadRow) -> list[str]:
    """The files to rewind; a folder stands for all that is under it. Raises RefusedError, NotFoundError."""
    if params.paths is None and params.paths_base64 is None:
        return touched
    found: dict[str, None] = {}
    for one in [*(params.paths or []), *(path_from_wire(None, each) for each in params.paths_base64 or [])]:
        path = workspace_path(one.rstrip("/") or one, thread.cwd)
        matching = [] if one.endswith("/") else [key for key in touched if _is_meant(path_of_key(key), path)]
        if not matching:  # what was a file and a folder by turns is the file, unless a slash says otherwise
            matching = [key for key in touched if _is_meant(path_of_key(key), path, beneath=True)]
        if not matching:
            raise NotFoundError(
                f"Thread {thread.thread_id} recorded no change of {printable(path)} since then; a dry run without "
                "`paths` shows what it did record.",
                kind="checkpointNotFound",
                threadId=thread.thread_id,
                path=printable(path),
            )
        found.update(dict.fromkeys(matching))
    return sorted(found)


def _is_meant(path: str, asked: str, *, beneath: bool = False) -> bool:
    """Whether a path is the one asked for, or is under it; also by what a name that is not Unicode prints like."""
    names = (path, printable(path))
    return any(name.startswith(f"{asked}/") for name in names) if beneath else asked in names
