"""Which threads hold parts of the conversation that a session belongs to.

Invariant: a conversation is known by the turn that the session begins with; nothing is guessed from names or times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lockstitch.imports.shared import STARTED, Kept, item_digest, version_digest
from lockstitch.imports.source import SourceThread
from lockstitch.timeline import imported
from lockstitch.timeline.reader import View

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Family:
    """What others hold of a session's conversation, and which turns (in lower case) its own thread holds."""

    kept: Kept
    begun: set[str]


async def family_of(runtime: Runtime, source: SourceThread, thread_id: str) -> Family | None:
    """What other threads than that one hold of the session's conversation; None if nothing."""
    turn_id = source.first_turn_id
    if turn_id is None:
        return None
    others = await runtime.read(lambda view: _others(view, source.client, turn_id, thread_id))
    if not others:
        return None
    kept = Kept()
    for other in others:  # each in a look of its own: a look is to be short
        await runtime.read_thread(other, lambda view, other=other: _add(kept, view, other))
    return Family(kept, await runtime.read(lambda view: _turns(view, thread_id)))


async def kept_by(runtime: Runtime, thread_id: str) -> Kept:
    """What one thread holds."""
    kept = Kept()
    await runtime.read_thread(thread_id, lambda view: _add(kept, view, thread_id))
    return kept


def _others(view: View, client: str, turn_id: str, thread_id: str) -> list[str]:
    """The threads of the conversations in which that turn is, but for the one; none if only that one has it."""
    found = [row for row in imported.threads_with_turn(view, client, turn_id) if not _is(row.thread_id, thread_id)]
    roots = sorted({row.fork_root or row.thread_id for row in found})
    family = imported.threads_of_roots(view, client, roots) if roots else []
    return [row.thread_id for row in family if not _is(row.thread_id, thread_id)]


def _is(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _turns(view: View, thread_id: str) -> set[str]:
    own = view.rows.thread(thread_id)
    return set() if own is None else {turn_id.lower() for turn_id in imported.turn_ids(view, own.thread_no)}


def _add(kept: Kept, view: View, thread_id: str) -> None:
    row = view.thread(thread_id)
    kept.roots[row.thread_id] = row.fork_root or row.thread_id
    for turn_id in imported.turn_ids(view, row.thread_no):
        kept.turns.setdefault(turn_id.lower(), row.thread_id)
    for item_id, item in imported.whole_items(view, row):
        kept.contents.setdefault(item_id.lower(), (STARTED if item is None else item_digest(item), row.thread_id))
    for version in imported.checkpoints(view, row.thread_no):
        digest = version_digest(version.path, version.after_sha, absent=bool(version.absent))
        kept.contents[version.checkpoint_id.lower()] = digest, row.thread_id
