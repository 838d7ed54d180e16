"""A bar for something that takes a while, on a terminal; nothing anywhere else.

Invariant: what it wrote is gone from the terminal when `clear` returns.
"""

from __future__ import annotations

from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut


class Progress:
    """How many of some things are done, and how far those are that are on their way."""

    def __init__(self, terminal: Terminal, total: int) -> None:
        self._terminal = terminal
        self._total = total
        self._done = 0
        self._parts: dict[str, float] = {}
        self._shown = ""

    def show(self, name: str, current: int, of: int, doing: str) -> None:
        """Say how far one of them is, if that can be said; of several on their way the first one is named."""
        if not self._terminal.is_terminal:
            return
        self._parts[name] = min(1.0, current / of) if of else 0.0
        if name != next(iter(self._parts)):
            return
        what = f"{doing}  {name}"
        whole = min(1.0, (self._done + sum(self._parts.values())) / max(1, self._total))
        room = max(10, min(30, self._terminal.width // 4))
        filled = int(whole * room)
        counts = f"{self._done}/{self._total}" if self._total > 1 else f"{whole * 100:3.0f} %"
        head = f"{'█' * filled}{'░' * (room - filled)}  {counts}  "
        line = cut(head + what, self._terminal.width - 1)
        if line != self._shown:
            self._shown = line
            self._terminal.again(line)

    def step(self, name: str) -> None:
        """One more is done: this one."""
        self._parts.pop(name, None)
        self._done += 1

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._shown = ""
            self._terminal.again("")
