"""Framing and the search for an id, without a process: any cut of the stream gives the same messages."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstitch.rpc.framing import Fault, Framer
from lockstitch.rpc.peek import peek_id

STREAMS = [
    b'{"a":1}\n{"b":2}\r\n\n  \n{"c":3}',
    b'\xef\xbb\xbf \n{"a":1}\n',
    b"\xef\xbb",
    b'garbage\n{"a":1}\n',
    b'Content-Length: 7\r\n\r\n{"a":1}content-length:7\r\nContent-Type: x\r\n\r\n{"b":2}',
    b'Content-Length: -7\r\n\r\n{"a":1}Content-Length: 7\r\n\r\n{"b":2}',
    b"Content-Length: 150\r\n\r\n" + b"x" * 150 + b'\r\nContent-Length: 7\r\n\r\n{"b":2}',
    b'{"id":1,' + b"y" * 150 + b'\n{"b":1}\n',
    b'{"id":1,' + b"y" * 150,
    b'Content-Length: 0\n\nContent-Length: 7\n\n{"b":2}Content-Length: 9\r\n\r\n{"b',
]


def cut(data: bytes, places: list[int]) -> list[bytes | tuple[str, str, bytes, bytes]]:
    framer = Framer(100)
    out: list[bytes | Fault] = []
    start = 0
    for place in [*sorted(places), len(data)]:
        out += framer.feed(data[start:place]) if place > start else []
        start = place
    out += framer.finish()
    return [part if isinstance(part, bytes) else (part.kind, part.message, part.head, part.tail) for part in out]


@pytest.mark.parametrize("data", STREAMS)
def test_cuts_do_not_matter(data: bytes) -> None:
    whole = cut(data, [])
    assert whole
    for place in range(len(data)):
        assert cut(data, [place]) == whole, place
    assert cut(data, list(range(len(data)))) == whole


@settings(deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=8), st.lists(st.integers(0, 600), max_size=6), st.booleans())
def test_messages_come_out_as_they_went_in(bodies: list[bytes], places: list[int], framed: bool) -> None:
    first = b'{"first":0}'
    if framed:
        expected = [first, *bodies]
        data = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in expected)
    else:
        lines = [body.replace(b"\n", b"") for body in bodies]
        expected = [first, *(line for line in lines if line.strip(b" \t\r\n"))]
        data = first + b"\n" + b"".join(line + b"\n" for line in lines)
    assert cut(data, [min(place, len(data)) for place in places]) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "a"]), inner, max_size=2),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(st.sampled_from(["id", "method", "params", "jsonrpc", "x"]), json_values, max_size=5),
    st.integers(1, 400),
    st.booleans(),
)
def test_only_the_messages_own_id_is_found(message: dict[str, object], size: int, ascii_only: bool) -> None:
    """With two ends of any size: the id itself, or nothing."""
    data = json.dumps(message, ensure_ascii=ascii_only).encode()
    found = peek_id(data[:size], data[-size:])
    if found is not None:
        assert json.loads(found) == message["id"]
        assert type(message["id"]) in (int, str)
    if size >= len(data) and type(message.get("id")) in (int, str):
        assert found is not None


def test_ids_in_head_and_tail() -> None:
    for head, tail, found in (
        (b'{"jsonrpc":"2.0","id":"a\\"b","method":"x","params":{"id":4', b"", b'"a\\"b"'),
        (b'{"method":"x","params":{"id":4,"t":"xxxx', b'xx","id":9}},"id":7,"jsonrpc":"2.0"}\r', b"7"),
        (b'{"params":{"t":"xxx', b'x","id":9}}', None),
        (b'[{"id":1', b"}]", None),
        (b'{"id":1.5,', b"", None),
        (b'{"id":12', b"", None),  # cut inside the number
    ):
        assert peek_id(head, tail) == found, (head, tail)
