"""What an operation sees of the request that it serves.

Invariant: no operation knows how a request came or how its answer goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from lockstitch import codec


class Connection(Protocol):
    """The client's end, as operations see it."""

    @property
    def max_message_bytes(self) -> int | None:
        """The largest message that the client can take, or None."""
        ...

    def wants(self, method: str) -> bool:
        """Whether the client takes notifications of that name."""
        ...

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification whose params are encoded JSON; waits for room. What was opted out of is skipped."""
        ...


class Call:
    """One request being served."""

    __slots__ = ("after_reply", "connection", "params", "progress_token", "request_id", "uncancellable")

    def __init__(
        self,
        connection: Connection,
        request_id: str | int | None,
        params: dict[str, Any],
        progress_token: str | int | None = None,
    ) -> None:
        self.connection = connection
        self.request_id = request_id
        """None for a notification."""
        self.params = params
        """The params as sent: `codec.decode`d, before validation."""
        self.progress_token = progress_token
        self.after_reply: list[Callable[[], None]] = []
        """Called in order directly after the reply, a result or an error, was put in the output queue."""
        self.uncancellable = False

    @property
    def params_bytes(self) -> bytes:
        """The params as settled JSON: what digests are made of."""
        return codec.encode(self.params)

    def commit_point(self) -> None:
        """Ignore a cancel from here on: the write has its place in a group."""
        self.uncancellable = True

    async def progress(
        self,
        kind: str,
        *,
        message: str | None = None,
        percentage: float | None = None,
        current: int | None = None,
        total: int | None = None,
    ) -> None:
        """Send `$/progress` (`begin`, `report` or `end`), if the request carries a token."""
        if self.progress_token is None:
            return
        value: dict[str, Any] = {"kind": kind}
        for name, given in (("message", message), ("percentage", percentage), ("current", current), ("total", total)):
            if given is not None:
                value[name] = given
        params = {"token": self.progress_token, "value": value}
        await self.connection.notify("$/progress", codec.encode(params))
