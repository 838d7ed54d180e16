"""A unified diff for a person: its lines in colour, made harmless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import counted, cut, harmless


def patch_lines(
    unified: str, terminal: Terminal, *, headers: bool = True, most: int | None = None, width: int | None = None
) -> Iterator[str]:
    """The lines of a diff in colour. `headers` False: hunks only, or what else changed. `most`: so many lines, then how
    many more. `width`: longer lines are cut."""
    marked = list(_marked(unified))
    if not headers:
        any_hunk = any(in_hunk for _, in_hunk in marked)
        marked = [
            (line, in_hunk) for line, in_hunk in marked if in_hunk or not (any_hunk or line.startswith(_NAMES_ONLY))
        ]
    for number, (line, in_hunk) in enumerate(marked):
        if most is not None and number == most and len(marked) > most + 1:
            yield terminal.paint(f"… {counted(len(marked) - number, 'more line')}", "dim")
            return
        text = harmless(line).expandtabs(4)
        yield terminal.paint(text if width is None else cut(text, width), *_colours(line, in_hunk=in_hunk))


_NAMES_ONLY = ("diff ", "index ", "similarity ", "rename ", "--- ", "+++ ")


def _marked(unified: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a hunk: there, `---` may be a removed line."""
    lines = unified.split("\n")
    if not lines[-1]:
        lines.pop()
    in_hunk = False
    for line in lines:
        if line.startswith("@@"):
            in_hunk = True
        elif line.startswith("diff "):
            in_hunk = False
        yield line, in_hunk


def _colours(line: str, *, in_hunk: bool) -> tuple[str, ...]:
    if not in_hunk:
        return ("bold",)
    return {"@": ("cyan",), "+": ("green",), "-": ("red",), "\\": ("dim",)}.get(line[:1], ())


def change_counts(additions: Any, deletions: Any, terminal: Terminal) -> str:
    """`+3 −1`, in colour; empty where it is not known."""
    if not isinstance(additions, int) or not isinstance(deletions, int):
        return ""
    return terminal.paint(f"+{additions}", "green") + " " + terminal.paint(f"−{deletions}", "red")
