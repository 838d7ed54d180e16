"""The folder of an export: staged beside its place, whole on the disk, then there by one rename.

Invariant: nothing that exists is overwritten, no link is followed, and what is given up leaves nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable

from lockstitch.exports.seal import FILE_NAME, FileSeal
from lockstitch.platform.beneath import Directory
from lockstitch.platform.files import TEMPORARY_PREFIX, storage_errors, sync_file, write_all

_FILES = "files"


class StagedFolder:
    """A folder that is being written. Raises StorageError from every call."""

    def __init__(self, parent: Directory, where: str, exported_at: str) -> None:
        """`parent` is this object's from now on; `where` is its path, for errors and answers."""
        self._parent, self.where = parent, where
        self._name = exported_at.replace(":", "-")
        self._staged = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        self._written: list[str] = []
        self._contents: Directory | None = None
        try:
            with storage_errors(where):
                parent.make_directory(self._staged)
                self._folder = parent.enter(self._staged)
        except BaseException:
            parent.close()
            raise

    def add(self, path: str, data: bytes) -> FileSeal:
        """Write one file."""
        if FILE_NAME.fullmatch(path) is None:
            raise ValueError(f"not the name of a file of an export: {path}")
        with storage_errors(self.where):
            at, name = self._folder, path
            if path.startswith(_FILES + "/"):
                if self._contents is None:
                    self._folder.make_directory(_FILES)
                    self._contents = self._folder.enter(_FILES)
                at, name = self._contents, path[len(_FILES) + 1 :]
            fd = at.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            self._written.append(path)
            try:
                write_all(fd, data)
                sync_file(fd)
            finally:
                os.close(fd)
        return FileSeal.of(path, data)

    def finish(self) -> str:
        """Let the folder appear under its name, which is returned."""
        with storage_errors(self.where):
            if self._contents is not None:
                self._contents.sync()
            self._folder.sync()
            name = self._free_name()
            self._parent.replace(self._staged, name)
            self._parent.sync()
        self._close()
        return name

    def _free_name(self) -> str:
        for number in range(1, 1000):
            name = self._name if number == 1 else f"{self._name}-{number}"
            try:
                self._parent.status(name)
            except FileNotFoundError:
                return name
        raise FileExistsError(self._name)

    def abandon(self) -> None:
        """Remove what was written."""
        removals: list[Callable[[], None]] = []
        for path in self._written:
            at, name = (self._contents, path[len(_FILES) + 1 :]) if "/" in path else (self._folder, path)
            if at is not None:
                removals.append(lambda at=at, name=name: at.unlink(name))
        removals.append(lambda: self._folder.remove_directory(_FILES))
        removals.append(lambda: self._parent.remove_directory(self._staged))
        for remove in removals:
            with contextlib.suppress(OSError):
                remove()
        self._close()

    def _close(self) -> None:
        for directory in (self._contents, self._folder, self._parent):
            if directory is not None:
                directory.close()
