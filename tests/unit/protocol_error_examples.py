"""One example of every kind of error: when it comes, what it says, and the facts of its `data`."""

from __future__ import annotations

from typing import Any

SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
OTHER = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"

ERROR_EXAMPLES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "parseError": ("What was sent is not JSON, or not UTF-8.", "This line is not JSON.", {}),
    "invalidRequest": (
        "It is JSON, but no request; or it cannot be done in the state that the thread is in.",
        "A request needs a method.",
        {},
    ),
    "messageTooLarge": (
        "A message is above the limit of this process, or an answer above the client's `maxMessageBytes`.",
        "The answer is larger than the client takes; read it in pages.",
        {"limit": 10485760, "use": "thread/turns/list", "threadId": "thread_1"},
    ),
    "tooDeep": ("JSON is nested deeper than 256.", "JSON may be nested 256 deep.", {"limit": 256}),
    "noActiveTurn": (
        "`turn/steer`, or an event that needs a turn, with none open.",
        "Thread thread_1 has no open turn; start one, or name the turn.",
        {"threadId": "thread_1"},
    ),
    "threadArchived": (
        "An append, `turn/start` or `thread/resume` of an archived thread.",
        "Thread thread_1 is archived; take it out of the archive first.",
        {"threadId": "thread_1"},
    ),
    "attemptsExhausted": (
        "A worker was retried as often as it may be.",
        "Worker worker_1 has had its 3 attempts.",
        {"threadId": "thread_1", "workerId": "worker_1"},
    ),
    "methodNotFound": ("There is no such method.", "There is no method thread/weave.", {"method": "thread/weave"}),
    "methodRetired": (
        "A method that older hosts call and this protocol has another name for.",
        "agent_runtime_get_thread_read is retired; use agentSession/read.",
        {"method": "agent_runtime_get_thread_read", "replacement": "agentSession/read"},
    ),
    "invalidParams": (
        "The params do not fit the method.",
        "threadId: Field required",
        {"errors": [{"path": "threadId", "message": "Field required"}]},
    ),
    "internalError": ("A bug. Its cause is in the log.", "An internal error; the log has it.", {"errorId": "err_01a2"}),
    "overloaded": ("Reserved.", "Too much is asked at once.", {}),
    "notInitialized": ("A request before `initialize`.", "Send initialize first.", {}),
    "alreadyInitialized": ("A second `initialize`.", "This connection is initialized already.", {}),
    "threadNotFound": (
        "No thread has that id.",
        "There is no thread thread_9; thread/list shows them.",
        {"threadId": "thread_9"},
    ),
    "turnNotFound": (
        "The thread has no such turn.",
        "Thread thread_1 has no turn turn_9.",
        {"threadId": "thread_1", "turnId": "turn_9"},
    ),
    "itemNotFound": (
        "The thread has no such item.",
        "Thread thread_1 has no item item_9.",
        {"threadId": "thread_1", "itemId": "item_9"},
    ),
    "checkpointNotFound": (
        "The thread has no such file checkpoint, restore or rewind.",
        "Thread thread_1 has no checkpoint cp_9; fileCheckpoint/list shows them.",
        {"threadId": "thread_1", "checkpointId": "cp_9"},
    ),
    "workerNotFound": (
        "The thread has no such worker.",
        "Thread thread_1 has no worker worker_9.",
        {"threadId": "thread_1", "workerId": "worker_9"},
    ),
    "turnTerminal": (
        "An append to a turn whose end was sent.",
        "Turn turn_1 is completed; start a new one.",
        {"threadId": "thread_1", "turnId": "turn_1"},
    ),
    "turnNotActive": (
        "An interrupt or an end of a turn that is over.",
        "Turn turn_1 is over.",
        {"threadId": "thread_1", "turnId": "turn_1"},
    ),
    "turnActive": (
        "A second turn, or a rollback, while a turn is open.",
        "Thread thread_1 has an open turn; end or interrupt it first.",
        {"threadId": "thread_1", "turnId": "turn_1"},
    ),
    "threadExists": ("A thread of that id is there.", "Thread thread_1 exists.", {"threadId": "thread_1"}),
    "turnExists": (
        "The same turn id with other content.",
        "Turn turn_1 exists with other content.",
        {"threadId": "thread_1", "turnId": "turn_1"},
    ),
    "checkpointExists": (
        "The same checkpoint id with other content.",
        "Checkpoint cp_1 exists with other content.",
        {"threadId": "thread_1", "checkpointId": "cp_1"},
    ),
    "workerExists": (
        "The same worker id with other content.",
        "Worker worker_1 exists with other content.",
        {"threadId": "thread_1", "workerId": "worker_1"},
    ),
    "eventConflict": (
        "The same event id with other content. The same id with the same content is no error, but a retry.",
        "Event evt_1 is stored with other content.",
        {"threadId": "thread_1", "eventId": "evt_1"},
    ),
    "pathRefused": (
        "A path outside the workspace, under a `.git` or `.lockstitch`, a link, a special file, a reserved name.",
        "The path leads out of the workspace.",
        {"path": "../secrets", "reason": "outside"},
    ),
    "workspaceUnavailable": (
        "The workspace is not there, or not a directory.",
        "The workspace is not a directory on this machine; create it or give another one.",
        {"path": "/home/ada/loom", "reason": "missing"},
    ),
    "workspaceNotLinked": (
        "The thread has no workspace, as after an import.",
        "Thread thread_1 is not linked to a workspace; link it with thread/metadata/update.",
        {"threadId": "thread_1"},
    ),
    "conflict": (
        "A restore or rewind would overwrite something that was never recorded. Nothing was changed.",
        "1 file holds something that the timeline does not know.",
        {"files": [{"path": "a.py", "expectedSha256": SHA, "actualSha256": OTHER}]},
    ),
    "contentUnavailable": (
        "The content was not captured, is gone or damaged.",
        "The content of a.py cannot be had: notCaptured.",
        {"path": "a.py", "contentStatus": "notCaptured"},
    ),
    "storageFull": (
        "There is no room on the disk. Nothing was changed.",
        "The disk is full; make room and send it again.",
        {"path": "/home/ada/.local/share/lockstitch/app-server", "errno": 28},
    ),
    "storageReadOnly": (
        "The data root can only be read.",
        "The data root is read-only.",
        {"path": "/home/ada/.local/share/lockstitch/app-server", "errno": 30},
    ),
    "storageFailed": (
        "The disk refused. Nothing was changed.",
        "The disk refused to store it.",
        {"path": "/home/ada/.local/share/lockstitch/app-server", "errno": 5},
    ),
    "storageBusy": (
        "Another process holds the write lock for longer than 10 seconds.",
        "Process 4711 holds the data root.",
        {"path": "/home/ada/.local/share/lockstitch/app-server/locks/writer", "errno": 11, "pid": 4711},
    ),
    "requestCancelled": ("`$/cancelRequest` came in time.", "The request was cancelled.", {}),
}
"""Kind to: when it comes, a message, and the facts of `data` besides `kind`."""
