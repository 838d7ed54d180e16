"""What `initialize` says and hears: the capabilities of this process, and what the client can take.

Invariant: importing this imports neither pydantic nor jsonrpcserver nor a JSON engine.
"""

from __future__ import annotations

import os
import sys

import lockstitch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from lockstitch.settings import Settings

# Files are put back only where they can be opened relative to handles; the same test as platform/beneath.py's.
_CAN_RESTORE = hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd

CAPABILITIES: Final[dict[str, Any]] = {
    "agentSession": True,
    "capabilityDiscovery": True,
    "artifact": True,
    "evidence": True,
    "workspace": False,
    "fileCheckpoint": {"capture": True, "restore": _CAN_RESTORE, "rewind": _CAN_RESTORE},
    "threadReplay": True,
    "threadSearch": True,
    "conversationImport": ["codex", "claude", "gemini"],
}
"""What this version can do, as the initialize reply says it: flip a value here when the capability exists."""


class Client:
    """What a client said of itself in `initialize`."""

    __slots__ = ("max_message_bytes", "opted_out", "process_id")

    def __init__(self, opted_out: frozenset[str], max_message_bytes: int | None, process_id: int | None) -> None:
        self.opted_out = opted_out
        self.max_message_bytes = max_message_bytes
        self.process_id = process_id


def read_client(params: Any) -> Client | None:
    """The client's own words, if they are well-formed; None where a model should say what is wrong with them."""
    if not is_exactly(params, dict):
        return None
    who: Any = params.get("clientInfo")
    wants: Any = params.get("capabilities")
    if wants is None:
        wants = {}
    if not is_exactly(who, dict) or not is_exactly(who.get("name"), str) or not is_exactly(wants, dict):
        return None
    process_id: Any = who.get("processId")
    most: Any = wants.get("maxMessageBytes")
    opted_out: Any = wants.get("optOutNotificationMethods")
    if opted_out is None:
        opted_out = []
    if process_id is not None and not is_exactly(process_id, int):
        return None
    if most is not None and (not is_exactly(most, int) or most < 1):
        return None
    if not is_exactly(opted_out, list) or not all(is_exactly(name, str) for name in opted_out):
        return None
    for known, kind in _PLAIN:
        if not isinstance((wants if known in _OF_CAPABILITIES else who).get(known), kind):
            return None
    return Client(frozenset(opted_out), most, process_id)


def is_exactly(value: object, kind: type) -> bool:
    """Exactly of that type: True is no number. A function, so that values from outside stay Any to the checker."""
    return type(value) is kind


_NONE: Final = type(None)
_PLAIN: Final[tuple[tuple[str, tuple[type, ...]], ...]] = (
    ("title", (str, _NONE)),
    ("version", (str, _NONE)),
    ("experimental", (bool, _NONE)),
    ("eventMethods", (list, _NONE)),
)
_OF_CAPABILITIES: Final = ("experimental", "eventMethods")


def initialize_result(settings: Settings, boot_id: str) -> dict[str, Any]:
    """The result of `initialize`."""
    import apsw

    # a path that is not valid Unicode cannot be said in JSON; what can be said of it is
    data_root = {"path": os.fsencode(settings.data_root).decode("utf-8", "replace"), "source": settings.root.source}
    if settings.root.variable is not None:
        data_root["variable"] = settings.root.variable
    return {
        "serverInfo": {
            "name": "app-server",
            "title": "Lockstitch",
            "version": lockstitch.__version__,
            "protocolVersion": "appserver.v0",
        },
        "platform": {
            "family": "desktop",
            "os": {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform),
        },
        "capabilities": CAPABILITIES,
        "dataRoot": data_root,
        "bootId": boot_id,
        "sqliteVersion": apsw.sqlite_lib_version(),
    }
