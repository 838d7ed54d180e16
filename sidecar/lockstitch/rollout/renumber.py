"""A rollout's lines under other numbers and sums, as a fork needs them.

Lines that are as a writer writes them are taken a chunk at a time, as bytes: nothing of them is decoded. The first
one that is not sound, or not the next one, ends that: it and what follows is for `scan` to judge.

Invariant: a line that is taken as bytes is one that `scan` would give as a record, chained and proven, and becomes what
`encode_line` would make of that record.
"""

from __future__ import annotations

from binascii import hexlify
from collections.abc import Collection, Iterator
from hashlib import sha256

from lockstitch.rollout.chunks import CHUNK_BYTES
from lockstitch.rollout.line import MAX_LINE_BYTES, Draft, encode_line
from lockstitch.rollout.tail import ReadAt

_SEQUENCE = len(b'{"sequence":')
_AT = b',"at":"'
_TYPE = b'","type":"'
_DIGEST = b',"digest":"'
_DIGEST_BYTES = len(_DIGEST) + 32 + 1


class Renumbering:
    """Lines behind a first one, which has the sequence 1."""

    def __init__(self, first_sum: bytes, left_out: Collection[str], until: int | None) -> None:
        """`left_out`: types of events that are not taken; `until`: the first sequence that is not."""
        self._sum, self._next = first_sum, 2
        self._left_out = frozenset(type_.encode() for type_ in left_out)
        self._until = until
        self.last_at: str | None = None
        """The time of the last event that was taken."""
        self.offset = 0
        """How much of the source was read as bytes; with the sum and the sequence that follow there, for `scan`."""
        self.source_sum, self.source_sequence = b"", 1
        self.ended = False
        """`until` was met."""

    def sound_lines(self, read: ReadAt, end: int) -> Iterator[bytes]:
        """Give what comes of the lines up to `end`, a chunk at a time, or up to the first that has to be judged."""
        rest, position = b"", 0
        while position < end and not self.ended:
            chunk = read(position, min(CHUNK_BYTES, end - position))
            if not chunk:
                return
            position += len(chunk)
            lines = (rest + chunk if rest else chunk).split(b"\n")
            rest = lines.pop()
            if not lines and len(rest) > MAX_LINE_BYTES:
                return
            made: list[bytes] = []
            sound = self._take(lines, made)
            if made:
                yield b"".join(made)
            if not sound:
                return

    def add(self, draft: Draft) -> bytes:
        """The next line, of an event."""
        encoded = encode_line(self._next, draft, self._sum)
        self._sum, self.last_at = encoded.sum, draft.at
        self._next += 1
        return encoded.data

    def _take(self, lines: list[bytes], made: list[bytes]) -> bool:
        """False at a line that is not as it should be."""
        source_sum, due, sum_, next_ = self.source_sum, self.source_sequence, self._sum, self._next
        kept = b""
        sound = True
        for line in lines:
            told = line[-26:]
            actual = hexlify(sha256(source_sum + line[:-26]).digest()[:8])
            comma = line.find(b",", _SEQUENCE)
            stop = line.rfind(b"}", 0, -1) + 1
            if told != b',"sum":"%b"}' % actual or line[:comma] != b'{"sequence":%d' % due or not stop:
                sound = False
                break
            if due == self._until:
                self.ended = True
                break
            begin = line.find(_TYPE, comma)
            type_ = line[begin + len(_TYPE) : line.find(b'"', begin + len(_TYPE))]
            source_sum, due = actual, due + 1
            self.offset += len(line) + 1
            if type_ in self._left_out:
                continue
            digest = line.find(_DIGEST, stop)
            body = line[comma:stop] if digest < 0 else line[comma:stop] + line[digest : digest + _DIGEST_BYTES]
            data = b'{"sequence":%d%b' % (next_, body)
            sum_ = hexlify(sha256(sum_ + data).digest()[:8])
            made.append(b'%b,"sum":"%b"}\n' % (data, sum_))
            next_ += 1
            kept = line
        if kept:
            at = kept.find(_AT) + len(_AT)
            self.last_at = kept[at : kept.find(b'"', at)].decode()
        self.source_sum, self.source_sequence, self._sum, self._next = source_sum, due, sum_, next_
        return sound
