"""Bytes of a JSONL file into decoded lines and damage, in bounded memory.

Invariant: lines end at LF and at nothing else. Damage is a value, never an exception.
Invariant: what comes before a cut at any byte is a prefix of what comes from the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import msgspec

from lockstitch import codec

CHUNK = 1 << 20
MAX_LINE_BYTES = 80 << 20
"""A longer line is stepped over without being held."""


class Readable(Protocol):
    """What lines are read from."""

    def read(self, size: int, /) -> bytes: ...


class SourceLine(msgspec.Struct, frozen=True):
    """One decoded JSON value and where it stands in the file."""

    offset: int
    length: int
    value: Any
    mended: bool = False
    """It held bytes that are not UTF-8; they read as U+FFFD."""


class DamagedLine(msgspec.Struct, frozen=True):
    """Bytes that no JSON value could be read from. `reason`: notJson, torn, nul, tooDeep, tooLong."""

    offset: int
    length: int
    reason: str


def read_lines(
    file: Readable, *, end: int | None = None, final: bool = False, chunk_bytes: int = CHUNK, start: int = 0
) -> Iterator[SourceLine | DamagedLine]:
    """Read from where the file stands, its byte `start`, to byte `end` or its own, a chunk at a time.

    An unterminated last line counts if it is whole; a torn half is left unread, and is damage only when
    `final` says that nothing more will be written.
    """
    offset, held, dropped = start, bytearray(), 0
    left = (1 << 62) if end is None else end - start
    while left > 0 and (chunk := file.read(min(chunk_bytes, left))):
        left -= len(chunk)
        position = 0
        while (stop := chunk.find(b"\n", position)) >= 0:
            data = chunk[position:stop]
            position = stop + 1
            if held or dropped:
                held += data
                if dropped:
                    yield DamagedLine(offset, dropped + len(held), "tooLong")
                    offset += dropped + len(held) + 1
                    dropped = 0
                    held.clear()
                    continue
                data = bytes(held)
                held.clear()
            yield from _read_line(data, offset, terminated=True, final=final)
            offset += len(data) + 1
        held += chunk[position:]
        if len(held) > MAX_LINE_BYTES:
            dropped += len(held)
            held.clear()
    if dropped:
        if final:
            yield DamagedLine(offset, dropped + len(held), "tooLong")
    elif held:
        yield from _read_line(bytes(held), offset, terminated=False, final=final)


_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\x00\x1e"
"""What may stand around a record: also the padding of a crash, and the separator of JSON text sequences."""


def _read_line(data: bytes, offset: int, *, terminated: bool, final: bool) -> Iterable[SourceLine | DamagedLine]:
    if data[:1] == b"{" and data[-1:] == b"}":
        try:  # nearly every line
            return (SourceLine(offset, len(data), codec.decode(data)),)
        except (codec.ParseError, codec.TooDeepError):
            pass
    return _read_oddly(data, offset, terminated=terminated, final=final)


def _read_oddly(data: bytes, offset: int, *, terminated: bool, final: bool) -> Iterator[SourceLine | DamagedLine]:
    if offset == 0 and data.startswith(_BOM):
        data, offset = data[len(_BOM) :], len(_BOM)
    stripped = data.lstrip(_BLANK)
    offset += len(data) - len(stripped)
    stripped = stripped.rstrip(_BLANK)
    if not stripped:
        if b"\x00" in data and (terminated or final):
            yield DamagedLine(offset - len(data), len(data), "nul")
        return
    if not terminated and stripped[:1] not in b"{[":
        # A number could still grow by the next digit; a line of ours is an object anyway.
        if final:
            yield DamagedLine(offset, len(stripped), "torn")
        return
    value, reason = _decode(stripped)
    if reason is None:
        yield SourceLine(offset, len(stripped), *value)
    elif reason == "tooDeep":
        yield DamagedLine(offset, len(stripped), reason)
    else:
        yield from _take_apart(stripped, offset, terminated=terminated, final=final)


def _decode(data: bytes) -> tuple[tuple[Any, bool], str | None]:
    """((value, mended), None), or a reason why there is none."""
    try:
        return (codec.decode(data), False), None
    except codec.TooDeepError:
        return (None, False), "tooDeep"
    except codec.ParseError:
        pass
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return (codec.decode(data.decode("utf-8", "replace").encode()), True), None
        except codec.TooDeepError:
            return (None, False), "tooDeep"
        except codec.ParseError:
            pass
    return (None, False), "notJson"


_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}]', re.DOTALL)
_RECORD = re.compile(rb'\{\s*"')
_TRIES = 64


def _take_apart(data: bytes, offset: int, *, terminated: bool, final: bool) -> Iterator[SourceLine | DamagedLine]:
    """Records glued together, in front of them or between them a torn half."""
    position = 0
    while position < len(data):
        end = _end_of_object(data, position)
        if end is not None:
            value, reason = _decode(data[position:end])
            if reason is None:
                yield SourceLine(offset + position, end - position, *value)
                position = _skip_blank(data, end)
                continue
        following = _next_record(data, position + 1) if terminated or final else None
        stop = len(data) if following is None else following
        torn = following is None and not terminated
        if not torn or final:
            yield DamagedLine(offset + position, stop - position, "torn" if torn or following else "notJson")
        position = stop


def _skip_blank(data: bytes, position: int) -> int:
    return len(data) - len(data[position:].lstrip(_BLANK))


def _end_of_object(data: bytes, position: int) -> int | None:
    if data[position : position + 1] != b"{":
        return None
    depth = 0
    for match in _BRACKET.finditer(data, position):
        mark = data[match.start()]
        if mark == 0x7B:
            depth += 1
        elif mark == 0x7D:
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _next_record(data: bytes, position: int) -> int | None:
    """Where, after torn bytes, objects begin that reach to the end of the line."""
    for tries, match in enumerate(_RECORD.finditer(data, position)):
        if tries == _TRIES:
            return None
        if data[: match.start()].rstrip(_BLANK)[-1:] in (b":", b",", b"["):
            continue  # a value inside the torn record, not a record
        end = _end_of_object(data, match.start())
        if end is None:
            continue
        rest = _skip_blank(data, end)
        if (rest == len(data) or data[rest : rest + 1] == b"{") and _decode(data[match.start() : end])[1] is None:
            return match.start()
    return None
