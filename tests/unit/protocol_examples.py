"""One example of everything on the wire: params and result of each method, notifications, payloads, items."""

from __future__ import annotations

from typing import Any

AT = "2026-12-01T02:40:11.123456Z"
SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

ITEMS: list[dict[str, Any]] = [
    {
        "type": "userMessage",
        "id": "item_1",
        "clientId": "c1",
        "content": [
            {"type": "text", "text": "rename the function", "text_elements": []},
            {"type": "image", "url": "data:image/png;base64,AA=="},
            {"type": "localImage", "path": "/home/ada/a.png"},
            {"type": "skill", "name": "review", "path": "skills/review"},
            {"type": "mention", "name": "a.py", "path": "src/a.py"},
        ],
    },
    {"type": "agentMessage", "id": "item_2", "text": "done", "phase": "final_answer"},
    {"type": "agentMessage", "id": "item_2b", "phase": None},
    {"type": "plan", "id": "item_3", "text": "1. look"},
    {"type": "reasoning", "id": "item_4"},
    {"type": "reasoning", "id": "item_4b", "summary": ["short"], "content": ["long"]},
    {"type": "commandExecution", "id": "item_5", "command": "ls"},
    {
        "type": "commandExecution",
        "id": "item_5b",
        "command": "ls",
        "cwd": "/w",
        "status": "failed",
        "source": "userShell",
        "commandActions": [{"type": "listFiles"}],
        "aggregatedOutput": "a\nb\n",
        "exitCode": 1,
        "durationMs": 12,
        "processId": None,
        "interrupted": True,
        "outputRef": {"artifactRef": "out_1", "sha256": SHA, "bytes": 70000},
    },
    {
        "type": "fileChange",
        "id": "item_6",
        "changes": [
            {"path": "a.py", "kind": {"type": "update", "move_path": "b.py"}, "diff": "@@"},
            {"path": "c.py", "kind": {"type": "add"}},
        ],
        "checkpointId": "cp_1",
    },
    {
        "type": "mcpToolCall",
        "id": "item_7",
        "server": "s",
        "tool": "t",
        "arguments": {"a": 1},
        "result": {"content": []},
    },
    {"type": "mcpToolCall", "id": "item_7b", "server": "s", "tool": "t", "error": {"message": "no"}, "durationMs": 0},
    {
        "type": "dynamicToolCall",
        "id": "item_8",
        "namespace": "n",
        "tool": "t",
        "arguments": [1],
        "contentItems": [{"type": "text"}],
        "success": False,
        "status": "declined",
    },
    {"type": "webSearch", "id": "item_9", "query": "q", "action": {"type": "search"}},
    {"type": "imageView", "id": "item_10", "path": "a.png"},
    {"type": "contextCompaction", "id": "item_11"},
    {"type": "acmeThing", "id": "item_12", "anything": [None, {"a": None}]},
]

USAGE = {"inputTokens": 10, "cachedInputTokens": 2, "outputTokens": 5, "reasoningOutputTokens": 1}
CHANGES = [{"path": "a.py", "kind": {"type": "add"}, "diff": ""}]

PAYLOADS: dict[str, list[dict[str, Any]]] = {
    "turn.started": [{}],
    "turn.completed": [{"usage": {"inputTokens": 3, "costUsd": 0.5}}, {"anything": None}],
    "turn.failed": [{"error": {"message": "the model is gone"}}, {"error": "gone"}],
    "turn.canceled": [{"reason": "user"}],
    "turn.interrupted": [{"bootId": "boot_1"}],
    "turn.resumed": [{"bootId": "boot_2"}],
    "thread.started": [{"version": 1}],
    "thread.updated": [{"name": "n"}],
    "thread.archived": [{}],
    "thread.unarchived": [{}],
    "thread.rolledBack": [{"numTurns": 2}],
    "thread.rolledForward": [{"turnIds": ["turn_2"], "preview": "hi", "previewTurnId": "turn_2"}],
    "thread.rewound": [{"rewindId": "rewind_1", "kind": "rewind", "toTurnId": "turn_1", "position": "after"}],
    "thread.recovered": [{"ranges": []}],
    "item.started": [{"item": item} for item in ITEMS[:3]],
    "item.updated": [{"item": item} for item in ITEMS[3:6]],
    "item.completed": [{"item": item} for item in ITEMS],
    "message.delta": [{"itemId": "item_1", "delta": "he"}],
    "reasoning.delta": [{"itemId": "item_1", "delta": ""}],
    "command.output": [{"itemId": "item_1", "delta": "out\n"}],
    "message.created": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "itemId": "m", "clientId": "c"},
    ],
    "command.started": [{"command": "ls"}, {"command": ["ls", "-l"], "itemId": "c", "cwd": "/", "commandActions": []}],
    "command.exited": [{"itemId": "c", "exitCode": 0, "aggregatedOutput": "", "durationMs": 1, "status": "completed"}],
    "patch.started": [{"changes": CHANGES, "itemId": "p"}],
    "patch.applied": [{"itemId": "p"}],
    "patch.failed": [{"itemId": "p", "error": "does not apply", "changes": CHANGES}],
    "patch.declined": [{"itemId": "p"}],
    "plan.final": [{"text": "1. look"}],
    "reasoning.final": [{"text": "why", "summary": ["s"], "content": ["c"]}, {}],
    "context.compaction.completed": [{"itemId": "k"}],
    "artifact.snapshot": [
        {"path": "a.py", "content": "x\n", "beforeAbsent": True, "op": "created", "mode": "0644"},
        {"artifact": {"path": "a.py", "content_base64": "eA==", "previous_content": "y", "checkpoint_id": "cp"}},
        {"pathBase64": "/w==", "metadata": {"a": 1}, "document": [1], "title": "t", "kind": "k", "preview": "p"},
    ],
    "file.changed": [
        {"change": {"path": "a.py", "oldContent": "y", "old_path": "b.py"}, "op": "renamed"},
        {"path": "a.py", "beforeNotCaptured": True, "afterNotCaptured": True, "diff": "@@", "artifactId": "x"},
    ],
    "action.required": [{"requestId": "r", "question": "may I?"}],
    "action.resolved": [{"requestId": "r", "decision": "yes"}],
    "action.cancelled": [{"requestId": "r"}],
    "provider.usage": [USAGE, {**USAGE, "model": "m", "costUsd": 1}],
    "route.selected": [{"provider": "p", "model": "m", "wireFormat": "chat"}],
    "authority.set": [{"mode": "ask", "trust": "workspace", "sandbox": {"type": "none"}, "allowed": ["ls"]}],
}

CONTENT = {"sha256": SHA, "bytes": 4, "encoding": "utf-8", "eol": "lf", "mode": "0644", "contentStatus": "available"}
CHECKPOINT: dict[str, Any] = {
    "checkpointId": "cp_1",
    "turnId": "turn_1",
    "path": "src/a.py",
    "source": "agent",
    "updatedAt": AT,
    "versionNo": 1,
    "versionId": "v1",
    "status": "ready",
    "snapshotPath": ".lockstitch/r/documents/t/a/versions/v0001.artifact.json",
    "validationIssueCount": 0,
    "sequence": 5,
    "op": "created",
    "before": None,
    "after": CONTENT,
    "additions": 1,
    "deletions": 0,
}
TURN = {"id": "turn_1", "items": [], "itemsView": "full", "status": "completed", "startedAt": 1, "durationMs": 5}
THREAD: dict[str, Any] = {
    "id": "thread_1",
    "sessionId": "thread_1",
    "preview": "rename",
    "ephemeral": False,
    "historyMode": "paginated",
    "modelProvider": "acme",
    "createdAt": 1,
    "updatedAt": 2,
    "status": {"type": "active", "activeFlags": []},
    "cwd": "/w",
    "cliVersion": "0.1.0",
    "source": "appServer",
    "gitInfo": {"branch": "main"},
    "turns": [TURN],
    "archived": False,
    "lastSequence": 9,
    "turnCount": 1,
    "workspaceLinked": True,
    "usage": USAGE,
    "damage": [{"fromOffset": 1, "toOffset": 2, "reason": "torn"}],
    "fileCheckpointSummary": {"count": 1, "latestCheckpoint": CHECKPOINT},
}
OPENED = {
    "thread": {**THREAD, "status": {"type": "idle"}},
    "model": "m",
    "modelProvider": "acme",
    "cwd": "/w",
    "runtimeWorkspaceRoots": [],
    "instructionSources": [],
    "approvalPolicy": None,
    "approvalsReviewer": None,
    "sandbox": None,
}
PAGE: dict[str, Any] = {"nextCursor": "bmV4dA", "backwardsCursor": None}
EVENT = {
    "eventId": "evt_1",
    "sequence": 1,
    "sessionId": "thread_1",
    "threadId": "thread_1",
    "type": "runtime.warning",
    "timestamp": AT,
    "payload": {"message": "once"},
}
INPUT = [{"type": "text", "text": "rename"}]
SESSION = {
    "sessionId": "thread_1",
    "threadId": "thread_1",
    "appId": "agent-chat",
    "status": "running",
    "createdAt": AT,
    "updatedAt": AT,
}
AGENT_TURN = {"turnId": "turn_1", "sessionId": "thread_1", "threadId": "thread_1", "status": "running", "startedAt": AT}
OVERVIEW = {
    "sessionId": "thread_1",
    "threadId": "thread_1",
    "title": "rename",
    "model": "m",
    "createdAt": AT,
    "updatedAt": AT,
    "messagesCount": 2,
    "threadStatus": "idle",
    "queuedTurnCount": 0,
}
ARTIFACT = {"artifactRef": "a", "eventId": "evt_1", "sequence": 5, "path": "a.py", "contentStatus": "available"}
SOURCE = {"sourceClient": "codex", "sourceRoot": "/h/.codex", "status": "ready"}
SOURCE_THREAD = {
    "sourceClient": "codex",
    "sourceThreadId": "s1",
    "sourcePath": "/h/.codex/s.jsonl",
    "updatedAt": AT,
    "bytes": 10,
}
JOB = {
    "jobId": "job_1",
    "sourceClient": "codex",
    "status": "completed",
    "progress": {"phase": "completed", "completedItems": 1, "totalItems": 1, "completedTurns": 1, "totalTurns": 1},
    "result": {"threadId": "s1", "turns": 1, "items": 1, "checkpoints": 0, "skipped": 0, "damaged": 0},
    "createdAt": AT,
    "updatedAt": AT,
}
EXPORTED = {"title": "A file", "relativePath": "x/a", "absolutePath": "/w/x/a", "bytes": 4}
THREAD_ONLY = {"threadId": "thread_1"}
SESSION_ONLY = {"sessionId": "thread_1"}
ONE_CHECKPOINT = {"sessionId": "thread_1", "checkpointId": "cp_1"}
PLACE = {"sessionId": "thread_1", "threadId": "thread_1", "checkpoint": CHECKPOINT}

METHOD_EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "initialize": (
        {
            "clientInfo": {"name": "host", "version": "1", "processId": 7},
            "capabilities": {"optOutNotificationMethods": ["item/started"], "eventMethods": None},
        },
        {
            "serverInfo": {
                "name": "app-server",
                "title": "Lockstitch",
                "version": "0.1.0",
                "protocolVersion": "appserver.v0",
            },
            "platform": {"family": "desktop", "os": "linux"},
            "capabilities": {
                "agentSession": True,
                "capabilityDiscovery": True,
                "artifact": True,
                "evidence": True,
                "workspace": False,
                "fileCheckpoint": {"capture": True, "restore": False, "rewind": False},
                "threadReplay": False,
                "threadSearch": False,
                "conversationImport": ["codex", "claude"],
            },
            "dataRoot": {"path": "/d", "source": "environment", "variable": "LOCKSTITCH_DATA_DIR"},
            "bootId": "boot_1",
            "sqliteVersion": "3.50.4",
        },
    ),
    "initialized": ({}, {}),
    "server/status": (
        {},
        {
            "bootId": "boot_1",
            "uptimeMs": 5,
            "version": "0.1.0",
            "dataRoot": "/d",
            "pendingWrites": 0,
            "projectionLag": 0,
            "openThreads": 1,
            "processes": [{"pid": 7, "bootId": "boot_1", "startedAt": AT}],
        },
    ),
    "storage/report": (
        {"threadLimit": 1},
        {
            "dataRoot": "/d",
            "bytes": 9,
            "files": 2,
            "classes": [{"name": "sessions", "bytes": 9, "files": 2, "oldest": AT, "newest": AT}],
            "threadCount": 1,
            "threads": [
                {
                    "threadId": "thread_1",
                    "archived": False,
                    "bytes": 9,
                    "events": 2,
                    "contents": 0,
                    "oldest": AT,
                    "newest": AT,
                }
            ],
            "database": {
                "path": "/d/sqlite/timeline.sqlite",
                "bytes": 4096,
                "pageBytes": 4096,
                "pages": 1,
                "freePages": 0,
                "walBytes": 0,
            },
            "orphans": {"bytes": 0, "files": 0},
        },
    ),
    "storage/gc": (
        {"dryRun": True, "olderThanDays": 0.5, "maxBytes": 9},
        {
            "dryRun": True,
            "candidates": [{"path": "/d/artifacts/aa/x", "bytes": 9, "reason": "unreferenced"}],
            "candidateCount": 1,
            "candidateBytes": 9,
            "removed": 0,
            "freedBytes": 0,
            "skipped": [{"path": "/w", "reason": "permission denied"}],
        },
    ),
    "storage/verify": (
        {"threadId": "thread_1"},
        {
            "ok": False,
            "threads": 1,
            "events": 2,
            "bytes": 9,
            "contents": 0,
            "differences": [
                {
                    "kind": "damage",
                    "threadId": "thread_1",
                    "reason": "rotten",
                    "fromOffset": 1,
                    "toOffset": 5,
                    "told": True,
                },
                {"kind": "projection", "threadId": "thread_1", "reason": "extra", "table": "item", "key": "1/2"},
                {"kind": "content", "threadId": "thread_1", "reason": "missing", "sha256": "0" * 64},
            ],
            "differenceCount": 3,
        },
    ),
    "storage/rebuild": ({}, {"threads": 1, "resumed": 0, "bytes": 4096}),
    "shutdown": ({}, {}),
    "exit": ({}, {}),
    "$/cancelRequest": ({"id": 3}, {}),
    "thread/start": ({"cwd": "/w", "model": "m", "threadId": "t-1", "approvalPolicy": "never"}, OPENED),
    "thread/read": ({"threadId": "thread_1", "includeTurns": True}, {"thread": THREAD}),
    "thread/list": ({"cwd": ["/w"], "sortKey": "updated_at", "limit": 5}, {"data": [THREAD], **PAGE}),
    "thread/turns/list": ({"threadId": "thread_1", "itemsView": "notLoaded"}, {"data": [TURN], **PAGE}),
    "thread/items/list": (
        THREAD_ONLY,
        {"data": [{"turnId": "turn_1", "item": {"type": "plan", "id": "i", "text": "x"}}], **PAGE},
    ),
    "thread/events/list": (
        {"threadId": "thread_1", "afterSequence": 3, "limit": 1000, "types": ["turn.started"]},
        {"data": [EVENT], "lastSequence": 1, "hasMore": False},
    ),
    "thread/resume": (
        {"threadId": "thread_1", "initialTurnsPage": {"limit": 5, "itemsView": None}, "afterSequence": 0},
        {**OPENED, "initialTurnsPage": {"data": [TURN], **PAGE}},
    ),
    "thread/unsubscribe": (THREAD_ONLY, {}),
    "thread/fork": ({"threadId": "thread_1", "lastTurnId": "turn_1"}, OPENED),
    "thread/name/set": ({"threadId": "thread_1", "name": "n"}, {"thread": THREAD}),
    "thread/metadata/update": ({"threadId": "thread_1", "workspace": "/w", "extra": {"a": None}}, {"thread": THREAD}),
    "thread/archive": (THREAD_ONLY, {}),
    "thread/unarchive": (THREAD_ONLY, {"thread": THREAD}),
    "thread/delete": (THREAD_ONLY, {}),
    "thread/rollback": ({"threadId": "thread_1", "numTurns": 1}, {"thread": THREAD}),
    "thread/search": (
        {"query": 'rename "the function"', "cwd": "/w", "archived": None, "limit": 5},
        {
            "data": [
                {
                    "threadId": "thread_1",
                    "turnId": "turn_1",
                    "itemId": "item_1",
                    "snippet": "rename the function",
                    "ranges": [[0, 6], [7, 19]],
                    "score": 2.5,
                },
                {"threadId": "thread_1", "snippet": "Rename", "ranges": [[0, 6]], "score": 1.0},
            ],
            "nextCursor": None,
            "indexing": {"done": 3, "total": 7},
        },
    ),
    "thread/replay": (
        {"threadId": "thread_1", "afterSequence": 3, "untilSequence": 9, "speed": 2},
        {"replayId": "replay_1", "eventCount": 1, "firstSequence": 4, "lastSequence": 4, "digest": SHA},
    ),
    "thread/export": (
        {"threadId": "thread_1", "format": "markdown", "path": None},
        {"content": "# A thread\n", "bytes": 11, "sha256": SHA, "partial": True, "redactions": {}},
    ),
    "turn/start": ({"threadId": "thread_1", "input": INPUT, "turnId": "turn_1", "summary": "auto"}, {"turn": TURN}),
    "turn/interrupt": ({"threadId": "thread_1", "turnId": "turn_1"}, {}),
    "turn/steer": ({"threadId": "thread_1", "input": INPUT, "expectedTurnId": "turn_1"}, {"turnId": "turn_1"}),
    "turn/receipt/read": (
        {"threadId": "thread_1", "turnId": "turn_1"},
        {
            "threadId": "thread_1",
            "turnId": "turn_1",
            "status": "interrupted",
            "startedAt": AT,
            "completedAt": None,
            "durationMs": None,
            "usage": USAGE,
            "cost": "unknown",
            "counts": {
                "items": 3,
                "toolCalls": 1,
                "commands": 1,
                "approvals": 0,
                "fileCheckpoints": 1,
                "workers": 0,
            },
            "filesChanged": [{"path": "a.py", "op": "created", "additions": 1, "deletions": 0, "afterSha256": SHA}],
            "artifacts": [ARTIFACT],
            "workers": [],
            "diagnostics": [],
            "gaps": [{"itemId": "item_5", "reason": "interrupted"}],
            "interruption": {"reason": "processLost", "bootId": "boot_1"},
            "unavailable": ["route"],
            "sequenceRange": [2, 9],
            "rolloutSum": "9f2c9f2c9f2c9f2c",
        },
    ),
    "agentSession/start": ({"appId": "desk", "sessionId": "s-1", "workspaceId": "w"}, {**OPENED, "session": SESSION}),
    "agentSession/list": ({"includeArchived": True, "limit": None}, {"sessions": [OVERVIEW], "nextCursor": None}),
    "agentSession/read": (
        {"sessionId": "thread_1", "historyLimit": 10},
        {
            "session": SESSION,
            "turns": [AGENT_TURN],
            "detail": {
                "session_id": "thread_1",
                "thread_id": "thread_1",
                "working_dir": "/w",
                "items": [
                    {
                        "id": "cp_1",
                        "type": "file_artifact",
                        "thread_id": "thread_1",
                        "turn_id": "turn_1",
                        "path": "src/a.py",
                        "source": "agent",
                        "status": "ready",
                        "metadata": {"artifactId": "x", "artifactVersionNo": 1, "artifactVersionId": "v1"},
                        "updated_at": AT,
                    },
                    {"id": "m", "type": "agentMessage", "thread_id": "thread_1", "turn_id": "turn_1", "text": "hi"},
                ],
                "file_checkpoint_summary": {"count": 1},
                "recentArtifacts": [ARTIFACT],
            },
        },
    ),
    "agentSession/update": ({"sessionId": "thread_1", "title": "n", "executionStrategy": "x"}, {"session": OVERVIEW}),
    "agentSession/delete": (SESSION_ONLY, {"sessionId": "thread_1", "deleted": True}),
    "agentSession/thread/resume": (
        {"sessionId": "thread_1", "afterSequence": 4},
        {**OPENED, "session": SESSION, "turns": [AGENT_TURN], "resumed": True},
    ),
    "agentSession/turn/start": (
        {
            "sessionId": "thread_1",
            "input": {"text": "rename", "attachments": [{"kind": "image", "uri": "a.png"}]},
            "queueIfBusy": True,
        },
        {"turn": AGENT_TURN},
    ),
    "agentSession/turn/cancel": ({"sessionId": "thread_1", "turnId": "turn_1"}, {}),
    "agentSession/runtimeEvents/append": (
        {
            "sessionId": "thread_1",
            "turnId": "turn_1",
            "runtimeEvents": [
                {"type": "runtime.warning", "payload": {"message": "once"}, "eventId": "evt_client_1", "at": AT},
                {"eventType": "turn.completed"},
            ],
            "durability": "sync",
        },
        {"events": [EVENT, {key: value for key, value in EVENT.items() if key != "sequence"}], "duplicates": 1},
    ),
    "agentSession/fileCheckpoint/list": (
        {"sessionId": "thread_1", "path": "a.py"},
        {"sessionId": "t", "threadId": "t", "checkpointCount": 1, "checkpoints": [CHECKPOINT], "nextCursor": None},
    ),
    "agentSession/fileCheckpoint/get": (
        {**ONE_CHECKPOINT, "side": "before", "as": "base64", "maxBytes": 10},
        {
            **PLACE,
            "side": "after",
            "livePath": "src/a.py",
            "versionHistory": [{"id": "v1", "versionNo": 1, "checkpointId": "cp_1", "createdAt": AT, "op": "created"}],
            "validationIssues": [],
            "content": "x\n",
            "contentStatus": "available",
            "truncated": False,
            "liveState": "same",
        },
    ),
    "agentSession/fileCheckpoint/diff": (
        {**ONE_CHECKPOINT, "against": "live", "contextLines": 0},
        {
            **PLACE,
            "diff": {
                "format": "unified",
                "unified": "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
                "hunks": [
                    {
                        "oldStart": 0,
                        "oldLines": 0,
                        "newStart": 1,
                        "newLines": 1,
                        "lines": [{"kind": "add", "value": "x", "newNo": 1}],
                    }
                ],
                "additions": 1,
                "deletions": 0,
                "binary": False,
                "truncated": False,
                "eolChanged": True,
            },
        },
    ),
    "agentSession/fileCheckpoint/capture": (
        {"sessionId": "thread_1", "paths": ["a.py"], "reason": "before a command"},
        {"captured": [CHECKPOINT], "unchanged": ["b.py"], "failed": [{"path": "c", "reason": "tooLarge"}]},
    ),
    "agentSession/fileCheckpoint/restore": (
        {**ONE_CHECKPOINT, "side": "before", "confirmRestore": True, "onConflict": "backup", "createBackup": False},
        {
            "sessionId": "thread_1",
            "threadId": "thread_1",
            "checkpoint": CHECKPOINT,
            "livePath": "src/a.py",
            "restoredAt": AT,
            "restoreCheckpointId": "cp_2",
            "conflict": {"path": "src/a.py", "expectedSha256": "0" * 64, "actualSha256": "1" * 64},
            "plan": [{"path": "src/a.py", "action": "write", "toSha256": "0" * 64, "reason": "backup"}],
        },
    ),
    "agentSession/fileCheckpoint/rewind": (
        {"sessionId": "thread_1", "toTurnId": "turn_1", "position": "before", "paths": ["src"], "dryRun": True},
        {"plan": [{"path": "src/a.py", "action": "delete", "fromSha256": "0" * 64}], "applied": False, "rewindId": "r"},
    ),
    "agentSession/fileCheckpoint/undo": (
        {"sessionId": "thread_1", "rewindId": "rewind_1", "confirmRestore": True},
        {"plan": [], "applied": True, "rewindId": "rewind_2"},
    ),
    "artifact/read": ({"sessionId": "thread_1", "includeContent": True}, {"artifacts": [ARTIFACT], "nextCursor": None}),
    "evidence/export": (
        {"sessionId": "thread_1", "turnId": None, "redact": False},
        {
            "session": SESSION,
            "turns": [AGENT_TURN],
            "events": [EVENT],
            "artifacts": [ARTIFACT],
            "exportedAt": AT,
            "evidencePack": {
                "packRelativeRoot": ".lockstitch/root_1/exports/thread_1/evidence/x",
                "packAbsoluteRoot": "/w/.lockstitch/root_1/exports/thread_1/evidence/x",
                "exportedAt": AT,
                "threadStatus": "completed",
                "turnCount": 1,
                "itemCount": 2,
                "pendingRequestCount": 0,
                "queuedTurnCount": 0,
                "recentArtifactCount": 1,
                "knownGaps": [],
                "observabilitySummary": {
                    "schema_version": "runtime-evidence-pack.v1",
                    "source": "lockstitch",
                    "event_count": 3,
                    "artifact_count": 1,
                    "evidence_artifact_count": 8,
                },
                "completionAuditSummary": {"decision": "completed"},
                "artifacts": [{**EXPORTED, "kind": "manifest"}],
                "manifestSha256": SHA,
                "redactions": {"token": 1},
            },
        },
    ),
    "agentSession/replayCase/export": (
        {"sessionId": "thread_1", "locale": "de"},
        {
            "sessionId": "thread_1",
            "threadId": "thread_1",
            "workspaceRoot": "/w",
            "replayRelativeRoot": ".lockstitch/root_1/exports/thread_1/replay/x",
            "replayAbsoluteRoot": "/w/.lockstitch/root_1/exports/thread_1/replay/x",
            "handoffBundleRelativeRoot": ".lockstitch/root_1/exports/thread_1/replay/x",
            "evidencePackRelativeRoot": ".lockstitch/root_1/exports/thread_1/evidence",
            "exportedAt": AT,
            "threadStatus": "completed",
            "pendingRequestCount": 0,
            "queuedTurnCount": 0,
            "linkedHandoffArtifactCount": 0,
            "linkedEvidenceArtifactCount": 1,
            "recentArtifactCount": 1,
            "artifacts": [{**EXPORTED, "kind": "expected"}],
        },
    ),
    "agentSession/replayCase/verify": (
        {"path": "/w/case"},
        {
            "ok": False,
            "projectionDigest": SHA,
            "expectedDigest": SHA,
            "itemCount": 2,
            "mismatches": [{"kind": "item", "id": "item_1", "expected": SHA, "actual": "missing"}],
        },
    ),
    "conversationImport/source/scan": (
        {"sourceClient": "claude", "projectPath": "/w"},
        {"source": SOURCE, "threads": [SOURCE_THREAD], "nextCursor": None},
    ),
    "conversationImport/thread/preview": (
        {"sourcePath": "/h/.codex/s.jsonl"},
        {
            "source": SOURCE,
            "thread": SOURCE_THREAD,
            "summary": {"turns": 1, "items": 2, "edits": 0, "damagedLines": 0},
            "messages": [{"role": "user", "text": "hi", "turnId": "t"}],
        },
    ),
    "conversationImport/thread/commit": (
        {"sourcePath": "/h/.codex/s.jsonl", "confirmed": True, "progressToken": 1},
        {"job": JOB},
    ),
    "conversationImport/job/read": ({"jobId": "job_1"}, {"job": {**JOB, "error": {"kind": "x", "message": "y"}}}),
}

STEP = {"threadId": "thread_1", "sequence": 4}
DELTA = {"threadId": "thread_1", "turnId": "turn_1", "itemId": "i", "delta": "x", "eventId": "evt_1"}
NOTIFICATION_EXAMPLES: dict[str, dict[str, Any]] = {
    "thread/started": {"thread": THREAD, "sequence": 1},
    "thread/archived": STEP,
    "thread/unarchived": STEP,
    "thread/deleted": THREAD_ONLY,
    "thread/tokenUsage/updated": {**STEP, "turnId": "turn_1", "tokenUsage": {"total": USAGE, "last": USAGE}},
    "thread/replay/event": {"replayId": "replay_1", "event": EVENT},
    "turn/started": {**STEP, "turn": {**TURN, "status": "inProgress"}},
    "turn/completed": {**STEP, "turn": TURN},
    "item/started": {**STEP, "turnId": "turn_1", "item": ITEMS[1], "startedAtMs": 1},
    "item/completed": {**STEP, "turnId": "turn_1", "item": ITEMS[1], "completedAtMs": 1},
    "item/agentMessage/delta": DELTA,
    "item/reasoning/textDelta": DELTA,
    "item/commandExecution/outputDelta": DELTA,
    "agentSession/event": {"event": EVENT},
    "agentSession/eventsDropped": {"threadId": "thread_1", "afterSequence": 9},
    "$/progress": {"token": "p", "value": {"kind": "report", "percentage": 50, "current": 1, "total": 2}},
}
