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
                Argument("--items", "one line an item, with its id"),
            ),
            examples=(
                Example("lockstitch show 019ad3a1", "the whole conversation"),
                Example("lockstitch show 019ad3a1 --turn 2 --full", "the second turn, with nothing left out"),
                Example("lockstitch show 019ad3a1 --items", "an overview, with ids for other commands"),
            ),
            paged=True,
        ),
        Verb(
            "events",
            "list the recorded events of a thread, as they are stored",
            arguments=(
                WHICH_THREAD,
                Argument("--after", "only those after this sequence (default 0)", NUMBER, default=0),
                Argument(
                    "--type", "only those of this type, such as turn.completed; may be repeated", TEXT, count="many"
                ),
                Argument("--limit", "at most so many", COUNT),
                Argument("--follow", "go on with what other processes add, until interrupted", short="-f"),
            ),
            examples=(
                Example("lockstitch events 019ad3a1", "one line an event"),
                Example("lockstitch events 019ad3a1 --type turn.completed --json", "as JSON, one event a line"),
            ),
            paged=lambda options: not options.follow,
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
                WHICH_TURN,
                Argument("--path", "only those of this file", FILE),
                Argument("--files", "one line a file instead: what became of it in all, and how it is on the disk now"),
            ),
            examples=(
                Example("lockstitch checkpoints 019ad3a1", "every recorded version"),
                Example("lockstitch checkpoints 019ad3a1 --files", "the files, and whether they changed since"),
                Example("lockstitch checkpoints 019ad3a1 --path src/loom.py", "the versions of one file"),
            ),
            paged=True,
        ),
        Verb(
            "diff",
            "show what a file checkpoint changed, or what a turn or a thread changed in all its files",
            arguments=(
                WHICH_THREAD,
                Argument(WHICH_CHECKPOINT.name, WHICH_CHECKPOINT.summary, CHECKPOINT, count="optional"),
                Argument("--turn", "what this turn did to every file", TURN),
                Argument("--live", "how the file on the disk differs from the recorded version now"),
                Argument("--stat", "only how many lines came and went in each file"),
                Argument("--context", "lines around a change (default 3)", NUMBER, default=3),
                Argument("--unified", "one column, also on a wide terminal"),
            ),
            examples=(
                Example("lockstitch diff 019ad3a1 src/loom.py", "what the newest change of a file was"),
                Example("lockstitch diff 019ad3a1 --turn 1 --stat", "what a turn did, in numbers"),
                Example("lockstitch diff 019ad3a1 src/loom.py --live", "what happened to the file since"),
                Example("lockstitch diff 019ad3a1 src/loom.py | git apply --reverse --stat", "into a pipe, as a patch"),
            ),
            notes=(
                "On a terminal of 140 columns and more the two sides stand beside each other. Into a pipe or a file go "
                "the bytes of the patch and nothing else: `git apply` and `patch -p1` take it.",
            ),
            paged=True,
        ),
    ),
)
