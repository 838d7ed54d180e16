"""ThreadItems on their way out: spliced from checked bytes, or composed where no line holds the whole.

Invariant: an item whose line is damaged is left out; it never fails a read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lockstitch.codec import ParseError, Raw, encode
from lockstitch.timeline.items import composed
from lockstitch.timeline.lines import DamagedLineError, Lines
from lockstitch.timeline.rows import ItemRow, ItemStatus

_OPENING = b'"item":{'
_BEFORE = len(_OPENING) - 1
_ENDS = (b"}}", b"},")
_INTERRUPTED = int(ItemStatus.interrupted)


def item_values(lines: Lines, rows: Sequence[ItemRow]) -> list[Raw | None]:
    """The items of these rows, in that order; None for one that cannot be read."""
    # One pass over the rows, and no call for each: a page of 50 turns has 250 of them.
    whole = [row.parts is None and row.status != _INTERRUPTED for row in rows]
    places = [(row.line_at, row.line_length) for row, is_whole in zip(rows, whole, strict=True) if is_whole]
    spliced = iter(lines.many(places))
    found: list[Raw | None] = []
    for row, is_whole in zip(rows, whole, strict=True):
        if not is_whole:
            found.append(_composed(lines, row))
            continue
        line, start = next(spliced), row.item_at
        end = start + row.item_length
        if line is None:
            found.append(None)
        elif line[start - _BEFORE : start + 1] == _OPENING and line[end - 1 : end + 1] in _ENDS:
            found.append(Raw(line[start:end]))
        else:  # no value begins and ends there: the row is rotten
            lines.damaged = True
            found.append(None)
    return found


def _composed(lines: Lines, row: ItemRow) -> Raw | None:
    try:
        return Raw(encode(composed(row, lines.line)))
    except (DamagedLineError, ParseError):
        return None


def placed(values: Sequence[Raw | None], turn_ids: Sequence[str | None]) -> list[dict[str, Any]]:
    """Items with the turn that each is in."""
    found: list[dict[str, Any]] = []
    for value, turn_id in zip(values, turn_ids, strict=True):
        if value is not None:
            found.append({"item": value} if turn_id is None else {"turnId": turn_id, "item": value})
    return found
