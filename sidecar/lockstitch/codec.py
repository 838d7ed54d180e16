"""The only JSON encode and decode: what other parsers refuse is settled here, once.

Invariant: what `encode` writes is valid for every JSON parser. Numbers come back with the digits that were
sent; a lone surrogate becomes U+FFFD; of duplicate keys the last wins; NaN and Infinity are parse errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec

Raw = msgspec.Raw
"""Bytes of a JSON value that pass through unchanged: `encode` splices them."""

NOTHING = Raw()
"""Default of a Raw field that may be missing: msgspec takes `Raw | None` for null alone. It is false."""


class Pieces(tuple[bytes, ...]):
    """A large JSON value in pieces that follow each other, so that it is copied once, by who sends it."""

    __slots__ = ()


MAX_DEPTH = 256

T = TypeVar("T")


class ParseError(ValueError):
    """The bytes are not JSON, or not UTF-8."""


class TooDeepError(ValueError):
    """JSON, but nested deeper than MAX_DEPTH."""


class Digits(float):
    """A number that remembers how it was written, so that 1.0, 1e5 and 1E400 come back as sent."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Digits:
        self = super().__new__(cls, text)
        self.text = text
        return self


def _splice(value: object) -> Raw:
    if isinstance(value, Digits):
        return Raw(value.text.encode())
    raise TypeError(f"cannot encode {type(value).__name__}")


_decoder = msgspec.json.Decoder(float_hook=Digits)
_encoder = msgspec.json.Encoder(enc_hook=_splice)
_sorted_encoder = msgspec.json.Encoder(enc_hook=_splice, order="sorted")

encode: Callable[[Any], bytes] = _encoder.encode
"""Compact JSON bytes. Digits and Raw values are written as they came."""


def encoded_pieces(value: Any) -> tuple[bytes, ...]:
    """JSON bytes of a value, in one piece or several."""
    return value if type(value) is Pieces else (encode(value),)


def decode(data: bytes | bytearray | memoryview) -> Any:
    """Decode one JSON value exactly. Raises ParseError or TooDeepError."""
    data = bytes(data)
    try:
        value = _decoder.decode(data)
    except RecursionError:
        _measure(data)
        raise TooDeepError(f"nested deeper than {MAX_DEPTH}") from None
    except (msgspec.DecodeError, ValueError) as error:
        return _decode_slowly(data, str(error))
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _is_too_deep(value):
        raise TooDeepError(f"nested deeper than {MAX_DEPTH}")
    if _holds_minus_zero(data):
        return _decode_slowly(data, "")  # msgspec turns the integer -0 into 0
    return value


def settle(data: bytes | bytearray | memoryview) -> bytes:
    """The same JSON value in the form that is stored: compact, one line, no duplicate keys."""
    return encode(decode(data))


def canonical(value: Any) -> bytes:
    """Canonical JSON of a decoded value: keys sorted, no whitespace, digits as sent. Input of digests."""
    return _sorted_encoder.encode(value)


def mapping(value: Any) -> dict[str, Any]:
    """A decoded JSON object, or an empty one where the value is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value: optional ones without are left out, never null."""
    return {name: value for name, value in fields.items() if value is not None}


def decoder(kind: type[T]) -> Callable[[bytes | memoryview], T]:
    """A typed decoder for bytes that we wrote ourselves; raises ParseError."""
    inner = msgspec.json.Decoder(kind, float_hook=Digits)

    def run(data: bytes | memoryview) -> T:
        try:
            return inner.decode(data)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise ParseError(str(error)) from None

    return run


def plain_decoder(kind: type[T]) -> Callable[[bytes], T | None]:
    """A typed decoder for bytes that others wrote: None where they are of another type, or `decode` must judge them.

    Nesting is not measured: of every part that is `Any` or `Raw` the caller asks `is_shallow`.
    """
    inner = msgspec.json.Decoder(kind, float_hook=Digits)

    def run(data: bytes) -> T | None:
        try:
            value = inner.decode(data)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            return None
        return None if _holds_minus_zero(data) else value

    return run


def decode_part(data: bytes | Raw) -> Any:
    """Decode a part of a message that a plain decoder took and that is shallow: there is nothing more to look for.

    Raises ParseError.
    """
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise ParseError(str(error)) from None


def is_shallow(data: bytes | Raw, above: int) -> bool:
    """Whether a value that lies `above` levels deep is surely nested no deeper than allowed; cheap, for most."""
    # Each level takes two bytes at least, and one bracket.
    room = MAX_DEPTH - above
    if len(data) <= 2 * room:
        return True
    data = bytes(data)
    return data.count(b"[") + data.count(b"{") <= room


_SURROGATE = re.compile("[\ud800-\udfff]")
_MINUS_ZERO = re.compile(rb"-0(?![0-9.eE])(?<![^\[:,\s]-0)")
_MAYBE_MINUS_ZERO = re.compile(rb"-0(?:[,}\]\s]|\Z)")
"""Dates and UUIDs hold -0 too: what must follow it is looked for first, at half the cost."""


def _holds_minus_zero(data: bytes) -> bool:
    """Whether the integer -0 stands in a JSON text."""
    return _MAYBE_MINUS_ZERO.search(data) is not None and _MINUS_ZERO.search(data) is not None


_HOLDERS = frozenset({dict, list})


def _is_too_deep(value: Any) -> bool:
    """Whether lists and objects lie more than MAX_DEPTH deep in each other; level by level, without recursion."""
    level: list[Any] = [value] if type(value) in _HOLDERS else []
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return False
        level = [
            inner
            for found in level
            for inner in (cast("dict[str, Any]", found).values() if type(found) is dict else found)
            if type(inner) in _HOLDERS
        ]
    return True


def _whole_number(text: str) -> int | Digits:
    if text == "-0" or len(text) > 4000:  # beyond Python's limit for int(str)
        return Digits(text)
    return int(text)


def _refuse_constant(text: str) -> Any:
    raise ParseError(f"{text} is not JSON")


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mend(key): _mend(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_mend(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _decode_slowly(data: bytes, reason: str) -> Any:
    """The standard library's parser takes lone surrogates, long integers and -0; only what it must see comes here."""
    if not (b"\\u" in data or b"-0" in data or len(data) > 4000):
        raise ParseError(reason)
    try:
        text = data.decode("utf-8")
        if _measure(data) > MAX_DEPTH:
            raise TooDeepError(f"nested deeper than {MAX_DEPTH}")
        value = json.loads(text, parse_float=Digits, parse_int=_whole_number, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise ParseError("not UTF-8") from None
    except (ParseError, TooDeepError):
        raise
    except ValueError as error:
        raise ParseError(str(error).partition(":")[0]) from None
    return _mend(value)


_TOKEN = re.compile(
    rb'[ \t\r\n]*(?:([{}\[\]:,])|("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    rb"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))"
)


def _measure(data: bytes) -> int:
    """The nesting depth of JSON text, whatever its depth. Raises ParseError where it is not JSON."""
    open_brackets = bytearray()
    deepest = position = 0
    expect = "value"  # value, key, colon, end (a comma or a closing bracket), or first (value or closing)
    end = len(data.rstrip(b" \t\r\n"))
    while position < end:
        token = _TOKEN.match(data, position)
        if token is None:
            raise ParseError(f"invalid JSON at byte {position}")
        position = token.end()
        mark = token[1]
        if mark is None:
            expect = _after_scalar(expect, token[2] is not None, bool(open_brackets), position)
        elif mark in b"{[":
            if expect not in ("value", "first"):
                raise ParseError(f"invalid JSON at byte {position}")
            open_brackets += mark
            deepest = max(deepest, len(open_brackets))
            expect = "key or end" if mark == b"{" else "first"
        elif mark in b"}]":
            opening = b"{" if mark == b"}" else b"["
            allowed = ("end", "key or end") if mark == b"}" else ("end", "first")
            if not open_brackets or open_brackets[-1:] != opening or expect not in allowed:
                raise ParseError(f"invalid JSON at byte {position}")
            del open_brackets[-1]
            expect = "end" if open_brackets else "nothing"
        elif mark == b":" and expect == "colon":
            expect = "value"
        elif mark == b"," and expect == "end" and open_brackets:
            expect = "key" if open_brackets[-1:] == b"{" else "value"
        else:
            raise ParseError(f"invalid JSON at byte {position}")
    if open_brackets or expect != "nothing":
        raise ParseError("the JSON text ends too early")
    return deepest


def _after_scalar(expect: str, is_string: bool, nested: bool, position: int) -> str:
    if expect in ("key", "key or end") and is_string:
        return "colon"
    if expect in ("value", "first"):
        return "end" if nested else "nothing"
    raise ParseError(f"invalid JSON at byte {position}")
