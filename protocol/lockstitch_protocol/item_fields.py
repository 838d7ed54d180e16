"""The fields of each item type as a plain table, and the fast path that completes an item with it.

Invariant: no pydantic here; the models in `items` say the same, and a test compares the two. An item type
that is not in the table passes through as it came. Nothing that a host sent is dropped, except a null where
the field means "absent" by it.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch_protocol import checks
from lockstitch_protocol.checks import REQUIRED, Check, FieldError, each, fields, one_of
from lockstitch_protocol.ids import is_id

ITEM_STATUSES: Final = ("inProgress", "completed", "failed", "declined")


class ItemError(FieldError):
    """An item that cannot be stored: names its first wrong field."""


_OPTIONAL: Final = object()
_NEEDED: Final = object()
_STATUS: Final = object()

Field = tuple[str, type | None, Check | None, object]
"""Name, exact Python type that is surely right, check for everything else, and what stands for a missing value:
_NEEDED, _OPTIONAL, _STATUS, the type `list` for an empty list, or the default itself."""


def _input_check() -> Check:
    text, path, url, name = ({word: checks.text} for word in ("text", "path", "url", "name"))
    kinds = {
        "text": fields(required=text),
        "image": fields(required=url),
        "localImage": fields(required=path),
        "skill": fields(required=name | path),
        "mention": fields(required=name | path),
    }
    known = one_of(*kinds)

    def check(at: str, value: Any) -> None:
        fields(required={"type": known})(at, value)
        kinds[value["type"]](at, value)

    return check


user_input: Final = _input_check()
"""Checks one part of a user's message."""

_CHANGE_KIND: Final = fields(required={"type": one_of("add", "delete", "update")}, optional={"move_path": checks.text})
file_changes: Final = each(fields(required={"path": checks.text, "kind": _CHANGE_KIND}, optional={"diff": checks.text}))
"""Checks the `changes` of a fileChange item or a patch event."""

_OUTPUT_REF: Final = fields(required={"artifactRef": checks.text, "sha256": checks.text, "bytes": checks.count})


def _text(name: str, default: object) -> Field:
    return (name, str, checks.text, default)


_COMMON: Final[tuple[Field, ...]] = (
    ("interrupted", bool, checks.flag, _OPTIONAL),
    ("outputRef", None, _OUTPUT_REF, _OPTIONAL),
)
_ARGUMENTS: Final[Field] = ("arguments", None, None, None)
_DURATION: Final[Field] = ("durationMs", int, checks.whole, _OPTIONAL)
_STATUS_FIELD: Final[Field] = ("status", None, one_of(*ITEM_STATUSES), _STATUS)

ITEM_FIELDS: Final[dict[str, tuple[Field, ...]]] = {
    "userMessage": (("content", None, each(user_input), _NEEDED), _text("clientId", _OPTIONAL), *_COMMON),
    "agentMessage": (_text("text", ""), _text("phase", _OPTIONAL), *_COMMON),
    "plan": (_text("text", ""), *_COMMON),
    "reasoning": (("summary", None, each(checks.text), list), ("content", None, each(checks.text), list), *_COMMON),
    "commandExecution": (
        _text("command", _NEEDED),
        _text("cwd", ""),
        _STATUS_FIELD,
        _text("source", "agent"),
        ("commandActions", None, each(checks.mapping), list),
        _text("aggregatedOutput", _OPTIONAL),
        ("exitCode", int, checks.whole, _OPTIONAL),
        _DURATION,
        *_COMMON,
    ),
    "fileChange": (
        ("changes", None, file_changes, list),
        _STATUS_FIELD,
        _text("checkpointId", _OPTIONAL),
        *_COMMON,
    ),
    "mcpToolCall": (
        _text("server", _NEEDED),
        _text("tool", _NEEDED),
        _STATUS_FIELD,
        _ARGUMENTS,
        ("result", None, None, _OPTIONAL),
        ("error", None, None, _OPTIONAL),
        _DURATION,
        *_COMMON,
    ),
    "dynamicToolCall": (
        _text("namespace", _OPTIONAL),
        _text("tool", _NEEDED),
        _ARGUMENTS,
        _STATUS_FIELD,
        ("contentItems", list, checks.array, _OPTIONAL),
        ("success", bool, checks.flag, _OPTIONAL),
        _DURATION,
        *_COMMON,
    ),
    "webSearch": (_text("query", _OPTIONAL), ("action", dict, checks.mapping, _OPTIONAL), *_COMMON),
    "imageView": (_text("path", _NEEDED), *_COMMON),
    "contextCompaction": _COMMON,
}


def fill_defaults(item: dict[str, Any], *, status: str = "completed") -> dict[str, Any]:
    """A copy of `item` with the defaults of its type filled in. Raises ItemError for the first wrong field.

    `status` is what an item gets that has none: inProgress where it has only started. Where earlier events of
    the item hold more (streamed text, for example), merge them in first: a missing text becomes an empty one.
    """
    kind = item.get("type")
    if not isinstance(kind, str) or not kind:
        raise ItemError("type", REQUIRED if kind is None else "must be a string that is not empty")
    name = item.get("id")
    if not isinstance(name, str):
        raise ItemError("id", REQUIRED if name is None else "must be a string")
    if not is_id(name):
        raise ItemError("id", "must be a letter or digit, then at most 127 letters, digits or . _ : -")
    filled = item.copy()
    for name, sure, check, default in ITEM_FIELDS.get(kind, ()):
        value = filled.get(name)
        if value is None:
            if default is _OPTIONAL:
                if name in filled:
                    del filled[name]
            elif default is _NEEDED:
                raise ItemError(name, REQUIRED)
            elif default is _STATUS:
                filled[name] = status
            else:
                filled[name] = [] if default is list else default
        elif type(value) is not sure and check is not None:
            try:
                check(name, value)
            except FieldError as error:
                raise ItemError(error.path, error.message) from None
    changes = filled.get("changes") if kind == "fileChange" else None
    if changes:
        filled["changes"] = [change if change.get("diff") is not None else {**change, "diff": ""} for change in changes]
    return filled
