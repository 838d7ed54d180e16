"""Turns on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from lockstitch.codec import ParseError, Raw, decoder, encode, mapping
from lockstitch.operations.views.items import item_values
from lockstitch.rollout.line import payload_span
from lockstitch.timeline import queries
from lockstitch.timeline.lines import DamagedLineError, Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ItemKind, ItemRow, ThreadRow, TurnRow, TurnStatus, Usage, usage_of

STATUS = {
    TurnStatus.in_progress: "inProgress",
    TurnStatus.completed: "completed",
    TurnStatus.failed: "failed",
    TurnStatus.canceled: "interrupted",
    TurnStatus.recovered: "interrupted",
}


class _Ended(msgspec.Struct):
    error: Any = None


_ended = decoder(_Ended)


def usage_value(usage: Usage) -> dict[str, Any] | None:
    """Usage sums; None where no event named any."""
    if not usage.reported:
        return None
    value: dict[str, Any] = {
        "inputTokens": usage.input,
        "cachedInputTokens": usage.cached,
        "outputTokens": usage.output,
        "reasoningOutputTokens": usage.reasoning,
    }
    if usage.cost is not None:
        value["costUsd"] = usage.cost
    return value


def turn_value(row: TurnRow, lines: Lines | None, items: Sequence[Raw], items_view: str) -> dict[str, Any]:
    """A Turn. Without `lines` it has neither error, route nor authority."""
    value: dict[str, Any] = {
        "id": row.turn_id,
        "items": list(items),
        "itemsView": items_view,
        "status": STATUS[TurnStatus(row.status)],
        "startedAt": row.started_at // 1_000_000,
    }
    if row.completed_at is not None:
        value["completedAt"] = row.completed_at // 1_000_000
        value["durationMs"] = max(0, row.completed_at - row.started_at) // 1000
    usage = usage_value(usage_of(row))
    if usage is not None:
        value["usage"] = usage
    if lines is not None:
        if row.status == TurnStatus.failed and row.end_at is not None:
            value["error"] = turn_error(lines, row.end_at)
        for name, line_at in (("route", row.route_at), ("authority", row.authority_at)):
            payload = None if line_at is None else payload_at(lines, line_at)
            if payload is not None:
                value[name] = Raw(payload)
    return value


def payload_at(lines: Lines, line_at: int) -> bytes | None:
    """The payload of the line that begins there; None if it is damaged."""
    try:
        line = lines.line_at(line_at)
        start, length = payload_span(line)
    except (DamagedLineError, ParseError):
        return None
    return line[start : start + length]


def turn_error(lines: Lines, line_at: int) -> dict[str, Any]:
    """Why a turn failed, as its end says."""
    payload = payload_at(lines, line_at)
    error = None if payload is None else _ended(payload).error
    if isinstance(error, str):
        return {"message": error}
    given = {name: value for name, value in mapping(error).items() if value is not None}
    details = given.get("additionalDetails")
    if details is not None and not isinstance(details, str):
        given["additionalDetails"] = encode(details).decode()  # clients take text alone
    return {**given, "message": given.get("message") or "The turn failed."}


def turn_values(view: View, thread: ThreadRow, rows: Sequence[TurnRow], items_view: str, lines: Lines) -> list[Any]:
    """Turns with their items, as far as `items_view` says."""
    if not rows or items_view == "notLoaded":
        return [turn_value(row, lines, (), items_view) for row in rows]
    first, last = min(row.turn_no for row in rows), max(row.turn_no for row in rows)
    by_turn = queries.items_of_turns(view, thread.thread_no, first, last)
    chosen = [by_turn.get(row.turn_no, []) for row in rows]
    if items_view == "summary":
        chosen = [_summary(items) for items in chosen]
    values = iter(item_values(lines, [item for items in chosen for item in items]))
    found: list[Any] = []
    for row, items in zip(rows, chosen, strict=True):
        mine = [value for value in (next(values) for _ in items) if value is not None]
        found.append(turn_value(row, lines, mine, items_view))
    return found


def _summary(items: list[ItemRow]) -> list[ItemRow]:
    """What the user said, and what the agent said last."""
    said = [item for item in items if item.kind == ItemKind.userMessage]
    answers = [item for item in items if item.kind == ItemKind.agentMessage]
    return [*said, *answers[-1:]]
