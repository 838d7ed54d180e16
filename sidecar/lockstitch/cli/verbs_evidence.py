"""The commands that prove what happened and hand it on."""

from __future__ import annotations

import argparse

from lockstitch.cli.grammar import NUMBER, PATH, TURN, Argument, Example, Group, Value, Verb, one_of
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
_WITH_SECRETS = Argument("--with-secrets", "leave in what looks like a secret; a bundle always has everything")

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
            paged=True,
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
            paged=lambda options: options.speed is None,
        ),
        Verb(
            "open",
            "write a thread as one page for a browser, and say where it is",
            arguments=(
                WHICH_THREAD,
                Argument("--to", "the file to write (default: one of its own in the folder for temporary files)", PATH),
                Argument("--browser", "open it in the browser too"),
                _WITH_SECRETS,
            ),
            examples=(
                Example("lockstitch open 019ad3a1", "a page that needs nothing else; it can be mailed as it is"),
                Example("lockstitch open 019ad3a1 --to loom.html", "the same in a file of that name"),
            ),
        ),
        Verb(
            "export",
            "write a thread for others: to read, to check, to replay or to import elsewhere",
            arguments=(
                WHICH_THREAD,
                Argument(
                    "--format",
                    "markdown (the default), html, jsonl (its events), bundle (a zip file to import elsewhere), pack "
                    "(evidence that anybody can check) or case (to be replayed and compared)",
                    one_of("FORMAT", "markdown", "html", "jsonl", "bundle", "pack", "case"),
                    default="markdown",
                ),
                Argument("--to", "the file, or for a pack or case the folder, to make (default: see below)", PATH),
                _WITH_SECRETS,
            ),
            examples=(
                Example("lockstitch export 019ad3a1", "Markdown, to paste into a review"),
                Example("lockstitch export 019ad3a1 --format bundle --to loom.zip", "all of it; import takes it in"),
                Example(
                    "lockstitch export 019ad3a1 --format pack --to pack", "events, files, receipts, and their sums"
                ),
            ),
            notes=(
                "Without --to, markdown, html and jsonl are written to standard output, a bundle to a file in this "
                "directory, a pack or case to the workspace's .lockstitch. Nothing that exists is written over.",
                "What looks like a secret is left out and counted, unless it is to stay in. Only a bundle, and a jsonl "
                "with its secrets, can be imported.",
            ),
        ),
        Verb(
            "verify",
            "check a pack or a case: every file, every event, and what the events come to",
            arguments=(Argument("paths", "the folder of a pack or a case", PATH, count="many"),),
            examples=(Example("lockstitch verify pack", "the exit status is 1 if a single byte was changed"),),
            notes=("docs/format.md says how to do the same with sha256sum.",),
        ),
    ),
)
