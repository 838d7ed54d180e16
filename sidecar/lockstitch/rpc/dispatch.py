"""Runs one operation and turns what it returns or raises into an outcome: the only place where errors become replies.

A request whose params have their plain form is run as it is. Any other goes the general way (`general.py`), which
brings in Pydantic and jsonrpcserver when the first one comes: half of a start.

Invariant: no exception leaves `run` but the cancellation of its own task; no text of an exception that is not a
LockstitchError reaches a client.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from lockstitch.errors import LockstitchError, named
from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.rpc.application import Application, Method, Operation
from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

    from lockstitch.rpc.general import GeneralWay

_log = logging.getLogger(__name__)


class Refusal(msgspec.Struct, frozen=True):
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
    models: Any = sys.modules.get("pydantic_core")  # what has not been imported has raised nothing
    if models is not None and isinstance(error, models.ValidationError):
        return _invalid(cast("ValidationError", error))
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


class Dispatcher:
    """The operations of an application, ready to be called by method name."""

    def __init__(self, application: Application) -> None:
        self.runtime: Any = None
        self.registry: Mapping[str, Method] = application.methods
        self._at_once = application.at_once
        self._operations: Mapping[str, Operation] = application.operations
        self._read_plain = application.read_plain
        self._general: GeneralWay | None = None

    def run_at_once(self, method: str, call: Call) -> Any:
        """Run an operation that can be, at once: its result, a Refusal, or NOT_NOW."""
        operation = self._at_once.get(method)
        if operation is None:
            return NOT_NOW
        try:
            params = self._read_plain(method, call.params) if call.plain is None else call.plain
            return NOT_NOW if params is None else operation(self.runtime, call, params)
        except BaseException as error:  # as in `run`
            return refusal_of(error, method)

    def knows(self, method: str) -> bool:
        """Whether there is an operation of that name."""
        return method in self._operations

    def validate(self, method: str, params: dict[str, Any]) -> BaseModel | Refusal:
        """The params of a method that is not an operation, checked by the registry's model."""
        from pydantic import ValidationError

        try:
            return self.registry[method].params.model_validate(params)
        except ValidationError as error:
            return _invalid(error)

    async def run(self, method: str, call: Call) -> Any:
        """Validate the params and run the operation: its result, or a Refusal."""
        params = self._read_plain(method, call.params) if call.plain is None else call.plain
        if params is None:
            return await self._general_way().run(method, call)
        operation = self._operations[method]
        try:
            return await operation(self.runtime, call, params)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a SystemExit in an operation must not end the process either
            return refusal_of(error, operation.__name__)

    def _general_way(self) -> GeneralWay:
        if self._general is None:
            from lockstitch.rpc.general import GeneralWay

            self._general = GeneralWay(self, self._operations)
        return self._general


def bad_params(message: str) -> Refusal:
    """Params that are not even an object."""
    return refuse("invalidParams", f"{named('')}: {message}.", errors=[{"path": "", "message": message}])
