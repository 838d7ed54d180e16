"""Ids that are named by their beginning."""

from __future__ import annotations

from lockstitch.cli.outcome import BadArgumentsError


def chosen(given: str, ids: list[str], noun: str) -> str | None:
    """The one id that is, or begins with, what was given, whatever the case; None if there is none."""
    wanted = given.lower()
    found: list[str] = []
    for one in ids:
        if one.lower() == wanted:
            return one
        if wanted and one.lower().startswith(wanted):
            found.append(one)
    if len(found) > 1:
        examples = ", ".join(sorted(found)[:3])
        raise BadArgumentsError(f"{len(found)} {noun}s begin with {given!r} ({examples} …): give more of the id")
    return found[0] if found else None
