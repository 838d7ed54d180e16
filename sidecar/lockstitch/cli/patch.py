"""A unified diff for a person: its lines in colour, made harmless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, harmless

_HEADERS = (
    "diff ",
    "index ",
    "old mode",
    "new mode",
    "new file",
    "deleted file",
    "similarity",
    "rename ",
    "--- ",
    "+++ ",
)


def patch_lines(unified: str, terminal: Terminal, *, headers: bool = True, most: int | None = None) -> Iterator[str]:
    """The lines of a diff in colour. `most`: at most so many, then how many more there are."""
    lines = unified.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    in_hunk = False
    shown = [line for line in lines if headers or not line.startswith(_HEADERS)] if not headers else lines
    for number, line in enumerate(shown):
        if most is not None and number == most and len(shown) > most + 1:
            yield terminal.paint(f"… {counted(len(shown) - number, 'more line')}", "dim")
            return
        if line.startswith("diff "):
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        yield terminal.paint(harmless(line).expandtabs(4), *_colours(line, in_hunk=in_hunk))


def _colours(line: str, *, in_hunk: bool) -> tuple[str, ...]:
    if line.startswith("@@"):
        return ("cyan",)
    if not in_hunk and line.startswith(_HEADERS):
        return ("bold",)
    return {"+": ("green",), "-": ("red",), "\\": ("dim",)}.get(line[:1], ())


def change_counts(additions: Any, deletions: Any, terminal: Terminal) -> str:
    """`+3 −1`, in colour; empty where it is not known."""
    if not isinstance(additions, int) or not isinstance(deletions, int):
        return ""
    return terminal.paint(f"+{additions}", "green") + " " + terminal.paint(f"−{deletions}", "red")
