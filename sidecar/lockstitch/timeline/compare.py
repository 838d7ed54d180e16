"""A thread's rows compared with what its rollout gives when it is read anew from its first byte.

Invariant: nothing is written, no lock is taken, no transaction stays open.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lockstitch.data_root import DataRoot, RolloutPlace
from lockstitch.rollout.scan import HARMLESS, Damage, scan
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.frozen import index_in_memory
from lockstitch.timeline.index import is_told
from lockstitch.timeline.inventory import Rows, key_of, rows_of
from lockstitch.timeline.lines import OpenRollout
from lockstitch.timeline.rows import ThreadRow


@dataclass(frozen=True, slots=True)
class WrongRow:
    """A row that is not what the rollout gives: `different`, `missing` or `extra`."""

    table: str
    key: str
    reason: str


@dataclass(slots=True)
class Compared:
    """What reading a thread anew found."""

    events: int = 0
    bytes: int = 0
    damages: list[tuple[Damage, bool]] = field(default_factory=list[tuple[Damage, bool]])
    """Damage by which something may be lost, and whether it is told of."""
    rows: list[WrongRow] = field(default_factory=list[WrongRow])


def compare(root: DataRoot, root_id: str, boots: Boots, row: ThreadRow, rows: Rows) -> Compared:
    """Read the rollout of `row` anew and compare. Raises NotFoundError, StorageError."""
    found = Compared()
    with OpenRollout([root.resolve(row.path)], row.thread_id) as rollout:
        found.bytes = min(rollout.size, row.size)
        for one in scan(rollout.fd, 0, row.size, previous_sum=b"", next_sequence=1):
            if not isinstance(one, Damage):
                found.events += 1
            elif one.reason not in HARMLESS:
                found.damages.append((one, is_told(row, one)))
        if rollout.size < row.size:
            found.damages.append((Damage(rollout.size, row.size, "missing"), False))
        grown = rollout.size > row.size
    if grown or any(not told for _, told in found.damages):
        return found  # somebody appends just now; or the rows will be made anew when recovery tells of it
    place = RolloutPlace(row.thread_id, row.path, bool(row.archived))
    database = index_in_memory(root, boots, [place], frozenset({root_id}))
    try:
        made = rows_of(database.connection, 1)
    finally:
        database.close()
    for table, stored in rows.items():
        found.rows += _differences(table, stored, made[table])
    return found


def _differences(table: str, stored: list[tuple[object, ...]], made: list[tuple[object, ...]]) -> list[WrongRow]:
    if sorted(stored, key=repr) == sorted(made, key=repr):
        return []
    there = {key_of(table, row): row for row in stored}
    right = {key_of(table, row): row for row in made}
    wrong = [WrongRow(table, key, "extra") for key in there.keys() - right.keys()]
    wrong += [WrongRow(table, key, "missing") for key in right.keys() - there.keys()]
    wrong += [WrongRow(table, key, "different") for key in there.keys() & right.keys() if there[key] != right[key]]
    return sorted(wrong, key=lambda one: (one.key, one.reason))
