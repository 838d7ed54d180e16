"""An item as far as its events tell, and nothing made up."""

from __future__ import annotations

from typing import Any

import pytest

from lockstitch.timeline.compose import compose, fill_streamed
from lockstitch.timeline.items import item_of, wants_before, with_texts
from lockstitch.timeline.rows import ItemKind, ItemStatus


@pytest.mark.parametrize(
    ("kind", "field", "expected"),
    [
        (ItemKind.agentMessage, "text", "ab"),
        (ItemKind.plan, "text", "ab"),
        (ItemKind.reasoning, "content", ["ab"]),
        (ItemKind.commandExecution, "aggregatedOutput", "ab"),
    ],
)
def test_streamed_text_grows_its_field(kind: ItemKind, field: str, expected: Any) -> None:
    assert compose("i", kind, None, ("a", "b"), ItemStatus.completed)[field] == expected


def test_reasoning_grows_its_last_part() -> None:
    base = {"type": "reasoning", "id": "i", "summary": [], "content": ["one", "two"]}
    assert compose("i", ItemKind.reasoning, base, ["!"], ItemStatus.completed)["content"] == ["one", "two!"]
    assert base["content"] == ["one", "two"], "what was handed in is not changed"


@pytest.mark.parametrize("kind", [k for k in ItemKind if k != ItemKind.other])
def test_what_was_cut_off_says_so(kind: ItemKind) -> None:
    item = compose("i", kind, {"type": kind.name, "id": "i", "status": "inProgress"}, (), ItemStatus.interrupted)
    assert item["interrupted"] is True
    assert not {"result", "exitCode", "aggregatedOutput"} & set(item)
    tools = (ItemKind.commandExecution, ItemKind.fileChange, ItemKind.mcpToolCall, ItemKind.dynamicToolCall)
    if kind in tools:
        assert item["status"] == "failed"


def test_what_an_end_says_stands() -> None:
    item = {"type": "agentMessage", "id": "i", "text": "own"}
    fill_streamed(item, ItemKind.agentMessage, {"type": "agentMessage", "text": "streamed"})
    assert item["text"] == "own"


def test_what_an_item_of_another_kind_held_is_none_of_this_one() -> None:
    item = {"type": "reasoning", "id": "i"}
    fill_streamed(item, ItemKind.reasoning, {"type": "userMessage", "content": [{"type": "text", "text": "hello"}]})
    assert item == {"type": "reasoning", "id": "i"}


@pytest.mark.parametrize("type_", ["item.started", "item.updated", "item.completed"])
def test_text_that_came_before_is_asked_for_where_an_event_leaves_it_out(type_: str) -> None:
    assert wants_before(type_, {"type": "agentMessage", "id": "i"})
    assert not wants_before(type_, {"type": "agentMessage", "id": "i", "text": "x"})
    assert not wants_before(type_, {"type": "webSearch", "id": "i"})


def test_a_stream_without_an_item_makes_one_of_its_own_kind() -> None:
    before = with_texts(None, "i", ItemKind.commandExecution, ["out"])
    item = item_of("command.exited", {"itemId": "i", "exitCode": 0}, "i", before)
    assert item["type"] == "commandExecution" and item["aggregatedOutput"] == "out" and item["status"] == "completed"
