"""From the first instruction to the exit status: claim the wire, answer the first message, then bring in the rest.

Invariant: importing this imports nothing heavy; `life` does, and is imported after the first reply.
"""

from __future__ import annotations

from lockstitch.rpc.claim import claim_wire
from lockstitch.rpc.doorstep import open_connection
from lockstitch.rpc.ends import CLEAN, CLIENT_GONE, Ends
from lockstitch.settings import without_plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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

    from lockstitch.rpc.life import Start, live

    return live(Start(settings, boot_id, wire, ends, opening, parent_found), load)
