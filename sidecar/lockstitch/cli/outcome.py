"""What an error becomes for the caller of a command: an exit status, and a sentence or JSON on standard error.

Invariant: the only place where an exception becomes an exit status.
"""

from __future__ import annotations

import sys

from lockstitch.cli.text import harmless
from lockstitch.errors import LockstitchError
from lockstitch.settings import UsageError

OK = 0
FAILED = 1
"""What was asked for did not come about: not found, refused, not to be had, no room on the disk."""
USAGE = 2
"""The arguments or the data root cannot be used."""
INTERNAL = 70
INTERRUPTED = 130

STATUSES = {
    OK: "it is done, and everything that was asked for is there",
    FAILED: "it did not come about: not found, refused, a conflict, no room, or something is wrong (doctor, verify)",
    USAGE: "the arguments or the data root cannot be used; nothing was done",
    INTERNAL: "an internal error: please report it",
    INTERRUPTED: "interrupted from the keyboard",
}
"""What each exit status says. Whoever stops reading the output early (`head`) ends a command with 0."""

_STATUSES = {"invalidParams": USAGE, "methodNotFound": USAGE, "methodRetired": USAGE, "internalError": INTERNAL}


class BadArgumentsError(UsageError):
    """An argument does not name what it should; the message is one line that says what to do."""


def report(error: BaseException, *, as_json: bool) -> int:
    """Say on standard error what went wrong; the exit status."""
    if isinstance(error, LockstitchError):
        _say(error.message, {**error.facts, "kind": error.kind}, as_json=as_json)
        return _STATUSES.get(error.kind, FAILED)
    if isinstance(error, UsageError):
        _say(str(error), {"kind": "usage"}, as_json=as_json)
        return USAGE
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    from lockstitch.log import where

    place = where(type(error), error.__traceback__)
    _say(f"an internal error, please report it: {place}", {"kind": "internalError"}, as_json=as_json)
    return INTERNAL


def complain(error: LockstitchError) -> None:
    """Say on standard error what went wrong with a part, where the rest goes on."""
    _say(error.message, {}, as_json=False)


def _say(message: str, facts: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        from lockstitch.codec import encode

        line = encode({"error": {"message": message, **facts}}).decode()
    else:
        line = f"lockstitch: {harmless(message)}"
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # nobody listens
