"""The one reading of `artifact.snapshot` and `file.changed`, whose fields hosts spell and nest in several ways.

Invariant: contents are passed on as they came, never trimmed or decoded; paths are only looked up here, and
judged where the workspace is known.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch_protocol import checks
from lockstitch_protocol.checks import REQUIRED, Check, FieldError, one_of
from lockstitch_protocol.ids import is_id

SNAPSHOT_OPS: Final = ("created", "modified", "deleted", "renamed")


def _checkpoint_id(path: str, value: Any) -> None:
    if not isinstance(value, str) or not is_id(value):
        raise FieldError(path, "must be a letter or digit, then at most 127 letters, digits or . _ : -")


def _mode(path: str, value: Any) -> None:
    if not isinstance(value, str) or not 3 <= len(value) <= 6 or not set(value) <= set("01234567"):
        raise FieldError(path, "must be a string of octal digits, such as 0644")


SNAPSHOT_FIELDS: Final[dict[str, tuple[tuple[str, ...], Check]]] = {
    "path": ((), checks.text),
    "pathBase64": (("path_base64",), checks.text),
    "op": ((), one_of(*SNAPSHOT_OPS)),
    "oldPath": (("old_path",), checks.text),
    "oldPathBase64": (("old_path_base64",), checks.text),
    "content": ((), checks.text),
    "contentBase64": (("content_base64",), checks.text),
    "previousContent": (
        ("previous_content", "beforeContent", "before_content", "oldContent", "old_content"),
        checks.text,
    ),
    "previousContentBase64": (
        (
            "previous_content_base64",
            "beforeContentBase64",
            "before_content_base64",
            "oldContentBase64",
            "old_content_base64",
        ),
        checks.text,
    ),
    "beforeAbsent": (("before_absent",), checks.flag),
    "beforeNotCaptured": (("before_not_captured",), checks.flag),
    "afterNotCaptured": (("after_not_captured",), checks.flag),
    "diff": ((), checks.text),
    "mode": ((), _mode),
    "checkpointId": (("checkpoint_id",), _checkpoint_id),
    "artifactId": (("artifact_id",), checks.text),
    "title": ((), checks.text),
    "kind": ((), checks.text),
    "preview": ((), checks.text),
    "document": ((), checks.anything),
    "metadata": ((), checks.mapping),
}
"""The canonical name of each field: its other spellings, and its check."""

NESTED: Final = ("artifact", "change")
"""Where hosts put the fields instead of at the top; what stands at the top goes first."""

_CONTENTS: Final = ("content", "contentBase64", "previousContent", "previousContentBase64")
CONTENT_KEYS: Final = frozenset(spelling for name in _CONTENTS for spelling in (name, *SNAPSHOT_FIELDS[name][0]))
"""Every spelling of a field that holds file content: never stored in a line."""

_SPELLINGS: Final = {
    spelling: (name, check) for name, (others, check) in SNAPSHOT_FIELDS.items() for spelling in (name, *others)
}


def read_snapshot(payload: dict[str, Any]) -> dict[str, Any]:
    """The fields of a snapshot under their canonical names. Raises FieldError for the first wrong one.

    The result has `path` or `pathBase64`, and no two fields that contradict each other; base64 and the path itself
    are not judged here. Where both a text and its base64 are given, the base64 is the exact one.
    """
    found: dict[str, Any] = {}
    for place in (*NESTED, ""):
        source = payload.get(place) if place else payload
        if source is None:
            continue
        checks.mapping(place, source)
        here: dict[str, Any] = {}
        for key, value in source.items():
            known = _SPELLINGS.get(key)
            if known is None or value is None:
                continue
            name, check = known
            check(f"{place}.{key}" if place else key, value)
            if key == name or name not in here:
                here[name] = value
        found.update(here)
    if "path" not in found and "pathBase64" not in found:
        raise FieldError("path", REQUIRED)
    _refuse_contradictions(found)
    return found


def _refuse_contradictions(found: dict[str, Any]) -> None:
    """Raise FieldError where two fields cannot both be so: neither is then believed."""
    if found.get("beforeAbsent") and any(found.get(name) is not None for name in _CONTENTS[2:]):
        raise FieldError("beforeAbsent", "contradicts the previous content that is given")
    if found.get("op") == "deleted" and any(found.get(name) is not None for name in _CONTENTS[:2]):
        raise FieldError("op", "says deleted, and a content is given")


def without_content(payload: dict[str, Any]) -> dict[str, Any]:
    """A copy of the payload that has no file content in it, wherever and however it was spelled."""
    kept = {key: value for key, value in payload.items() if key not in CONTENT_KEYS}
    for place in NESTED:
        inner = kept.get(place)
        if isinstance(inner, dict):
            kept[place] = {key: value for key, value in inner.items() if key not in CONTENT_KEYS}  # pyright: ignore[reportUnknownVariableType]
    return kept
