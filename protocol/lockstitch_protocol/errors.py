"""The error table of the protocol: every kind and its JSON-RPC code.

Invariant: a plain table without pydantic, so that start-up can answer errors before models are imported.
Clients match on `data.kind` and `code`, never on messages.
"""

from __future__ import annotations

from typing import Final

ERROR_CODES: Final[dict[str, int]] = {
    "parseError": -32700,
    "invalidRequest": -32600,
    "messageTooLarge": -32600,
    "tooDeep": -32600,
    "noActiveTurn": -32600,
    "threadArchived": -32600,
    "attemptsExhausted": -32600,
    "methodNotFound": -32601,
    "methodRetired": -32601,
    "invalidParams": -32602,
    "internalError": -32603,
    "overloaded": -32001,
    "notInitialized": -32002,
    "alreadyInitialized": -32003,
    "threadNotFound": -32010,
    "turnNotFound": -32010,
    "itemNotFound": -32010,
    "checkpointNotFound": -32010,
    "workerNotFound": -32010,
    "turnTerminal": -32011,
    "turnNotActive": -32011,
    "turnActive": -32012,
    "threadExists": -32013,
    "turnExists": -32013,
    "checkpointExists": -32013,
    "workerExists": -32013,
    "eventConflict": -32013,
    "pathRefused": -32020,
    "workspaceUnavailable": -32020,
    "workspaceNotLinked": -32020,
    "conflict": -32021,
    "contentUnavailable": -32022,
    "storageFull": -32030,
    "storageReadOnly": -32030,
    "storageFailed": -32030,
    "storageBusy": -32030,
    "requestCancelled": -32800,
}
"""Kind (`error.data.kind`) to code (`error.code`)."""
