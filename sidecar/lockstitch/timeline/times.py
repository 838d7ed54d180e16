"""Times: RFC 3339 UTC strings with microseconds on the wire, integer microseconds in rows; one clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


_second_text: tuple[int, str] = (0, "1970-01-01T00:00:00")
_text_second: tuple[str, int] = ("1970-01-01T00:00:00", 0)


def text_of(microseconds: int) -> str:
    """RFC 3339 UTC with microseconds."""
    global _second_text  # many events share a second, and formatting one costs as much as its sum
    second, rest = divmod(microseconds, 1_000_000)
    known, text = _second_text
    if known != second:
        text = (_EPOCH + timedelta(seconds=second)).isoformat()[:19]
        _second_text = (second, text)
    return f"{text}.{rest:06d}Z"


def microseconds_of(text: str) -> int:
    """Microseconds since the epoch of an RFC 3339 time; a time without a zone is UTC. Raises ValueError."""
    global _text_second
    if len(text) == 27 and text[19] == "." and text[26] == "Z" and text[20:26].isdigit():
        known, second = _text_second
        if known != text[:19]:
            second = _parsed(text[:19]) // 1_000_000
            _text_second = (text[:19], second)
        return second * 1_000_000 + int(text[20:26])
    return _parsed(text)


def _parsed(text: str) -> int:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


class Clock:
    """The wall clock, made to go forward only: no two answers are equal and none is before another.

    Clocks lie: sequence is the only order, but lists sort by time and want ties settled.
    """

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        """Microseconds since the epoch."""
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return self._last
