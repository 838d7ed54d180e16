"""One JSON document that holds its messages in a list, as if each of them was a line of its own.

Invariant: a document that was written further, or was cut, gives lines that the whole one begins with.
Invariant: memory is bounded by `MAX_BYTES`; the document is read once, so that a rewrite while we read does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lockstitch import codec
from lockstitch.imports.fields import mapping, sequence

MAX_BYTES = 256 << 20
"""A tool that rewrites its file with each message cannot make larger ones; what is larger is refused."""

LISTS = ("messages", "history")
_BLANK = re.compile(rb"[ \t\r\n\x00]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb'[^\s,:\[\]{}"]+')
_MARK = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_FIRST_NAME = re.compile(rb'\{\s*("[^"\\]{1,40}"\s*:)')
_TRIES = 64
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Document:
    """The members of a document beside its list, and the list's elements as lines."""

    head: dict[str, Any]
    list_name: str | None
    """None where the document is cut off before its list, or is the list."""
    lines: bytes
    settled: int
    """Where the last whole element begins in `lines`: it may be written again with more in it."""
    has_list: bool


def read_document(path: Path, size: int) -> Document | None:
    """The document in a file's first `size` bytes; None where it has no list of messages."""
    with path.open("rb") as file:
        data = file.read(min(size, MAX_BYTES))
    return take_apart(data)


def is_document(file: BinaryIO, *, bytes_: int = 64 << 10) -> bool:
    """Whether a file begins like one JSON document, rather than with a line that is a record."""
    start = file.read(bytes_).removeprefix(_BOM).lstrip(b" \t\r\n")
    if start[:1] not in (b"{", b"["):
        return False
    first, ended, rest = start.partition(b"\n")
    if start[:1] == b"[":
        return True
    if ended and (record := mapping(_decoded(first))):
        # Most files by far: the first line is a record. Decoding it is much faster than looking at its members.
        return not rest.strip() and any(sequence(record.get(name)) for name in LISTS)
    for name, begin, _, _ in _members(first):
        if name in LISTS and first[begin : begin + 1] == b"[":
            # A JSONL head may hold an empty list; lines follow it.
            return _BLANK.sub(b"", first[begin + 1 : begin + 64], count=1)[:1] != b"]" or not ended
    return bool(ended) and _value_end(first, 0) is None


def take_apart(data: bytes) -> Document | None:
    """The parts of a document, as far as its bytes go."""
    position = _skip(data, len(_BOM) if data.startswith(_BOM) else 0)
    head: dict[str, Any] = {}
    if data[position : position + 1] == b"[":
        return Document({}, None, *_lines(data, position + 1)[:2], True)
    if data[position : position + 1] != b"{":
        return None
    name: str | None = None
    lines, settled = b"", 0
    for key, begin, end, elements in _members(data, position):
        if elements is not None and name is None:
            name, (lines, settled, _) = key, elements
        elif end is not None and (value := _decoded(data[begin:end])) is not None:
            head[key] = value
    return Document(head, name, lines, settled, name is not None)


_Lines = tuple[bytes, int, int | None]


def _members(data: bytes, position: int = 0) -> Iterator[tuple[str, int, int | None, _Lines | None]]:
    """(name, begin, end, elements of a list of messages) of each value of the object there.

    The end of the last is None where it is cut off.
    """
    position = _skip(data, position) + 1
    while True:
        position = _skip(data, position)
        if data[position : position + 1] == b",":
            position = _skip(data, position + 1)
        name = _STRING.match(data, position)
        if name is None:
            return
        position = _skip(data, name.end())
        if data[position : position + 1] != b":":
            return
        begin = _skip(data, position + 1)
        key = _decoded(name[0])
        elements = _lines(data, begin + 1) if key in LISTS and data[begin : begin + 1] == b"[" else None
        end = elements[2] if elements is not None else _value_end(data, begin)
        if begin < len(data):
            yield str(key), begin, end, elements
        if end is None:
            return
        position = end


def _lines(data: bytes, position: int) -> _Lines:
    """The elements of a list as lines, where the last whole one begins, and where the list ends in `data`."""
    lines, settled, begin = bytearray(), 0, _skip(data, position)
    while True:
        position = _skip(data, position)
        if data[position : position + 1] == b",":
            position = _skip(data, position + 1)
        if position >= len(data):
            return bytes(lines), settled, None
        if data[position : position + 1] == b"]":
            return bytes(lines), settled, position + 1
        end = _value_end(data, position)
        whole = end is not None and data[_skip(data, end) :][:1] in (b"", b",", b"]")
        if not whole or end is None or _decoded(data[position:end], damaged=_DAMAGED) is _DAMAGED:
            following = _next_element(data, begin, position + 1)
            end, whole = (len(data) if following is None else following), False
        if whole:
            settled = len(lines)
        element = data[position:end].rstrip(b" \t\r\n,") if not whole else data[position:end]
        lines += element.translate(_ONE_LINE) + b"\n"
        position = end


_ONE_LINE = bytes(0x20 if byte in (0x0A, 0x0D) else byte for byte in range(256))


def _next_element(data: bytes, first: int, position: int) -> int | None:
    """Where, behind damage, elements begin that reach to the end of the document; in a cut one there are none."""
    name = _FIRST_NAME.match(data, first)
    if name is None:
        return None
    for tries, found in enumerate(re.finditer(re.escape(name[1]), data[position:])):
        if tries == _TRIES:
            return None
        begin = data.rfind(b"{", 0, position + found.start())
        if (
            begin >= position
            and not data[begin + 1 : position + found.start()].strip()
            and data[:begin].rstrip(b" \t\r\n")[-1:] in (b",", b"[")
            and _closes(data, begin)
        ):
            return begin
    return None


def _closes(data: bytes, position: int) -> bool:
    closed = False
    while True:
        end = _value_end(data, position)
        if end is None:
            return False
        position = _skip(data, end)
        mark = data[position : position + 1]
        if mark == b"}" and closed:
            return _skip(data, position + 1) == len(data)
        if mark == b"]" and not closed:
            closed, position = True, _skip(data, position + 1)
            mark = data[position : position + 1]
            if mark == b"}":
                return _skip(data, position + 1) == len(data)
        if mark != b",":
            return False
        position = _skip(data, position + 1)
        if closed:
            name = _STRING.match(data, position)
            colon = _skip(data, name.end()) if name else len(data)
            if data[colon : colon + 1] != b":":
                return False
            position = _skip(data, colon + 1)


def _skip(data: bytes, position: int) -> int:
    match = _BLANK.match(data, position)
    return match.end() if match else position


def _value_end(data: bytes, position: int) -> int | None:
    """Where the JSON value that begins there ends; None where it is cut off."""
    first = data[position : position + 1]
    if first == b'"':
        text = _STRING.match(data, position)
        return text.end() if text else None
    if first not in (b"{", b"["):
        scalar = _SCALAR.match(data, position)
        # At the end of the bytes a number could go on.
        return scalar.end() if scalar and scalar.end() < len(data) else None
    depth = 0
    for mark in _MARK.finditer(data, position):
        byte = data[mark.start()]
        if byte in b"{[":
            depth += 1
        elif byte in b"}]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


_DAMAGED = object()


def _decoded(data: bytes, *, damaged: object = None) -> Any:
    try:
        return codec.decode(data)
    except (codec.ParseError, codec.TooDeepError):
        return damaged
