"""Bring rows up to their rollout: the tail that the projection does not know, or a whole file; and its repair.

Invariant: a thread indexed at once has the rows that it would have had event by event. Damage that no
`thread.recovered` event tells of yet is quarantined and told of before the rows say anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from lockstitch.codec import decode, encode
from lockstitch.data_root import RolloutPlace
from lockstitch.rollout.line import Draft, encode_line, payload_span
from lockstitch.rollout.recorder import Recorder
from lockstitch.rollout.repair import Repair, apply_repair, plan_repair
from lockstitch.rollout.scan import HARMLESS, Damage, Record, scan
from lockstitch.rollout.tail import reader, sum_before
from lockstitch.timeline.bulk import reduce_sound_lines
from lockstitch.timeline.payloads import read_linked_by
from lockstitch.timeline.reducer import Fact, reduce
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.soundness import STUMBLES
from lockstitch.timeline.state import Cold, ThreadState
from lockstitch.timeline.stored import copy_of
from lockstitch.timeline.times import microseconds_of
from lockstitch_protocol.ids import new_id

_STORE_EVERY = 4096

LINKING = frozenset({"thread.started", "thread.updated"})
"""Events that may link a thread to a workspace."""


class Indexing(msgspec.Struct, frozen=True):
    """What indexing needs from around it. `store` puts a state's changes into the open transaction."""

    root: Path
    quarantine: Path
    store: Callable[[ThreadState], None]
    writable: bool = True
    shown: list[str] = []
    """Threads whose damage recovery has yet to write down, where nothing is written."""
    most_held: int = _STORE_EVERY
    """How many rows may wait in memory."""
    root_ids: frozenset[str] = frozenset()
    """The ids of the data root: a link to a workspace that another root made does not hold here."""


def fact_of(record: Record) -> Fact:
    """A record as the reducer takes it."""
    line = record.line
    return Fact(
        line.sequence,
        line.at,
        line.type,
        line.eventId,
        line.turnId,
        line.itemId,
        bytes(line.payload),
        record.offset,
        len(record.data),
        payload_span(record.data)[0],
        line.digest,
        line.req,
    )


def index_whole(
    around: Indexing,
    cold: Cold,
    number: int,
    place: RolloutPlace,
    recorder: Recorder,
    known: tuple[int, bytes] | None = None,
) -> ThreadState:
    """Index a rollout from its first byte, repairing its tail. Raises StorageError.

    `known`: size and last sum that a projection once had of it, if that is not gone.
    """
    thread = ThreadRow(number, place.thread_id, place.path, archived=int(place.archived))
    thread.created_at = thread.updated_at = thread.recency_at = microseconds_of(_first_moment(recorder.path))
    state = ThreadState(thread, cold, fresh=True)
    size, last_sum = known or (None, None)
    plan = plan_repair(recorder.fd, recorder.size, known_size=size, known_sum=last_sum)
    before = recorder.stamp
    state = _bring_up(around, state, recorder, plan)
    state.thread.stamp = recorder.stamp if around.writable else before
    return state


def is_elsewhere(payload: bytes, root_ids: Collection[str]) -> bool:
    """Whether an event of LINKING says that another data root made the link: this one may write nothing there."""
    made_by = read_linked_by(payload)
    return bool(root_ids) and made_by is not None and made_by not in root_ids


def index_tail(around: Indexing, state: ThreadState, recorder: Recorder) -> ThreadState:
    """Reduce what stands behind the part that the row knows, repairing a torn tail. Raises StorageError."""
    thread = state.thread
    known_sum = thread.last_sum.encode()
    plan = plan_repair(recorder.fd, recorder.size, known_size=thread.size, known_sum=known_sum)
    state = _bring_up(around, state, recorder, plan)
    thread = state.thread
    if thread.stamp:
        # Whoever wrote the tail was one of us, who died: what stands before it is as it was.
        thread.stamp = recorder.stamp
    return state


def _bring_up(around: Indexing, state: ThreadState, recorder: Recorder, plan: Repair | None) -> ThreadState:
    thread = state.thread
    size = recorder.size
    end = size if plan is None else plan.keep
    damages: list[Damage] = []
    count = 0

    def unlink_if_elsewhere(fact: Fact) -> None:
        if thread.linked and fact.type in LINKING and is_elsewhere(fact.payload, around.root_ids):
            thread.linked = 0

    def keep_little() -> None:
        if len(state.dirty_items) + len(state.new_rows) > around.most_held:
            around.store(state)
            state.stored()

    reduce_sound_lines(state, reader(recorder.fd), end, each=unlink_if_elsewhere, pause=keep_little)
    for found in scan(
        recorder.fd,
        thread.size,
        end,
        previous_sum=thread.last_sum.encode(),
        next_sequence=thread.last_sequence + 1,
    ):
        if isinstance(found, Damage):
            damages.append(found)
            continue
        fact = fact_of(found)
        if found.proven:
            reduce(state, fact)
        else:
            around.store(state)
            state.stored()
            state = _reduce_doubtful(state, fact)
            thread = state.thread
            if thread.last_sequence < fact.sequence:
                damages.append(Damage(found.offset, found.end + 1, "rotten"))
                continue
        unlink_if_elsewhere(fact)
        thread.last_sum = found.line.sum
        count += 1
        if count % _STORE_EVERY == 0:
            keep_little()
    if plan is not None:
        damages = [damage for damage in damages if damage not in plan.damages] + list(plan.damages)
    untold = _untold(damages, thread)
    if (untold or (plan is not None and plan.reappend)) and around.writable:
        _tell(around, state, recorder, plan or Repair(size, size, (), (), False), untold)
    elif untold:
        around.shown.append(thread.thread_id)
        _show(thread, plan, untold)
    if thread.last_sequence == 0 or damages:
        thread.size = recorder.size if around.writable else end
        thread.last_sum = sum_before(reader(recorder.fd), thread.size).decode("ascii", "replace")
    else:
        thread.size = max(thread.size, end)
    return state


def _reduce_doubtful(state: ThreadState, fact: Fact) -> ThreadState:
    """Reduce a line whose own sum proves nothing, since the one before it is lost. If it has rotted into something
    that means nothing, the state is the one before, as the rows have it."""
    before = copy_of(state.thread)
    try:
        reduce(state, fact)
    except STUMBLES:
        return ThreadState.load(before, state.cold)
    return state


def _show(thread: ThreadRow, plan: Repair | None, untold: list[Damage]) -> None:
    """Say what `_tell` would record, without recording it."""
    known: list[object] = decode(thread.damage.encode()) if thread.damage else []
    known += [{"fromOffset": d.start, "toOffset": d.end, "reason": d.reason} for d in untold]
    thread.damage = encode(known).decode()
    keep = None if plan is None else plan.keep
    lost = any(d.reason not in HARMLESS and (keep is None or d.start < keep) for d in untold)
    thread.partial |= lost or (plan is not None and plan.committed_lost)


def is_told(thread: ThreadRow, damage: Damage) -> bool:
    """Whether the thread's damage list tells of it; what costs nothing need not be told."""
    return damage.reason in HARMLESS or not _untold([damage], thread)


def is_lost(thread: ThreadRow, record: Record) -> bool:
    """Whether the thread's damage list names that line: it could be read, and nothing be made of it."""
    told: list[dict[str, Any]] = decode(thread.damage.encode()) if thread.damage else []
    return any(entry["fromOffset"] == record.offset < entry["toOffset"] for entry in told)


def has_untold_damage(file: int | BinaryIO, thread: ThreadRow) -> bool:
    """Whether the rollout, read from its first byte, has damage that the thread's row does not tell of."""
    found = scan(file, 0, thread.size, previous_sum=b"", next_sequence=1)
    return any(isinstance(one, Damage) and not is_told(thread, one) for one in found)


def _untold(damages: list[Damage], thread: ThreadRow) -> list[Damage]:
    """Damage that no `thread.recovered` event of the log tells of."""
    if not thread.damage:
        return damages
    told = {(entry["fromOffset"], entry["toOffset"]) for entry in decode(thread.damage.encode())}
    return [damage for damage in damages if (damage.start, damage.end) not in told]


def _tell(around: Indexing, state: ThreadState, recorder: Recorder, plan: Repair, untold: list[Damage]) -> None:
    """Quarantine, cut the tail, and append the event that says so."""
    thread = state.thread
    plan = msgspec.structs.replace(plan, damages=tuple(untold))
    ranges = apply_repair(recorder, plan, around.quarantine, thread.thread_id)
    size = recorder.size
    if not any(found.reason != "unterminated" for found in ranges):
        thread.size = size
        return
    told: list[dict[str, object]] = []
    for found in ranges:
        entry: dict[str, object] = {"fromOffset": found.start, "toOffset": found.end, "reason": found.reason}
        if found.path is not None:
            entry["quarantinePath"] = found.path.relative_to(around.root).as_posix()
        told.append(entry)
    lost = plan.committed_lost or any(d.reason not in HARMLESS and d.start < plan.keep for d in untold)
    payload = encode({"partial": lost, "damage": told})
    at = thread.last_at or _first_moment(recorder.path)
    draft = Draft("thread.recovered", payload, new_id("evt"), at)
    line = encode_line(thread.last_sequence + 1, draft, sum_before(reader(recorder.fd), size))
    recorder.append([line.data])
    recorder.sync()
    fact = Fact(
        thread.last_sequence + 1,
        at,
        draft.type,
        draft.event_id,
        None,
        None,
        payload,
        size,
        len(line.data) - 1,
        line.payload_at,
    )
    reduce(state, fact)
    thread.last_sum = line.sum.decode()
    thread.size = size + len(line.data)


def _first_moment(path: Path) -> str:
    """The time in a rollout's name, for a thread of which not one line can be read."""
    stamp = path.name[len("rollout-") :][:19]
    return f"{stamp[:13]}:{stamp[14:16]}:{stamp[17:19]}.000000Z"
