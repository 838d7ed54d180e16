"""The rollout line: one event as one line of bytes, chained to the line before it by its sum.

Invariant: keys stand in one order, the payload passes through byte for byte, and the last 26 bytes before the
LF are `,"sum":"<16 hex digits>"}`. Nothing but hex digits and numbers stands between the payload and there, so
that the payload's place is found without parsing.
"""

from __future__ import annotations

from binascii import hexlify
from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from lockstitch.codec import ParseError, Raw, decoder, encode

SUM_BYTES = 16
SUFFIX_BYTES = 26
"""Length of `,"sum":"0123456789abcdef"}`."""

LOOK_BACK = SUM_BYTES + 3
"""How many bytes before a line decide the sum before it: the sum, `"}` and the LF."""

MAX_LINE_BYTES = 128 << 20
"""A longer line is damage to a reader, hence never to be written."""

_SUM_KEY = b',"sum":"'
_END = b'"}'
_PAYLOAD_KEY = b',"payload":'
_PLAIN = bytes(set(range(0x20, 0x7F)) - {0x22, 0x5C})  # stands for itself in a JSON string
_COPY_LIMIT = 1 << 16  # up to here one concatenation is cheaper than a second call to the hash


class Draft(msgspec.Struct, frozen=True, gc=False):
    """An event that has no sequence yet. `payload` is settled JSON of an object.

    A msgspec struct and not a dataclass, here and below: making a frozen dataclass costs as much as the sum.
    """

    type: str
    payload: bytes
    event_id: str
    at: str
    turn_id: str | None = None
    item_id: str | None = None
    digest: str | None = None
    original_sum: str | None = None


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """A line as it goes to the file: `data` with its LF, which begins with `head` and then the payload."""

    data: bytes
    sum: bytes
    head: bytes
    payload: bytes

    @property
    def payload_at(self) -> int:
        """Where in the line the payload stands."""
        return len(self.head)


class EncodedAppend(msgspec.Struct, frozen=True):
    """The lines of one append, one after the other.

    Lists side by side and not a list of Encoded: for a large append that saves a seventh of making the lines.
    """

    chunks: list[bytes]
    """Joined they are the bytes of all lines."""
    lengths: list[int]
    """Of each line, with its LF."""
    heads: list[bytes]
    """What of each line stands before its payload."""
    payloads: list[bytes]
    sum: bytes
    """The sum of the last line."""

    @property
    def lines(self) -> list[bytes]:
        """Each line, with its LF."""
        return b"".join(self.chunks).splitlines(keepends=True)


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line as read. Names are the keys on disk. Unknown keys of a newer format are ignored."""

    sequence: int
    at: str
    type: str
    eventId: str  # noqa: N815
    payload: Raw
    sum: str
    turnId: str | None = None  # noqa: N815
    itemId: str | None = None  # noqa: N815
    more: int = 0
    req: str | None = None
    digest: str | None = None
    originalSum: str | None = None  # noqa: N815


_parse = decoder(Line)


def encode_line(sequence: int, draft: Draft, previous_sum: bytes, *, more: int = 0, req: str | None = None) -> Encoded:
    """Make the line of one event. `more` is how many lines of the same append follow it."""
    made = _chained(_heads(sequence, (draft,)), (draft,), [_tail(draft, more, req)], previous_sum)
    return Encoded(b"".join(made.chunks), made.sum, made.heads[0], draft.payload)


def encode_append(
    first_sequence: int, drafts: Sequence[Draft], previous_sum: bytes, req: str | None = None
) -> EncodedAppend:
    """Make the lines of one append: `more` on all but the last, `req` on the last."""
    last = len(drafts) - 1
    tails = [
        b',"more":%d' % (last - number)
        if number < last and draft.digest is None and draft.original_sum is None  # as _tail does, without the call
        else _tail(draft, last - number, req if number == last else None)
        for number, draft in enumerate(drafts)
    ]
    return _chained(_heads(first_sequence, drafts), drafts, tails, previous_sum)


def _chained(heads: list[bytes], drafts: Sequence[Draft], tails: list[bytes], previous_sum: bytes) -> EncodedAppend:
    payloads = [draft.payload for draft in drafts]
    chunks: list[bytes] = []
    lengths: list[int] = []
    for summed in map(b"".join, zip(heads, payloads, tails, strict=True)):
        previous_sum = _sum(previous_sum, summed)
        chunks += (summed, _SUM_KEY, previous_sum, b'"}\n')
        lengths.append(len(summed) + SUFFIX_BYTES + 1)
    return EncodedAppend(chunks, lengths, heads, payloads, previous_sum)


def parse_line(data: bytes | memoryview) -> Line:
    """Read a line (without its LF). Raises ParseError. Says nothing about its sum: see is_sound."""
    return _parse(data)


def payload_span(data: bytes) -> tuple[int, int]:
    """Offset and length of the payload in a line that we wrote. Raises ParseError.

    Both ends are found by search: no raw quote can stand in the strings before the payload, and no brace
    between the payload and the line's own.
    """
    start = data.find(_PAYLOAD_KEY) + len(_PAYLOAD_KEY)
    end = data.rfind(b"}", start, len(data) - 1) + 1
    if start < len(_PAYLOAD_KEY) or end <= start or data[start] != 0x7B:
        raise ParseError("the line has no payload")
    return start, end - start


def sum_of(line_without_lf: bytes, previous_sum: bytes) -> bytes:
    """The sum that the line should carry."""
    return _sum(previous_sum, line_without_lf[:-SUFFIX_BYTES])


def is_sound(line_without_lf: bytes, previous_sum: bytes) -> bool:
    """Whether the line carries the sum of itself and the sum before it."""
    return (
        line_without_lf[-26:-18] == _SUM_KEY
        and line_without_lf.endswith(_END)
        and _sum(previous_sum, line_without_lf[:-26]) == line_without_lf[-18:-2]
    )


def previous_sum_at(bytes_before_line: bytes) -> bytes:
    """The previous sum of the line that begins after these bytes: at least LOOK_BACK of them, or all there are.

    It is the 16 bytes before the last two of the line that ends there, fewer if that line is shorter; so a
    line can follow any bytes, also damaged ones. Empty at the start of the file.
    """
    line = bytes_before_line[-LOOK_BACK:-1]
    return line[line.rfind(b"\n") + 1 :][:-2]


def sound_lines(data: bytes, places: Iterable[tuple[int, int]], data_at: int = 0) -> list[bytes | None]:
    """The lines at (offset, length) in a rollout's bytes, which begin at `data_at`: without LF, each if it is sound.

    None stands for one that does not end there or does not carry the sum of itself and of the sum before it.
    LOOK_BACK bytes before each have to be there, or all that there are.
    """
    found: list[bytes | None] = []
    for line_at, length in places:  # no call for a line but those of the hash: thousands are read at once
        at = line_at - data_at
        end = at + length
        line = data[at:end]
        before = data[at - LOOK_BACK : at - 1] if at >= LOOK_BACK else b"\n"
        previous = previous_sum_at(data[max(0, at - LOOK_BACK) : at]) if b"\n" in before else before[:-2]
        if length <= _COPY_LIMIT:
            own_sum = hexlify(sha256(previous + line[:-26]).digest()[:8])
        else:
            own_sum = _sum(previous, line[:-26])
        is_sound = line[-26:] == _SUM_KEY + own_sum + _END and data[end : end + 1] == b"\n"
        found.append(line if is_sound else None)
    return found


def is_canonical(data: bytes, line: Line) -> bool:
    """Whether the bytes are exactly what encode_line would have written for this line."""
    payload = bytes(line.payload)
    if not payload.startswith(b"{") or line.more < 0:
        return False
    draft = Draft(
        line.type, payload, line.eventId, line.at, line.turnId, line.itemId, line.digest, line.originalSum
    )  # fmt: skip
    (head,), tail = _heads(line.sequence, (draft,)), _tail(draft, line.more, line.req)
    return data == b'%b%b%b,"sum":"%b"}' % (head, payload, tail, line.sum.encode())


def _heads(first_sequence: int, drafts: Sequence[Draft]) -> list[bytes]:
    """The bytes of each line before its payload."""
    heads: list[str] = []
    quotes = 0
    for sequence, draft in enumerate(drafts, first_sequence):
        turn_id, item_id = draft.turn_id, draft.item_id
        ids = draft.event_id
        quotes += 16
        if turn_id is not None:
            ids = f'{ids}","turnId":"{turn_id}'
            quotes += 4
        if item_id is not None:
            ids = f'{ids}","itemId":"{item_id}'
            quotes += 4
        heads.append(f'{{"sequence":{sequence},"at":"{draft.at}","type":"{draft.type}","eventId":"{ids}","payload":')
    # One look at all of them: whether every string stands for itself, without an escape.
    encoded = "\n".join(heads).encode()
    rest = encoded.translate(None, _PLAIN)
    between = rest.count(b"\n")
    if between == len(heads) - 1 and rest.count(b'"') == quotes == len(rest) - between:
        return encoded.split(b"\n")
    return [_escaped_head(sequence, draft) for sequence, draft in enumerate(drafts, first_sequence)]


def _tail(draft: Draft, more: int, req: str | None) -> bytes:
    """The bytes between a line's payload and its sum."""
    if req is None and draft.digest is None and draft.original_sum is None:
        return b',"more":%d' % more if more else b""
    tail = ""
    if more:
        tail = f',"more":{more}'
    if req is not None:
        tail += f',"req":"{req}"'
    if draft.digest is not None:
        tail += f',"digest":"{draft.digest}"'
    if draft.original_sum is not None:
        tail += f',"originalSum":"{draft.original_sum}"'
    return tail.encode()


def _escaped_head(sequence: int, draft: Draft) -> bytes:
    keys = {"sequence": sequence, "at": draft.at, "type": draft.type, "eventId": draft.event_id}
    if draft.turn_id is not None:
        keys["turnId"] = draft.turn_id
    if draft.item_id is not None:
        keys["itemId"] = draft.item_id
    return encode(keys)[:-1] + _PAYLOAD_KEY


def _sum(previous_sum: bytes, summed: bytes) -> bytes:
    if len(summed) <= _COPY_LIMIT:
        return hexlify(sha256(previous_sum + summed).digest()[:8])
    state = sha256(previous_sum)
    state.update(summed)
    return hexlify(state.digest()[:8])
