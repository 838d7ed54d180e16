"""Requests whose params have a plain form, decoded into it in one go instead of piece by piece.

Invariant: only what the general way would take as well, and read the same, is taken here; for everything else it is
None, and the general way takes it or says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from lockstitch.codec import NOTHING, Raw, plain_decoder
from lockstitch.rpc.application import PlainForm

_HEAD = 256
"""The method has to be named within so many bytes, so that other messages cost next to nothing here."""


class PlainRequest(msgspec.Struct):
    """What is known of a request that has a plain form."""

    request_id: str | int
    method: str
    params: Any
    """As the operation takes it."""
    has_jsonrpc: bool


class PlainRequests:
    """Finds the requests with a plain form among the messages."""

    def __init__(self, forms: Mapping[str, PlainForm]) -> None:
        self._forms: list[tuple[bytes, str, Callable[[bytes], Any], Callable[[Any], Any]]] = []
        for method, form in forms.items():
            fields: list[Any] = [
                ("method", str),
                ("params", form.sent),
                ("id", Any),
                ("jsonrpc", Raw, NOTHING),
            ]
            message = msgspec.defstruct("Message", fields)
            self._forms.append((method.encode(), method, plain_decoder(message), form.take))

    def open(self, message: bytes) -> PlainRequest | None:
        """The request, if it has a plain form."""
        head = message[:_HEAD]
        for marker, method, decode, take in self._forms:
            if marker in head:
                found = decode(message)
                if found is None or found.method != method or type(found.id) not in (int, str):
                    return None
                if found.jsonrpc and bytes(found.jsonrpc) != b'"2.0"':
                    return None
                params = take(found.params)
                return None if params is None else PlainRequest(found.id, method, params, bool(found.jsonrpc))
        return None
