"""Times: RFC 3339 UTC strings with microseconds on the wire, integer microseconds in rows; one clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def text_of(microseconds: int) -> str:
    """RFC 3339 UTC with microseconds."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def microseconds_of(text: str) -> int:
    """Microseconds since the epoch of an RFC 3339 time; a time without a zone is UTC. Raises ValueError."""
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
