"""Safety copies: file versions of workspaces kept once more in the data root, where no `git clean` reaches.

Invariant: a copy is a clone (its own file that shares blocks) or a file of its own, never a hard link, which a
write in place would change with the original.
Invariant: nothing is ever removed here. Where the budget or the disk ends no more copies are made, and it is said.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from lockstitch.artifacts.store import Packed, Store
from lockstitch.errors import StorageError
from lockstitch.platform.files import free_bytes

log = logging.getLogger(__name__)

BUDGET_BYTES = 4 << 30
"""What the data root's contents may grow to by copies. Clones take no space and are always made."""

_SHARE_LEFT_FREE = 10
_LEFT_FREE = 1 << 30
"""A tenth of the disk, at most this much, is left for what has no other place: rollouts, large outputs."""


class Budget(msgspec.Struct, frozen=True):
    """How far copies may go. `free` tells the free and all bytes of a disk."""

    total: int = BUDGET_BYTES
    free: Callable[[Any], tuple[int, int]] = free_bytes


class SafetyCopies:
    """The copies of one data root, made by one process. Safe for several threads."""

    def __init__(self, store: Store, budget: Budget | None = None) -> None:
        self.store, self._budget = store, budget or Budget()
        self._lock = threading.Lock()
        self._used: int | None = None
        self._skipped = 0
        self._troubled = False

    def keep(self, contents: Sequence[Packed], source: Store) -> None:
        """Have copies of what was just put in `source`. Raises nothing: the original is what counts."""
        try:
            for written in self.store.copy(contents, source, may_write=self._may_write):
                self._count(written)
        except (StorageError, OSError) as error:
            if not self._troubled:
                log.warning("no safety copies are made in the data root: %s", type(error).__name__)
            self._troubled = True

    def _count(self, written: int | None) -> None:
        with self._lock:
            if written is None:
                self._skipped += 1
                if self._skipped == 1:
                    log.warning("%s", self._advice())
            elif self._used is not None:
                self._used += written

    def report(self) -> dict[str, Any]:
        """`{bytes, budgetBytes, skipped, advice?}`: what contents take, and what this process did not copy."""
        used = self.store.bytes_stored()
        with self._lock:
            told: dict[str, Any] = {"bytes": used, "budgetBytes": self._budget.total, "skipped": self._skipped}
            if self._skipped or used >= self._budget.total:
                told["advice"] = self._advice()
        return told

    def _may_write(self, size: int) -> bool:
        with self._lock:
            if self._used is None or self._used + size > self._budget.total:
                self._used = self.store.bytes_stored()  # another process may have made some, or room
            if self._used + size > self._budget.total:
                return False
        free, whole = self._budget.free(self.store.root)
        return free - size >= min(whole // _SHARE_LEFT_FREE, _LEFT_FREE)

    def _advice(self) -> str:
        return (
            "File versions are kept in their workspaces only: their copies in the data directory have used up the "
            f"{self._budget.total} bytes that they may take, or the disk is nearly full. Nothing is removed by "
            "itself: storage/gc lists what nothing refers to, the oldest first; deleting threads that are no longer "
            "needed gives it more."
        )
