"""What an import of one file would bring, without importing it.

Invariant: the counts come from the events that an import would append.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from lockstitch.imports.detect import open_source
from lockstitch.imports.fields import mapping, sequence, string
from lockstitch.imports.scan import with_tail
from lockstitch.imports.source import SourceEvent, SourceReading

MAX_TEXT = 4000


def preview(path: Path, *, limit: int = 20) -> dict[str, Any]:
    """`{thread, summary{turns, items, edits, damagedLines}, messages[]}`; `limit` bounds the messages."""
    reading = open_source(path)
    counts = dict.fromkeys(("turn.started", "item.completed", "artifact.snapshot"), 0)
    messages: list[dict[str, Any]] = []
    for event in chain(reading.events(final=True), _at_end(reading)):
        if event.type in counts:
            counts[event.type] += 1
        if len(messages) < limit and (message := _message(event)) is not None:
            messages.append(message)
    thread = with_tail(reading.thread)
    return {
        "thread": replace(thread, title=reading.title or thread.title).as_wire(),
        "summary": {
            "turns": counts["turn.started"],
            "items": counts["item.completed"],
            "edits": counts["artifact.snapshot"],
            "damagedLines": reading.damaged,
        },
        "messages": messages,
    }


def _at_end(reading: SourceReading) -> Iterator[SourceEvent]:
    yield from reading.closings()


def _message(event: SourceEvent) -> dict[str, Any] | None:
    item = mapping(event.payload.get("item"))
    if event.type != "item.completed" or item.get("type") not in ("userMessage", "agentMessage"):
        return None
    text = string(item.get("text"))
    if text is None:
        parts = (string(mapping(part).get("text")) for part in sequence(item.get("content")))
        text = "\n".join(part for part in parts if part)
    role = "user" if item["type"] == "userMessage" else "assistant"
    message = {"role": role, "text": text[:MAX_TEXT], "turnId": event.turn_id, "createdAt": event.at}
    return {name: value for name, value in message.items() if value is not None}
