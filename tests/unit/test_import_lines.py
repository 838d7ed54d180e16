"""Lines of a JSONL file: what is read, what is damage, and where each stands."""

from __future__ import annotations

import io

import pytest

from lockstitch.imports import lines
from lockstitch.imports.lines import DamagedLine, SourceLine, read_lines


def read(data: bytes, *, final: bool = False) -> list[object]:
    """Values, or the reasons of damage, in order."""
    found = list(read_lines(io.BytesIO(data), final=final))
    for line in found:
        assert line.offset + line.length <= len(data)
        if isinstance(line, SourceLine) and not line.mended and b"\\u" not in data:
            assert data[line.offset : line.offset + line.length].strip()[:1] in b'{["0123456789'
    return [line.value if isinstance(line, SourceLine) else line.reason for line in found]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (b'{"a":1}\r\n\r\n\n{"b":2}', [{"a": 1}, {"b": 2}]),
        (b'{"a":1}{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (b'{"a":"}{"}{"b":2}{"c":3}', [{"a": "}{"}, {"b": 2}, {"c": 3}]),
        (b'{"a":"torn{"type":"x","n":{"m":1}}\n{"b":2}\n', ["torn", {"type": "x", "n": {"m": 1}}, {"b": 2}]),
        (b'{"type":"x","payload":{"type":"y"}\n{"b":2}\n', ["notJson", {"b": 2}]),
        (b'\xef\xbb\xbf{"a":1}\n', [{"a": 1}]),
        (b'{"a":"\\u0000"}\n', [{"a": "\x00"}]),
        (b'\x00\x00\x00\n{"a":1}\n', ["nul", {"a": 1}]),
        ('{"a":"\u2028\x85"}\n'.encode(), [{"a": "\u2028\x85"}]),
        (b"nonsense\n42\n[1]\n", ["notJson", 42, [1]]),
        (b'{"a":"\\ud800"}\n', [{"a": "\ufffd"}]),
        (b"[" * 300 + b"]" * 300 + b"\n1\n", ["tooDeep", 1]),
    ],
)
def test_each_shape_of_line(data: bytes, expected: list[object]) -> None:
    """Whole records are read however they are joined; the rest is named."""
    assert read(data) == expected


def test_a_torn_end_is_left_until_the_file_is_final() -> None:
    """An unterminated half may still be written; only a final file makes it damage."""
    assert read(b'{"a":1}\n{"b":') == [{"a": 1}]
    assert read(b'{"a":1}\n{"b":', final=True) == [{"a": 1}, "torn"]
    assert read(b'{"a":1}{"b":') == [{"a": 1}]
    assert read(b'{"type":"x","payload":{"type":"y"}') == []


def test_bytes_that_are_not_utf8_are_read_and_marked() -> None:
    """A bad byte costs one character, not the line."""
    (line,) = read_lines(io.BytesIO(b'{"a":"x\xffy"}\n'))
    assert isinstance(line, SourceLine)
    assert (line.value, line.mended) == ({"a": "x\ufffdy"}, True)


def test_offsets_name_the_bytes_of_the_value() -> None:
    """Offset and length cut the value out of the file, also for glued records and over chunk borders."""
    data = b'  {"a":1} {"b":2}\n\n{"c":"' + b"x" * 100 + b'"}\n'
    found = [line for line in read_lines(io.BytesIO(data), chunk_bytes=7) if isinstance(line, SourceLine)]
    cut = [data[line.offset : line.offset + line.length].strip() for line in found]
    assert cut == [b'{"a":1}', b'{"b":2}', b'{"c":"' + b"x" * 100 + b'"}']


def test_a_line_beyond_the_limit_is_stepped_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long is named and not held; the next one is read."""
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    data = b'{"a":"' + b"x" * 5000 + b'"}\n{"b":2}\n'
    found = list(read_lines(io.BytesIO(data), chunk_bytes=64))
    assert found[0] == DamagedLine(0, 5008, "tooLong")
    assert isinstance(found[1], SourceLine)
    assert found[1].value == {"b": 2}
