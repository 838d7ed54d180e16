"""What an error becomes for the caller of a command: an exit status, and a sentence or JSON on standard error.

Invariant: the only place where an exception becomes an exit status.
"""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import TextIO, cast

from lockstitch.cli.text import harmless, wrapped
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
        message = error.message if as_json else said(error)
        _say(message, {**error.facts, "kind": error.kind}, as_json=as_json)
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


def complain(message: str) -> None:
    """Say on standard error what went wrong with a part, where the rest goes on."""
    _say(message, {}, as_json=False)


def said(error: LockstitchError) -> str:
    """What an error says to somebody who typed a command and knows no methods and params."""
    if error.kind == "threadNotFound" and "threadId" in error.facts:
        return f"there is no thread {error.facts['threadId']}; `lockstitch threads` lists those that are"
    return error.message


def _say(message: str, facts: dict[str, object], *, as_json: bool) -> None:
    stream = cast("TextIO | None", sys.stderr)
    if stream is None:  # closed by whoever started us
        return
    if as_json:
        from lockstitch.codec import encode

        line = encode({"error": {"message": message, **facts}}).decode()
    else:
        line = f"lockstitch: {harmless(message)}"
        if stream.isatty():
            line = "\n".join(wrapped(line, max(40, get_terminal_size((80, 24)).columns)))
    try:
        stream.write(line + "\n")
        stream.flush()
    except (OSError, ValueError):
        return  # nobody listens
