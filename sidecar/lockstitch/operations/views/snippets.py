"""The part of a text that shows best why it was found.

Invariant: pure. Every character of a snippet but the ellipses at its ends stands for one of the text; what would
break the line or steer a terminal is a space.
"""

from __future__ import annotations

import re

Range = tuple[int, int]

LENGTH = 240
"""Characters of a snippet at most, the ellipses aside."""

_BEFORE = 60
_SLACK = 24
_MOST_TRIED = 200
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def snippet_of(text: str, found: list[list[Range]]) -> tuple[str, list[list[int]]]:
    """The snippet and its ranges [start, end) in UTF-16 units. `found`: where each phrase stands in the text."""
    start = _best_start(found)
    end = min(len(text), start + LENGTH)
    start, end = _at_words(text, start, end, found)
    inside = _merged([place for ranges in found for place in ranges if start <= place[0] < place[1] <= end])
    cut_before, cut_behind = start > 0, end < len(text)
    shown = _UNSHOWN.sub(" ", text[start:end])
    snippet = ("…" if cut_before else "") + shown + ("…" if cut_behind else "")
    units = _units(snippet)
    shift = int(cut_before) - start
    return snippet, [[units[a + shift], units[b + shift]] for a, b in inside]


def _best_start(found: list[list[Range]]) -> int:
    """Where to begin so that most of the phrases are seen."""
    places = sorted((place[0], number) for number, ranges in enumerate(found) for place in ranges)
    best, best_seen = 0, 0
    for first, (start, _) in enumerate(places[:_MOST_TRIED]):
        seen: set[int] = set()
        for at, number in places[first : first + _MOST_TRIED]:
            if at > start + LENGTH - 2 * _BEFORE:
                break
            seen.add(number)
        if len(seen) > best_seen:
            best, best_seen = max(0, start - _BEFORE), len(seen)
        if best_seen == len(found):
            break
    return best


def _at_words(text: str, start: int, end: int, found: list[list[Range]]) -> Range:
    """Move the ends inwards to spaces, if there are any near and nothing that was found is lost."""
    if start > 0:
        space = re.compile(r"\s").search(text, start, start + _SLACK)
        if space is not None:
            start = space.end()
    if end < len(text):
        space = max(text.rfind(sign, end - _SLACK, end) for sign in " \n\t")
        if space > 0 and not any(a < end and space < b for ranges in found for a, b in ranges):
            end = space
    return start, end


def _merged(places: list[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _units(text: str) -> list[int]:
    """For each character, and for the end, how many UTF-16 units stand before it."""
    units = [0]
    for character in text:
        units.append(units[-1] + (2 if character > "\uffff" else 1))
    return units
