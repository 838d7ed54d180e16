"""The pager: only for what does not fit, and nothing is lost without one."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import pytest

from lockstitch.cli.pager import Pager


def written(text: str, environment: dict[str, str], height: int = 10) -> str:
    """What reaches the terminal itself."""
    output = io.StringIO()
    pager = Pager(output, height, environment)
    for line in text.splitlines(keepends=True):
        pager.write(line)
    pager.end()
    return output.getvalue()


LONG = "".join(f"{number}\n" for number in range(50))


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for a pager is a shell command")
def test_only_what_does_not_fit_goes_through_it(tmp_path: Path) -> None:
    place = tmp_path / "paged"
    environment = {"PAGER": f"cat > {place}", "PATH": os.environ["PATH"]}
    assert written("one\ntwo\n", environment) == "one\ntwo\n"
    assert not place.exists()
    assert written(LONG, environment) == ""
    assert place.read_text(encoding="utf-8") == LONG


@pytest.mark.parametrize("environment", [{"PAGER": "cat"}, {"PAGER": " cat "}, {"PAGER": "no-such-pager -S"}])
def test_without_one_everything_is_written(environment: dict[str, str]) -> None:
    assert written(LONG, environment) == LONG


def test_the_interrupt_key_is_the_pagers_from_its_start_to_its_end() -> None:
    before = signal.getsignal(signal.SIGINT)
    pager = Pager(io.StringIO(), 10, {**os.environ, "PAGER": f'"{sys.executable}" -c "import sys; sys.stdin.read()"'})
    pager.write("held\n")
    assert signal.getsignal(signal.SIGINT) is before
    pager.write(LONG)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    pager.end()
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_is_no_part_of_what_is_paged() -> None:
    output = io.StringIO()
    pager = Pager(output, 10, {"PAGER": "cat"})
    pager.write("line\n")
    pager.aside("half done")
    assert output.getvalue() == "half done"
    pager.end()
    assert output.getvalue() == "half doneline\n"


def test_a_pager_that_is_left_early_ends_it_quietly() -> None:
    pager = Pager(io.StringIO(), 10, {**os.environ, "PAGER": f'"{sys.executable}" -c pass'})
    pages = ("a line\n" for _ in range(100_000))
    with pytest.raises(BrokenPipeError):
        pager.writelines(pages)
    pager.end()
