"""Reads a thread for its exports: all of it, or one turn, in one consistent look; never its contents.

Invariant: what cannot be read is named among the gaps, in the words that a person understands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstitch.codec import decode, mapping
from lockstitch.exports.facts import ContentUse, ThreadFacts
from lockstitch.operations.artifact import artifact_values, recent_artifacts
from lockstitch.operations.contents import preview_of
from lockstitch.operations.file_checkpoint import workspace_of
from lockstitch.operations.notices import records_after
from lockstitch.operations.receipt import receipt_value
from lockstitch.operations.thread_reads import turn_of
from lockstitch.operations.views.checkpoints import summaries_of
from lockstitch.operations.views.projection import plain_value, projected_value
from lockstitch.operations.views.sessions import session_turn_value, session_value
from lockstitch.operations.views.threads import thread_value
from lockstitch.operations.views.turns import turn_values
from lockstitch.timeline import queries
from lockstitch.timeline.lines import OpenRollout
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow, TurnRow, TurnStatus

_ALL = 1 << 40


@dataclass(frozen=True, slots=True)
class _Wanted:
    view: View
    thread: ThreadRow
    rollout: OpenRollout
    turn: TurnRow | None

    @property
    def turn_no(self) -> int | None:
        return None if self.turn is None else self.turn.turn_no


def thread_facts(view: View, thread_id: str, turn_id: str | None) -> ThreadFacts:
    """Everything that exports of the thread, or of that turn, need. Raises NotFoundError."""
    thread = view.thread(thread_id)
    turn = None if turn_id is None else turn_of(view, thread, turn_id)
    turns = queries.turns(view, thread.thread_no, False, None, _ALL).rows
    if turn is not None:
        turns = [turn]
    with view.rollout(thread) as rollout:
        wanted = _Wanted(view, thread, rollout, turn)
        lines = _lines(wanted)
        rows = queries.checkpoints(view, thread.thread_no, turn_no=wanted.turn_no, limit=_ALL).rows
        checkpoints = plain_value(summaries_of(view, thread, rows, rollout.lines))
        places = queries.artifacts(view, thread.thread_no, turn_no=wanted.turn_no, limit=_ALL).rows
        artifacts = plain_value(artifact_values(view, thread, places, rollout.lines))
        recent = plain_value(recent_artifacts(view, thread, rollout.lines))
        full = plain_value(turn_values(view, thread, turns, "full", rollout.lines))
        projected = projected_value(view, thread, rollout.lines)
        return ThreadFacts(
            thread_id=thread.thread_id,
            turn_id=None if turn is None else turn.turn_id,
            thread=plain_value(thread_value(view, thread)),
            session=plain_value(session_value(view, thread)),
            session_turns=plain_value([session_turn_value(thread, row) for row in turns]),
            turns=full,
            checkpoints=checkpoints,
            artifacts=artifacts,
            recent_artifacts=recent if turn is None else [a for a in recent if a.get("turnId") == turn.turn_id],
            receipts=plain_value([receipt_value(view, thread, row, rollout) for row in turns]),
            lines=lines,
            verbatim=turn is None and sum(len(line) + 1 for line in lines) == thread.size,
            last_sum=thread.last_sum,
            last_sequence=thread.last_sequence,
            pending=len(decode(thread.pending.encode())) if thread.pending else 0,
            workspace=workspace_of(thread),
            projected=projected,
            interrupted=any(row.status == TurnStatus.recovered and row.end_at == 0 for row in turns),
            contents=_contents(checkpoints, [entry["item"] for entry in projected.items], artifacts),
            gaps=[*_damage(thread), *_sides(checkpoints)],
        )


def _lines(wanted: _Wanted) -> list[bytes]:
    turn = wanted.turn
    if turn is None:
        return [record.data for record in records_after(wanted.view, wanted.thread, 0)]
    found: list[bytes] = []
    for record in records_after(wanted.view, wanted.thread, turn.first_sequence - 1):
        if record.line.sequence > turn.last_sequence:
            break
        if (record.line.turnId or "").lower() == turn.turn_id.lower():
            found.append(record.data)
    return found


def _contents(
    checkpoints: list[dict[str, Any]], items: list[dict[str, Any]], artifacts: list[dict[str, Any]]
) -> list[ContentUse]:
    """Each content once, oldest first."""
    found: dict[str, ContentUse] = {}
    for checkpoint in reversed(checkpoints):
        for side in ("before", "after"):
            reference = mapping(checkpoint.get(side))
            if reference.get("contentStatus") == "available" and reference.get("sha256"):
                sha256 = reference["sha256"]
                found.setdefault(sha256, ContentUse(sha256, checkpoint["path"]))
    previews = {item["outputRef"]["sha256"]: _preview(item) for item in items if "outputRef" in item}
    for artifact in artifacts:
        sha256 = artifact.get("sha256")
        if artifact.get("kind") == "output" and sha256:
            found.setdefault(sha256, ContentUse(sha256, f"output of {artifact.get('itemId')}", previews.get(sha256)))
    return list(found.values())


def _preview(item: dict[str, Any]) -> str | None:
    """The beginning of a large output, as the item shows it."""
    shown: Any = item.get("aggregatedOutput")
    for entry in (mapping(item.get("result")).get("content"), item.get("contentItems")):
        if shown is None and isinstance(entry, list) and entry:
            shown = mapping(entry[0]).get("text")
    return preview_of(shown.encode()) if isinstance(shown, str) else None


def _damage(thread: ThreadRow) -> list[str]:
    found: list[str] = []
    if thread.partial:
        found.append("Events of the thread are lost: partial.")
    for entry in decode(thread.damage.encode()) if thread.damage else ():
        where = f"bytes {entry['fromOffset']} to {entry['toOffset']} of the rollout"
        kept = f"; they are kept in {entry['quarantinePath']}" if entry.get("quarantinePath") else ""
        found.append(f"Damage: {where}: {entry['reason']}{kept}.")
    return found


def _sides(checkpoints: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for checkpoint in reversed(checkpoints):
        for side in ("before", "after"):
            status = mapping(checkpoint.get(side)).get("contentStatus", "available")
            if status != "available":
                which = f"{side} checkpoint {checkpoint['checkpointId']}"
                found.append(f"What {checkpoint['path']} was {which} is not known: {status}.")
    return found
