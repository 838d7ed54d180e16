"""A thread reduced again from a file of lines that is not of the data root: what replay cases are compared by.

Invariant: the same reducer, the same reads; the projection is in memory and nothing is written.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from lockstitch.data_root import DataRoot
from lockstitch.rollout.scan import Damage, scan
from lockstitch.timeline.database import Connection, Database
from lockstitch.timeline.index import fact_of
from lockstitch.timeline.lines import OpenRollout
from lockstitch.timeline.reader import View
from lockstitch.timeline.reducer import interrupt, reduce
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.stored import StoredRows, store
from lockstitch.timeline.times import microseconds_of

_STORE_EVERY = 4096


class _View(View):
    """A view of one thread whose lines are in that file."""

    def __init__(self, file: Path, connection: Connection) -> None:
        super().__init__(DataRoot(file.parent), "", connection)
        self._file = file

    def rollout(self, thread: ThreadRow) -> OpenRollout:
        return self._watched(OpenRollout([self._file], thread.thread_id))


class Reduced(msgspec.Struct, frozen=True):
    """What the lines come to."""

    view: View
    thread: ThreadRow
    sums: dict[int, str]
    """By sequence, of each line that can be used."""
    damages: list[Damage]


@contextmanager
def reduced(file: Path, thread_id: str, *, interrupted: bool = False) -> Generator[Reduced]:
    """Reduce a file of lines. `interrupted`: an open turn reads as recovery would leave it.

    Raises NotFoundError if there is no such file.
    """
    database = Database.in_memory()
    try:
        connection = database.connection
        state = ThreadState(ThreadRow(1, thread_id, file.name), StoredRows(connection), fresh=True)
        thread, sums, damages = state.thread, dict[int, str](), list[Damage]()
        connection.execute("BEGIN")
        with OpenRollout([file], thread_id) as lines:
            for found in scan(lines.fd, 0, lines.size, previous_sum=b"", next_sequence=1):
                if isinstance(found, Damage):
                    damages.append(found)
                    continue
                reduce(state, fact_of(found))
                sums[found.line.sequence] = thread.last_sum = found.line.sum
                if len(sums) % _STORE_EVERY == 0:
                    store(connection, state)
                    state.stored()
            thread.size = lines.size
        if interrupted and thread.last_at:
            interrupt(state, microseconds_of(thread.last_at))
        store(connection, state)
        connection.execute("COMMIT")
        yield Reduced(_View(file, connection), thread, sums, damages)
    finally:
        database.close()
