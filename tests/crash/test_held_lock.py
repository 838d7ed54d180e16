"""Appends that follow each other keep the write lock, and leave their rows uncommitted, for a moment.

Without a plan of faults, which would have each of them committed before its answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.host import Host, judge
from tests.crash.scene import Scene, one_event

PLAIN = {"LOCKSTITCH_FAULTS": ""}


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Scene]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    made = Scene(tmp_path / "home", workspace, Host(tmp_path / "home", env=PLAIN).start())
    yield made
    made.host.kill()


def test_a_kill_right_after_an_answer_loses_nothing(held: Scene) -> None:
    """The rows of the last answers were not committed; their lines were durable."""
    threads = [held.thread(), held.thread()]
    for length in (1, 2, 7):
        for number in range(length):
            one_event(held, threads[number % 2])
        held.host.kill()
        held.host = Host(held.home, env=PLAIN).start()
        held.check()
    assert held.host.close() == 0
    judge(held.home)


def test_what_is_answered_is_read_and_another_process_takes_its_turn(held: Scene) -> None:
    """Each answer is followed at once by a read of it, here and by another process, which then writes itself."""
    thread = held.thread()
    mine = held.host
    with Host(held.home, env=PLAIN).start() as other:
        for _ in range(6):
            for host in (mine, mine, other):
                held.host = host
                one_event(held, thread)
                for reader in (host, mine, other):
                    assert [event["eventId"] for event in reader.events(thread)][1:] == held.answered[thread]
    held.host = mine
    assert mine.close() == 0
    judge(held.home)
