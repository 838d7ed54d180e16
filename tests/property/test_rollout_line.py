"""Encoding and reading a rollout line are each other's inverse, whatever the payload holds."""

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from lockstitch import codec
from lockstitch.rollout.line import (
    Draft,
    encode_append,
    encode_line,
    is_canonical,
    is_sound,
    parse_line,
    payload_span,
    previous_sum_at,
    sum_of,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ['","sum":"0123456789abcdef"}', '{"sequence":1,"at":"', "\n", "\u2028", '"}{"sequence":', ',"payload":{'],
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
payloads = st.dictionaries(text, values, max_size=4).map(codec.encode)
names = st.from_regex(r"[A-Za-z0-9._:-]{1,20}", fullmatch=True) | text.filter(bool)
hexes = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)
drafts = st.builds(
    Draft,
    type=names,
    payload=payloads,
    event_id=names,
    at=st.just("2026-12-01T02:40:11.123456Z"),
    turn_id=st.none() | names,
    item_id=st.none() | names,
    digest=st.none() | hexes,
    original_sum=st.none() | st.just("0123456789abcdef"),
)


@given(drafts, st.integers(1, 2**53), st.sampled_from([b"", b"0123456789abcdef"]), st.integers(0, 3), st.none() | hexes)
def test_a_line_reads_back_as_it_was_written(
    draft: Draft, sequence: int, previous: bytes, more: int, req: str | None
) -> None:
    """Field report B08."""
    encoded = encode_line(sequence, draft, previous, more=more, req=req)
    assert encoded.data.count(b"\n") == 1
    assert encoded.data.endswith(b"\n")
    data = encoded.data[:-1]
    line = parse_line(data)
    assert (line.sequence, line.at, line.type, line.eventId) == (sequence, draft.at, draft.type, draft.event_id)
    assert (line.turnId, line.itemId, line.more, line.req) == (draft.turn_id, draft.item_id, more, req)
    assert (line.digest, line.originalSum) == (draft.digest, draft.original_sum)
    assert bytes(line.payload) == draft.payload
    assert line.sum.encode() == encoded.sum == sum_of(data, previous) == previous_sum_at(encoded.data)
    assert payload_span(data) == (encoded.payload_at, len(encoded.payload))
    assert data[encoded.payload_at :][: len(encoded.payload)] == draft.payload
    assert data.startswith(encoded.head)
    assert is_sound(data, previous)
    assert is_canonical(data, line)
    assert not is_sound(data, b"fedcba9876543210")
    keys = list(json.loads(data))
    order = [
        "sequence",
        "at",
        "type",
        "eventId",
        "turnId",
        "itemId",
        "payload",
        "more",
        "req",
        "digest",
        "originalSum",
        "sum",
    ]
    assert keys == [key for key in order if key in keys]


@given(st.lists(drafts, min_size=1, max_size=5), hexes)
def test_an_append_chains_as_a_stranger_computes_it(many: list[Draft], req: str) -> None:
    """The rule of the format, in the four lines a stranger would write."""
    made = encode_append(7, many, b"", req)
    previous = b""
    for line in b"".join(made.lines).split(b"\n")[:-1]:
        head, _, tail = line.rpartition(b',"sum":"')
        previous = hashlib.sha256(previous + head).hexdigest()[:16].encode()
        assert tail == previous + b'"}'
    read = [parse_line(line[:-1]) for line in made.lines]
    assert [line.sequence for line in read] == list(range(7, 7 + len(many)))
    assert [line.more for line in read] == list(range(len(many)))[::-1]
    assert [line.req for line in read] == [None] * (len(many) - 1) + [req]


@given(st.binary(max_size=60))
def test_a_line_can_follow_any_bytes(before: bytes) -> None:
    """The sum before a line is the 16 bytes before the last two of the line before it, fewer if it is shorter."""
    expected = (before + b"\n").split(b"\n")[-2][:-2][-16:]
    assert previous_sum_at(before + b"\n") == expected
    assert previous_sum_at((before + b"\n")[-19:]) == expected
