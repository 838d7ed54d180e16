"""`server/*`: how the process is doing."""

from __future__ import annotations

from typing import Any

from lockstitch.operations.call import Call
from lockstitch.operations.runtime import Runtime
from lockstitch_protocol.server import NoParams


async def status(runtime: Runtime, call: Call, params: NoParams) -> dict[str, Any]:
    """What this process does, and who else is on the data root."""
    del call, params
    return {
        "bootId": runtime.boot_id,
        "uptimeMs": (runtime.clock.now() - runtime.started_us) // 1000,
        "version": runtime.version,
        "dataRoot": str(runtime.root.path),
        "pendingWrites": runtime.pending_writes,
        "projectionLag": 0,
        "openThreads": runtime.feed.open_threads,
        "processes": await runtime.processes(),
    }
