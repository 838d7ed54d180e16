"""Runs one operation and turns what it returns or raises into an outcome: the only place where errors become replies.

Invariant: the only importer of jsonrpcserver, and of it only the inner dispatch of one request: its front door
rejects whole batches, leaks exception texts and hides cancellation.
Invariant: no exception leaves `run` but the cancellation of its own task; no text of an exception that is not a
LockstitchError reaches a client.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec, module_from_spec
from typing import Any, cast

from oslash.either import Left
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lockstitch.errors import LockstitchError, named
from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.rpc.application import Application, Method, Operation
from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.ids import new_id

_package = find_spec("jsonrpcserver")
if _package is not None and "jsonrpcserver" not in sys.modules:
    # Its __init__ imports the front door, and with it jsonschema and http.server: a quarter of the time to the
    # first reply that needs data. The package without it is enough to import its inner modules from.
    sys.modules["jsonrpcserver"] = module_from_spec(_package)

from jsonrpcserver.async_dispatcher import dispatch_request  # noqa: E402
from jsonrpcserver.request import Request as LibraryRequest  # noqa: E402
from jsonrpcserver.result import Error, Result, Success  # noqa: E402

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error reply. `data` holds its kind."""

    code: int
    message: str
    data: dict[str, Any]


def refuse(kind: str, message: str, **facts: Any) -> Refusal:
    """An error reply of that kind."""
    return Refusal(ERROR_CODES[kind], message, {"kind": kind, **facts})


def refusal_of(error: BaseException, doing: str) -> Refusal:
    """What the client is told of an exception; one that is a bug is logged under the id that the reply names."""
    if isinstance(error, LockstitchError) and error.kind in ERROR_CODES:
        return Refusal(ERROR_CODES[error.kind], error.message, {**error.facts, "kind": error.kind})
    if isinstance(error, ValidationError):
        return _invalid(error)
    error_id = new_id("err")
    _log.error("%s: %s", error_id, doing, exc_info=(type(error), error, error.__traceback__))
    return refuse(
        "internalError", f"An internal error; the log says more under {error_id}. Please report it.", errorId=error_id
    )


def _invalid(error: ValidationError) -> Refusal:
    errors = [
        {"path": ".".join(str(part) for part in found["loc"]), "message": _said(found)}
        for found in error.errors(include_url=False, include_input=False)
    ]
    first = errors[0]
    return refuse("invalidParams", f"{named(first['path'])}: {first['message']}.", errors=errors)


_SAID = {
    "missing": "is required",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must hold at least {min_length}",
    "union_tag_not_found": "must have the field {discriminator}",
    "union_tag_invalid": "must have a type among {expected_tags}",
}


def _said(found: ErrorDetails) -> str:
    """What a field must be, in words for a person."""
    kind, context = found["type"], found.get("ctx", {})
    if kind == "string_pattern_mismatch":
        others, most = (". _ : -", 128) if ":" in context["pattern"] else ("_ -", 100)
        return f"must be a letter or digit, then letters, digits or {others}, at most {most} characters in all"
    template = _SAID.get(kind)
    return found["msg"][:1].lower() + found["msg"][1:] if template is None else template.format_map(context)


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
            params = self._method.params.model_validate(call.params) if call.plain is None else call.plain
            return Success(await self._operation(self._dispatcher.runtime, call, params))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a SystemExit in an operation must not end the process either
            refusal = refusal_of(error, self._operation.__name__)
            return Error(refusal.code, refusal.message, refusal.data)


class Dispatcher:
    """The operations of an application, ready to be called by method name."""

    def __init__(self, application: Application) -> None:
        self.runtime: Any = None
        self.registry: Mapping[str, Method] = application.methods
        self._at_once = application.at_once
        self._methods = {
            name: _Served(self, operation, application.methods[name])
            for name, operation in application.operations.items()
        }

    def run_at_once(self, method: str, call: Call) -> Any:
        """Run an operation that can be, at once: its result, a Refusal, or NOT_NOW.

        Without the library, whose envelope of a result costs as much as the smallest operation.
        """
        operation = self._at_once.get(method)
        if operation is None:
            return NOT_NOW
        try:
            params = self.registry[method].params.model_validate(call.params) if call.plain is None else call.plain
            return operation(self.runtime, call, params)
        except BaseException as error:  # as in _Served
            return refusal_of(error, method)

    def knows(self, method: str) -> bool:
        """Whether there is an operation of that name."""
        return method in self._methods

    def validate(self, method: str, params: dict[str, Any]) -> BaseModel | Refusal:
        """The params of a method that is not an operation, checked by the registry's model."""
        try:
            return self.registry[method].params.model_validate(params)
        except ValidationError as error:
            return _invalid(error)

    async def run(self, method: str, call: Call) -> Any:
        """Validate the params and run the operation: its result, or a Refusal."""
        _, outcome = await dispatch_request(cast(Any, self._methods), call, LibraryRequest(method, [], call.request_id))
        found = cast(Any, outcome)
        if isinstance(outcome, Left):
            return Refusal(*found._error)
        return found._value.result


def bad_params(message: str) -> Refusal:
    """Params that are not even an object."""
    return refuse("invalidParams", f"{named('')}: {message}.", errors=[{"path": "", "message": message}])
