"""`server/*`: how the process is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.operations.runtime import Runtime
from lockstitch.timeline import unread
from lockstitch.timeline.reader import View

if TYPE_CHECKING:
    from lockstitch_protocol.server import NoParams


def status_at_once(runtime: Runtime, call: Call, params: NoParams) -> dict[str, Any]:
    """The same, if nothing has to be looked up."""
    del call, params
    processes = runtime.processes_known()
    if processes is None or (runtime.refusal is None and runtime.writer.behind):
        return NOT_NOW
    if runtime.index_build is not None and not runtime.index_build.is_done:
        return NOT_NOW
    return _status(runtime, 0, processes)


async def status(runtime: Runtime, call: Call, params: NoParams) -> dict[str, Any]:
    """What this process does, and who else is on the data root."""
    del call, params
    return _status(runtime, await _projection_lag(runtime), await runtime.processes())


def _status(runtime: Runtime, lag: int, processes: list[dict[str, object]]) -> dict[str, Any]:
    return {
        "bootId": runtime.boot_id,
        "uptimeMs": (runtime.clock.now() - runtime.started_us) // 1000,
        "version": runtime.version,
        "dataRoot": str(runtime.root.path),
        "pendingWrites": runtime.pending_writes,
        "projectionLag": lag,
        "openThreads": runtime.feed.open_threads,
        "processes": processes,
    }


async def _projection_lag(runtime: Runtime) -> int:
    """Bytes of rollouts that no row knows yet: of threads not read yet, or whose rows the database did not take."""
    behind = [] if runtime.refusal is not None else sorted(runtime.writer.behind)

    def look(view: View) -> int:
        lag = unread.lag(view.connection)
        for thread_id in behind:
            row = view.rows.thread(thread_id)
            if row is not None:
                with view.rollout(row) as rollout:
                    lag += max(0, rollout.size - row.size)
        return lag

    return await runtime.read(look) if behind or runtime.index_build is not None else 0
