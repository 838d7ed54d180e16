"""Each oddity of a damaged rollout: what can be read is read, and the rest is told with its range."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from lockstitch.rollout.line import Draft, encode_append, encode_line
from lockstitch.rollout.scan import Damage, Record, read_tail, record_at, scan

AT = "2026-12-01T02:40:11.123456Z"


def draft(n: int, payload: bytes | None = None) -> Draft:
    return Draft("acme.event", payload or b'{"n":%d}' % n, f"evt_{n}", AT, "turn_1")


def lines_of(count: int) -> list[bytes]:
    """`count` appends of one event, each line with its LF."""
    lines: list[bytes] = []
    previous = b""
    for n in range(1, count + 1):
        encoded = encode_line(n, draft(n), previous)
        lines.append(encoded.data)
        previous = encoded.sum
    return lines


def read(data: bytes, committed_end: int | None = None) -> tuple[list[int], list[Damage]]:
    found = list(
        scan(io.BytesIO(data), 0, len(data), previous_sum=b"", next_sequence=1, committed_end=committed_end),
    )
    for record in found:
        if isinstance(record, Record):
            assert data[record.offset : record.end] == record.data
    return (
        [f.line.sequence for f in found if isinstance(f, Record)],
        [f for f in found if isinstance(f, Damage)],
    )


def test_an_empty_file_is_neither_a_record_nor_damage() -> None:
    assert read(b"") == ([], [])


def test_a_torn_tail_is_told_and_costs_nothing_else() -> None:
    one, two, three = lines_of(3)
    at = len(one + two)
    assert read(one + two + three[:-9]) == ([1, 2], [Damage(at, at + len(three) - 9, "torn")])


def test_a_last_line_that_lacks_only_its_line_feed_is_read() -> None:
    whole = b"".join(lines_of(3))
    end = len(whole) - 1
    assert read(whole[:-1]) == ([1, 2, 3], [Damage(end, end, "unterminated")])


@pytest.mark.parametrize("missing", [1, 2])
def test_a_torn_append_is_set_aside_only_if_it_was_never_committed(missing: int) -> None:
    first = encode_line(1, draft(1), b"")
    many = encode_append(2, [draft(n) for n in (2, 3, 4)], first.sum).lines
    start = len(first.data)
    data = first.data + b"".join(many[:-missing])
    kept = [1, 2, 3, 4][:-missing]
    assert read(data) == (kept, [])
    assert read(data, committed_end=len(data)) == (kept, [])
    assert read(data, committed_end=start) == ([1], [Damage(start, len(data), "tornAppend")])
    torn = data + many[-missing][:20]
    assert read(torn, committed_end=start) == ([1], [Damage(start, len(torn), "tornAppend")])


def test_a_torn_line_of_an_append_of_its_own_takes_no_other_along() -> None:
    first = encode_line(1, draft(1), b"")
    many = encode_append(2, [draft(2), draft(3)], first.sum).lines
    data = first.data + b"".join(many)
    assert read(data + b'{"seq', committed_end=0) == ([1, 2, 3], [Damage(len(data), len(data) + 5, "torn")])


def test_zeros_in_the_middle_and_at_the_end_are_stepped_over() -> None:
    one, two, three = lines_of(3)
    zeros = b"\0" * 5000
    at = len(one)
    assert read(one + zeros + two + three) == ([1, 2, 3], [Damage(at, at + 5000, "nul")])
    assert read(one + zeros + b"\n" + two + three) == ([1, 2, 3], [Damage(at, at + 5001, "nul")])
    end = len(one + two + three)
    assert read(one + two + three + zeros) == ([1, 2, 3], [Damage(end, end + 5000, "nul")])
    zeroed = b"\0" * len(two)
    assert read(one + zeroed + three) == ([1, 3], [Damage(at, at + len(two), "nul")])


def test_glued_records_are_taken_apart() -> None:
    one, two, three = lines_of(3)
    at = len(one) + len(two) - 1
    assert read(one + two[:-1] + three) == ([1, 2, 3], [Damage(at, at, "glued")])


@pytest.mark.parametrize("glue", [b"", b"\n"])
def test_a_partial_record_before_the_full_one_hides_nothing(glue: bytes) -> None:
    one, two, three = lines_of(3)
    records, damages = read(one + two[:60] + glue + two + three)
    assert records == [1, 2, 3]
    assert [(d.start, d.end) for d in damages] == [(len(one), len(one) + 60 + len(glue))]


def test_a_record_behind_the_front_of_another_is_read() -> None:
    """The sum before it is lost, so that it is a record but not proven to be whole."""
    one, two, three = lines_of(3)
    found = list(scan(io.BytesIO(one + two[:60] + three), 0, 1000, previous_sum=b"", next_sequence=1))
    assert [(f.line.sequence, f.proven, f.chained) for f in found if isinstance(f, Record)] == [
        (1, True, True),
        (3, False, False),
    ]
    assert [f for f in found if isinstance(f, Damage)] == [Damage(len(one), len(one) + 60, "torn")]


def test_bytes_that_are_not_utf8_cost_their_line() -> None:
    one, two, three = lines_of(3)
    bad = two.replace(b'"n"', b'"\xff"')
    assert read(one + bad + three) == ([1, 3], [Damage(len(one), len(one + bad), "notUtf8")])


def test_a_broken_first_line_hides_nothing() -> None:
    """Field report B09."""
    one, two, three = lines_of(3)
    broken = b"{" + one[5:]
    assert read(broken + two + three) == ([2, 3], [Damage(0, len(broken), "notJson")])
    assert read(one[7:20] + b"\n" + two + three) == ([2, 3], [Damage(0, 14, "notJson")])


def test_a_byte_order_mark_is_stepped_over() -> None:
    assert read(b"\xef\xbb\xbf" + b"".join(lines_of(2))) == ([1, 2], [Damage(0, 3, "notJson")])


def test_blank_lines_fail_nothing() -> None:
    one, two, three = lines_of(3)
    at = len(one)
    assert read(one + b"\n \n" + two + three) == ([1, 2, 3], [Damage(at, at + 3, "blank")])


def test_a_file_with_carriage_returns_is_read() -> None:
    data = b"".join(lines_of(3)).replace(b"\n", b"\r\n")
    records, damages = read(data)
    assert records == [1, 2, 3]
    assert [d.reason for d in damages] == ["carriageReturn"]
    assert (damages[0].start, damages[0].end) == (data.index(b"\r"), len(data))


def test_a_missing_line_is_told_where_it_was() -> None:
    one, two, three, four = lines_of(4)
    assert read(one + three + four) == ([1, 3, 4], [Damage(len(one), len(one), "missing")])
    assert read(two + three) == ([2, 3], [Damage(0, 0, "missing")])
    assert read(one + two + four) == ([1, 2, 4], [Damage(len(one + two), len(one + two), "missing")])


def test_a_sequence_that_was_seen_is_skipped() -> None:
    one, two, three = lines_of(3)
    at = len(one + two)
    again = [Damage(at, at + len(two), "duplicateSequence")]
    assert read(one + two + two + three) == ([1, 2, 3], again)
    other = encode_line(2, draft(2, b'{"by":"another"}'), two[-19:-3])  # chained, by a second writer without the lock
    last = encode_line(3, draft(3), other.sum)
    again = [Damage(at, at + len(other.data), "duplicateSequence")]
    assert read(one + two + other.data + last.data) == ([1, 2, 3], again)


def test_a_wrong_sum_is_not_trusted() -> None:
    one, two, three = lines_of(3)
    rotten = two.replace(b'{"n":2}', b'{"n":3}')
    assert read(one + rotten + three) == ([1, 3], [Damage(len(one), len(one + two), "rotten")])
    assert read(one + rotten) == ([1], [Damage(len(one), len(one + two), "rotten")])


@pytest.mark.parametrize("wrong", [b"0", b"9", b"14"])
@pytest.mark.parametrize("count", [2, 3])
def test_a_rotten_sequence_is_no_gap(wrong: bytes, count: int) -> None:
    one, two, *rest = lines_of(count)
    rotten = two.replace(b'"sequence":2', b'"sequence":' + wrong)
    damages = [Damage(len(one), len(one + rotten), "rotten")]
    assert read(one + rotten + b"".join(rest)) == ([1, *range(3, count + 1)], damages)


def test_a_rotten_sum_costs_its_line_and_not_the_next() -> None:
    one, two, three = lines_of(3)
    rotten = two[:-10] + b"zzzz" + two[-6:]
    records, damages = read(one + rotten + three)
    assert records == [1, 3]
    assert [(d.start, d.end) for d in damages] == [(len(one), len(one + rotten))]


def test_a_writer_may_go_on_after_damage() -> None:
    """It chains to the 16 bytes before the last two of whatever line is there."""
    one, two = lines_of(2)
    for bad in (two[:30] + b"\n", b"\n", b"x\n", b"\0" * 40 + b"\n"):
        before = (one + bad)[:-1].rpartition(b"\n")[2][:-2][-16:]
        after = encode_line(2, draft(2), before)
        data = one + bad + after.data
        found = list(scan(io.BytesIO(data), 0, len(data), previous_sum=b"", next_sequence=1))
        last = found[-1]
        assert isinstance(last, Record)
        assert (last.line.sequence, last.chained, last.proven) == (2, True, True)


def test_a_line_of_another_thread_is_not_taken_for_ours() -> None:
    one, two, three = lines_of(3)
    foreign = encode_line(50, draft(50), b"fedcba9876543210").data
    assert read(one + two + foreign + three) == (
        [1, 2, 3],
        [Damage(len(one + two), len(one + two + foreign), "rotten")],
    )


def test_payloads_may_hold_what_looks_like_lines() -> None:
    inner = lines_of(1)[0][:-1]
    payloads = [
        b'{"a":1,"sum":"0123456789abcdef"}',
        b'{"event":%b}' % inner,
        b'{"events":[%b,%b]}' % (inner, inner),
        b'{"text":"\\"}{\\"sequence\\":1"}',
        b"{}",
    ]
    lines = encode_append(1, [draft(n, p) for n, p in enumerate(payloads)], b"").lines
    data = b"".join(lines)
    assert read(data) == ([1, 2, 3, 4, 5], [])
    broken = lines[0] + lines[1] + lines[2].replace(b"acme", b"ac\xffe") + lines[3] + lines[4]
    assert read(broken)[0] == [1, 2, 4, 5], "what a damaged line's payload holds is no record of this thread"


def test_a_longer_range_than_the_file_is_no_error() -> None:
    data = b"".join(lines_of(2))
    found = list(scan(io.BytesIO(data), 0, len(data) + 999, previous_sum=b"", next_sequence=1))
    assert len(found) == 2


class Endless(io.RawIOBase):
    """A file of `size` bytes of one value, with `tail` at its end, that is nowhere in memory."""

    def __init__(self, byte: bytes, size: int, tail: bytes) -> None:
        self._byte, self._size, self._tail, self._at = byte, size, tail, 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        garbage = self._byte * max(0, min(size, self._size - self._at))
        tail_at = max(0, self._at - self._size)
        return garbage + self._tail[tail_at : tail_at + size - len(garbage)]


@pytest.mark.parametrize("byte", [b"\0", b"x"])
def test_a_hundred_megabytes_of_garbage_take_little_memory(byte: bytes) -> None:
    size = 100_000_000
    tail = b"".join(lines_of(2))
    file = Endless(byte, size, tail)
    tracemalloc.start()
    try:
        found = list(scan(file, 0, size + len(tail), previous_sum=b"", next_sequence=1))  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [f.line.sequence for f in found if isinstance(f, Record)] == [1, 2]
    assert [(f.start, f.end) for f in found if isinstance(f, Damage)] == [(0, size)]
    assert peak < 16 << 20


def test_a_line_longer_than_a_chunk_is_read_whole() -> None:
    big = encode_line(1, draft(1, b'{"text":"' + b"x" * 3_000_000 + b'"}'), b"")
    after = encode_line(2, draft(2), big.sum)
    assert read(big.data + after.data) == ([1, 2], [])
    assert read(b"\0" * 1_500_000 + big.data + after.data)[0] == [1, 2]


def test_the_tail_is_read_without_the_rest() -> None:
    data = b"".join(lines_of(300))
    reads: list[int] = []

    class Counting(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size or 0)
            return super().read(size)

    tail = read_tail(Counting(data), len(data))
    assert (tail.last_sum, tail.last_sequence, tail.clean) == (data[-19:-3], 300, True)
    assert sum(reads) < 10_000


def test_the_tail_says_what_is_wrong_with_it() -> None:
    one, two = lines_of(2)
    torn = read_tail(io.BytesIO(one + two[:-1]), len(one + two) - 1)
    assert (torn.last_sum, torn.last_sequence, torn.clean) == (None, 2, False)
    rotten = read_tail(io.BytesIO(one + b"garbage\n"), len(one) + 8)
    assert (rotten.last_sum, rotten.last_sequence, rotten.clean) == (b"garba", None, False)
    many = encode_append(1, [draft(1), draft(2)], b"").lines
    open_append = read_tail(io.BytesIO(many[0]), len(many[0]))
    assert (open_append.last_sequence, open_append.clean) == (1, False)
    assert read_tail(io.BytesIO(), 0).clean


def test_a_single_record_is_judged_as_a_scan_judges_it() -> None:
    one, two, three, four = lines_of(4)
    lost = one + two[:50] + three + four
    for data, offset in ((lost, len(one) + 50), (one + b"\n" + two + three, len(one) + 1), (one + two, 0)):
        record = record_at(io.BytesIO(data), offset, len(data))
        assert record is not None
        assert record.offset == offset
    assert record_at(io.BytesIO(lost), len(one), len(lost)) is None
    assert record_at(io.BytesIO(lost), len(lost), len(lost)) is None
    rotten = one + two.replace(b"acme", b"acne") + three
    assert record_at(io.BytesIO(rotten), len(one), len(rotten)) is None
