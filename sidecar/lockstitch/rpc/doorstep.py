"""Answers `initialize` before anything heavy is imported, if it is the first message and nothing is odd about it.

Invariant: what is not clearly a well-formed `initialize` goes on, byte for byte, to the session of the
connection, which knows all the rules; nothing is judged here.
Invariant: no asyncio, pydantic, jsonrpcserver, msgspec, logging, re or enum before the reply.
"""

from __future__ import annotations

import os

from lockstitch.rpc.framing import Framer
from lockstitch.rpc.handshake import initialize_result, is_exactly, read_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from lockstitch.rpc.claim import Wire
    from lockstitch.rpc.ends import Ends
    from lockstitch.rpc.framing import Fault
    from lockstitch.rpc.handshake import Client
    from lockstitch.settings import Settings

READ_SIZE: Final = 65536


class Opening:
    """Where the connection stands when the session takes over."""

    __slots__ = ("at_end", "client", "framer", "jsonrpc", "messages", "process_found", "unsent")

    def __init__(self, framer: Framer, messages: list[bytes | Fault]) -> None:
        self.framer = framer
        self.messages = messages
        """Whole messages that are not answered yet."""
        self.client: Client | None = None
        """Set if `initialize` has been answered."""
        self.jsonrpc: bool | None = None
        """Whether the client says `"jsonrpc"`; None if no message has told."""
        self.at_end = False
        """stdin has ended."""
        self.unsent = False
        """The reply could not be written: nobody reads."""
        self.process_found = True
        """False: the client named a process to live with, and there is none."""


def open_connection(wire: Wire, settings: Settings, boot_id: str, ends: Ends) -> Opening:
    """Wait for the first message; answer it if it is a well-formed `initialize`."""
    opening = Opening(Framer(settings.max_message_bytes), [])
    while not opening.messages:
        ends.idle = True  # half a message is nothing yet
        if ends.reason is not None:
            break
        data = read(wire.input)
        ends.idle = False
        if not data:
            opening.at_end = True
            opening.messages = opening.framer.finish()
            break
        opening.messages = opening.framer.feed(data)
    ends.idle = False
    first = opening.messages[0] if opening.messages else None
    if type(first) is bytes and len(first) < READ_SIZE:
        reply = _answer(first, settings, boot_id, opening)
        if reply is not None:
            opening.messages.pop(0)
            if opening.client is not None and opening.client.process_id is not None:
                # now, since the host may die while the rest is imported
                opening.process_found = ends.watch_process(opening.client.process_id)
            body = reply.encode()
            opening.unsent = not _write(
                wire.output, b"Content-Length: %d\r\n\r\n" % len(body) + body if opening.framer.framed else body + b"\n"
            )
    return opening


def read(descriptor: int) -> bytes:
    """Wait for input and take what is there; empty at the end. Works on descriptors that a host made non-blocking."""
    while True:
        try:
            return os.read(descriptor, READ_SIZE)
        except BlockingIOError:
            import select

            select.select([descriptor], [], [])
        except OSError:
            return b""  # a terminal that hung up, a reset socket: nothing more will come


def _write(descriptor: int, data: bytes) -> bool:
    """Less than a pipe holds, into an empty one: does not block. False if nobody is there to read it."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return False
    return True


def _answer(message: bytes, settings: Settings, boot_id: str, opening: Opening) -> str | None:
    try:
        request: Any = _parse(message.decode())
    except (ValueError, StopIteration, RecursionError, SystemError):
        return None  # SystemError: the scanner of Python 3.11 names its error only where json.decoder is imported
    if not is_exactly(request, dict) or request.get("method") != "initialize":
        return None
    key: Any = request.get("id")
    jsonrpc: Any = request.get("jsonrpc", "2.0")
    client = read_client(request.get("params"))
    if client is None or jsonrpc != "2.0" or not (is_exactly(key, int) or (is_exactly(key, str) and key.isascii())):
        return None
    opening.client = client
    opening.jsonrpc = "jsonrpc" in request
    head = '{"jsonrpc":"2.0","id":' if opening.jsonrpc else '{"id":'
    return f'{head}{_write_json(key)},"result":{_write_json(initialize_result(settings, boot_id))}}}'


class _Strict:
    """How the scanner reads: as codec.py does for what can occur in an `initialize`, and not at all beyond."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own

    @staticmethod
    def parse_constant(text: str) -> Any:
        raise ValueError(text)


def _parse(text: str) -> Any:
    # The package json imports re and enum, which cost half as much as a bare start of Python; the scanner
    # behind it does not. It is the same on every CPython since 3.1.
    try:
        from _json import make_scanner as scanner_class
    except ImportError:
        import json

        return json.loads(text, parse_constant=_Strict.parse_constant)
    start = len(text) - len(text.lstrip(" \t\r\n"))
    make_scanner: Any = scanner_class
    value, end = make_scanner(_Strict)(text, start)
    if text[end:].strip(" \t\r\n"):
        raise ValueError("more than one value")
    return value


def _write_json(value: Any) -> str:
    try:
        from _json import encode_basestring_ascii as quote
    except ImportError:
        import json

        return json.dumps(value, separators=(",", ":"))
    if type(value) is str:
        return quote(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value)
    if is_exactly(value, list):
        return f"[{','.join([_write_json(item) for item in value])}]"
    return f"{{{','.join([f'{quote(name)}:{_write_json(item)}' for name, item in value.items()])}}}"
