"""Records inside bytes that are not one sound line: glued, behind garbage, or behind a partial record.

A record begins with `{"sequence":…,"at":"` and ends with `,"sum":"…"}`. Both can also stand inside a payload
(an agent may have read a rollout), so that a pair counts only if its sum holds, or if it is exactly a line as
we write it. What no record can hold is `"}{"sequence":`: there two records are glued.

Invariant: the work is at most a small multiple of the bytes given, whatever they hold.
"""

from __future__ import annotations

import re
from binascii import hexlify
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from lockstitch.codec import ParseError, TooDeepError, decode
from lockstitch.rollout.chunks import RECORD_START
from lockstitch.rollout.line import Line, is_canonical, parse_line

_RECORD_END = re.compile(rb',"sum":"[0-9a-f]{16}"\}')
_MOST_ENDS = 8
_WORK_PER_BYTE = 16
_WORK_ANYWAY = 1 << 20


class Found(msgspec.Struct, frozen=True):
    """A record at [start, end) of the bytes. `follows`: the previous sum with which its own holds, if one does."""

    start: int
    end: int
    line: Line
    follows: bytes | None


class Apart:
    """Takes bytes apart from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._work = _WORK_PER_BYTE * len(data) + _WORK_ANYWAY

    def next(self, position: int, sums: Sequence[bytes]) -> Found | None:
        """The first record at or after `position`; its sum may follow any of `sums`, the first that fits."""
        for start in RECORD_START.finditer(self._data, position):
            if self._work < 0:
                return None
            found = self._record_at(start.start(), sums)
            if found is not None:
                return found
        return None

    def _record_at(self, start: int, sums: Sequence[bytes]) -> Found | None:
        data = self._data
        view = memoryview(data)
        states = [(value, sha256(value)) for value in dict.fromkeys(sums)]
        summed = start
        ends: list[int] = []
        for match in _RECORD_END.finditer(data, start):
            at, end = match.span()
            for value, state in states:
                state.update(view[summed:at])
                if hexlify(state.digest()[:8]) == data[at + 8 : at + 24]:
                    line = _line(data[start:end])
                    if line is not None:
                        return Found(start, end, line, value)
            self._work -= (at - summed) * len(states)
            summed = at
            ends.append(end)
            if self._work < 0 or RECORD_START.match(data, end):
                break
        for end in ends[-1:] + ends[: min(_MOST_ENDS, len(ends) - 1)]:
            self._work -= end - start
            line = _line(data[start:end])
            if line is not None and _is_as_written(data[start:end], line):
                return Found(start, end, line, None)
        return None


def reason_of(data: bytes, unfinished: bool) -> str:
    """Name what is wrong with bytes in which no record was found."""
    if not data.strip(b" \t\r"):
        return "blank"
    if b"\0" in data:
        return "nul"
    if unfinished:
        return "torn"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "notUtf8"
    return "notJson" if _line(data) is None else "rotten"


def begins_a_record(data: bytes) -> bool:
    """Whether the bytes look like the front of a record."""
    return data.startswith(b'{"sequence":')


def _line(data: bytes) -> Line | None:
    try:
        return parse_line(data)
    except ParseError:
        return None


def _is_as_written(data: bytes, line: Line) -> bool:
    if not is_canonical(data, line):
        return False
    try:
        decode(bytes(line.payload))
    except (ParseError, TooDeepError):
        return False
    return True
