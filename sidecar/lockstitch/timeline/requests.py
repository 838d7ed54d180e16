"""The requests that this boot committed itself: the same id and params again is then another request, no retry.

Invariant: bounded in time: what is older than a retry can be is forgotten.
"""

from __future__ import annotations

import time
from collections import OrderedDict

RESEND_SECONDS = 60


class OwnRequests:
    """Digests of requests, each for as long as a resent one would be recognised."""

    def __init__(self) -> None:
        self._committed: OrderedDict[str, float] = OrderedDict()

    def __contains__(self, req: str) -> bool:
        return req in self._committed

    def add(self, req: str | None) -> None:
        if req is None:
            return
        now = time.monotonic()
        self._committed[req] = now
        self._committed.move_to_end(req)
        while (oldest := next(iter(self._committed))) and self._committed[oldest] < now - 2 * RESEND_SECONDS:
            del self._committed[oldest]
