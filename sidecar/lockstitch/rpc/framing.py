"""Bytes in, whole messages out: one JSON object per line, or Content-Length headers, told apart by the first byte.

Invariant: no byte is looked at twice and no message is copied more than twice, whatever its size.
Invariant: a message that is too large is never held; the one after it is read as if nothing had been.
Invariant: lines end at LF only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_KEPT: Final = 65536
"""How much of the head, and of the tail, of a message that is too large is kept to look for its id."""
_HEADER_LIMIT: Final = 65536
_BLANK: Final = b" \t\r\n"
_MARK: Final = b"\xef\xbb\xbf"


class Fault:
    """Something on the wire that is not a message that we take. `kind` is of the error table."""

    __slots__ = ("head", "kind", "message", "tail")

    def __init__(self, kind: str, message: str, head: bytes = b"", tail: bytes = b"") -> None:
        self.kind = kind
        self.message = message
        self.head = head
        self.tail = tail


class Framer:
    """Cuts a stream into messages. `feed` takes what arrived, `finish` what the end of the stream leaves."""

    __slots__ = ("_buffer", "_head", "_left", "_limit", "_lost", "_skipped", "_tail", "framed")

    def __init__(self, limit: int) -> None:
        self.framed: bool | None = None
        """True: headers; False: lines; None: nothing has arrived."""
        self._limit = limit
        self._buffer = bytearray()
        self._left = -1  # bytes of the body still to come; -1: between messages
        self._lost = False  # after a bad header, until the next one that can be read
        self._skipped = 0  # bytes dropped of a message that is too large; 0: none is
        self._head = b""
        self._tail = b""

    def feed(self, data: bytes) -> list[bytes | Fault]:
        """The messages that these bytes complete, in order."""
        if self.framed is None:
            self._buffer += data
            if not self._tell():
                return []
            data = bytes(self._buffer)
            self._buffer.clear()
        out: list[bytes | Fault] = []
        if self.framed:
            self._feed_headers(data, out)
        else:
            self._feed_lines(data, out)
        return out

    def finish(self) -> list[bytes | Fault]:
        """What is left when the stream ends: an unterminated last line counts as one."""
        rest, self._buffer = bytes(self._buffer), bytearray()
        if self._skipped:
            return [self._too_large()]
        if self.framed:
            if self._left >= 0 or (rest.strip(_BLANK) and not self._lost):
                return [Fault("parseError", "the input ended in the middle of a message")]
            return []
        rest = rest.removeprefix(_MARK) if self.framed is None else rest
        return [rest] if rest.strip(_BLANK) else []

    def _tell(self) -> bool:
        """Look for the first byte that says which framing it is, behind a byte-order mark and whitespace."""
        start = self._buffer.lstrip(_BLANK)
        if len(start) < 3 and _MARK.startswith(start):
            return False
        start = start.removeprefix(_MARK).lstrip(_BLANK)
        if not start:
            return False
        self.framed = start[:1] in b"Cc"
        self._buffer = start
        return True

    # -- lines ------------------------------------------------------------------------------------
    def _feed_lines(self, data: bytes, out: list[bytes | Fault]) -> None:
        if self._skipped or self._buffer:
            end = data.find(b"\n")
            if end < 0:
                self._hold(data)
                return
            self._hold(data[:end])
            if self._skipped:
                out.append(self._too_large())
            else:
                self._add_line(bytes(self._buffer), out)
                self._buffer.clear()
            data = data[end + 1 :]
        lines = data.split(b"\n")
        last = lines.pop()
        for line in lines:
            self._add_line(line, out)
        if last:
            self._hold(last)

    def _add_line(self, line: bytes, out: list[bytes | Fault]) -> None:
        if len(line) > self._limit and len(line.rstrip(b"\r")) > self._limit:
            out.append(self._refuse(len(line), line[:_KEPT], line[-_KEPT:]))
        elif line.strip(_BLANK):
            out.append(line)

    def _hold(self, data: bytes) -> None:
        """Keep a part of an unfinished line, or of one that is too large only its two ends."""
        if self._skipped:
            self._skipped += len(data)
            self._keep_ends(data)
            return
        self._buffer += data
        if len(self._buffer) > self._limit + 1:  # one more for a CR
            self._skipped = len(self._buffer)
            self._head = bytes(self._buffer[:_KEPT])
            self._tail = bytes(self._buffer[-_KEPT:])
            self._buffer = bytearray()

    def _keep_ends(self, data: bytes) -> None:
        if len(self._head) < _KEPT:
            self._head += data[: _KEPT - len(self._head)]
        self._tail = (self._tail + data)[-_KEPT:] if len(data) < _KEPT else data[-_KEPT:]

    def _too_large(self) -> Fault:
        fault = self._refuse(self._skipped, self._head, self._tail)
        self._skipped = 0
        self._head = self._tail = b""
        return fault

    def _refuse(self, size: int, head: bytes, tail: bytes) -> Fault:
        return Fault(
            "messageTooLarge", f"a message of {size} bytes is larger than the limit of {self._limit}", head, tail
        )

    # -- headers ----------------------------------------------------------------------------------
    def _feed_headers(self, data: bytes, out: list[bytes | Fault]) -> None:
        if self._left < 0 and self._buffer:
            data = bytes(self._buffer) + data
            self._buffer.clear()
        at = 0
        while at < len(data):
            at = self._take_body(data, at, out) if self._left >= 0 else self._take_header(data, at, out)

    def _take_body(self, data: bytes, at: int, out: list[bytes | Fault]) -> int:
        part = data[at : at + self._left]
        at += len(part)
        self._left -= len(part)
        if self._skipped:
            self._keep_ends(part)
        elif self._left or self._buffer:
            self._buffer += part
            part = b""
        if self._left == 0:
            self._left = -1
            if self._skipped:
                out.append(self._too_large())
            else:
                out.append(part or bytes(self._buffer))
                self._buffer.clear()
        return at

    def _take_header(self, data: bytes, at: int, out: list[bytes | Fault]) -> int:
        """Read the header block at `at`; where the body begins. What is not whole yet waits in the buffer."""
        if self._lost:  # drop everything before the next Content-Length
            found = data.lower().find(b"content-length", at)
            if found < 0:
                self._buffer += data[max(at, len(data) - 13) :]  # the word may be cut in two
                return len(data)
            self._lost = False
            at = found
        while at < len(data) and data[at] in _BLANK:
            at += 1
        end, after = _header_end(data, at)
        if end < 0 and len(data) - at <= _HEADER_LIMIT:
            self._buffer += data[at:]
            return len(data)
        length = _content_length(data[at:end]) if end >= 0 else None
        if length is None:
            out.append(Fault("parseError", "a header without a usable Content-Length"))
            self._lost = True
            return after if end >= 0 else at + 1
        if length == 0:
            out.append(b"")
        else:
            self._left = length
            self._skipped = length if length > self._limit else 0
        return after


def _header_end(data: bytes, start: int) -> tuple[int, int]:
    """Where the header lines end and where the body begins; (-1, -1) if the blank line has not come."""
    strict = data.find(b"\r\n\r\n", start)
    bare = data.find(b"\n\n", start, strict if strict >= 0 else len(data))
    if bare >= 0:
        return bare, bare + 2
    return (strict, strict + 4) if strict >= 0 else (-1, -1)


def _content_length(header: bytes) -> int | None:
    length = None
    for line in header.split(b"\n"):
        name, colon, value = line.partition(b":")
        if not colon:
            return None
        if name.strip().lower() == b"content-length":
            value = value.strip()
            if not value.isdigit() or len(value) > 15:
                return None
            length = int(value)
    return length
