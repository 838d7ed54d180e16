"""The commands that put files back.

Invariant: each shows its plan and asks, or is told `--yes`, before anything is changed.
"""

from __future__ import annotations

from lockstitch.cli.grammar import FILE, TURN, Argument, Example, Group, Value, Verb, one_of
from lockstitch.cli.verbs_reading import WHICH_CHECKPOINT, WHICH_THREAD

YES = Argument("--yes", "do it without asking", short="-y")
DRY_RUN = Argument("--dry-run", "show the plan and do nothing", short="-n")
ON_CONFLICT = Argument(
    "--on-conflict",
    "a file that holds something unknown: refuse (the default: nothing at all is changed), or backup (record it first)",
    one_of("WHAT", "refuse", "backup"),
    default="refuse",
)
_CONSENT = (
    "The plan is shown first, then the question whether to do it. Without a terminal nothing is asked and nothing "
    "done, unless --yes is given."
)

FILES = Group(
    "Put files back",
    (
        Verb(
            "restore",
            "put one file back as a checkpoint left it, or found it",
            arguments=(
                WHICH_THREAD,
                WHICH_CHECKPOINT,
                Argument("--before", "as it was before that change, not after it"),
                ON_CONFLICT,
                DRY_RUN,
                YES,
            ),
            examples=(
                Example("lockstitch restore 019ad3a1 src/loom.py --before --dry-run", "what taking it back would do"),
                Example("lockstitch restore 019ad3a1 src/loom.py --before --yes", "take the last change back"),
            ),
            notes=(_CONSENT,),
        ),
        Verb(
            "rewind",
            "put all files of a thread back to before or after a turn",
            arguments=(
                WHICH_THREAD,
                Argument("turn", "the turn, by its number or the beginning of its id", TURN),
                Argument("paths", "only these files", FILE, count="any"),
                Argument("--before", "to before that turn, not after it"),
                Argument("--conversation", "take the turns out of the conversation too, in the same act"),
                ON_CONFLICT,
                DRY_RUN,
                YES,
            ),
            examples=(
                Example("lockstitch rewind 019ad3a1 1 --dry-run", "what going back to after turn 1 would do"),
                Example("lockstitch rewind 019ad3a1 1 --before --yes", "as if the agent had never begun"),
            ),
            notes=(_CONSENT, "All files are put back, or none. `lockstitch undo` takes it back again."),
        ),
        Verb(
            "undo",
            "take a restore or a rewind back",
            arguments=(
                WHICH_THREAD,
                Argument(
                    "act",
                    "which one, by its id or that of the restore's checkpoint (default: the last one that stands)",
                    Value("ID"),
                    count="optional",
                ),
                ON_CONFLICT,
                DRY_RUN,
                YES,
            ),
            examples=(
                Example("lockstitch undo 019ad3a1 --dry-run", "what taking the last act back would do"),
                Example("lockstitch undo 019ad3a1 --yes", "take it back"),
            ),
            notes=(_CONSENT,),
        ),
    ),
)
