"""What can go wrong, named for the situation: raised deep with its facts, mapped to a reply in one place.

Invariant: a message says what happened, to which thing, and what to do; it never holds an input value
that could be a secret, and never a traceback.
"""

from __future__ import annotations

from typing import Any


class LockstitchError(Exception):
    """An error that a caller can act on.

    `kind` is the stable camelCase word of the protocol's error table; `facts` are the rest of the
    reply's `data` (a field, id, path or limit).
    """

    default_kind = "internalError"

    def __init__(self, message: str, *, kind: str | None = None, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or self.default_kind
        self.facts = facts


class NotFoundError(LockstitchError):
    """A thread, turn, item, checkpoint or worker that does not exist."""

    default_kind = "threadNotFound"


class ConflictError(LockstitchError):
    """The same id with other content, a second open turn, a file that the timeline does not know."""

    default_kind = "conflict"


class RefusedError(LockstitchError):
    """Well-formed, but not possible in this state or not allowed at this place."""

    default_kind = "invalidRequest"


class UnavailableError(LockstitchError):
    """Something that is recorded cannot be had now: a content, a workspace."""

    default_kind = "contentUnavailable"


class StorageError(LockstitchError):
    """The disk or the database said no; nothing was changed. Facts: `path`, `errno`."""

    default_kind = "storageFailed"


class InvalidError(LockstitchError):
    """A parameter is not what the method takes. Facts: `errors`, a list of `{path, message}`."""

    default_kind = "invalidParams"

    @classmethod
    def at(cls, path: str, message: str) -> InvalidError:
        """One field is wrong: `path` is dotted, as in the params (`runtimeEvents.2.payload.item`)."""
        return cls(f"{named(path)}: {message}.", errors=[{"path": path, "message": message}])


def named(path: str) -> str:
    """How a message begins that is about one parameter."""
    return f"Parameter {path} is not valid" if path else "The params are not valid"
