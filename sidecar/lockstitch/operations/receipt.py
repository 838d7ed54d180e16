"""`turn/receipt/read`: what a turn did, from durable facts only.

Invariant: the same bytes after a restart and after a rebuild; what no fact proves is named in `unavailable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.codec import Raw, decode, mapping, present
from lockstitch.operations.artifact import artifact_values
from lockstitch.operations.call import Call
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread_reads import turn_of
from lockstitch.operations.views.checkpoints import summaries_of
from lockstitch.operations.views.turns import STATUS, payload_at, usage_value
from lockstitch.rollout.scan import Record, scan
from lockstitch.timeline import queries
from lockstitch.timeline.lines import Lines, OpenRollout
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import TOOLS, ItemKind, ThreadRow, TurnRow, TurnStatus, WorkerRow, WorkerStatus, usage_of
from lockstitch.timeline.times import text_of

if TYPE_CHECKING:
    from lockstitch_protocol.receipt import ReceiptReadParams

_BEHIND = 64
_MOST_LISTED = 10_000
_DIAGNOSTICS = ("runtime.warning", "runtime.error")


async def read(runtime: Runtime, call: Call, params: ReceiptReadParams) -> dict[str, Any]:
    """The receipt of one turn."""
    del call

    def look(view: View) -> dict[str, Any]:
        thread = view.thread(params.thread_id)
        turn = turn_of(view, thread, params.turn_id)
        with view.rollout(thread) as rollout:
            return receipt_value(view, thread, turn, rollout)

    return await runtime.read_thread(params.thread_id, look)


def receipt_value(view: View, thread: ThreadRow, turn: TurnRow, rollout: OpenRollout) -> dict[str, Any]:
    """A receipt from rows and checked lines."""
    lines = rollout.lines
    events = _Events(view, thread, turn, rollout)
    counts = queries.item_counts(view, thread.thread_no, turn.turn_no)
    checkpoints = queries.checkpoints(view, thread.thread_no, turn_no=turn.turn_no, limit=_MOST_LISTED).rows
    summaries = list(reversed(summaries_of(view, thread, checkpoints, lines)))
    usage = usage_value(usage_of(turn))
    workers = queries.workers_of_turn(view, thread.thread_no, turn.turn_no)
    unavailable: list[str] = []
    value: dict[str, Any] = {
        "threadId": thread.thread_id,
        "turnId": turn.turn_id,
        "status": STATUS[TurnStatus(turn.status)],
        "startedAt": text_of(turn.started_at),
    }
    if turn.completed_at is not None:
        value["completedAt"] = text_of(turn.completed_at)
        value["durationMs"] = max(0, turn.completed_at - turn.started_at) // 1000
    else:
        value["completedAt"] = value["durationMs"] = None
        unavailable += ["completedAt", "durationMs"]
    for name, line_at in (("route", turn.route_at), ("authority", turn.authority_at)):
        payload = None if line_at is None else payload_at(lines, line_at)
        if payload is None:
            unavailable.append(name)
        else:
            value[name] = Raw(payload)
    if usage is None:
        unavailable.append("usage")
    else:
        value["usage"] = usage
    cost = None if usage is None or events.uncosted else usage.get("costUsd")
    value["cost"] = "unknown" if cost is None else cost
    if cost is None:
        unavailable.append("cost")
    value["counts"] = {
        "items": sum(counts.values()),
        "toolCalls": sum(counts.get(kind, 0) for kind in TOOLS),
        "commands": counts.get(ItemKind.commandExecution, 0),
        "approvals": events.approvals,
        "fileCheckpoints": len(checkpoints),
        "workers": len(workers),
    }
    value["filesChanged"] = _files_changed([summary for summary in summaries if summary.get("status") != "failed"])
    page = queries.artifacts(view, thread.thread_no, turn_no=turn.turn_no, limit=_MOST_LISTED)
    value["artifacts"] = artifact_values(view, thread, page.rows, lines)
    value["workers"] = [_worker(row) for row in workers]
    value["diagnostics"] = events.diagnostics
    value["gaps"] = [
        {"itemId": row.item_id, "reason": "interrupted: no result was recorded"}
        for row in queries.cut_off_items(view, thread.thread_no, turn.turn_no)
    ]
    if turn.status == TurnStatus.recovered and turn.end_at is not None:
        value["interruption"] = _interruption(lines, turn.end_at)
    value["unavailable"] = unavailable
    value["sequenceRange"] = [turn.first_sequence, turn.last_sequence]
    value["rolloutSum"] = events.last_sum
    return value


def _worker(row: WorkerRow) -> dict[str, Any]:
    """A worker as its events left it; leases are about what comes, not about what was."""
    value: dict[str, Any] = {
        "workerId": row.worker_id,
        "kind": row.kind,
        "status": WorkerStatus(row.status).name,
        "attempt": row.attempt,
        "maxAttempts": row.max_attempts,
        "startedAt": text_of(row.started_at),
    }
    if row.finished_at is not None:
        value["finishedAt"] = text_of(row.finished_at)
    return value


def _files_changed(summaries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By file what the turn made of it: from before its first change to behind its last."""
    by_path: dict[str, list[dict[str, Any]]] = {}
    for summary in summaries:
        by_path.setdefault(summary.get("pathBase64") or summary["path"], []).append(summary)
    return [_file_changed(changes) for changes in sorted(by_path.values(), key=lambda changes: changes[0]["path"])]


def _file_changed(changes: list[dict[str, Any]]) -> dict[str, Any]:
    # what the user did to the file meanwhile is recorded as a version of its own, and is no work of the turn
    own = [change for change in changes if change["source"] != "external"] or changes
    first, last = own[0], own[-1]
    before, after = mapping(first.get("before")), mapping(last.get("after"))
    return present(
        {
            "path": last["path"],
            "pathBase64": last.get("pathBase64"),
            "op": last["op"] if len(own) == 1 else _op_in_all(first, last),
            "additions": _sum_of(own, "additions"),
            "deletions": _sum_of(own, "deletions"),
            "beforeSha256": before.get("sha256"),
            "afterSha256": after.get("sha256"),
        }
    )


def _op_in_all(first: dict[str, Any], last: dict[str, Any]) -> str:
    if last["after"] is None:
        return "deleted"
    if first["before"] is None:
        return "created"
    return last["op"] if last["op"] in ("renamed", "restored") else "modified"


def _sum_of(changes: list[dict[str, Any]], name: str) -> int | None:
    """None if one of the changes does not say."""
    found = [change[name] for change in changes if change.get(name) is not None]
    return sum(found) if len(found) == len(changes) else None


def _interruption(lines: Lines, line_at: int) -> dict[str, Any]:
    payload = payload_at(lines, line_at)
    found = {} if payload is None else mapping(decode(payload))
    value = {"reason": found.get("reason") or "processEnded"}
    if found.get("bootId") is not None:  # what an imported file leaves open no process of ours served
        value["bootId"] = found["bootId"]
    return value


class _Events:
    """What only the turn's own lines say."""

    def __init__(self, view: View, thread: ThreadRow, turn: TurnRow, rollout: OpenRollout) -> None:
        self.approvals = 0
        self.uncosted = False
        """Whether a request to the model is among them whose cost nobody said."""
        self.diagnostics: list[str] = []
        self.last_sum = ""
        known, line_at = queries.mark_before(view, thread.thread_no, turn.first_sequence - 1)
        # To the mark after the next one: what stands behind the last line may decide whether it is one.
        end = queries.mark_after(view, thread.thread_no, turn.last_sequence + _BEHIND) or thread.size
        previous = rollout.sum_before(line_at)
        for found in scan(rollout.fd, line_at, end, previous_sum=previous, next_sequence=known):
            if not isinstance(found, Record) or found.line.sequence < turn.first_sequence:
                continue
            if found.line.sequence > turn.last_sequence:
                break
            self._take(found, turn.turn_id)
        self.diagnostics = self.diagnostics[:100]

    def _take(self, record: Record, turn_id: str) -> None:
        line = record.line
        if line.turnId is None or line.turnId.lower() != turn_id.lower():
            return
        self.last_sum = line.sum
        if line.type == "action.required":
            self.approvals += 1
        elif line.type == "provider.usage":
            self.uncosted |= decode(bytes(line.payload)).get("costUsd") is None
        elif line.type in _DIAGNOSTICS:
            message = decode(bytes(line.payload)).get("message")
            self.diagnostics.append(message if isinstance(message, str) else line.type)
