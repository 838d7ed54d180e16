"""Upkeep of the projection's file, on request: another one put in its place, and space given back.

Invariant: alone in the writer thread, under the write lock.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lockstitch.errors import LockstitchError, StorageError
from lockstitch.timeline.database import database_errors
from lockstitch.timeline.rebuild import Build
from lockstitch.timeline.writer import Writer


def replace_projection(writer: Writer, build: Build) -> int:
    """Put a projection that was built beside in place; how many threads it has. Raises StorageError."""
    for found in build.outdated():
        with suppress(LockstitchError):
            writer.hot.load(found.thread_id)  # what is torn is judged by what the projection in use knows
    with writer.without_transaction():
        writer.close_database()
        return build.finish()


def give_back_space(writer: Writer) -> int:
    """Give free pages and the write-ahead log back to the file system; how many bytes."""
    timeline = writer.place.root.timeline
    before = _size_with_log(timeline)
    with writer.without_transaction(), suppress(StorageError), database_errors(timeline):
        if writer.database.pragma("freelist_count"):
            writer.database.connection.execute("VACUUM")
        writer.database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return max(0, before - _size_with_log(timeline))


def _size_with_log(timeline: Path) -> int:
    size = 0
    for path in (timeline, Path(f"{timeline}-wal")):
        with suppress(OSError):
            size += path.stat().st_size
    return size
