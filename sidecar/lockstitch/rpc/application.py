"""What the wire serves: a registry of methods, an operation for each, and the runtime that they share.

Invariant: `rpc/` knows operations only through this; tests serve others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from lockstitch.operations.call import Call, PlainForm
from lockstitch.settings import Settings

if TYPE_CHECKING:
    from pydantic import BaseModel


class Runtime(Protocol):
    """What operations share, as far as the wire has to know it."""

    async def start(self) -> None:
        """Make ready to serve. Raises LockstitchError; may then be tried again with a new runtime."""
        ...

    async def drain(self) -> bool:
        """Wait until everything accepted is stored; False if something could not be."""
        ...

    async def close(self) -> None:
        """Let go of everything. Called once, also after a failed start."""
        ...


class Method(Protocol):
    """An entry of the method registry, as far as dispatch reads it."""

    @property
    def params(self) -> type[BaseModel]:
        """The model of the params."""
        ...


ENDED_EARLY = frozenset(
    (
        "thread/replay",
        "thread/export",
        "evidence/export",
        "agentSession/replayCase/export",
        "agentSession/replayCase/verify",
        "storage/gc",
        "storage/verify",
        "storage/rebuild",
    )
)
"""Methods that may take long and that nobody waits for when the process ends."""

Operation = Callable[[Any, Call, Any], Awaitable[Any]]
"""`async (runtime, call, params) -> result`: the result is what `codec.encode` takes, or Pieces of JSON."""

OperationAtOnce = Callable[[Any, Call, Any], Any]
"""`(runtime, call, params) -> result`, or NOT_NOW: then nothing was done, and the operation itself is called."""


def _read_nothing(method: str, params: dict[str, Any]) -> Any:
    """Leave all params to their models."""


class Application(msgspec.Struct, frozen=True):
    """Everything that `serve` needs beyond the settings."""

    methods: Mapping[str, Method]
    operations: Mapping[str, Operation]
    open_runtime: Callable[[Settings, str], Runtime]
    """Makes the runtime of (settings, boot id); does nothing slow."""
    ended_early: frozenset[str] = frozenset()
    """Methods whose requests are cancelled when the process ends: they change nothing and may take long."""
    at_once: Mapping[str, OperationAtOnce] = {}
    """Of methods whose requests can mostly be served without waiting for anybody."""
    plain: Mapping[str, Callable[[], PlainForm]] = {}
    """The plain forms of those methods that have one; each is asked for with the first request of the method."""
    read_plain: Callable[[str, dict[str, Any]], Any] = _read_nothing
    """Reads decoded params of a method without its model; None where only that can say what they are."""
