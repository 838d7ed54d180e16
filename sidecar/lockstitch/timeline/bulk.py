"""Lines of a rollout taken a chunk at a time, as long as each is as it was written: what a rebuild does most.

The sums of a chunk are checked, its lines decoded in one call (payload and item with them, once), and reduced. The
first line that is not sound, or not the next one, ends it: that one and what follows is for `scan` to judge.

Invariant: a line that is taken here is one that `scan` would give as a record, chained and proven, and the rows are
those that it would have led to.
"""

from __future__ import annotations

from binascii import hexlify
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from lockstitch.codec import NOTHING, Digits, ParseError, Raw
from lockstitch.rollout.chunks import CHUNK_BYTES
from lockstitch.rollout.line import MAX_LINE_BYTES, parse_line
from lockstitch.rollout.tail import ReadAt
from lockstitch.timeline.new_items import reduce_new_item
from lockstitch.timeline.payloads import RECEIVED_AT, PayloadItem, output_of
from lockstitch.timeline.reducer import COMPLETED, ITEM_STATUS, Fact, reduce
from lockstitch.timeline.rows import KINDS, ItemKind, ItemRow
from lockstitch.timeline.state import ThreadState

_KINDS = {name: int(kind) for name, kind in KINDS.items()}
_RECEIVED_AT = f'"{RECEIVED_AT}":'.encode()
_PAYLOAD = b',"payload":'
_ITEM = b'{"item":{'
_BEFORE_ITEM = len(b'{"item":')
_AROUND_ITEM = _BEFORE_ITEM + len(b"}")


class _Item(msgspec.Struct, gc=False):
    id: str
    type: str
    status: Any = None
    outputRef: Raw = NOTHING  # noqa: N815 - the wire's own words


class _Payload(msgspec.Struct, gc=False):
    item: _Item | msgspec.UnsetType = msgspec.UNSET


class _Line(msgspec.Struct, gc=False):
    """A line and, of an item event, what the reducer has to know of the item."""

    sequence: int
    at: str
    type: str
    eventId: str  # noqa: N815
    payload: _Payload
    turnId: str | None = None  # noqa: N815
    itemId: str | None = None  # noqa: N815
    req: str | None = None
    digest: str | None = None


_decode_lines = msgspec.json.Decoder(_Line, float_hook=Digits).decode_lines


def reduce_sound_lines(
    state: ThreadState, read: ReadAt, end: int, *, each: Callable[[Fact], None], pause: Callable[[], None]
) -> None:
    """Reduce what follows the part that the row knows, up to `end` or to the first line that has to be judged.

    The row's size and last sum go along. `each` is called behind each event of a thread itself, `pause` between chunks.
    """
    thread = state.thread
    rest = b""
    position, size = thread.size, CHUNK_BYTES
    while position < end:
        chunk = read(position, min(size, end - position))
        if not chunk:
            return
        position += len(chunk)
        block = rest + chunk if rest else chunk
        lines = block.split(b"\n")
        rest = lines.pop()
        if not lines:
            if len(rest) > MAX_LINE_BYTES:
                return
            size *= 2  # a long line is not copied once for each chunk of it
            continue
        size = CHUNK_BYTES
        sound = _count_sound(lines, thread.last_sum.encode())
        whole = block[: len(block) - len(rest)] if sound == len(lines) else b"\n".join(lines[:sound])
        if _reduce_lines(state, lines[:sound], _parse(whole, sound), _RECEIVED_AT in block, each) < len(lines):
            return
        pause()


def _count_sound(lines: Sequence[bytes], before: bytes) -> int:
    """How many lines, from the first on, carry the sum of themselves and the sum before."""
    for number, line in enumerate(lines):
        told = line[-26:]
        sum_ = hexlify(sha256(before + line[:-26]).digest()[:8])
        if told != b',"sum":"' + sum_ + b'"}':
            return number
        before = sum_
    return len(lines)


def _parse(block: bytes, count: int) -> list[Any]:
    """The lines of a block decoded; fewer than `count` where one cannot be."""
    try:
        found = _decode_lines(block)
        if len(found) == count:
            return found
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass
    one_by_one: list[Any] = []
    for line in block.split(b"\n")[:count]:
        try:
            one_by_one.append(parse_line(line))
        except ParseError:
            break
    return one_by_one


def _reduce_lines(
    state: ThreadState, lines: Sequence[bytes], parsed: Sequence[Any], claimed: bool, each: Callable[[Fact], None]
) -> int:
    """Reduce sound lines; how many of them were the next one and could be read."""
    thread, unset, other = state.thread, msgspec.UNSET, int(ItemKind.other)
    number = thread.thread_no
    taken, line_at, due = 0, thread.size, thread.last_sequence + 1
    at = turn_id = ""
    for data, line in zip(lines, parsed, strict=False):
        length = len(data)
        start = data.find(_PAYLOAD) + 11
        stop = data.rfind(b"}", start, length - 1) + 1
        if line.sequence != due or start < 11 or stop <= start or data[start] != 0x7B:
            break
        # What is the same as in the line before is the same object: the state knows it by that.
        if line.at != at:
            at = line.at
        if line.turnId != turn_id:
            turn_id = line.turnId
        item = None
        type_, payload = line.type, line.payload
        if type(payload) is _Payload and payload.item is not unset and data.startswith(_ITEM, start):
            found: Any = payload.item
            status, ref, item_length = found.status, found.outputRef, stop - start - _AROUND_ITEM
            if type(status) is not str:
                status = None
            kind = _KINDS.get(found.type, other)
            end = COMPLETED if status is None else ITEM_STATUS.get(status, COMPLETED)
            if type_ == "item.completed" and not ref and line.digest is None and line.req is None and not claimed:
                turn = None if turn_id is None else state.turn(turn_id)
                if turn is not None and reduce_new_item(
                    state,
                    turn,
                    ItemRow(
                        number, turn.turn_no, due, found.id, kind, end, 0,
                        line_at, length, start + _BEFORE_ITEM, item_length,
                    ),
                    found.id.lower(),
                    at,
                ):  # fmt: skip
                    line_at += length + 1
                    thread.size = line_at
                    due += 1
                    taken += 1
                    continue
            item = PayloadItem(found.id, kind, status, output_of(ref) if ref else None, item_length)
        fact = Fact(
            due, at, type_, line.eventId, turn_id, line.itemId, data[start:stop], line_at, length, start,
            line.digest, line.req, item, claimed,
        )  # fmt: skip
        reduce(state, fact)
        if type_.startswith("thread."):
            each(fact)
        line_at += length + 1
        thread.size = line_at
        due += 1
        taken += 1
    if taken:
        thread.last_sum = lines[taken - 1][-18:-2].decode()
    return taken
