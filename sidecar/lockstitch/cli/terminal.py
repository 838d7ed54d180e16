"""Where the command's words go: standard output, in colour if it is a terminal that may have it.

Invariant: every text that reaches a terminal has passed `text.for_terminal` or `text.escaped` here, whoever wrote it.
(What is measured or cut passed `text.harmless` before: what is made visible takes more columns.)
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO, cast

from lockstitch.cli.pager import Pager
from lockstitch.cli.text import escaped, for_terminal, painted
from lockstitch.errors import LockstitchError


class OutputError(LockstitchError):
    """Standard output takes no more: the disk is full, or the device refuses. Not: nobody reads any more."""

    default_kind = "outputFailed"


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
        """Write one line. Raises BrokenPipeError if nobody reads any more, OutputError."""
        self._write(for_terminal(text) + "\n")

    def _write(self, text: str) -> None:
        with _output_errors():
            self._output.write(text)

    def lines(self, *texts: str) -> None:
        """Write several lines."""
        for text in texts:
            self.line(text)

    def json(self, value: bytes) -> None:
        """Write encoded JSON as one line: into a pipe or file exactly these bytes."""
        if self.is_terminal:
            self._write(escaped(value.decode("utf-8", "replace")) + "\n")
        else:
            self.exactly(value + b"\n")

    def exactly(self, content: bytes) -> None:
        """Write these bytes as they are; what a terminal would take for a command it gets made visible."""
        if self.is_terminal:
            self._write(for_terminal(content.decode("utf-8", "replace")))
            return
        with _output_errors():
            self._output.flush()
            binary = getattr(self._output, "buffer", None)
            if binary is None:
                self._output.write(content.decode("utf-8", "replace"))
            else:
                binary.write(content)

    def paint(self, text: str, *colours: str) -> str:
        """The text in these colours, if there are colours here."""
        return painted(text, *colours) if self.coloured and colours and text else text

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
        """Whether the answer to the question is yes. No answer is no. Raises KeyboardInterrupt."""
        if self._keyboard is None:
            return False
        self._write(f"{for_terminal(question)} [y/N] ")
        self.flush()
        answer = ""
        try:
            with _interruptible():
                answer = self._keyboard.readline()
        finally:
            if not answer.endswith("\n"):  # the cursor still stands behind the question
                self._write("\n")
        return answer.strip().lower() in ("y", "yes")

    def again(self, text: str) -> None:
        """Put this text in the place of the line that the cursor is on: for progress, on a terminal only."""
        line = f"\r\x1b[K{for_terminal(text)}"
        with _output_errors():
            if isinstance(self._output, Pager):
                self._output.aside(line)
            else:
                self._output.write(line)
                self._output.flush()

    def flush(self) -> None:
        """Have everything written. Raises BrokenPipeError if nobody reads any more, OutputError."""
        with _output_errors():
            self._output.flush()

    def settle(self) -> None:
        """Have everything written, unless somebody reads it in a pager: an end of the process that takes long hides
        nothing."""
        if not (isinstance(self._output, Pager) and self._output.begun):
            self.end()

    def end(self) -> None:
        """Have everything written and read. Raises BrokenPipeError if nobody reads any more, OutputError."""
        if isinstance(self._output, Pager):
            self._output.end()
        else:
            self.flush()


@contextmanager
def _output_errors() -> Generator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OutputError(f"standard output cannot be written: {reason}", errno=error.errno) from error


@contextmanager
def _interruptible() -> Generator[None]:
    """Where this thread waits for the keyboard, the event loop that asyncio would tell of Ctrl-C waits too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler) or signal.SIG_DFL
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
