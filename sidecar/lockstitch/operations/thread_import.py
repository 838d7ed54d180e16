"""`thread/import`: a thread that was exported, here or elsewhere, taken in under its own ids.

Invariant: nothing is written before all of the file was verified. The thread appears whole, by one rename; what a
crash leaves before it are contents that nothing names and a staged file, which the next start removes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstitch.codec import encode
from lockstitch.errors import ConflictError, InvalidError, NotFoundError
from lockstitch.exports.handed import Handed, open_handed
from lockstitch.operations.call import Call
from lockstitch.operations.cancelling import to_its_end
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.views.threads import thread_value
from lockstitch.platform.files import make_private_directory, open_private, storage_errors, sync_file, write_all
from lockstitch.rollout.line import Draft, encode_line
from lockstitch.timeline import moves
from lockstitch.timeline.jobs import ExclusiveJob, thread_exists
from lockstitch.timeline.reader import View
from lockstitch.timeline.reconcile import remove
from lockstitch.timeline.rows import ThreadRow
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol.thread_export import ThreadImportParams

_BLOCK = 1 << 20


async def import_(runtime: Runtime, call: Call, params: ThreadImportParams) -> dict[str, Any]:
    """Take a thread in; twice is once."""
    if not os.path.isabs(params.path) or "\0" in params.path:
        raise InvalidError.at("path", "must be the absolute path of a bundle or of a thread's lines")
    await call.progress("begin")
    stack = ExitStack()
    try:
        handed = await to_its_end(runtime, lambda: stack.enter_context(open_handed(Path(params.path))))
        imported, duplicates = await _take_in(runtime, call, handed)
    finally:
        await to_its_end(runtime, stack.close)
    await call.progress("end")
    thread = await runtime.read_thread(handed.thread_id, lambda view: thread_value(view, view.thread(handed.thread_id)))
    return {"thread": thread, "imported": imported, "duplicates": duplicates}


async def _take_in(runtime: Runtime, call: Call, handed: Handed) -> tuple[int, int]:
    thread_id, told = handed.thread_id, handed.told
    async with runtime.order.turn(thread_id):
        if thread_id in runtime.ephemeral:
            raise thread_exists(thread_id)
        known = await _known(runtime, handed)
        if known is not None and known.size >= handed.size:
            return 0, told.events
        if runtime.refusal is not None:
            raise runtime.refusal
        total = len(handed.contents)
        for number, digest in enumerate(handed.contents):
            # Contents lie in the data root: the thread has no workspace until it is linked to one.
            await to_its_end(runtime, lambda digest=digest: runtime.contents.outputs.put(handed.content(digest)))
            await call.progress("report", current=number + 1, total=total)
        staged = runtime.root.staged_rollout(runtime.boot_id, thread_id)
        try:
            await to_its_end(runtime, lambda: _stage(runtime, handed, staged))
            await _put_in_place(runtime, call, handed, staged, known)
        except BaseException:
            await to_its_end(runtime, lambda: remove(staged))
            raise
    before = 0 if known is None else known.last_sequence
    return told.events - before, before


async def _put_in_place(runtime: Runtime, call: Call, handed: Handed, staged: Path, known: ThreadRow | None) -> None:
    told = handed.told

    def run(writer: Any) -> None:
        if known is None:
            moves.adopt(writer, staged, handed.thread_id, told.created_at, archived=told.archived)
        else:
            moves.supersede(writer, staged, known, archived=told.archived)

    job: ExclusiveJob = runtime.job(ExclusiveJob, run=run, thread_id=handed.thread_id)
    await runtime.perform(call, job)


async def _known(runtime: Runtime, handed: Handed) -> ThreadRow | None:
    """The row of the thread, if it is here and one of the two is the beginning of the other.

    Raises ConflictError if they are different.
    """

    def look(view: View) -> ThreadRow:
        row = view.thread(handed.thread_id)
        with view.rollout(row) as rollout:
            size = min(row.size, handed.size)
            if _digest(handed.rollout(), size) != _digest(_read(rollout, size), size):
                raise ConflictError(
                    f"There is a thread {row.thread_id} already, and it is not what the file holds; it stays as it is. "
                    "Delete it first to have the one of the file.",
                    kind="threadExists",
                    threadId=row.thread_id,
                )
        return row

    try:
        return await runtime.read_thread(handed.thread_id, look)
    except NotFoundError:
        return None


def _read(rollout: Any, size: int) -> Iterator[bytes]:
    for at in range(0, size, _BLOCK):
        yield rollout.read_bytes(at, min(_BLOCK, size - at))


def _digest(blocks: Iterator[bytes], size: int) -> bytes:
    state = sha256()
    for block in blocks:
        state.update(block[:size])
        size -= min(size, len(block))
    return state.digest()


def _stage(runtime: Runtime, handed: Handed, staged: Path) -> None:
    """Write the rollout beside its place. Raises StorageError, InvalidError."""
    make_private_directory(staged.parent)
    with storage_errors(staged):
        fd = open_private(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            for block in handed.rollout():
                write_all(fd, block)
            unlinking = _unlinking(runtime, handed)
            if unlinking is not None:
                write_all(fd, unlinking)
            sync_file(fd)
        finally:
            os.close(fd)


def _unlinking(runtime: Runtime, handed: Handed) -> bytes | None:
    """A line that takes the thread's workspace away, where its own lines would link it here too."""
    told = handed.told
    if told.workspace is None or told.linked_by not in (None, runtime.root_id):
        return None
    cwd, key = told.workspace
    payload = encode({"workspace": {"cwd": cwd, "key": key, "linked": False}})
    draft = Draft("thread.updated", payload, new_id("evt"), runtime.now())
    return encode_line(told.last_sequence + 1, draft, told.last_sum.encode()).data
