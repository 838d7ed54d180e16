"""What the writer stands on: the data root, who we are, the clock, and the ways to contents that it is handed.

Invariant: timeline knows no artifact store and no diff; it is handed functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lockstitch.data_root import DataRoot
from lockstitch.errors import StorageError
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.checkpoints import DiffOf
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.times import Clock, text_of

HOLD_SECONDS = 0.02


class Place(msgspec.Struct):
    """One process on one data root."""

    root: DataRoot
    boots: Boots
    pid: int
    diff_of: Callable[[str], DiffOf]
    """For a thread's id: how to make the diff between two recorded sides."""
    artifact_of: Callable[[str], str]
    """The id of a path's version documents."""
    spill_of: Callable[[str], Callable[[dict[str, Any]], dict[str, Any]]]
    """For a thread's id: how to move the large output of an item into the artifact store; the item with its preview."""
    owned: Callable[[ThreadRow, Sequence[str]], Sequence[Path]]
    """What goes with a thread that is deleted: its directories, and the places of contents that only it refers to."""
    clock: Clock = msgspec.field(default_factory=Clock)
    lock_seconds: float = 10.0
    """How long a change waits for the write lock."""
    hold_seconds: float = HOLD_SECONDS
    """For how long lone appends that follow each other may keep the lock, and leave their rows uncommitted."""
    read_only: bool = False
    root_ids: frozenset[str] = frozenset()
    """The ids of this data root; empty: not known, and then every link to a workspace counts."""

    @property
    def boot_id(self) -> str:
        return self.boots.boot_id

    def now(self) -> str:
        """RFC 3339 UTC with microseconds; never the same twice, never backwards."""
        return text_of(self.clock.now())


def damaged_database(root: DataRoot) -> StorageError:
    """What a caller hears while the projection is being made anew."""
    path = str(root.timeline)
    return StorageError(f"The database {path} was damaged and is being rebuilt; try again.", path=path, errno=0)
