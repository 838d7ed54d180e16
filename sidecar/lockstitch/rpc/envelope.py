"""Opens one JSON-RPC message that has been parsed: what it asks for, or what is wrong with it. Pure.

Invariant: a request without an id is a notification and is never answered; one with an id always is.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from lockstitch import codec
from lockstitch.rpc.dispatch import Refusal, bad_params, refuse
from lockstitch.rpc.handshake import is_exactly


class Rejected(msgspec.Struct, frozen=True):
    """A message that asks for nothing that could be run; `key` None: it gets no answer."""

    key: bytes | None
    refusal: Refusal


class Envelope(msgspec.Struct):
    """A request or notification. `key` is its id as JSON; None for a notification."""

    request_id: str | int | None
    key: bytes | None
    method: str
    params: dict[str, Any]


NOT_A_MESSAGE = refuse("invalidRequest", "A message is an object with a method.")
_NO_METHOD = refuse("invalidRequest", "A request needs a method, which is a string.")
_UNASKED = refuse("invalidRequest", "A reply to nothing that was asked.")
_VERSION = refuse("invalidRequest", 'The field jsonrpc has to be "2.0", or be left out.')
_ID = refuse("invalidRequest", "The id of a request has to be a string or a whole number.")


def open_envelope(value: Any) -> Envelope | Rejected:
    """Take a parsed message apart."""
    if type(value) is not dict:
        return Rejected(b"null", NOT_A_MESSAGE)
    message = cast("dict[str, Any]", value)
    has_id = "id" in message
    request_id = message.get("id")
    key = _key_of(request_id)
    method = message.get("method")
    if type(method) is not str:
        if "method" not in message and ("result" in message or "error" in message):
            return Rejected(None, _UNASKED)
        return Rejected(key, _NO_METHOD)
    if message.get("jsonrpc", "2.0") != "2.0":
        return Rejected(key if has_id else None, _VERSION)
    if not has_id:
        key = None
    elif type(request_id) is not int and type(request_id) is not str:
        return Rejected(key, _ID)  # also for null, which the specification knows and discourages
    params: Any = message.get("params")
    if is_exactly(params, dict):
        return Envelope(request_id, key, method, params)
    if params is None or params == []:
        return Envelope(request_id, key, method, {})
    if is_exactly(params, list) and len(params) == 1 and is_exactly(params[0], dict):
        # COMPAT: vscode-jsonrpc sends params as an array of one object
        return Envelope(request_id, key, method, params[0])
    return Rejected(key, bad_params("must be an object"))


def _key_of(request_id: Any) -> bytes:
    """The id as JSON; one that is a fraction is given back too, any other kind reads null."""
    if is_exactly(request_id, int):
        return b"%d" % request_id
    if is_exactly(request_id, str) or is_exactly(request_id, codec.Digits):
        return codec.encode(request_id)
    return b"null"
