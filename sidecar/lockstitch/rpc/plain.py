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

    def __init__(self, forms: Mapping[str, Callable[[], PlainForm]]) -> None:
        self._forms = forms
        self._marks = [(method.encode(), method) for method in forms]
        self._ready: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], Any]]] = {}

    def open(self, message: bytes) -> PlainRequest | None:
        """The request, if it has a plain form."""
        head = message[:_HEAD]
        for mark, method in self._marks:
            if mark in head:
                return self._open(message, method)
        return None

    def _open(self, message: bytes, method: str) -> PlainRequest | None:
        decode, take = self._ready.get(method) or self._make_ready(method)
        found = decode(message)
        if found is None or found.method != method or type(found.id) not in (int, str):
            return None
        if found.jsonrpc and bytes(found.jsonrpc) != b'"2.0"':
            return None
        params = take(found.params)
        return None if params is None else PlainRequest(found.id, method, params, bool(found.jsonrpc))

    def _make_ready(self, method: str) -> tuple[Callable[[bytes], Any], Callable[[Any], Any]]:
        form = self._forms[method]()
        fields: list[Any] = [("method", str), ("params", form.sent), ("id", Any), ("jsonrpc", Raw, NOTHING)]
        made = self._ready[method] = plain_decoder(msgspec.defstruct("Message", fields)), form.take
        return made
