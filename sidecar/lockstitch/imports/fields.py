"""Typed looks into decoded JSON whose shape nobody promises: a wrong shape reads as absent.

Invariant: no function here raises, whatever the value is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if type(value) is dict else {}  # pyright: ignore[reportUnknownVariableType]


def sequence(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return value if type(value) is list else []  # pyright: ignore[reportUnknownVariableType]


def string(value: Any) -> str | None:
    """The string if it is one and not empty."""
    return value if isinstance(value, str) and value else None


def whole(value: Any) -> int | None:
    """The integer, or the whole part of a number; never a bool."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return int(value)
    except (OverflowError, ValueError):
        return None


_MILLISECONDS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def timestamp(value: Any) -> str | None:
    """RFC 3339 in UTC with microseconds, from such text in any zone or from unix milliseconds or seconds."""
    if isinstance(value, str):
        return _timestamp_of(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return _told(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC))
    except (ValueError, OverflowError, OSError):
        return None


@lru_cache(maxsize=64)  # lines of one moment stand together
def _timestamp_of(text: str) -> str | None:
    if _MILLISECONDS.fullmatch(text):
        text = text[:-1] + "000Z"
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return None
        return text
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return _told(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def _told(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f").zfill(26) + "Z"


def milliseconds(value: Any) -> int | None:
    """A duration `{secs, nanos}` in milliseconds."""
    duration = mapping(value)
    seconds, nanos = whole(duration.get("secs")), whole(duration.get("nanos"))
    if seconds is None and nanos is None:
        return None
    return (seconds or 0) * 1000 + (nanos or 0) // 1_000_000
