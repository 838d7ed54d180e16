"""What each item event says about its item, merged with what came before it.

Invariant: pure but for the `read_line` it is handed. The result has every field that clients expect, so that
reads splice it as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from lockstitch import codec
from lockstitch.rollout.line import payload_span
from lockstitch.timeline.compose import WITH_STATUS, compose, fill_streamed, grow
from lockstitch.timeline.parts import parts_of
from lockstitch.timeline.rows import KINDS, ItemKind, ItemRow, ItemStatus
from lockstitch_protocol.item_fields import fill_defaults

ReadLine = Callable[[int, int], bytes]


class _Delta(msgspec.Struct):
    delta: str = ""


class _Version(msgspec.Struct):
    versionNo: int | None = None  # noqa: N815
    after: codec.Raw = codec.NOTHING


class _Checkpoint(msgspec.Struct):
    checkpoint: _Version


_delta = codec.decoder(_Delta)
_checkpoint = codec.decoder(_Checkpoint)

_MERGES = frozenset({"command.exited", "patch.applied", "patch.failed", "patch.declined", "reasoning.final"})
_WITH_STATUS = frozenset(kind.name for kind in WITH_STATUS)
_PATCH_STATUS = {"patch.applied": "completed", "patch.failed": "failed", "patch.declined": "declined"}
_BESIDE_ITEM = frozenset({"itemId", "item", "role", "clientId", "text", "content", "error", "item_id"})


def wants_before(type_: str, given: Any) -> bool:
    """Whether the event may need what was streamed or started before it to make a whole item."""
    if type_ in _MERGES:
        return True
    if not type_.startswith("item."):
        return False
    kind = given.get("type")
    if kind in ("agentMessage", "plan"):
        return not given.get("text")
    if kind == "reasoning":
        return not given.get("content")
    return kind == "commandExecution" and not given.get("aggregatedOutput")


def item_of(type_: str, payload: dict[str, Any], item_id: str, before: dict[str, Any] | None) -> dict[str, Any]:
    """The whole item that this event leaves, with defaults filled."""
    if type_.startswith("item."):
        return _host_item(type_, payload["item"], before)
    if type_ == "message.created":
        return fill_defaults(_message(payload, item_id))
    if type_.startswith("command."):
        return _command(type_, payload, item_id, before)
    if type_.startswith("patch."):
        return _patch(type_, payload, item_id, before)
    if type_ == "plan.final":
        return {"type": "plan", "id": item_id, "text": payload["text"]}
    if type_ == "reasoning.final":
        return _reasoning(payload, item_id, before)
    return {"type": "contextCompaction", "id": item_id}


def _host_item(type_: str, given: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    item = dict(given)
    if before is not None:
        fill_streamed(item, KINDS.get(item["type"], ItemKind.other), before)
    if type_ == "item.completed":
        item = over(item)
    elif item["type"] in _WITH_STATUS and item.get("status") is None:
        item["status"] = "inProgress"
    return fill_defaults(item)


def over(item: dict[str, Any]) -> dict[str, Any]:
    """The item of an item.completed: whatever the host says, it is in progress no more."""
    return {**item, "status": "completed"} if item.get("status") == "inProgress" else item


def _message(payload: dict[str, Any], item_id: str) -> dict[str, Any]:
    content = payload["content"]
    if payload["role"] == "user":
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        item = {"type": "userMessage", "id": item_id, "content": parts}
        if payload.get("clientId") is not None:
            item["clientId"] = payload["clientId"]
        return item
    text = content if isinstance(content, str) else "".join(str(part.get("text") or "") for part in content)
    item = {"type": "agentMessage", "id": item_id, "text": text}
    if payload.get("phase") is not None:
        item["phase"] = payload["phase"]
    return item


def _command(type_: str, payload: dict[str, Any], item_id: str, before: dict[str, Any] | None) -> dict[str, Any]:
    if before is None or before["type"] != "commandExecution":
        before = compose(item_id, ItemKind.commandExecution, None, (), ItemStatus.completed)
    item = dict(before)
    for name in ("command", "cwd", "source", "commandActions", "aggregatedOutput", "exitCode", "durationMs"):
        if payload.get(name) is not None:
            item[name] = payload[name]
    if isinstance(item["command"], list):
        item["command"] = _joined(cast(list[str], item["command"]))
    if type_ == "command.started":
        item["status"] = "inProgress"
    else:
        failed = item.get("exitCode") not in (None, 0)
        item["status"] = payload.get("status") or ("failed" if failed else "completed")
        item.pop("interrupted", None)
    return fill_defaults(item)


def _joined(arguments: list[str]) -> str:
    import shlex

    return shlex.join(arguments)


def _patch(type_: str, payload: dict[str, Any], item_id: str, before: dict[str, Any] | None) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "fileChange", "id": item_id, "changes": []}
    if before is not None and before["type"] == "fileChange":
        item = dict(before)
    if payload.get("changes") is not None:
        item["changes"] = payload["changes"]
    item["status"] = _PATCH_STATUS.get(type_, "inProgress")
    if payload.get("error") is not None:
        item["error"] = payload["error"]
    item.pop("interrupted", None)
    return fill_defaults(item)


def _reasoning(payload: dict[str, Any], item_id: str, before: dict[str, Any] | None) -> dict[str, Any]:
    content = payload.get("content") or ([payload["text"]] if payload.get("text") else [])
    item = {"type": "reasoning", "id": item_id, "summary": payload.get("summary") or [], "content": content}
    if before is not None:
        fill_streamed(item, ItemKind.reasoning, before)
    return item


def composed(row: ItemRow, read_line: ReadLine) -> dict[str, Any]:
    """The item of a row, whatever lines hold it."""
    base = None
    if row.line_length:
        line = read_line(row.line_at, row.line_length)
        base = codec.decode(line[row.item_at : row.item_at + row.item_length])
    texts = [segment_text(read_line(*part)) for part in parts_of(row.parts)]
    return compose(row.item_id, ItemKind(row.kind), base, texts, ItemStatus(row.status))


def with_texts(item: dict[str, Any] | None, item_id: str, kind: ItemKind, texts: list[str]) -> dict[str, Any]:
    """The item with text that this very append writes; `kind` is what such text makes where there is no item yet."""
    if item is None:
        return compose(item_id, kind, None, texts, ItemStatus.in_progress)
    item = dict(item)
    grow(item, KINDS.get(item["type"], ItemKind.other), "".join(texts))
    return item


def segment_text(line: bytes) -> str:
    """The text of a streamed segment's line."""
    start, length = payload_span(line)
    return segment_text_of(line[start : start + length])


def segment_text_of(payload: bytes) -> str:
    """The text in a streamed segment's payload."""
    return _delta(payload).delta


def version_of(line: bytes) -> tuple[int | None, dict[str, Any] | None]:
    """The number of the version, and the `after` side, in a checkpoint's line."""
    start, length = payload_span(line)
    found = _checkpoint(line[start : start + length]).checkpoint
    return found.versionNo, codec.decode(bytes(found.after)) if found.after else None
