"""What of a page a client can take in one message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lockstitch.codec import encode
from lockstitch.errors import RefusedError

ENVELOPE = 512
"""Room for what stands around the entries of a page: id, cursors, and the page's own fields."""


def fitting(entries: Iterable[Any], most: int | None, facts: Callable[[int], dict[str, Any]]) -> int:
    """How many of the entries a client's message limit lets through.

    `facts(number)` says which entry that is and how to go on behind it. Raises RefusedError if not even the first
    fits.
    """
    size, count = ENVELOPE, 0
    for entry in entries:
        if most is not None:
            size += len(encode(entry)) + 1
            if size > most:
                if not count:
                    raise entry_too_large(most, **facts(0))
                break
        count += 1
    return count


def entry_too_large(most: int, **facts: Any) -> RefusedError:
    """The refusal of one entry that is more than the client takes."""
    return RefusedError(
        "A single entry is larger than the client's maxMessageBytes; raise that limit to read it, or go on behind it "
        "with what this error's data says.",
        kind="messageTooLarge",
        limit=most,
        **facts,
    )


__all__ = ["ENVELOPE", "entry_too_large", "fitting"]
