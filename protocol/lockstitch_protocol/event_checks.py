"""The fast check of an event's payload by its type.

Invariant: no pydantic here; the models in `event_payloads` say the same, and a test compares the two. A type
that has no entry is taken with any object as payload.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch_protocol import checks
from lockstitch_protocol.checks import Check, FieldError, each, fields, one_of
from lockstitch_protocol.ids import is_id
from lockstitch_protocol.item_fields import ITEM_STATUSES, file_changes, fill_defaults
from lockstitch_protocol.snapshot import read_snapshot


class PayloadError(FieldError):
    """A payload that cannot be stored: names its first wrong field, relative to the payload."""


def _identifier(path: str, value: Any) -> None:
    if not isinstance(value, str) or not is_id(value):
        raise FieldError(path, "must be a letter or digit, then at most 127 letters, digits or . _ : -")


def _not_empty(path: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise FieldError(path, "must be a string that is not empty")


def _from_one(most: int) -> Check:
    def check(path: str, value: Any) -> None:
        if type(value) is not int or not 1 <= value <= most:
            raise FieldError(path, f"must be a whole number from 1 to {most}")

    return check


_strings: Final = each(checks.text)
_objects: Final = each(checks.mapping)
_with_message: Final = fields(optional={"message": checks.text})


def _text_or_strings(path: str, value: Any) -> None:
    if isinstance(value, str):
        return
    if not isinstance(value, list):
        raise FieldError(path, "must be a string or an array of strings")
    _strings(path, value)


def _text_or_objects(path: str, value: Any) -> None:
    if isinstance(value, str):
        return
    if not isinstance(value, list):
        raise FieldError(path, "must be a string or an array of objects")
    _objects(path, value)


def _error(path: str, value: Any) -> None:
    if isinstance(value, str):
        return
    if not isinstance(value, dict):
        raise FieldError(path, "must be a string or an object")
    _with_message(path, value)


def _item(_: str, payload: Any) -> None:
    item = payload.get("item")
    if item is None:
        raise FieldError("item", checks.REQUIRED)
    checks.mapping("item", item)
    try:
        fill_defaults(item)
    except FieldError as error:
        raise error.under("item") from None


def _snapshot(_: str, payload: Any) -> None:
    read_snapshot(payload)


_TOKENS: Final[dict[str, Check]] = dict.fromkeys(
    ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens"), checks.count
)
_USAGE_EXTRA: Final[dict[str, Check]] = {"model": checks.text, "costUsd": checks.number}
_turn: Final = fields(optional={"usage": fields(optional=_TOKENS | _USAGE_EXTRA), "error": _error})
_delta: Final = fields(required={"itemId": _identifier, "delta": checks.text})
_patch_end: Final = fields(required={"itemId": _identifier}, optional={"changes": file_changes, "error": _error})
_action: Final = fields(required={"requestId": _not_empty})
_worker: Final = fields(required={"workerId": _identifier})
_maybe_item: Final[dict[str, Check]] = {"itemId": _identifier}

PAYLOAD_CHECKS: Final[dict[str, Check]] = {
    "turn.started": _turn,
    "turn.completed": _turn,
    "turn.failed": _turn,
    "turn.canceled": _turn,
    "item.started": _item,
    "item.updated": _item,
    "item.completed": _item,
    "message.delta": _delta,
    "reasoning.delta": _delta,
    "command.output": _delta,
    "message.created": fields(
        required={"role": one_of("user", "assistant"), "content": _text_or_objects},
        optional=_maybe_item | {"clientId": checks.text},
    ),
    "command.started": fields(
        required={"command": _text_or_strings},
        optional=_maybe_item | {"cwd": checks.text, "source": checks.text, "commandActions": _objects},
    ),
    "command.exited": fields(
        required={"itemId": _identifier},
        optional={
            "exitCode": checks.whole,
            "aggregatedOutput": checks.text,
            "durationMs": checks.whole,
            "status": one_of(*ITEM_STATUSES),
        },
    ),
    "patch.started": fields(required={"changes": file_changes}, optional=_maybe_item),
    "patch.applied": _patch_end,
    "patch.failed": _patch_end,
    "patch.declined": _patch_end,
    "plan.final": fields(required={"text": checks.text}, optional=_maybe_item),
    "reasoning.final": fields(optional=_maybe_item | {"text": checks.text, "summary": _strings, "content": _strings}),
    "context.compaction.completed": fields(optional=_maybe_item),
    "artifact.snapshot": _snapshot,
    "file.changed": _snapshot,
    "action.required": _action,
    "action.resolved": _action,
    "action.cancelled": _action,
    "provider.usage": fields(required=_TOKENS, optional=_USAGE_EXTRA),
    "route.selected": fields(
        required={"provider": checks.text, "model": checks.text}, optional={"wireFormat": checks.text}
    ),
    "authority.set": fields(required={"mode": checks.text}, optional={"trust": checks.text}),
    "worker.started": fields(
        required={"kind": _not_empty},
        optional={"workerId": _identifier, "leaseMs": _from_one(604_800_000), "maxAttempts": _from_one(1000)},
    ),
    **dict.fromkeys(
        ("worker.heartbeat", "worker.completed", "worker.failed", "worker.cancelled", "worker.retried"), _worker
    ),
}


def check_payload(event_type: str, payload: dict[str, Any]) -> None:
    """Raise PayloadError for the first field that does not fit the type; unknown types take any object.

    An item id that the host gave beside the payload belongs into it before this check.
    """
    check = PAYLOAD_CHECKS.get(event_type)
    if check is None:
        return
    try:
        check("", payload)
    except FieldError as error:
        raise PayloadError(error.path, error.message) from None
