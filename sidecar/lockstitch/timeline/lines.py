"""Reading single lines of a rollout by their place, checked: what damage does not pass is not returned.

Invariant: a line is given out only if its sum holds with the bytes before it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO

from lockstitch.errors import NotFoundError
from lockstitch.platform.files import open_private, stamp_of
from lockstitch.rollout.line import LOOK_BACK, MAX_LINE_BYTES, sound_lines
from lockstitch.rollout.scan import record_at
from lockstitch.rollout.tail import reader, sum_before

_GAP = 32 << 10
"""Lines closer together than this are read in one call."""

_SPAN = 4 << 20
_LARGEST_FILE = 1 << 62


class DamagedLineError(Exception):
    """The bytes at that place are not the line that was written there."""

    def __init__(self, line_at: int) -> None:
        super().__init__(f"damaged line at offset {line_at}")
        self.line_at = line_at


class Lines:
    """The lines of one rollout. `read_bytes(offset, length)` gives at most that many bytes."""

    def __init__(
        self, read_bytes: Callable[[int, int], bytes], judge: Callable[[int], bytes | None] = lambda line_at: None
    ) -> None:
        """`judge` gives the line at an offset whose sum does not hold with the bytes before it, if a scan takes it."""
        self._read_bytes, self._judge = read_bytes, judge
        self.damaged = False
        """Whether a line that was asked for was not as it was written."""

    def line(self, line_at: int, length: int) -> bytes:
        """One line without its LF. Raises DamagedLineError."""
        if not _is_place(line_at, length):
            self.damaged = True
            raise DamagedLineError(line_at)
        before = min(line_at, LOOK_BACK)
        data = self._read_bytes(line_at - before, before + length + 1)
        return self._checked(data, before, length, line_at)

    def many(self, places: Sequence[tuple[int, int]]) -> list[bytes | None]:
        """The lines at (offset, length), in that order; None where the line is damaged."""
        found: dict[int, bytes | None] = {}
        ordered = sorted(places)
        if ordered and not (
            ordered[0][0] >= 0
            and ordered[-1][0] < _LARGEST_FILE
            and min(map(_length, ordered)) >= 0
            and max(map(_length, ordered)) <= MAX_LINE_BYTES
        ):
            self.damaged = True
            ordered = [place for place in ordered if _is_place(*place)]
        for start, end, group in _groups(ordered):
            from_ = max(0, start - LOOK_BACK)
            data = self._read_bytes(from_, end - from_ + 1)
            for (line_at, length), line in zip(group, sound_lines(data, group, from_), strict=True):
                found[line_at] = self._doubted(data, line_at - from_, length, line_at) if line is None else line
        return [found.get(line_at) for line_at, _ in places]

    def _checked(self, data: bytes, at: int, length: int, line_at: int) -> bytes:
        (line,) = sound_lines(data, [(at, length)])
        if line is None:
            line = self._doubted(data, at, length, line_at)
        if line is None:
            raise DamagedLineError(line_at)
        return line

    def _doubted(self, data: bytes, at: int, length: int, line_at: int) -> bytes | None:
        """A line whose sum does not hold with the bytes before it, if a scan takes it all the same."""
        line = data[at : at + length]
        if len(line) == length and self._judge(line_at) == line:
            return line
        self.damaged = True
        return None

    def line_at(self, line_at: int) -> bytes:
        """The line that begins there, whatever its length. Raises DamagedLineError."""
        if not _is_place(line_at, 0):
            self.damaged = True
            raise DamagedLineError(line_at)
        size, before = 4096, min(line_at, LOOK_BACK)
        while True:
            data = self._read_bytes(line_at - before, before + size)
            end = data.find(b"\n", before)
            if end >= 0:
                return self._checked(data, before, end - before, line_at)
            if len(data) < before + size:
                self.damaged = True
                raise DamagedLineError(line_at)
            size *= 4


def _is_place(line_at: int, length: int) -> bool:
    """Whether a line can be there at all. A row that rotted may name anything."""
    return 0 <= line_at < _LARGEST_FILE and 0 <= length <= MAX_LINE_BYTES


_length = itemgetter(1)


def _groups(places: list[tuple[int, int]]) -> Iterable[tuple[int, int, list[tuple[int, int]]]]:
    """Places in order as (start, end, places of it): parts of the file to be read in one call."""
    first = start = end = 0
    for number, (line_at, length) in enumerate(places):
        if number == first:
            start = line_at
        elif line_at - end > _GAP or line_at + length - start > _SPAN:
            yield start, end, places[first:number]
            first, start = number, line_at
        end = line_at + length
    if places:
        yield start, end, places[first:]


class OpenRollout:
    """A rollout opened for reading; use as a context."""

    def __init__(self, candidates: Iterable[Path], thread_id: str) -> None:
        """Opens the first candidate that exists: a row's file may just have been archived by somebody else."""
        for path in candidates:
            try:
                self._fd = open_private(path, os.O_RDONLY)
            except FileNotFoundError:
                continue
            self._read_from(self._fd)
            return
        raise NotFoundError(
            f"The rollout of thread {thread_id} is gone from the data root.", kind="threadNotFound", threadId=thread_id
        )

    def _read_from(self, file: int | BinaryIO) -> None:
        self._read_at = reader(file)
        self.lines = Lines(self.read_bytes, self._judge)

    def read_bytes(self, offset: int, length: int) -> bytes:
        parts: list[bytes] = []
        while length > 0:
            data = self._read_at(offset, length)
            if not data:
                break
            parts.append(data)
            offset += len(data)
            length -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _judge(self, line_at: int) -> bytes | None:
        found = record_at(self.fd, line_at, self.size)
        return None if found is None else found.data

    def sum_before(self, offset: int) -> bytes:
        """The previous sum of a line that begins at `offset`."""
        return sum_before(self._read_at, offset)

    @property
    def size(self) -> int:
        return os.fstat(self._fd).st_size

    @property
    def stamp(self) -> int:
        """What the file system says of the file now: see platform.files.stamp_of."""
        return stamp_of(os.fstat(self._fd))

    @property
    def fd(self) -> int | BinaryIO:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> OpenRollout:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
