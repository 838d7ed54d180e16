"""Recovery of a rollout's tail: what to keep, what to set aside, and whether committed events are lost.

`plan_repair` only reads, so that a read can show what recovery will write; `apply_repair` is for the writer, who
holds the write lock and then appends the `thread.recovered` event.

Cut off is only what stands after the last LF and is no whole record, or, if the projection knows every byte before
it, an append whose last line is missing. A whole last record that lacks only its LF is kept and given one. Damage
before the tail is copied to quarantine and stepped over: a line is never rewritten.

Invariant: planning twice gives the same plan until something is appended; applying twice is applying once. No byte
is cut off before its copy is durable. The work is the tail's, not the file's: it goes back to the last sound line.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from lockstitch.platform import files
from lockstitch.rollout.recorder import Recorder, changed_underneath
from lockstitch.rollout.scan import HARMLESS, Damage, Record, scan
from lockstitch.rollout.tail import Anchor, ReadAt, last_chained, lines_backwards, read_tail, reader, sum_before
from lockstitch_protocol.ids import is_thread_id

_CHUNK = 1 << 20
_NOT_QUARANTINED = frozenset({"blank", "carriageReturn"})


class Repair(msgspec.Struct, frozen=True):
    """What to do with the tail of a file that is `size` long.

    `keep`: cut back to here (== size: cut nothing). `reappend`: then append this. `committed_lost`: events that were
    committed, or may have been, are lost, so that reads say `partial`; a tail that was never answered is not that.
    """

    size: int
    keep: int
    damages: tuple[Damage, ...]
    reappend: tuple[bytes, ...]
    committed_lost: bool


class QuarantinedRange(msgspec.Struct, frozen=True):
    """One damage and where its bytes are kept; no path if it has none (something is missing there)."""

    start: int
    end: int
    reason: str
    path: Path | None


def plan_repair(fd: int | BinaryIO, size: int, *, known_size: int | None, known_sum: bytes | None) -> Repair | None:
    """Judge the tail; None if it is clean. `known_*`: what the projection knows, None if it is gone."""
    read = reader(fd)
    if known_size is not None and known_size <= size and _ends_with(read, known_size, known_sum or b""):
        return None if known_size == size else _plan_unknown_tail(fd, read, size, known_size)
    if known_size is None or known_size <= size:
        # The projection is gone, or speaks of another file; then no byte is known not to have been answered.
        if size == 0 and not known_size:
            # A rollout appears with its first line in it: of an empty one all is lost.
            return Repair(0, 0, (Damage(0, 0, "missing"),), (), True)
        if read_tail(fd, size).clean:
            return None
        return _plan_kept_tail(fd, read, size, known_size=size)
    return _plan_kept_tail(fd, read, size, known_size=known_size)


def _ends_with(read: ReadAt, end: int, known_sum: bytes) -> bool:
    return end == 0 or (read(end - 1, 1) == b"\n" and sum_before(read, end) == known_sum)


def _plan_unknown_tail(fd: int | BinaryIO, read: ReadAt, size: int, known_size: int) -> Repair | None:
    """The projection knows all up to `known_size`; what follows was written by somebody who then died, or by a peer."""
    last_record, found = _scan_tail(fd, size, last_chained(read, known_size), known_size)
    damages = [
        Damage(max(damage.start, known_size), damage.end, damage.reason) for damage in found if damage.end >= known_size
    ]
    if not damages:
        return None
    last = damages[-1]
    if last.reason == "tornAppend":
        keep, reappend = last.start, ()
    else:
        keep, reappend = _end_of_lines(read, size, last_record)
    lost = any(damage.reason not in HARMLESS and damage.start < keep for damage in damages)
    return Repair(size, keep, _split_at(damages, keep), reappend, lost)


def _plan_kept_tail(fd: int | BinaryIO, read: ReadAt, size: int, *, known_size: int) -> Repair | None:
    """Every line that is there stays; if `known_size` is beyond `size`, committed bytes are gone."""
    anchor = last_chained(read, size)
    last_record, damages = _scan_tail(fd, size, anchor, None)
    keep, reappend = _end_of_lines(read, size, last_record)
    promised = anchor.promised if last_record is None else last_record.line.more
    if not any(damage.reason not in HARMLESS and damage.end >= keep for damage in damages):
        if known_size > size and not (reappend and known_size == size + 1):
            damages.append(Damage(keep, keep, "missing"))
        elif promised:
            damages.append(Damage(keep, keep, "tornAppend"))
    if not damages:
        return None
    lost = any(damage.reason not in HARMLESS for damage in damages)
    return Repair(size, keep, _split_at(damages, keep), reappend, lost)


def _scan_tail(
    fd: int | BinaryIO, size: int, anchor: Anchor, committed_end: int | None
) -> tuple[Record | None, list[Damage]]:
    """The last record and all damage from `anchor` on."""
    last: Record | None = None
    damages: list[Damage] = []
    for found in scan(
        fd,
        anchor.offset,
        size,
        previous_sum=anchor.previous_sum,
        next_sequence=anchor.next_sequence,
        committed_end=committed_end,
    ):
        if isinstance(found, Damage):
            damages.append(found)
        else:
            last = found
    return last, damages


def _end_of_lines(read: ReadAt, size: int, record: Record | None) -> tuple[int, tuple[bytes, ...]]:
    """Where the file must end so that nothing unfinished is left, and the LF if the last record lacks it."""
    if size == 0:
        return 0, ()
    start, _, terminated = next(lines_backwards(read, size))
    if terminated:
        return size, ()
    if record is not None and record.end > start:
        return record.end, (b"\n",)
    return start, ()


def _split_at(damages: list[Damage], keep: int) -> tuple[Damage, ...]:
    """A damage that runs on into what is cut off is two: its parts have different fates."""
    parts: list[Damage] = []
    for damage in damages:
        if damage.start < keep < damage.end:
            parts.append(Damage(damage.start, keep, damage.reason))
            parts.append(Damage(keep, damage.end, damage.reason))
        else:
            parts.append(damage)
    return tuple(parts)


def apply_repair(recorder: Recorder, plan: Repair, quarantine: Path, thread_id: str) -> list[QuarantinedRange]:
    """Copy the bad bytes to quarantine, then cut the tail. Raises StorageError; the plan can then be made again.

    The copies are `<quarantine>/<thread id>/<offset>-<length>-<first 16 hex of sha256>-<reason>`.
    """
    if recorder.size != plan.size:
        raise changed_underneath(recorder.path)
    directory = quarantine / (thread_id if is_thread_id(thread_id) else sha256(thread_id.encode()).hexdigest()[:32])
    read = reader(recorder.fd)
    ranges: list[QuarantinedRange] = []
    for damage in plan.damages:
        path = None
        if damage.start < damage.end and damage.reason not in _NOT_QUARANTINED:
            path = _quarantine(read, damage, directory)
        ranges.append(QuarantinedRange(damage.start, damage.end, damage.reason, path))
    # CRASH: from here on the copies are durable; dying before the cut makes the same plan, and the same names, again.
    if plan.keep < plan.size and not recorder.cut_back(plan.keep, only_if_size=plan.size):
        raise changed_underneath(recorder.path)
    if plan.reappend:
        recorder.append(plan.reappend)
        recorder.sync()
    return ranges


def _quarantine(read: ReadAt, damage: Damage, directory: Path) -> Path:
    length = damage.end - damage.start
    files.make_private_directory(directory)
    state = sha256()
    with files.storage_errors(directory):
        for chunk in _chunks(read, damage):
            state.update(chunk)
        path = directory / f"{damage.start}-{length}-{state.hexdigest()[:16]}-{damage.reason}"
        if _is_there(path, length):
            files.sync_directory(directory)
            return path
        staged = directory / f"{files.TEMPORARY_PREFIX}{damage.start}-{length}"
        fd = files.open_private(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            try:
                for chunk in _chunks(read, damage):
                    files.write_all(fd, chunk)
                files.sync_file(fd)
            finally:
                os.close(fd)
            files.replace(staged, path)
        except BaseException:
            with contextlib.suppress(OSError):
                files.unlink(staged)
            raise
        files.sync_directory(directory)
    return path


def _chunks(read: ReadAt, damage: Damage) -> Iterator[bytes]:
    at = damage.start
    while at < damage.end and (chunk := read(at, min(_CHUNK, damage.end - at))):
        yield chunk
        at += len(chunk)


def _is_there(path: Path, length: int) -> bool:
    try:
        return os.lstat(path).st_size == length
    except FileNotFoundError:
        return False
