"""Boots: which runs of the process are alive. A boot is alive while it holds the lock on its file.

Invariant: pids prove nothing (they are reused); only the lock does.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lockstitch.codec import ParseError, decode, encode
from lockstitch.data_root import DataRoot
from lockstitch.errors import StorageError
from lockstitch.platform.files import replace, storage_errors, unlink
from lockstitch.platform.locks import FileLock, is_held, read_holder, try_lock

_STAGED = ".new-"


class Boots:
    """The boots of one data root, seen from one of them."""

    def __init__(self, root: DataRoot, boot_id: str) -> None:
        self._root, self.boot_id = root, boot_id
        self._lock: FileLock | None = None
        self._dead: set[str] = set()

    def register(self, started_at: str) -> None:
        """Hold this boot's file. Made under another name and renamed, so that nobody sees it without its lock."""
        staged = self._root.boots / f"{_STAGED}{self.boot_id}"
        lock = FileLock(staged)
        if not lock.acquire(1.0):
            raise StorageError(f"The boot file {staged} is locked by somebody else.", path=str(staged), errno=0)
        try:
            lock.write_holder(encode({"pid": os.getpid(), "startedAt": started_at}).decode())
            with storage_errors(staged):
                replace(staged, self._root.boot_lock(self.boot_id))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(staged)
            lock.close()
            raise
        self._lock = lock

    def is_alive(self, boot_id: str | None) -> bool:
        """Whether that boot still runs. A boot that is dead stays dead, hence is looked at once."""
        if boot_id == self.boot_id:
            return True
        if not boot_id or boot_id in self._dead:
            return False
        alive = is_held(self._root.boot_lock(boot_id))
        if not alive:
            self._dead.add(boot_id)
        return alive

    def others(self) -> list[str]:
        """The boots beside this one whose files are there, alive or not."""
        return [name for name in _names(self._root.boots) if name != self.boot_id and not name.startswith(_STAGED)]

    def living(self) -> list[dict[str, object]]:
        """`{pid, bootId, startedAt}` of every live boot, this one included."""
        found: list[dict[str, object]] = []
        for boot_id in [self.boot_id, *self.others()]:
            if self.is_alive(boot_id):
                with contextlib.suppress(ParseError, TypeError):
                    told = decode((read_holder(self._root.boot_lock(boot_id)) or "{}").encode())
                    found.append({"pid": told.get("pid"), "bootId": boot_id, "startedAt": told.get("startedAt")})
        return found

    def is_alone(self) -> bool:
        """Whether no other boot lives."""
        return not any(self.is_alive(boot_id) for boot_id in self.others())

    def forget_dead(self) -> None:
        """Remove the files of dead boots. Under the write lock, after their turns were seen to."""
        for boot_id in self.others():
            if not self.is_alive(boot_id):
                with contextlib.suppress(OSError):
                    unlink(self._root.boot_lock(boot_id))

    def remove_staged(self) -> None:
        """Remove boot files that were never put in place: their processes died first."""
        for name in _names(self._root.boots):
            if name.startswith(_STAGED) and name != f"{_STAGED}{self.boot_id}":
                path = self._root.boots / name
                # Only with its lock in hand: a process that is about to take it then sees that the file is gone.
                with contextlib.suppress(OSError, StorageError):
                    lock = try_lock(path)
                    if lock is not None:
                        os.unlink(path)
                        lock.close()

    def close(self) -> None:
        """Let go: from now on this boot is dead."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._root.boot_lock(self.boot_id))
            self._lock.close()
            self._lock = None


def _names(directory: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(directory)
    return []
