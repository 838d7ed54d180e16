"""The events of an export as lines: as they are in the rollout, or summed again where something was left out.

Invariant: lines that are summed again form a chain of their own from an empty sum, and each keeps the sum that it
had as `originalSum`. Sequences, ids, times and types stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lockstitch.codec import decode, encode, mapping
from lockstitch.exports.patterns import may_hold
from lockstitch.exports.redaction import Redactor
from lockstitch.rollout.line import Draft, Line, encode_line, parse_line
from lockstitch.timeline.compose import STREAMED_FIELD
from lockstitch.timeline.items import segment_text_of
from lockstitch.timeline.reducer import DELTAS, ITEM_EVENTS
from lockstitch.timeline.rows import KINDS, ItemKind


def summed_again(lines: Iterable[Line], payloads: Iterable[bytes]) -> Iterator[bytes]:
    """The lines, without LF, with these payloads and with sums of their own."""
    previous = b""
    for line, payload in zip(lines, payloads, strict=True):
        draft = Draft(line.type, payload, line.eventId, line.at, line.turnId, line.itemId, line.digest, line.sum)
        made = encode_line(line.sequence, draft, previous, more=line.more, req=line.req)
        previous = made.sum
        yield made.data[:-1]


def parsed(lines: Iterable[bytes]) -> list[Line]:
    """The lines, read."""
    return [parse_line(line) for line in lines]


def redacted_payloads(lines: list[Line], redactor: Redactor) -> Iterator[bytes]:
    """The payloads without secrets. What was streamed is looked at as the whole text that it became."""
    pieces = _streamed(lines, redactor)
    for line in lines:
        payload = bytes(line.payload)
        piece = pieces.get(line.sequence)
        if piece is None and not redactor.has_learned and not may_hold(payload):
            yield payload
            continue
        value = decode(payload)
        changed = redactor.value(value)
        if piece is not None:
            changed = _with_text(line, dict(changed), piece)
        yield payload if changed is value else encode(changed)


def _streamed(lines: list[Line], redactor: Redactor) -> dict[int, str]:
    """By sequence, the text of segments, and of the items that they go on from, where a whole text holds a secret."""
    growing: dict[str, list[tuple[int, str]]] = {}
    pieces: dict[int, str] = {}

    def close(key: str) -> None:
        parts = growing.pop(key, ())
        found = redactor.pieces([text for _, text in parts]) if len(parts) > 1 else None
        if found is not None:
            pieces.update({sequence: text for (sequence, _), text in zip(parts, found, strict=True)})

    for line in lines:
        if line.type in DELTAS and line.itemId is not None:
            text = segment_text_of(bytes(line.payload))
            growing.setdefault(line.itemId.lower(), []).append((line.sequence, text))
        elif line.type in ITEM_EVENTS:
            item = mapping(mapping(decode(bytes(line.payload))).get("item"))
            key = str(item.get("id")).lower()
            close(key)
            text = _text_of(item)
            if text is not None:
                growing[key] = [(line.sequence, text)]
    for key in list(growing):
        close(key)
    return pieces


def _text_of(item: dict[str, Any]) -> str | None:
    """The text of an item that streamed text is added to."""
    name = STREAMED_FIELD.get(KINDS.get(str(item.get("type")), ItemKind.other))
    if name is None:
        return None
    text = item.get(name) or ""
    if isinstance(text, list):
        text = text[-1] if text else ""  # pyright: ignore[reportUnknownVariableType]
    return text if isinstance(text, str) else None


def _with_text(line: Line, payload: dict[str, Any], text: str) -> dict[str, Any]:
    if line.type in DELTAS:
        return {**payload, "delta": text}
    item = mapping(payload.get("item"))
    name = STREAMED_FIELD[KINDS[item["type"]]]
    before = item.get(name)
    grown = [*before[:-1], text] if isinstance(before, list) and before else text  # pyright: ignore[reportUnknownVariableType]
    return {**payload, "item": {**item, name: grown if before else before}}
