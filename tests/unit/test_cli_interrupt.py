"""Ctrl-C: once is enough at a question, and whoever started the command can tell that it was interrupted."""

from __future__ import annotations

import asyncio
import io
import signal
import subprocess
import sys

import pytest

from lockstitch.cli.terminal import Terminal


class _Keyboard(io.StringIO):
    """One at which somebody presses Ctrl-C instead of answering."""

    def readline(self, size: int | None = -1, /) -> str:
        signal.raise_signal(signal.SIGINT)
        return "y\n"


def test_one_press_ends_a_question() -> None:
    """asyncio takes the first one for itself and tells the loop, which waits for this very answer."""
    output = io.StringIO()
    terminal = Terminal(output, coloured=False, width=80, is_terminal=True, keyboard=_Keyboard())

    async def asks() -> bool:
        return terminal.ask("Remove it?")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(asks())
    assert output.getvalue() == "Remove it? [y/N] \n"


def test_no_answer_ends_the_line_and_is_no() -> None:
    output = io.StringIO()
    terminal = Terminal(output, coloured=False, width=80, is_terminal=True, keyboard=io.StringIO())
    assert not terminal.ask("Remove it?")
    assert output.getvalue().endswith("\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no process ends by a signal there: the exit status says it")
def test_the_process_ends_by_the_signal_so_that_a_loop_in_a_shell_ends_too() -> None:
    script = "from lockstitch.platform.interrupted import end_as_interrupted; end_as_interrupted()"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGINT
