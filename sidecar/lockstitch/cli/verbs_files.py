"""The commands that put files back.

Invariant: each shows its plan and asks, or is told `--yes`, before anything is changed.
"""

from __future__ import annotations

from lockstitch.cli.grammar import Argument, Group, one_of

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
    (),
)
