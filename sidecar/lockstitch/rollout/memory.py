"""A rollout that is nowhere on the disk: the same lines, added to a buffer.

Invariant: the buffer outlives the recorder; closing one and making another on the same buffer loses nothing.
Invariant: a buffer is not for several threads at once; who reads or writes it holds the lock of its writer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from lockstitch.rollout.recorder import Recorder


class MemoryRecorder(Recorder):
    """What a Recorder is for a file, for a buffer. `path` is a name and names no file."""

    def __init__(self, path: Path, buffer: BytesIO) -> None:
        self.path, self._buffer = path, buffer
        self._closed = False
        self.identity = (0, 0)
        self.written_to = self.size

    @property
    def buffer(self) -> BytesIO:
        return self._buffer

    @property
    def fd(self) -> BinaryIO:
        return self._buffer

    @property
    def size(self) -> int:
        return self._buffer.seek(0, os.SEEK_END)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def stamp(self) -> int:
        return 1

    def is_in_place(self, size: int, stamp: int) -> bool:
        return not self._closed and self.size == size

    def append(self, chunks: Sequence[bytes]) -> None:
        self.written_to = self.size
        for chunk in chunks:
            self.written_to += self._buffer.write(chunk)

    def sync(self) -> None:
        """Nothing of it survives the process."""

    def sync_directories(self, up_to: Path) -> None:
        """It has none."""

    def undo_append(self, size: int) -> None:
        self.cut_back(size, self.written_to)

    def cut_back(self, size: int, only_if_size: int) -> bool:
        if self.size != only_if_size:
            return False
        self.written_to = self._buffer.truncate(size)
        return True

    def close(self) -> None:
        self._closed = True
