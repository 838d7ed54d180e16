"""One client's end: puts replies and notifications into the form and framing that the client uses.

Invariant: a reply has a result or an error, never both; a message is one frame, whatever is spliced into it.
"""

from __future__ import annotations

from typing import Any

from lockstitch import codec
from lockstitch.rpc.dispatch import Refusal, refusal_of, refuse
from lockstitch.rpc.handshake import Client
from lockstitch.rpc.outlet import Outlet


class Connection:
    """What can be said to the client. Fits `operations.call.Connection`."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._opted_out: frozenset[str] = frozenset()
        self._head = b'{"jsonrpc":"2.0",'
        self.framed = False
        """The client uses Content-Length headers."""
        self.max_message_bytes: int | None = None

    @property
    def is_full(self) -> bool:
        """So much output is unread that nothing should be begun that makes more."""
        return self._outlet.full

    def speak(self, *, jsonrpc: bool) -> None:
        """Say `"jsonrpc":"2.0"` from now on, or don't."""
        self._head = b'{"jsonrpc":"2.0",' if jsonrpc else b"{"

    def greet(self, client: Client) -> None:
        """Keep what the client said in `initialize`."""
        self._opted_out = client.opted_out
        self.max_message_bytes = client.max_message_bytes

    def wants(self, method: str) -> bool:
        """Whether the client takes notifications of that name."""
        return method not in self._opted_out

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification whose params are encoded JSON; waits while too much output is unread."""
        if method in self._opted_out:
            return
        if self._outlet.full:
            await self._outlet.room()
        self.send(b'%b"method":%b,"params":%b}' % (self._head, codec.encode(method), params))

    def encode_reply(self, key: bytes, outcome: Any, *, stored: bool = False) -> bytes:
        """The reply to the request with that id (as JSON): `outcome` is a Refusal or a result.

        `stored` says that the request was a write and is done, whatever can be said of it.
        """
        if not isinstance(outcome, Refusal):
            try:
                result = codec.encoded_pieces(outcome)
                reply = b"".join((self._head, b'"id":', key, b',"result":', *result, b"}"))
            except Exception as error:  # an operation returned what is not JSON
                outcome = refusal_of(error, "encoding a result")
            else:
                if self.max_message_bytes is None or len(reply) <= self.max_message_bytes:
                    return reply
                outcome = self.too_large(len(reply), stored=stored)
        return b'%b"id":%b,"error":%b}' % (self._head, key, _encode_error(outcome))

    def too_large(self, size: int, *, stored: bool = False) -> Refusal:
        """A reply of that size is more than the client can take."""
        if stored:
            return refuse(
                "messageTooLarge",
                f"The request was carried out, but its reply has {size} bytes, more than the {self.max_message_bytes} "
                "that the client takes; do not send it again, read what it stored.",
                bytes=size,
                limit=self.max_message_bytes,
                stored=True,
            )
        return refuse(
            "messageTooLarge",
            f"The reply has {size} bytes, more than the {self.max_message_bytes} that the client takes; ask for less.",
            bytes=size,
            limit=self.max_message_bytes,
        )

    def encode_batch(self, replies: list[tuple[bytes, bytes]]) -> bytes:
        """The replies of a batch as one message; those that do not fit into what the client takes are refused."""
        most = self.max_message_bytes
        bodies: list[bytes] = []
        total = 2
        for key, reply in replies:
            fits = most is None or total + len(reply) + 1 <= most
            body = reply if fits else self.encode_reply(key, self.too_large(len(reply)))
            total += len(body) + 1
            bodies.append(body)
        return b"[%b]" % b",".join(bodies)

    def gather(self) -> None:
        """Keep what is sent until the next flush."""
        self._outlet.gather()

    def flush(self) -> None:
        """Write what is queued now, not at the end of the loop's turn."""
        self._outlet.flush()

    def send(self, body: bytes) -> None:
        """Queue one message."""
        if self.framed:
            self._outlet.put(b"Content-Length: %d\r\n\r\n" % len(body))
            self._outlet.put(body)
        elif len(body) < 65536:
            self._outlet.put(body + b"\n")
        else:
            self._outlet.put(body)
            self._outlet.put(b"\n")


def _encode_error(refusal: Refusal) -> bytes:
    error = {"code": refusal.code, "message": refusal.message, "data": refusal.data}
    try:
        return codec.encode(error)
    except Exception:  # a fact that is not JSON; the kind is what counts
        return codec.encode({**error, "message": _plain(refusal.message), "data": {"kind": refusal.data["kind"]}})


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
