"""The bar: how far all of them are together, whatever their order, and nothing of it is left."""

from __future__ import annotations

import io

from lockstitch.cli.progress import Progress
from lockstitch.cli.terminal import Terminal


def test_several_on_their_way_are_one_bar_that_names_the_first() -> None:
    output = io.StringIO()
    progress = Progress(Terminal(output, coloured=False, width=80, is_terminal=True), 4)

    def bar() -> str:
        return output.getvalue().rsplit("\r\x1b[K", 1)[-1]

    progress.show("one", 1, 2, "reading")
    assert bar() == "██░░░░░░░░░░░░░░░░░░  0/4  reading  one"
    progress.show("two", 2, 2, "reading")
    assert bar().endswith("reading  one")
    progress.show("one", 2, 2, "storing")
    assert bar() == "██████████░░░░░░░░░░  0/4  storing  one"
    progress.step("one")
    progress.show("two", 2, 2, "storing")
    assert bar() == "██████████░░░░░░░░░░  1/4  storing  two"
    progress.clear()
    assert bar() == ""


def test_a_pipe_gets_no_bar() -> None:
    output = io.StringIO()
    progress = Progress(Terminal(output, coloured=False, width=80, is_terminal=False), 1)
    progress.show("one", 1, 2, "reading")
    progress.clear()
    assert output.getvalue() == ""
