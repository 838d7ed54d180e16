"""The operations in this very process, called by method name as a client calls them.

Invariant: params are checked by the registry's models, so that a command can ask for nothing that a client cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lockstitch.cli.ids import chosen
from lockstitch.cli.outcome import BadArgumentsError
from lockstitch.codec import decode, encoded_pieces
from lockstitch.data_root import DataRoot
from lockstitch.errors import InvalidError, LockstitchError, RefusedError, StorageError
from lockstitch.operations.call import Call
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.table import OPERATIONS
from lockstitch.settings import Arguments, Settings, settings_of_process
from lockstitch_protocol.ids import new_id
from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.retired import RETIRED_METHODS

DRAIN_FAILED = "Not everything that was accepted could be stored."


Tell = Callable[[str, bytes], None]
"""What a command hears while it waits: a notification's method and its params as JSON."""


class _Nobody:
    """The connection of a command: takes messages of any size and hears what it asked to be told."""

    def __init__(self, told: Tell | None = None) -> None:
        self._told = told

    @property
    def max_message_bytes(self) -> int | None:
        return None

    def wants(self, method: str) -> bool:
        """Nothing: nobody watches a thread from here."""
        return False

    async def notify(self, method: str, params: bytes) -> None:
        if self._told is not None:
            self._told(method, params)


class Local:
    """A running runtime and the calls to it."""

    def __init__(self, settings: Settings, runtime: Runtime) -> None:
        self.settings = settings
        self._runtime = runtime
        self._connection = _Nobody()

    async def call(self, method: str, params: dict[str, Any], told: Tell | None = None) -> bytes:
        """The result of a method as encoded JSON; `told` hears what comes before it. Raises LockstitchError."""
        operation = OPERATIONS.get(method)
        if operation is None:
            raise _no_operation(method)
        try:
            checked = METHODS[method].params.model_validate(params)
        except ValidationError as error:
            raise _invalid(error) from None
        call = Call(self._connection if told is None else _Nobody(told), None, params)
        try:
            return b"".join(encoded_pieces(await operation(self._runtime, call, checked)))
        finally:
            for follow in call.after_reply:
                follow()

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a method, decoded; params that are None are left out. Raises LockstitchError."""
        return decode(await self.call(method, {name: value for name, value in params.items() if value is not None}))

    @property
    def root_id(self) -> str:
        """Names the data root in the workspaces that it wrote to."""
        return self._runtime.root_id

    # -- threads by a part of their id ------------------------------------------------------------
    def thread_ids(self) -> list[str]:
        """The ids of all threads, by the names of their files."""
        return [place.thread_id for place in DataRoot(Path(self.settings.data_root)).rollouts()]

    def thread_id(self, given: str) -> str:
        """The id of the one thread whose id begins like this. Raises BadArgumentsError if there are several."""
        return chosen(given, self.thread_ids(), "thread") or given

    async def known_thread_id(self, given: str) -> str:
        """The same, of a thread that is there. Raises NotFoundError too."""
        return (await self.ask("thread/read", threadId=self.thread_id(given)))["thread"]["id"]


@asynccontextmanager
async def opened(data_dir: str | None) -> AsyncGenerator[Local]:
    """The operations on the data root that the rule gives. Raises UsageError, LockstitchError."""
    arguments = Arguments()
    arguments.data_dir = data_dir
    settings = settings_of_process(arguments)
    runtime = Runtime(settings, new_id("boot"))
    try:
        try:
            await runtime.start()
        except StorageError as error:
            if error.kind == "storageBusy":
                raise
            raise BadArgumentsError(f"the data root cannot be used: {error.message}") from error
        yield Local(settings, runtime)
        if not await runtime.drain():
            raise StorageError(DRAIN_FAILED, path=settings.data_root, errno=0)
    finally:
        await asyncio.shield(runtime.close())


def _no_operation(method: str) -> LockstitchError:
    if method in RETIRED_METHODS:
        replacement = RETIRED_METHODS[method]
        return RefusedError(f"{method} is retired; use {replacement}.", kind="methodRetired", replacement=replacement)
    if method in METHODS:
        return RefusedError(
            f"{method} belongs to a connection: only a client of `lockstitch serve` can send it.", kind="methodNotFound"
        )
    return RefusedError("There is no such method; `lockstitch call --list` names them all.", kind="methodNotFound")


def _invalid(error: ValidationError) -> InvalidError:
    errors = [
        {"path": ".".join(str(part) for part in found["loc"]), "message": found["msg"]}
        for found in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = errors[0]
    return InvalidError(f"{first['path'] or 'params'}: {first['message']}", errors=errors)
