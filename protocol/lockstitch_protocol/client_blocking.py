"""The client for Python hosts without an event loop: the same promises, one call after the other.

    with open_sidecar("my-script") as sidecar:
        thread = sidecar.request("thread/start", {})["thread"]

Invariant: safe to use from several threads; a listener is called in the client's own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from lockstitch_protocol import client
from lockstitch_protocol.client_errors import SidecarError, SidecarGoneError

__all__ = ["BlockingSidecar", "SidecarError", "SidecarGoneError", "open_sidecar"]


@contextmanager
def open_sidecar(client_name: str, **options: Any) -> Generator[BlockingSidecar, None, None]:
    """Start the sidecar, shake hands, and end it cleanly with the block. `options` are those of `client.Options`."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(client.open_sidecar(client_name, **options)) as sidecar,
    ):
        yield BlockingSidecar(sidecar, portal)


class BlockingSidecar:
    """`client.Sidecar`, with calls that wait."""

    def __init__(self, sidecar: client.Sidecar, portal: BlockingPortal) -> None:
        self._sidecar = sidecar
        self._portal = portal

    @property
    def hello(self) -> dict[str, Any]:
        """What `initialize` answered, of the process that runs now."""
        return self._sidecar.hello

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        return self._sidecar.pid

    @property
    def state(self) -> str:
        """starting, ready, restarting, closed or failed."""
        return self._sidecar.state

    @property
    def stderr_tail(self) -> str:
        """The last 64 KiB of stderr."""
        return self._sidecar.stderr_tail

    def request(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Ask and wait, at most `timeout` seconds. Raises SidecarError, SidecarGoneError, TimeoutError."""

        async def ask() -> Any:
            with anyio.fail_after(timeout):
                return await self._sidecar.request(method, params)

        return self._portal.call(ask)

    def append(self, thread: str, events: Sequence[Mapping[str, Any]], turn: str | None = None) -> dict[str, Any]:
        """Append events to a thread; see `client.Sidecar.append`."""
        return self._portal.call(self._sidecar.append, thread, events, turn)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Tell."""
        self._portal.call(self._sidecar.notify, method, params)

    def listen(self, listener: client.Listener) -> Callable[[], None]:
        """Call `listener(method, params)` for every notification, in the client's thread; the result stops it."""
        return self._portal.call(self._sidecar.listen, listener)

    def close(self) -> int | None:
        """End it cleanly; its exit status."""
        return self._portal.call(self._sidecar.close)
