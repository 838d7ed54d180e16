"""The commands that prove what happened and hand it on."""

from __future__ import annotations

import argparse

from lockstitch.cli.grammar import NUMBER, TURN, Argument, Example, Group, Value, Verb
from lockstitch.cli.verbs_reading import WHICH_THREAD


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"a number above 0, not {text!r}")
    return speed


SPEED = Value("SPEED", read=_speed)

EVIDENCE = Group(
    "Prove and hand on",
    (
        Verb(
            "receipt",
            "say what a turn did, from recorded facts only",
            arguments=(
                WHICH_THREAD,
                Argument("--turn", "which turn, by its number or the beginning of its id (the last one)", TURN),
            ),
            examples=(
                Example("lockstitch receipt 019ad3a1", "of the last turn"),
                Example("lockstitch receipt 019ad3a1 --turn 1 --json", "of the first turn, the same bytes every time"),
            ),
            notes=("What no fact proves is named as unknown, and never guessed.",),
        ),
        Verb(
            "replay",
            "tell the recorded events of a thread in order; nothing is done again",
            arguments=(
                WHICH_THREAD,
                Argument("--speed", "as it was: 1; twice as fast: 2 (as fast as it can be read)", SPEED),
                Argument("--after", "only the events behind this sequence", NUMBER, default=0),
                Argument("--until", "only the events up to this sequence", NUMBER),
            ),
            examples=(
                Example("lockstitch replay 019ad3a1", "everything that is recorded"),
                Example("lockstitch replay 019ad3a1 --speed 50 --after 5", "as it went, but faster"),
                Example("lockstitch replay 019ad3a1 --json | wc -l", "one event a line, for programs"),
            ),
            notes=("No gap between two events takes longer than two seconds.",),
        ),
    ),
)
