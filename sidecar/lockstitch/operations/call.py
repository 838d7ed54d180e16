"""What an operation sees of the request that it serves.

Invariant: no operation knows how a request came or how its answer goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from lockstitch import codec

T = TypeVar("T")


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


class Aside(Protocol):
    """Runs something that waits for a disk, while everybody else goes on."""

    def __call__(self, work: Callable[[], T], /) -> T:
        """Call `work` at once, in this thread, which meanwhile touches nothing that belongs to the event loop."""
        ...

    def afterwards(self, finish: Callable[[], None], rest: Callable[[], None]) -> None:
        """Call `finish` in this thread once the reply is written, and `rest` when no such request follows soon."""
        ...


NOT_NOW: Any = object()
"""What an operation that is tried at once returns if it would have to wait: it was not begun."""


class PlainForm(msgspec.Struct, frozen=True):
    """How the params of a method are decoded in one go, where they have the form that most requests have."""

    sent: type[Any]
    """A msgspec struct of the params as they are sent; it takes nothing that the method's model would not take."""
    take: Callable[[Any], Any]
    """Makes of it what the operation takes in place of the model; None where only the model gets it right."""


class Call:
    """One request being served."""

    __slots__ = (
        "_params",
        "after_reply",
        "aside",
        "connection",
        "plain",
        "progress_token",
        "request_id",
        "uncancellable",
    )

    def __init__(
        self,
        connection: Connection,
        request_id: str | int | None,
        params: dict[str, Any] | Callable[[], dict[str, Any]],
        progress_token: str | int | None = None,
        plain: Any = None,
    ) -> None:
        """`params` as sent and decoded, or what decodes them for who asks."""
        self.connection = connection
        self.request_id = request_id
        """None for a notification."""
        self._params = params
        self.plain = plain
        """The params in their plain form, checked already, if the method has one and they have it."""
        self.progress_token = progress_token
        self.after_reply: list[Callable[[], None]] = []
        """Called in order directly after the reply, a result or an error, was put in the output queue."""
        self.uncancellable = False
        self.aside: Aside | None = None
        """Of an operation that is tried at once: how it may wait for the disk, if it may."""

    @property
    def params(self) -> dict[str, Any]:
        """The params as sent: `codec.decode`d, before validation."""
        if callable(self._params):
            self._params = self._params()
        return self._params

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
