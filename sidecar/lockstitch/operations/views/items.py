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

_KEY = b'"item":'


def item_values(lines: Lines, rows: Sequence[ItemRow]) -> list[Raw | None]:
    """The items of these rows, in that order; None for one that cannot be read."""
    whole = [(row.line_at, row.line_length) for row in rows if _is_whole(row)]
    spliced = iter(lines.many(whole))
    found: list[Raw | None] = []
    for row in rows:
        if _is_whole(row):
            line = next(spliced)
            found.append(None if line is None else _spliced(lines, line, row))
        else:
            found.append(_composed(lines, row))
    return found


def _spliced(lines: Lines, line: bytes, row: ItemRow) -> Raw | None:
    """The value at the row's place in its line; None if none begins and ends there, since then the row is rotten."""
    start, end = row.item_at, row.item_at + row.item_length
    if line[start - len(_KEY) : start + 1] != _KEY + b"{" or line[end - 1 : end] != b"}" or not _ends(line, end):
        lines.damaged = True
        return None
    return Raw(line[start:end])


def _ends(line: bytes, end: int) -> bool:
    return line[end : end + 1] in (b",", b"}")


def _is_whole(row: ItemRow) -> bool:
    return row.parts is None and row.status != ItemStatus.interrupted


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
