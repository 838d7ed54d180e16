"""One thread's part of a group: the events that are admitted, written in one go, and reduced.

Invariant: the file is longer than the projection knows only between `write` and the commit of the database;
after a failed write it is cut back, and only if it has exactly the size that we wrote.
Invariant: a new rollout is written beside and appears with its first append, whole, by a rename.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lockstitch.data_root import DataRoot
from lockstitch.platform.files import make_private_directory, replace, storage_errors, unlink
from lockstitch.rollout.line import Draft, EncodedAppend, encode_append
from lockstitch.rollout.recorder import Recorder
from lockstitch.rollout.tail import reader
from lockstitch.timeline.lines import Lines
from lockstitch.timeline.reduce_append import reduce_append
from lockstitch.timeline.segments import Segments
from lockstitch.timeline.state import ThreadState


class Batch:
    """A hot thread: its state, its open rollout, and what this group adds. Used by the writer thread only."""

    def __init__(
        self,
        state: ThreadState,
        recorder: Recorder,
        segments: Segments,
        *,
        created_in: DataRoot | None = None,
        durable: set[Path] | None = None,
    ) -> None:
        self.state, self.recorder, self.segments = state, recorder, segments
        self.created_in = created_in
        """The data root in which the file has to appear, while it is new."""
        self._staged = recorder.path
        self._durable = set[Path]() if durable is None else durable
        """Directories whose own names this process has made durable already."""
        self.buffered = 0
        self._chunks: list[bytes] = []
        self._joined: bytes | None = b""
        self.lines = Lines(self._read_bytes)

    @property
    def has_lines(self) -> bool:
        return bool(self._chunks)

    def append(
        self,
        drafts: Sequence[Draft],
        req: str | None = None,
        now: str = "",
    ) -> EncodedAppend:
        """Add one append to the group: sequences, lines and rows. Returns its lines.

        `now`: the very string that is the time of those drafts whose time is our own.
        """
        state, thread = self.state, self.state.thread
        made = encode_append(thread.last_sequence + 1, drafts, thread.last_sum.encode(), req)
        at = reduce_append(state, drafts, made, req=req, now=now)
        thread.last_sum = made.sum.decode()
        self.buffered += at - thread.size
        thread.size = at
        self._chunks += made.chunks
        self._joined = None
        return made

    def write(self) -> None:
        """Write and sync what was added: the commit point. Raises StorageError; the file is then as before."""
        thread = self.state.thread
        start = thread.size - self.buffered
        vouched = self.created_in is not None or thread.stamp
        try:
            self.recorder.append(self._chunks)
            self.recorder.sync()
            if self.created_in is not None:
                self._put_in_place(self.created_in)
                self.created_in = None
            if vouched:
                thread.stamp = self.recorder.stamp
        except Exception:
            if self.created_in is None:
                self._undo(start)
            raise

    def _put_in_place(self, root: DataRoot) -> None:
        """Give a new rollout its name. It is closed meanwhile: not every system renames an open file."""
        staged, target = self._staged, root.resolve(self.state.thread.path)
        self.recorder.close()
        make_private_directory(target.parent)
        with storage_errors(target):
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "a rollout of this name exists", os.fspath(target))
            replace(staged, target)
            try:
                self.recorder = Recorder.open(target)
                self.recorder.sync_directories(target.parent if target.parent in self._durable else root.path)
                self._durable.add(target.parent)
            except BaseException:
                self.recorder.close()
                replace(target, staged)
                raise

    def remove_staged(self) -> None:
        """Nothing of a new rollout that could not be stored may stay."""
        self.recorder.close()
        with suppress(OSError):
            unlink(self._staged)

    def _undo(self, start: int) -> None:
        """Nothing of a failed append may be found later: the sequences are given again."""
        recorder = self.recorder
        with suppress(Exception):
            recorder.undo_append(start)
        recorder.close()

    def is_in_place(self) -> bool:
        """Whether the path still names the open file, and nobody else has written to it."""
        thread = self.state.thread
        return self.recorder.is_in_place(thread.size, thread.stamp)

    def written(self) -> None:
        """The group is over: what was added is in the file."""
        self._chunks.clear()
        self._joined, self.buffered = b"", 0

    def read_line(self, line_at: int, length: int) -> bytes:
        """A line of this thread, also one that this group adds. Raises DamagedLineError."""
        return self.lines.line(line_at, length)

    def _read_bytes(self, offset: int, length: int) -> bytes:
        start = self.state.thread.size - self.buffered
        if self._joined is None:
            self._joined = b"".join(self._chunks)
        stored = b""
        if offset < start:
            stored = reader(self.recorder.fd)(offset, min(length, start - offset))
        begin = max(0, offset - start)
        return stored + self._joined[begin : max(0, offset + length - start)]
