"""From the first instruction to the exit status: claim the wire, answer the first message, then bring in the rest.

Invariant: importing this imports nothing heavy; `life` does, and is imported after the first reply.
"""

from __future__ import annotations

import sys

from lockstitch.rpc.claim import claim_wire
from lockstitch.rpc.doorstep import open_connection
from lockstitch.rpc.ends import CLEAN, CLIENT_GONE, Ends
from lockstitch.settings import without_plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from lockstitch.rpc.application import Application
    from lockstitch.settings import Settings


def serve(settings: Settings, load: Callable[[], Application]) -> int:
    """Serve stdin and stdout until the end; the exit status. `load` brings in the operations, after the first reply.

    The caller ends the process with `os._exit`: threads may still wait for a client that is gone.
    """
    from lockstitch_protocol.ids import new_id

    wire = claim_wire()
    ends = Ends()
    ends.watch_signals()
    boot_id = new_id("boot")
    parent_found = settings.parent_pid is None or ends.watch_process(settings.parent_pid)
    opening = open_connection(wire, settings, boot_id, ends)
    if opening.at_end and not opening.messages:
        return CLIENT_GONE if opening.unsent else CLEAN

    without_plugins()

    import gc

    gc.disable()  # until all is imported: the collector would walk through what stays, a tenth of the time
    with _without_ssl():
        from lockstitch.rpc.life import Start, live

    return live(Start(settings, boot_id, wire, ends, opening, parent_found), load)


class _without_ssl:  # noqa: N801 - used as a statement; contextlib would be imported for it before its time
    """asyncio is made to work on a Python that was built without ssl, and nothing here speaks TLS: a twentieth of
    the way to the first data."""

    def __enter__(self) -> None:
        modules: dict[str, ModuleType | None] = sys.modules  # pyright: ignore[reportAssignmentType] - None: not there
        self._mine = "ssl" not in modules
        if self._mine:
            modules["ssl"] = None

    def __exit__(self, *_: Any) -> None:
        if self._mine:
            del sys.modules["ssl"]
