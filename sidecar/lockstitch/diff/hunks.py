"""From two texts to hunks: changed lines with their context, and where they stand.

Lines are split at LF only, as git does; a CR before it belongs to the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from lockstitch.diff.matching import Block

NO_NEWLINE = "\\ No newline at end of file\n"

_Change = tuple[int, int, int, int]


class Line(NamedTuple):
    """One line of a hunk: `kind` is context, add or remove; `value` is its text without the newline."""

    kind: str
    value: str
    old_no: int | None
    new_no: int | None
    no_newline: bool = False

    def as_wire(self) -> dict[str, Any]:
        """The contract's hunk line; `noNewline` marks a last line that has no newline."""
        wire: dict[str, Any] = {"kind": self.kind, "value": self.value}
        if self.old_no is not None:
            wire["oldNo"] = self.old_no
        if self.new_no is not None:
            wire["newNo"] = self.new_no
        if self.no_newline:
            wire["noNewline"] = True
        return wire


class Hunk(msgspec.Struct, frozen=True):
    """One `@@` section; starts are line numbers from 1, or the line before where a side has no lines."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[Line]

    def as_wire(self) -> dict[str, Any]:
        """The contract's hunk."""
        return {
            "oldStart": self.old_start,
            "oldLines": self.old_lines,
            "newStart": self.new_start,
            "newLines": self.new_lines,
            "lines": [line.as_wire() for line in self.lines],
        }

    def unified(self) -> str:
        """The hunk as text."""
        parts = [f"@@ -{_span(self.old_start, self.old_lines)} +{_span(self.new_start, self.new_lines)} @@\n"]
        for kind, value, _, _, no_newline in self.lines:
            parts.append(_MARKS[kind] + value + "\n")
            if no_newline:
                parts.append(NO_NEWLINE)
        return "".join(parts)


_MARKS = {"context": " ", "add": "+", "remove": "-"}


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their LF. A last line that has none gets one, so that it equals no other line."""
    lines = data.split(b"\n")
    last = lines.pop()
    if last:
        lines.append(last + b"\n")
    return lines


def changes_between(blocks: list[Block], old_count: int, new_count: int) -> list[_Change]:
    """What stands between the blocks that stay: (old from, old to, new from, new to)."""
    changes: list[_Change] = []
    i = j = 0
    for at_old, at_new, length in [*blocks, (old_count, new_count, 0)]:
        if i < at_old or j < at_new:
            changes.append((i, at_old, j, at_new))
        i, j = at_old + length, at_new + length
    return changes


def hunks_of(old: list[bytes], new: list[bytes], changes: list[_Change], context: int) -> Iterator[Hunk]:
    """The hunks of the changes, each with up to `context` lines around; neighbours that touch are one."""
    group: list[_Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * context:
            yield _hunk(old, new, group, context)
            group = []
        group.append(change)
    if group:
        yield _hunk(old, new, group, context)


def _hunk(old: list[bytes], new: list[bytes], group: list[_Change], context: int) -> Hunk:
    i = old_from = max(group[0][0] - context, 0)
    j = new_from = max(group[0][2] - context, 0)
    lines: list[Line] = []
    for old_low, old_high, new_low, new_high in group:
        _append_context(lines, old, i, old_low, j)
        lines.extend(_line("remove", old[at], at + 1, None) for at in range(old_low, old_high))
        lines.extend(_line("add", new[at], None, at + 1) for at in range(new_low, new_high))
        i, j = old_high, new_high
    end = min(i + context, len(old))
    _append_context(lines, old, i, end, j)
    old_lines, new_lines = end - old_from, j + end - i - new_from
    return Hunk(
        old_from + 1 if old_lines else old_from, old_lines, new_from + 1 if new_lines else new_from, new_lines, lines
    )


def _append_context(lines: list[Line], old: list[bytes], low: int, high: int, new_low: int) -> None:
    lines.extend(_line("context", old[at], at + 1, new_low + at - low + 1) for at in range(low, high))


def _line(kind: str, data: bytes, old_no: int | None, new_no: int | None) -> Line:
    if data.endswith(b"\n"):
        return Line(kind, data[:-1].decode("utf-8"), old_no, new_no, no_newline=True)
    return Line(kind, data.decode("utf-8"), old_no, new_no)


def _span(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"
