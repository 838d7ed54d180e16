"""A request in hand, and a batch of them.

Invariant: a request is answered once: by its outcome, or not at all if it is a notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lockstitch.operations.call import Call, Connection


class Batch:
    """The replies of a batch, until the last is there."""

    __slots__ = ("after", "cost", "left", "replies")

    def __init__(self, left: int, cost: int) -> None:
        self.left = left
        """Members that are not done."""
        self.cost = cost
        self.replies: list[tuple[bytes, bytes]] = []
        """(id as JSON, whole reply)"""
        self.after: list[Callable[[], None]] = []


class Request(Call):
    """One request or notification, from its arrival to its reply."""

    __slots__ = ("batch", "cancelled", "cost", "done", "key", "method", "order", "started", "task")

    def __init__(
        self,
        connection: Connection,
        request_id: str | int | None,
        key: bytes | None,
        method: str,
        params: dict[str, Any] | Callable[[], dict[str, Any]],
        plain: Any = None,
    ) -> None:
        token = None if callable(params) else params.get("progressToken")
        super().__init__(connection, request_id, params, token if type(token) in (str, int) else None, plain)
        self.key = key
        """The id as JSON; None for a notification."""
        self.method = method
        self.batch: Batch | None = None
        self.cost = 0
        self.task: asyncio.Task[None] | None = None
        self.order = 0
        """Which one it was to start."""
        self.started = False
        self.cancelled = False
        self.done = False
