"""Which threads a client listens to, and how far each has been heard: where to go on after a restart.

Invariant: nothing is told twice and nothing is left out, whatever part of an event's notifications was told before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

_SUBSCRIBES: Final = re.compile(
    r"(thread|agentSession/thread)/resume|(thread|agentSession)/start|thread/fork|session\.(create|resume|fork)"
)


@dataclass(slots=True)
class _Place:
    last: int
    seen: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """What came of the last sequence: one event may be told in two notifications."""


class Subscriptions:
    """Learns from answers and notifications; `resumes` says what to ask of the next process."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def answered(self, method: str, params: dict[str, Any], result: Any) -> None:
        """Learn from an answered request."""
        if method in ("thread/unsubscribe", "thread/delete"):
            self._places.pop(params.get("threadId", ""), None)
        elif _SUBSCRIBES.fullmatch(method):
            thread: dict[str, Any] = result.get("thread") or {}
            session: dict[str, Any] = result.get("session") or {}
            name = thread.get("id") or session.get("threadId") or params.get("threadId") or params.get("sessionId")
            if name and name not in self._places and not thread.get("ephemeral"):  # those end with the process
                # a new thread's own event is still to be told; what was there before a resume or fork is no news
                known = 0 if method.endswith(("start", "create")) else thread.get("lastSequence", 0)
                after = params.get("afterSequence")
                self._places[name] = _Place(known if after is None else after)

    def heard(self, method: str, params: dict[str, Any]) -> bool:
        """Whether this notification is news."""
        event: dict[str, Any] = params.get("event") or {}
        inner: dict[str, Any] = params.get("thread") or {}
        thread = params.get("threadId") or event.get("threadId") or inner.get("id") or ""
        place = self._places.get(thread)
        if method == "thread/deleted":
            self._places.pop(thread, None)
        sequence = params.get("sequence", event.get("sequence"))
        if place is None or not isinstance(sequence, int) or method == "thread/replay/event":
            return True
        about: dict[str, Any] = params.get("item") or params.get("turn") or {}
        what = (method, about.get("id") or event.get("eventId") or "")
        if sequence < place.last or (sequence == place.last and what in place.seen):
            return False
        if sequence > place.last:
            place.last, place.seen = sequence, set()
        place.seen.add(what)
        return True

    def resumes(self) -> list[dict[str, Any]]:
        """The params of thread/resume for each: from before the last sequence, in case only a part of it was told."""
        return [
            {"threadId": name, "excludeTurns": True, "afterSequence": max(0, place.last - (1 if place.seen else 0))}
            for name, place in self._places.items()
        ]

    def drop(self, thread: str) -> None:
        """It cannot be resumed."""
        self._places.pop(thread, None)
