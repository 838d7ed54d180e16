"""The open rollout file of a thread: append bytes, make them durable, cut them back if that failed.

Invariant: bytes are only ever added at the end, or cut off from there; nothing is written over. Who appends holds
the write lock. Every error of the disk is a StorageError that names the file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from lockstitch.errors import StorageError
from lockstitch.platform import files

_JOIN_LIMIT = 1 << 20  # up to here one copy is cheaper than many small writes


class Recorder:
    """One rollout, open for reading and appending.

    After an `append` that raised, the file may be longer: it then ends at `written_to`, and
    `cut_back(size_before, only_if_size=recorder.written_to)` undoes it. After a `sync` that raised, the recorder is
    closed: a second fsync would prove nothing, so that the tail must be read again from a new one.
    """

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd
        self.identity = files.identity(fd)
        self.written_to = self.size
        """Where the last append ended, or stopped."""
        self._modified = 0
        """When the file was changed last before the last append, in nanoseconds."""

    @classmethod
    def open(cls, path: Path) -> Recorder:
        """Open a rollout that exists. Raises FileNotFoundError if it does not, else StorageError."""
        return cls._open(path, os.O_RDWR | os.O_APPEND)

    @classmethod
    def open_to_read(cls, path: Path) -> Recorder:
        """Open a rollout that can only be read. Raises FileNotFoundError if it does not exist, else StorageError."""
        return cls._open(path, os.O_RDONLY)

    @classmethod
    def create(cls, path: Path) -> Recorder:
        """Create a rollout and the directories above it. Raises StorageError; a file that exists is one."""
        files.make_private_directory(path.parent)
        return cls._open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)

    @classmethod
    def _open(cls, path: Path, flags: int) -> Recorder:
        try:
            return cls(path, files.open_private(path, flags))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise files.storage_error(error, path) from error

    @property
    def fd(self) -> int | BinaryIO:
        """The descriptor (of what is in no file, a stream), for reading by offset."""
        return self._fd

    @property
    def size(self) -> int:
        """The size of the file now, other processes' lines included."""
        with files.storage_errors(self.path):
            return os.fstat(self._fd).st_size

    @property
    def stamp(self) -> int:
        """What the file system says of the file now: see platform.files.stamp_of."""
        with files.storage_errors(self.path):
            return files.stamp_of(os.fstat(self._fd))

    @property
    def closed(self) -> bool:
        """Whether `close` was called, or a sync failed."""
        return self._fd < 0

    def is_in_place(self, size: int, stamp: int) -> bool:
        """Whether the path still names the open file, it ends at `size`, and nobody else has written to it.

        `stamp` as when we wrote last; 0: somebody else has already.
        """
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        if (found.st_dev, found.st_ino) != self.identity or self.closed or found.st_size != size:
            return False
        return stamp in (0, files.stamp_of(found))

    def append(self, chunks: Sequence[bytes]) -> None:
        """Add the chunks at the end, all of them or StorageError. Not durable before `sync`."""
        with files.storage_errors(self.path):
            found = os.fstat(self._fd)
        self.written_to, self._modified = found.st_size, found.st_mtime_ns
        if sum(map(len, chunks)) <= _JOIN_LIMIT:
            chunks = (b"".join(chunks),)
        with files.storage_errors(self.path):
            for chunk in chunks:
                view = memoryview(chunk)
                while view:
                    written = files.write_some(self._fd, view)
                    if written == 0:
                        raise OSError(errno.EIO, "Nothing was written", os.fspath(self.path))
                    self.written_to += written
                    view = view[written:]

    def sync(self) -> None:
        """Make what was appended survive power loss. After StorageError the recorder is closed."""
        try:
            files.sync_file(self._fd)
        except OSError as error:
            self.close()
            raise files.storage_error(error, self.path) from error

    def sync_directories(self, up_to: Path) -> None:
        """Make the file's name survive power loss: the directories from its own up to `up_to`, which contains it."""
        directory = self.path.parent
        if directory != up_to and up_to not in directory.parents:
            raise ValueError(f"{up_to} does not contain {self.path}")
        with files.storage_errors(self.path):
            while True:
                files.sync_directory(directory)
                if directory == up_to:
                    return
                directory = directory.parent

    def undo_append(self, size: int) -> None:
        """Leave the file as it was before the last append, its time of change too. Raises StorageError."""
        again = Recorder.open(self.path) if self.closed else self
        if again.cut_back(size, only_if_size=self.written_to):
            files.set_modified(again._fd, self._modified)
        if again is not self:
            again.close()

    def cut_back(self, size: int, only_if_size: int) -> bool:
        """Cut the file back to `size` durably. False, and nothing done, if its size is not `only_if_size`."""
        with files.storage_errors(self.path):
            if os.fstat(self._fd).st_size != only_if_size:
                return False
            if size < only_if_size:
                files.cut(self._fd, size)
        self.sync()
        self.written_to = size
        return True

    def close(self) -> None:
        """Close the file; twice is once."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def changed_underneath(path: Path) -> StorageError:
    """The file does not have the size that was just read, though nobody else may write it."""
    return StorageError(
        f"{path} changed while it was repaired; is something else writing it? Try again.", path=str(path), errno=0
    )
