"""Requests whose params only their model can read, or explain: validated by Pydantic, run by jsonrpcserver.

Invariant: the only importer of jsonrpcserver, and of it only the inner dispatch of one request: its front door
rejects whole batches, leaks exception texts and hides cancellation.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections import OrderedDict
from collections.abc import Mapping
from importlib.util import find_spec, module_from_spec
from typing import Any, cast

from oslash.either import Left

from lockstitch.operations.call import Call
from lockstitch.rpc.application import Method, Operation
from lockstitch.rpc.dispatch import Dispatcher, Refusal, refusal_of

_package = find_spec("jsonrpcserver")
if _package is not None and "jsonrpcserver" not in sys.modules:
    # Its __init__ imports the front door, and with it jsonschema and http.server: a quarter of the time to the
    # first reply that needs it. The package without it is enough to import its inner modules from.
    sys.modules["jsonrpcserver"] = module_from_spec(_package)

from jsonrpcserver.async_dispatcher import dispatch_request  # noqa: E402
from jsonrpcserver.request import Request as LibraryRequest  # noqa: E402
from jsonrpcserver.result import Error, Result, Success  # noqa: E402


class _CallAlone(inspect.Signature):
    """The signature of every method that the library sees; it binds without a check, as we pass the call alone."""

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        return _BOUND


_BOUND = inspect.BoundArguments(inspect.Signature(), OrderedDict())


class _Served:
    """An operation in the form that the library calls: with the call alone, answering with its result types."""

    # found by inspect.signature at once; working it out and binding to it costs more than the request
    __signature__ = _CallAlone()
    __slots__ = ("_dispatcher", "_method", "_operation")

    def __init__(self, dispatcher: Dispatcher, operation: Operation, method: Method) -> None:
        self._dispatcher = dispatcher
        self._operation = operation
        self._method = method

    async def __call__(self, call: Call, /) -> Result:
        try:
            params = self._method.params.model_validate(call.params)
            return Success(await self._operation(self._dispatcher.runtime, call, params))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a SystemExit in an operation must not end the process either
            refusal = refusal_of(error, self._operation.__name__)
            return Error(refusal.code, refusal.message, refusal.data)


class GeneralWay:
    """The operations as the library calls them."""

    def __init__(self, dispatcher: Dispatcher, operations: Mapping[str, Operation]) -> None:
        self._methods = {
            name: _Served(dispatcher, operation, dispatcher.registry[name]) for name, operation in operations.items()
        }

    async def run(self, method: str, call: Call) -> Any:
        """Validate the params and run the operation: its result, or a Refusal."""
        _, outcome = await dispatch_request(cast(Any, self._methods), call, LibraryRequest(method, [], call.request_id))
        found = cast(Any, outcome)
        if isinstance(outcome, Left):
            return Refusal(*found._error)
        return found._value.result
