"""Waits for the disk side by side: all are run to their ends, and each failure is its own."""

from __future__ import annotations

import threading

from lockstitch.platform.at_once import AtOnce


def test_calls_meet_and_failures_stay_with_their_call() -> None:
    meeting = threading.Barrier(3)
    done: list[str] = []

    def meet(name: str) -> None:
        meeting.wait(20)
        done.append(name)
        if name == "b":
            raise OSError(name)

    at_once = AtOnce()
    try:
        found = at_once.run([lambda: meet("a"), lambda: meet("b"), lambda: meet("c")])
    finally:
        at_once.close()
    assert sorted(done) == ["a", "b", "c"]
    assert [type(error) for error in found] == [type(None), OSError, type(None)]


def test_a_call_alone_needs_no_thread() -> None:
    at_once = AtOnce()
    names: list[str] = []
    assert at_once.run([lambda: names.append(threading.current_thread().name)]) == [None]
    assert names == [threading.current_thread().name]
    at_once.close()
