"""A pager for output that does not fit on the terminal: the user's, else `less`, else none.

Invariant: what fits on the terminal is written to it as it is; nothing is lost if there is no pager.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import subprocess


class Pager(io.TextIOBase):
    """A text stream that holds back one terminal full, and starts the pager when there is more."""

    def __init__(self, output: TextIO, height: int, environment: Mapping[str, str]) -> None:
        self._output = output
        self._environment = environment
        self._room = max(4, height) - 2
        self._held: list[str] | None = []
        self._process: subprocess.Popen[bytes] | None = None
        self._on_interrupt: Any = None

    def write(self, text: str) -> int:
        """Write, or hold back. Raises BrokenPipeError when the reader has had enough."""
        if self._process is not None:
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(text.encode("utf-8", "replace"))
            except OSError as error:  # COMPAT: Windows says EINVAL for a pipe that nobody reads
                raise BrokenPipeError(error.errno, "the pager was left") from error
        elif self._held is None:
            self._output.write(text)
        else:
            self._held.append(text)
            self._room -= text.count("\n")
            if self._room < 0:
                self._begin()
        return len(text)

    @property
    def begun(self) -> bool:
        """Whether the pager is there: then its reader decides when it ends."""
        return self._process is not None

    def aside(self, text: str) -> None:
        """Write something at once that is no part of the output, while there is no pager yet."""
        if self._process is None:
            self._output.write(text)
            self._output.flush()

    def flush(self) -> None:
        """Nothing: what is held back is written at the end."""

    def end(self) -> None:
        """Write what was held back, or wait until the reader leaves the pager."""
        if self._process is None:
            held, self._held = self._held or [], None
            self._output.write("".join(held))
            self._output.flush()
            return
        try:
            if self._process.stdin is not None:
                with contextlib.suppress(OSError):  # it was left before the end
                    self._process.stdin.close()
            self._process.wait()
        finally:
            signal.signal(signal.SIGINT, self._on_interrupt)

    def _begin(self) -> None:
        held, self._held = "".join(self._held or []), None
        wanted = self._environment.get("PAGER", "")
        command = wanted.strip() or shutil.which("less") or ""
        if command and command != "cat" and _is_there(command):
            import subprocess  # the half of what a start costs that pages nothing

            settings = {"LESS": "FRX", "LESSCHARSET": "utf-8", **self._environment}
            try:
                self._process = subprocess.Popen(
                    command if wanted.strip() else [command],
                    shell=bool(wanted.strip()),  # what the user's own variable says is a command line
                    stdin=subprocess.PIPE,
                    env=settings,
                )
            except OSError:
                self._process = None
            else:  # the pager takes the key and decides when to end; what it shows is to be whole
                self._on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN) or signal.SIG_DFL
        self.write(held)


def _is_there(command: str) -> bool:
    """Whether the program of a command line can be found, as far as its first word tells."""
    first = command.split()[0]
    return "=" in first or first.startswith(("'", '"')) or shutil.which(first) is not None
