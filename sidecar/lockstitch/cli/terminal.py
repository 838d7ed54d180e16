"""Where the command's words go: standard output, in colour if it is a terminal that may have it.

Invariant: a text that is not ours passes `text.harmless` before it comes here, or goes to no terminal.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TextIO, cast

from lockstitch.cli.pager import Pager

_COLOURS = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


class Terminal:
    """Standard output of one command, and the keyboard if there is one."""

    def __init__(
        self,
        output: TextIO,
        *,
        coloured: bool,
        width: int,
        is_terminal: bool,
        keyboard: TextIO | None = None,
    ) -> None:
        self._output = output
        self._keyboard = keyboard
        self.coloured = coloured
        self.width = width
        self.is_terminal = is_terminal

    @classmethod
    def silent(cls) -> Terminal:
        """One that nobody sees."""
        return cls(io.StringIO(), coloured=False, width=80, is_terminal=False)

    def line(self, text: str = "") -> None:
        """Write one line."""
        self._output.write(text + "\n")

    def lines(self, *texts: str) -> None:
        """Write several lines."""
        for text in texts:
            self.line(text)

    def json(self, value: bytes) -> None:
        """Write encoded JSON as one line, exactly these bytes."""
        self.exactly(value + b"\n")

    def exactly(self, content: bytes) -> None:
        """Write these bytes as they are."""
        self._output.flush()
        binary = getattr(self._output, "buffer", None)
        if binary is None:
            self._output.write(content.decode("utf-8", "replace"))
        else:
            binary.write(content)

    def paint(self, text: str, *colours: str) -> str:
        """The text in these colours, if there are colours here."""
        if not self.coloured or not colours or not text:
            return text
        codes = ";".join(_COLOURS[colour] for colour in colours)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def rule(self, title: str = "") -> str:
        """A line across, with a title in it."""
        from lockstitch.cli.text import cells, cut

        width = min(self.width, 100)
        if not title:
            return self.paint("─" * width, "dim")
        title = cut(title, width - 6)
        return self.paint("── ", "dim") + title + self.paint(" " + "─" * (width - cells(title) - 4), "dim")

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there who could answer."""
        return self._keyboard is not None

    def ask(self, question: str) -> bool:
        """Whether the answer to the question is yes. No answer is no."""
        if self._keyboard is None:
            return False
        self._output.write(f"{question} [y/N] ")
        self.flush()
        return self._keyboard.readline().strip().lower() in ("y", "yes")

    def again(self, text: str) -> None:
        """Put this text in the place of the line that the cursor is on: for progress, on a terminal only."""
        self._output.write(f"\r\x1b[K{text}")
        self.flush()

    def flush(self) -> None:
        """Have everything written. Raises BrokenPipeError if nobody reads any more."""
        self._output.flush()

    def end(self) -> None:
        """Have everything written and read. Raises BrokenPipeError if nobody reads any more."""
        if isinstance(self._output, Pager):
            self._output.end()
        else:
            self._output.flush()


def of_process(colour: str = "auto", *, paged: bool = False) -> Terminal:
    """The terminal, or pipe, or file that this process writes to. `paged`: what is too long for it goes to a pager."""
    output: TextIO = sys.stdout
    is_terminal = output.isatty()
    if isinstance(sys.stdout, io.TextIOWrapper):
        if is_terminal:
            sys.stdout.reconfigure(errors="replace")  # pyright: ignore[reportUnknownMemberType] - the stub's own gap
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # pyright: ignore[reportUnknownMemberType]
    may_colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    size = shutil.get_terminal_size((80, 24))
    keyboard = sys.stdin if is_terminal and sys.stdin is not None and sys.stdin.isatty() else None  # pyright: ignore[reportUnnecessaryComparison] - None where it was closed
    if paged and keyboard is not None and os.environ.get("TERM") != "dumb":
        output = cast("TextIO", Pager(output, size.lines, os.environ))
    return Terminal(
        output,
        coloured=may_colour if colour == "auto" else colour == "always",
        width=max(40, size.columns if is_terminal else _columns_of_variable()),
        is_terminal=is_terminal,
        keyboard=keyboard,
    )


def _columns_of_variable() -> int:
    """Into a pipe or a file: what COLUMNS says, else 80."""
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 5 else 80


def let_go_of_stdout() -> None:
    """Nobody reads any more: what is still buffered goes nowhere, so that the end of the process says nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(nowhere)
