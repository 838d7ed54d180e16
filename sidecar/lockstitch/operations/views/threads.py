"""Threads on the wire."""

from __future__ import annotations

from typing import Any

import msgspec

from lockstitch.codec import NOTHING, ParseError, Raw, decode, decoder
from lockstitch.errors import NotFoundError
from lockstitch.operations.views.checkpoints import summary_of
from lockstitch.operations.views.turns import usage_value
from lockstitch.rollout.line import payload_span
from lockstitch.timeline.lines import DamagedLineError, Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow, usage_of


class _Started(msgspec.Struct):
    extra: Raw = NOTHING
    runtimeWorkspaceRoots: list[str] = []  # noqa: N815
    approvalPolicy: Any = None  # noqa: N815
    approvalsReviewer: Any = None  # noqa: N815
    sandbox: Any = None
    threadSource: Any = None  # noqa: N815


_started = decoder(_Started)


class Shown(msgspec.Struct, frozen=True):
    """What the thread's own lines add to its row."""

    lines: Lines | None
    started: _Started


def thread_value(
    view: View, row: ThreadRow, turns: list[Any] | None = None, *, open_turn: bool = True
) -> dict[str, Any]:
    """A Thread. `open_turn` False: recovery will interrupt the turn that the row says is open."""
    value: dict[str, Any] = {
        "id": row.thread_id,
        "sessionId": row.thread_id,
        "preview": row.preview,
        "ephemeral": view.ephemeral,
        "historyMode": "paginated",
        "modelProvider": row.provider,
        "createdAt": row.created_at // 1_000_000,
        "updatedAt": row.updated_at // 1_000_000,
        "recencyAt": row.recency_at // 1_000_000,
        "status": _status(row, open_turn),
        "cwd": row.cwd,
        "cliVersion": row.cli_version,
        "source": row.source or "appServer",
    }
    for name, found in (
        ("path", None if view.ephemeral else view.root.resolved(row.path)),
        ("threadSource", row.thread_source),
        ("name", row.name),
        ("forkedFromId", row.forked_from),
        ("parentThreadId", row.parent_thread),
        ("forkRootId", row.fork_root),
    ):
        if found is not None:
            value[name] = found
    git = {
        name: found
        for name, found in (("sha", row.git_sha), ("branch", row.git_branch), ("originUrl", row.git_origin))
        if found is not None
    }
    if git:
        value["gitInfo"] = git
    value["turns"] = turns or []
    value["archived"] = bool(row.archived)
    value["lastSequence"] = row.last_sequence
    value["turnCount"] = row.turn_count
    value["workspaceLinked"] = bool(row.linked)
    usage = usage_value(usage_of(row))
    if usage is not None:
        value["usage"] = usage
    if row.partial:
        value["partial"] = True
    if row.damage:
        value["damage"] = decode(row.damage.encode())
    _add_from_lines(view, row, value)
    return value


def _status(row: ThreadRow, open_turn: bool) -> dict[str, Any]:
    if row.open_turn_no is None or not open_turn:
        return {"type": "idle"}
    return {"type": "active", "activeFlags": ["waitingOnApproval"] if row.pending else []}


def _add_from_lines(view: View, row: ThreadRow, value: dict[str, Any]) -> None:
    """What only the lines hold: `extra` and the newest checkpoint."""
    newest = None
    if row.last_checkpoint is not None:
        newest = view.rows.one(CheckpointRow, "thread_no=? AND sequence=?", row.thread_no, row.last_checkpoint)
    summary: dict[str, Any] = {"count": row.checkpoints}
    value["fileCheckpointSummary"] = summary
    if row.extra_at is None and newest is None:
        return
    try:
        with view.rollout(row) as rollout:
            extra = read_extra(rollout.lines, row)
            if extra is not None:
                value["extra"] = extra
            if newest is not None:
                latest = summary_of(view, row, newest, rollout.lines)
                if latest is not None:
                    summary["latestCheckpoint"] = latest
    except NotFoundError:
        return


def read_extra(lines: Lines, row: ThreadRow) -> Raw | None:
    """The thread's `extra`, from the line that gave it last."""
    if row.extra_at is None or row.extra_length is None:
        return None
    try:
        return _payload(lines.line(row.extra_at, row.extra_length)).extra or None
    except (DamagedLineError, ParseError):
        return None


def _payload(line: bytes) -> _Started:
    start, length = payload_span(line)
    return _started(line[start : start + length])


def opened_value(view: View, row: ThreadRow, thread: dict[str, Any]) -> dict[str, Any]:
    """What thread/start, thread/resume and thread/fork return."""
    started = _Started()
    try:
        with view.rollout(row) as rollout:
            started = _payload(rollout.lines.line(0, row.started_length))
    except (NotFoundError, DamagedLineError, ParseError):
        pass
    return {
        "thread": thread,
        "model": row.model,
        "modelProvider": row.provider,
        "cwd": row.cwd,
        "runtimeWorkspaceRoots": started.runtimeWorkspaceRoots,
        "instructionSources": [],
        "approvalPolicy": started.approvalPolicy,
        "approvalsReviewer": started.approvalsReviewer,
        "sandbox": started.sandbox,
    }
