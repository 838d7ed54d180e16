"""What stands between the first reply and the first data: start-up is a feature, and imports are most of it."""

from __future__ import annotations

import subprocess
import sys

READS = (
    "lockstitch.rpc.life",
    "lockstitch.operations.runtime",
    "lockstitch.operations.table",
    "lockstitch.operations.server",
    "lockstitch.operations.thread_reads",
    "lockstitch_protocol.methods",
    "lockstitch_protocol.plain_params",
)
LATER = {
    "pydantic": "with the first request that only a model can read",
    "jsonrpcserver": "with that request too",
    "anyio": "with search and storage/*",
    "ctypes": "with the first file",
    "lockstitch.artifacts.store": "with the first file",
    "lockstitch.diff": "with the first file",
    "lockstitch.timeline.reducer": "with the first event, or something to index",
    "lockstitch.timeline.admission": "with the first event",
    "lockstitch.operations.notices": "with the first subscription",
}


def test_the_first_list_of_threads_imports_nothing_that_it_can_do_without() -> None:
    code = f"import sys\nfor name in {READS!r}: __import__(name)\nprint(*({set(LATER)!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
