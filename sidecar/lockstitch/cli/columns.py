"""The two sides of a diff beside each other, for terminals that are wide enough.

Invariant: no line is wider than the terminal; nothing is cut off, long lines go on below.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, harmless, wrapped_exactly

Row = tuple[dict[str, Any] | None, dict[str, Any] | None]


def side_by_side(hunks: list[dict[str, Any]], terminal: Terminal) -> Iterator[str]:
    """The hunks of a FileDiff, the old side to the left."""
    last = max((hunk[f"{side}Start"] + hunk[f"{side}Lines"] for hunk in hunks for side in ("old", "new")), default=1)
    digits = len(str(last))
    room = (terminal.width - 3) // 2 - digits - 3
    for hunk in hunks:
        title = f"@@ -{hunk['oldStart']},{hunk['oldLines']} +{hunk['newStart']},{hunk['newLines']} @@"
        yield terminal.paint(title, "cyan")
        for old, new in _rows(hunk["lines"]):
            left = list(_cell(old, "oldNo", "-", "red", digits, room, terminal))
            right = list(_cell(new, "newNo", "+", "green", digits, room, terminal))
            empty = " " * (digits + 3 + room)
            for number in range(max(len(left), len(right))):
                one = left[number] if number < len(left) else empty
                other = right[number] if number < len(right) else ""
                yield f"{one} {terminal.paint('│', 'dim')} {other}".rstrip()


def _rows(lines: list[dict[str, Any]]) -> Iterator[Row]:
    """What stands beside each other: a removed line and the added one in its place."""
    removed: list[dict[str, Any]] = []
    added: list[dict[str, Any]] = []
    for line in [*lines, None]:
        if line is not None and line["kind"] == "remove" and not added:
            removed.append(line)
            continue
        if line is not None and line["kind"] == "add":
            added.append(line)
            continue
        for number in range(max(len(removed), len(added))):
            yield (
                removed[number] if number < len(removed) else None,
                added[number] if number < len(added) else None,
            )
        removed, added = [], []
        if line is not None and line["kind"] == "remove":
            removed.append(line)
        elif line is not None:
            yield line, line


def _cell(
    line: dict[str, Any] | None, number: str, mark: str, colour: str, digits: int, room: int, terminal: Terminal
) -> Iterator[str]:
    """One side of a row, in as many lines as it takes, each filled to the same width."""
    if line is None:
        return
    changed = line["kind"] != "context"
    text = harmless(line["value"]).replace("\n", "\u240a").expandtabs(4)
    if line.get("noNewline"):
        text += "  (no newline)"
    for count, part in enumerate(wrapped_exactly(text, room)):
        head = f"{line.get(number) or '':>{digits}} " if count == 0 else " " * (digits + 1)
        body = f"{mark if changed else ' '} {part}" + " " * (room - cells(part))
        yield terminal.paint(head, "dim") + (terminal.paint(body, colour) if changed else body)
