"""The ephemeral threads of this process: which there are, their writer, their contents.

Invariant: nothing of such a thread is written under the data root or in a workspace, but what a restore that was
asked for does to the user's files. An id is an ephemeral thread's or a stored one's, never both.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lockstitch.artifacts.memory import MemorySidecar, MemoryStore
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.errors import RefusedError
from lockstitch.operations.call import Call
from lockstitch.operations.contents import Contents
from lockstitch.timeline.ephemeral import MemoryReader, MemoryWriter
from lockstitch.timeline.jobs import ExclusiveJob, thread_exists
from lockstitch.timeline.place import Place
from lockstitch.timeline.writer import Writer

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime


class MemoryContents(Contents):
    """The file versions and large outputs of one ephemeral thread."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime.root.artifacts, runtime.root.exports, runtime.root_id)
        self.outputs = store = MemoryStore()
        self._sidecar = MemorySidecar(store)

    def sidecar(self, workspace: str | None) -> Sidecar:
        return self._sidecar

    def place_of(self, sidecar: Sidecar, problem: str | None) -> str:
        return "memory"


class Ephemeral:
    """Those of one process. Begins with the first of them; used on the event loop, `in` and contents anywhere."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.contents: dict[str, MemoryContents] = {}
        """By the ids, in lower case, of the threads that there are."""
        self._writer: MemoryWriter | None = None

    def __contains__(self, thread_id: str) -> bool:
        return thread_id.lower() in self.contents

    @property
    def writer(self) -> MemoryWriter:
        if self._writer is None:
            self._writer = MemoryWriter(self._place(), self._runtime.deliver)
            self._writer.start()
        return self._writer

    @property
    def reader(self) -> MemoryReader:
        return MemoryReader(self.writer, self._runtime.root_id)

    def _place(self) -> Place:
        runtime = self._runtime
        return Place(
            runtime.root,
            runtime.boots,
            os.getpid(),
            lambda thread_id: self.contents[thread_id.lower()].diff_of_thread(thread_id),
            Contents.artifact_of,
            lambda thread_id: self.contents[thread_id.lower()].spill,
            lambda row, only: (),
            runtime.clock,
        )

    async def reserve(self, thread_id: str, *, given: bool) -> None:
        """Take the id of a new thread. In its order of requests; `given`: the client chose it. Raises ConflictError."""
        if thread_id in self or (given and await self._is_stored(thread_id)):
            raise thread_exists(thread_id)
        self.contents[thread_id.lower()] = MemoryContents(self._runtime)

    def forget(self, thread_id: str) -> None:
        """There is no such thread any more."""
        self.contents.pop(thread_id.lower(), None)

    async def _is_stored(self, thread_id: str) -> bool:
        """Whether the data root has it, or will: what is queued to be stored comes first."""
        runtime = self._runtime
        if runtime.refusal is not None:
            return await runtime.read(lambda view: view.rows.thread(thread_id) is not None)
        return await runtime.exclusive(lambda writer: writer.rows.thread(thread_id) is not None)

    async def delete(self, call: Call, thread_id: str) -> None:
        """Remove a thread. In its order of requests."""
        runtime, writer = self._runtime, self.writer

        def run(_: Writer) -> None:
            writer.remove(thread_id)

        job: ExclusiveJob = runtime.job(ExclusiveJob, run=run, wait_for_reply=call.request_id is not None)
        await runtime.settled(call, job, runtime.enqueue(job, writer))
        self.forget(thread_id)

    def refuse(self, thread_id: str, done: str) -> None:
        """Raises RefusedError for an ephemeral thread; `done` is what is not done to one."""
        if thread_id in self:
            raise RefusedError(
                f"Thread {thread_id} lives in memory only and cannot be {done}; start a thread without `ephemeral` "
                "for that.",
                kind="invalidRequest",
                threadId=thread_id,
            )

    # -- the end ----------------------------------------------------------------------------------------------
    @property
    def pending(self) -> int:
        return 0 if self._writer is None else self._writer.pending

    async def stop(self) -> None:
        """Answer what was accepted."""
        if self._writer is not None:
            await self._runtime.slowly(self._writer.stop)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
