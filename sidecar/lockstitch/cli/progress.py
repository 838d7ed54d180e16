"""A bar for something that takes a while, on a terminal; nothing anywhere else.

Invariant: what it wrote is gone from the terminal when `clear` returns.
"""

from __future__ import annotations

from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut


class Progress:
    """How many of some things are done, and how far the present one is."""

    def __init__(self, terminal: Terminal, total: int) -> None:
        self._terminal = terminal
        self._total = total
        self._done = 0
        self._shown = ""

    def show(self, current: int, of: int, what: str) -> None:
        """Say how far the present one is, if that can be said, and what it is."""
        if not self._terminal.is_terminal:
            return
        part = min(1.0, current / of) if of else 0.0
        whole = (self._done + part) / max(1, self._total)
        room = max(10, min(30, self._terminal.width // 4))
        filled = int(whole * room)
        counts = f"{self._done}/{self._total}" if self._total > 1 else f"{whole * 100:3.0f} %"
        head = f"{'█' * filled}{'░' * (room - filled)}  {counts}  "
        line = cut(head + what, self._terminal.width - 1)
        if line != self._shown:
            self._shown = line
            self._terminal.again(line)

    def step(self) -> None:
        """One more is done."""
        self._done += 1

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._shown = ""
            self._terminal.again("")
