"""The commands that show what is recorded.

Invariant: none of them changes anything.
"""

from __future__ import annotations

from lockstitch.cli.grammar import (
    CHECKPOINT,
    COUNT,
    DAY,
    FILE,
    FOLDER,
    NUMBER,
    TEXT,
    THREAD,
    TURN,
    WORD,
    Argument,
    Example,
    Group,
    Verb,
)

WHICH_THREAD = Argument("thread", "the thread: its id, or a beginning of it that no other one shares", THREAD)
WHICH_CHECKPOINT = Argument(
    "checkpoint", "its id or the beginning of it, or a file's path for the newest one of it", CHECKPOINT
)
WHICH_TURN = Argument("--turn", "only this turn, by its number or the beginning of its id", TURN)

READING = Group(
    "Look",
    (
        Verb(
            "threads",
            "list the threads, the last used first",
            arguments=(
                Argument("--project", "only those that worked in this directory", FOLDER),
                Argument("--search", "only those whose name or first message contains it", TEXT),
                Argument("--since", "only those used on this day or later: 2026-11-30, today, 7d", DAY),
                Argument("--until", "only those last used on this day or earlier", DAY),
                Argument("--archived", "the archived ones instead"),
                Argument("--limit", "at most so many (default 25)", COUNT, default=25),
                Argument("--all", "all of them, however many"),
            ),
            examples=(
                Example("lockstitch threads", "the last 25"),
                Example("lockstitch threads --project . --since 7d", "what was done in this directory this week"),
                Example("lockstitch threads --search loom --all", "every thread about the loom"),
                Example("lockstitch threads --json | grep -c workspaceLinked", "for programs"),
            ),
            paged=True,
        ),
        Verb(
            "show",
            "show what happened in a thread, turn by turn",
            arguments=(
                WHICH_THREAD,
                WHICH_TURN,
                Argument("--full", "long outputs, thoughts and diffs too"),
            ),
            examples=(
                Example("lockstitch show 019ad3a1", "the whole conversation"),
                Example("lockstitch show 019ad3a1 --turn 2 --full", "the second turn, with nothing left out"),
            ),
            paged=True,
        ),
        Verb(
            "search",
            "find messages, commands, outputs, file paths and titles by their words",
            arguments=(
                Argument("words", "all of them must be there; what is quoted stands together", WORD, count="many"),
                Argument("--thread", "only in this thread", THREAD),
                Argument("--project", "only in threads that worked in this directory", FOLDER),
                Argument("--archived", "in the archived threads instead"),
                Argument("--limit", "at most so many hits (default 20)", COUNT, default=20),
            ),
            examples=(
                Example("lockstitch search loom", "everything about the loom"),
                Example("lockstitch search 'make a loom' --project .", "a phrase, in what was done in this directory"),
                Example("lockstitch search loom.py --json | grep -c snippet", "for programs"),
            ),
            notes=(
                "Case and accents do not count; where no whole word is found, beginnings of words are. Nothing found "
                "is status 1. The first search reads all threads once; later ones read what is new.",
            ),
            paged=True,
        ),
        Verb(
            "checkpoints",
            "list the recorded file changes of a thread, the newest first",
            arguments=(
                WHICH_THREAD,
                Argument("--path", "only those of this file", FILE),
            ),
            examples=(
                Example("lockstitch checkpoints 019ad3a1", "every recorded version"),
                Example("lockstitch checkpoints 019ad3a1 --path src/loom.py", "the versions of one file"),
            ),
            paged=True,
        ),
        Verb(
            "diff",
            "show what a file checkpoint changed",
            arguments=(
                WHICH_THREAD,
                WHICH_CHECKPOINT,
                Argument("--live", "how the file on the disk differs from the recorded version now"),
                Argument("--context", "lines around a change (default 3)", NUMBER, default=3),
            ),
            examples=(
                Example("lockstitch diff 019ad3a1 src/loom.py", "what the newest change of a file was"),
                Example("lockstitch diff 019ad3a1 src/loom.py --live", "what happened to the file since"),
                Example("lockstitch diff 019ad3a1 src/loom.py | git apply --reverse --stat", "into a pipe, as a patch"),
            ),
            notes=(
                "Into a pipe or a file go the bytes of the patch and nothing else: `git apply` and `patch -p1` take "
                "it.",
            ),
            paged=True,
        ),
    ),
)
