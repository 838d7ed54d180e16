"""Times: RFC 3339 UTC strings with microseconds on the wire, integer microseconds in rows; one clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def text_of(microseconds: int) -> str:
    """RFC 3339 UTC with microseconds."""
    second, rest = divmod(microseconds, 1_000_000)
    return f"{_text_of_second(second)}.{rest:06d}Z"


@lru_cache(maxsize=1024)  # one append is one moment, whatever it holds
def microseconds_of(text: str) -> int:
    """Microseconds since the epoch of an RFC 3339 time; a time without a zone is UTC. Raises ValueError."""
    if len(text) == 27 and text[19] == "." and text[26] == "Z" and text[20:26].isdigit():
        return _second_of_text(text[:19]) * 1_000_000 + int(text[20:26])
    return _parsed(text)


# Many events share a second, and formatting or parsing one costs as much as its sum.
@lru_cache(maxsize=256)
def _text_of_second(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).isoformat()[:19]


@lru_cache(maxsize=256)
def _second_of_text(text: str) -> int:
    return _parsed(text) // 1_000_000


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
