"""Reading a rollout whatever its state: records and damage, in the order of the file.

Damage is told, never raised. A line is judged by the sums that it may follow: by the bytes directly before it (what
a writer chains to, see line.previous_sum_at), that of the last accepted record (something was put between them),
and the sum that a line with a wrong sum before it should carry (only that sum rotted).

    its sum holds | its sequence | verdict
    yes           | as expected  | record
    yes           | beyond       | record; `missing` where no damaged bytes before it account for the gap
    yes or no     | seen already | `duplicateSequence`, skipped (`rotten` if its sum holds with the expected one)
    no            | as expected  | `rotten`: the sum before it is at hand, and does not hold
    no            | beyond       | in doubt: the sum before it may be among what is lost

A line in doubt must be exactly as a writer writes it, and the next readable line decides. If that one follows its
sum, the line is a record if it has the sequence before it, else `rotten`. If that one follows the record before it,
it is `rotten`. If neither can be proven, it is a record if its sequence is lower; then that one is in doubt too,
also with the expected sequence. At the end of the range it is a record.

Invariant: no input raises. Every byte of the range is in a record, the LF after one, or a damage. What is held
in memory is bounded by one chunk and, for a line that begins like a record, MAX_LINE_BYTES.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from lockstitch.codec import ParseError
from lockstitch.rollout.apart import Apart, Found, begins_a_record, reason_of
from lockstitch.rollout.chunks import END, FRAGMENT, LF, physical_lines
from lockstitch.rollout.line import Line, is_sound, parse_line, sum_of
from lockstitch.rollout.tail import Tail, last_chained, read_tail, reader, torn_append_at

__all__ = ["HARMLESS", "Damage", "Record", "Tail", "read_tail", "record_at", "scan"]

HARMLESS = frozenset({"blank", "carriageReturn", "duplicateSequence", "glued", "unterminated"})
"""Reasons of damage by which no event is lost."""

_MOST_HELD = 64


class Record(msgspec.Struct, frozen=True, gc=False):
    """A line that can be used. `data` is without its LF.

    `chained`: its sum holds with the bytes directly before it, which is what a check before splicing tests.
    `proven`: its sum holds at all; if not, it follows lost bytes that held the sum before it.
    """

    offset: int
    data: bytes
    line: Line
    chained: bool = True
    proven: bool = True

    @property
    def end(self) -> int:
        """Offset after the last byte, before the LF."""
        return self.offset + len(self.data)


class Damage(msgspec.Struct, frozen=True, gc=False):
    """Bytes [start, end) that are no record, or (start == end) a place where something is missing.

    Reasons: torn, tornAppend, nul, notUtf8, notJson, rotten, missing, and those in HARMLESS.
    """

    start: int
    end: int
    reason: str


def scan(
    file: int | BinaryIO,
    start: int,
    end: int,
    *,
    previous_sum: bytes,
    next_sequence: int,
    committed_end: int | None = None,
) -> Iterator[Record | Damage]:
    """Read [start, end): 0 with an empty sum and sequence 1, or the end of a record that was `chained`.

    With `committed_end`, an append whose last line is missing and that begins there or later is one damage
    `tornAppend`, as recovery will set it aside; without, its lines are records like any other.
    """
    read = reader(file)
    torn = None if committed_end is None else torn_append_at(read, max(start, committed_end), end)
    state = _Scan(previous_sum, next_sequence)
    fast = state.fast
    out = state.out
    for offset, data, closed in physical_lines(read, start, end if torn is None else torn):
        if closed != LF or not fast(offset, data):
            state.slow(offset, data, closed)
        if out:
            yield from out
            out.clear()
    state.finish()
    yield from out
    if torn is not None:
        yield Damage(torn, end, "tornAppend")


def record_at(file: int | BinaryIO, offset: int, size: int) -> Record | None:
    """The record at `offset` of a file of `size` bytes, judged as a scan judges it; None if there is none.

    For a line whose sum does not hold with the bytes directly before it. It costs a scan from the last line before
    it for which it does.
    """
    anchor = last_chained(reader(file), offset)
    for found in scan(file, anchor.offset, size, previous_sum=anchor.previous_sum, next_sequence=anchor.next_sequence):
        if isinstance(found, Record) and found.offset >= offset:
            return found if found.offset == offset else None
    return None


class _Scan:
    """What is known between two lines."""

    def __init__(self, previous_sum: bytes, next_sequence: int) -> None:
        self.out: list[Record | Damage] = []
        self.literal = previous_sum  # by the bytes directly before the next line
        self.trusted = previous_sum  # of the last accepted record
        self.expected = next_sequence
        self.gap = False  # bytes that may have been events lie between that record and here
        self.line_tail = b""  # the last bytes of a line that comes in fragments
        self.damage: Damage | None = None  # the last one, while it may grow
        self.carriage_returns: Damage | None = None
        self.sure = True  # `trusted` was proven, by its own line or by the one after it
        self.mended: list[bytes] = []  # sums that a line with a wrong sum should carry
        self.doubt: Record | None = None
        self.doubt_gap = False  # what `gap` was before it
        self.doubt_stop = 0  # where it ends, with its LF
        self.doubt_sums: list[bytes] = []  # that it carries, or should
        self.held: list[Record | Damage] = []  # what came after the record in doubt

    def fast(self, offset: int, data: bytes) -> bool:
        """Take a line that follows the one before it as it should; nearly all do."""
        if self.doubt is not None or self.line_tail or not is_sound(data, self.literal):
            return False
        try:
            line = parse_line(data)
        except ParseError:
            return False
        if line.sequence != self.expected:
            return False
        if self.damage is not None or self.carriage_returns is not None:
            self._end_carriage_returns()
            self._flush()
        self.expected += 1
        self.literal = self.trusted = data[-18:-2]
        self.gap, self.sure = False, True
        if self.mended:
            self.mended = []
        self.out.append(Record(offset, data, line))
        return True

    def slow(self, offset: int, data: bytes, closed: int) -> None:
        """Take a line apart, or a fragment of an overlong one: find what can be read, name the rest."""
        apart = Apart(data)
        position = 0
        line_end = len(data) + (closed == LF)
        is_line_start = not self.line_tail
        while found := apart.next(position, self._sums()):
            if found.start > position:
                before = data[position : found.start]
                self._lose(offset + position, offset + found.start, reason_of(before, begins_a_record(before)))
            elif position:
                self._lose(offset + position, offset + position, "glued")
            chained = is_line_start and found.start == 0 and found.follows == self.literal
            position = found.end
            self._judge(offset, data, found, chained, line_end if position == len(data) else position)
            self.literal = data[position - 18 : position - 2]
        rest = data[position:]
        if closed == LF and position and rest == b"\r":
            self._carriage_return(offset + position)
        elif rest or (closed == LF and not position):
            self._end_carriage_returns()
            self._lose(offset + position, offset + line_end, reason_of(rest, closed == END))
        elif closed == END:
            self._lose(offset + position, offset + position, "unterminated")
        tail = (self.line_tail + data[-18:])[-18:]
        self.line_tail = tail if closed == FRAGMENT else b""
        self.literal = tail[:-2]

    def finish(self) -> None:
        """The end of the range: nothing speaks against the record in doubt."""
        if self.doubt is not None:
            self._resolve(True)
        self._end_carriage_returns()
        self._flush()

    def _sums(self) -> list[bytes]:
        """What the next record may follow."""
        return [self.literal, *self.doubt_sums, self.trusted, *self.mended]

    def _judge(self, offset: int, data: bytes, found: Found, chained: bool, stop: int) -> None:
        line = found.line
        start, stop = offset + found.start, offset + stop
        doubt = self.doubt
        if doubt is not None and found.follows is None and line.sequence >= self.expected:
            self._resolve(line.sequence > doubt.line.sequence, sure=False)
        elif doubt is not None and found.follows is not None:
            later = line.sequence - doubt.line.sequence
            if found.follows in self.doubt_sums:
                self._resolve(later == 1)
            else:
                self._resolve(later > 0 and found.follows != self.trusted)
        body = data[found.start : found.end]
        proven = found.follows is not None
        if proven and line.sequence >= self.expected:
            self._accept(Record(start, body, line, chained), self.gap)
        elif not proven and self._is_rotten(body, line):
            self._lose(start, stop, "rotten")
            self.mended = [sum_of(body, self.literal), sum_of(body, self.trusted)]
        elif line.sequence < self.expected:
            self._lose(start, stop, "duplicateSequence")
        else:
            self._flush()
            self.doubt = Record(start, body, line, False, False)
            self.doubt_gap, self.gap = self.gap, False
            self.doubt_stop = stop
            self.doubt_sums = [line.sum.encode(), sum_of(body, self.literal), sum_of(body, self.trusted)]

    def _accept(self, record: Record, gap: bool) -> None:
        if record.line.sequence > self.expected and not gap:
            self._lose(record.offset, record.offset, "missing")
        self._flush()
        self.out.append(record)
        self.expected = record.line.sequence + 1
        self.trusted = record.line.sum.encode()
        self.gap, self.sure, self.mended = False, True, []

    def _resolve(self, is_record: bool, *, sure: bool = True) -> None:
        doubt, held, self.doubt, self.held, self.doubt_sums = self.doubt, self.held, None, [], []
        assert doubt is not None
        later_damage, later_gap, later_mended, self.damage = self.damage, self.gap, self.mended, None
        if is_record:
            self._accept(doubt, self.doubt_gap)
            self.sure = sure
        else:
            self._lose(doubt.offset, self.doubt_stop, "rotten")
            self._flush()
        self.out += held
        self.damage, self.gap, self.mended = later_damage, later_gap or not is_record, later_mended

    def _is_rotten(self, body: bytes, line: Line) -> bool:
        """Whether the sum before it is at hand and does not hold, or would if its sequence were the expected one."""
        if line.sequence == self.expected:
            return self.sure
        if self.gap:
            return False
        told = b'{"sequence":%d' % line.sequence
        mended = b'{"sequence":%d' % self.expected + body[len(told) :]
        return body.startswith(told) and sum_of(mended, self.trusted) == body[-18:-2]

    def _lose(self, start: int, end: int, reason: str) -> None:
        last = self.damage
        if last is not None and last.end == start and (last.reason == reason or self.line_tail) and start < end:
            self.damage = Damage(last.start, end, last.reason)
        else:
            self._flush()
            self.damage = Damage(start, end, reason)
        self.gap = self.gap or reason not in HARMLESS
        if self.doubt is not None and len(self.held) > _MOST_HELD:
            self._resolve(True, sure=False)

    def _carriage_return(self, at: int) -> None:
        first = self.carriage_returns
        if first is None:
            self._flush()
        self.carriage_returns = Damage(at if first is None else first.start, at + 2, "carriageReturn")

    def _end_carriage_returns(self) -> None:
        if self.carriage_returns is not None:
            self._flush()
            self.damage, self.carriage_returns = self.carriage_returns, None

    def _flush(self) -> None:
        into = self.out if self.doubt is None else self.held
        if self.damage is not None:
            into.append(self.damage)
            self.damage = None
