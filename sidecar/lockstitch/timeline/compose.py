"""Put an item together from the events that are there: the one function that does it, pure.

Used at append, where an item's last event completes it, and at read, where no line holds the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from lockstitch.timeline.rows import KINDS, ItemKind, ItemStatus

STREAMED_FIELD: dict[ItemKind, str] = {
    ItemKind.agentMessage: "text",
    ItemKind.plan: "text",
    ItemKind.reasoning: "content",
    ItemKind.commandExecution: "aggregatedOutput",
}
"""Which field of an item grows by its deltas."""

WITH_STATUS = frozenset(
    {ItemKind.commandExecution, ItemKind.fileChange, ItemKind.mcpToolCall, ItemKind.dynamicToolCall}
)

_EMPTY: dict[ItemKind, dict[str, Any]] = {
    ItemKind.agentMessage: {"text": ""},
    ItemKind.plan: {"text": ""},
    ItemKind.reasoning: {"summary": [], "content": []},
    ItemKind.commandExecution: {
        "command": "",
        "cwd": "",
        "status": "inProgress",
        "source": "agent",
        "commandActions": [],
    },
}


def compose(
    item_id: str, kind: ItemKind, base: dict[str, Any] | None, texts: Iterable[str], status: ItemStatus
) -> dict[str, Any]:
    """The item as far as it came.

    `base` is the item as its last whole event gave it (None: it was only streamed), `texts` are the streamed
    segments after that in order. An item that was cut off is `failed` with `interrupted: true`.
    """
    item = {"type": kind.name, "id": item_id, **_EMPTY.get(kind, {})} if base is None else dict(base)
    grow(item, kind, "".join(texts))
    if status == ItemStatus.interrupted:
        if kind in WITH_STATUS:
            item["status"] = "failed"
        item["interrupted"] = True
    elif status == ItemStatus.in_progress and kind in WITH_STATUS:
        item["status"] = "inProgress"
    return item


def grow(item: dict[str, Any], kind: ItemKind, text: str) -> None:
    """Add streamed text to the field of the item that grows."""
    name = STREAMED_FIELD.get(kind)
    if name is None or not text:
        return
    if name == "content":
        content = cast(list[str], item.get("content") or [])
        item["content"] = [*content[:-1], (content[-1] if content else "") + text]
    else:
        item[name] = (item.get(name) or "") + text


def fill_streamed(item: dict[str, Any], kind: ItemKind, before: dict[str, Any]) -> None:
    """A last event that leaves out what was streamed gets it from there; what it does say stands."""
    name = STREAMED_FIELD.get(kind)
    if name != STREAMED_FIELD.get(KINDS.get(before["type"], ItemKind.other)):
        return  # the id was given to an item of another kind: its content is none of this one
    if name is not None and not item.get(name) and before.get(name):
        item[name] = before[name]
    if kind == ItemKind.reasoning and not item.get("summary") and before.get("summary"):
        item["summary"] = before["summary"]
