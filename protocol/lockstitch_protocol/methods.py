"""THE registry: every method that a client may call, with its params and result.

Invariant: dispatch, schemas, documentation and tests read this table and no other; what is not in it does
not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lockstitch_protocol.later import LaterModule, LaterName

if TYPE_CHECKING:
    from pydantic import BaseModel

    from lockstitch_protocol import (
        agent_session,
        artifact,
        conversation_import,
        events,
        evidence,
        file_checkpoint,
        initialize,
        receipt,
        replay,
        restore,
        search,
        server,
        session_facade,
        storage,
        thread,
        thread_export,
        thread_params,
        turn,
        wire,
        worker,
    )
else:
    agent_session = LaterModule("lockstitch_protocol.agent_session")
    artifact = LaterModule("lockstitch_protocol.artifact")
    conversation_import = LaterModule("lockstitch_protocol.conversation_import")
    events = LaterModule("lockstitch_protocol.events")
    evidence = LaterModule("lockstitch_protocol.evidence")
    file_checkpoint = LaterModule("lockstitch_protocol.file_checkpoint")
    initialize = LaterModule("lockstitch_protocol.initialize")
    receipt = LaterModule("lockstitch_protocol.receipt")
    replay = LaterModule("lockstitch_protocol.replay")
    restore = LaterModule("lockstitch_protocol.restore")
    search = LaterModule("lockstitch_protocol.search")
    server = LaterModule("lockstitch_protocol.server")
    session_facade = LaterModule("lockstitch_protocol.session_facade")
    storage = LaterModule("lockstitch_protocol.storage")
    thread = LaterModule("lockstitch_protocol.thread")
    thread_export = LaterModule("lockstitch_protocol.thread_export")
    thread_params = LaterModule("lockstitch_protocol.thread_params")
    turn = LaterModule("lockstitch_protocol.turn")
    wire = LaterModule("lockstitch_protocol.wire")
    worker = LaterModule("lockstitch_protocol.worker")


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the protocol."""

    name: str
    _params: type[BaseModel] | LaterName
    _result: type[BaseModel] | LaterName
    since: str
    changes: bool
    """It changes a thread, or who hears of it: such requests of one thread run in order of arrival."""
    summary: str
    notification: bool = False
    """It has no reply, whether or not it carries an id."""

    @property
    def params(self) -> type[BaseModel]:
        """The model of the params."""
        return _model(self._params)

    @property
    def result(self) -> type[BaseModel]:
        """The model of the result."""
        return _model(self._result)


def _model(found: type[BaseModel] | LaterName) -> type[BaseModel]:
    return found.get() if isinstance(found, LaterName) else found


def _table(*methods: Method) -> dict[str, Method]:
    return {method.name: method for method in methods}


def _read(name: str, params: type[BaseModel], result: type[BaseModel], summary: str) -> Method:
    return Method(name, params, result, "0.1.0", False, summary)


def _change(name: str, params: type[BaseModel], result: type[BaseModel], summary: str) -> Method:
    return Method(name, params, result, "0.1.0", True, summary)


def _signal(name: str, params: type[BaseModel], summary: str) -> Method:
    return Method(name, params, wire.Empty, "0.1.0", False, summary, notification=True)


METHODS: Final[dict[str, Method]] = _table(
    _read("initialize", initialize.InitializeParams, initialize.InitializeResult, "Open the connection."),
    _signal("initialized", server.NoParams, "The client has read the reply to initialize."),
    _read("server/status", server.NoParams, server.ServerStatusResult, "How the process is doing."),
    _read("shutdown", server.NoParams, wire.Empty, "Store and answer everything; then close stdin or send exit."),
    _signal("exit", server.NoParams, "End as if stdin had ended."),
    _signal("$/cancelRequest", server.CancelParams, "Cancel a request, if it is not yet being stored."),
    _change(
        "thread/start", thread_params.ThreadStartParams, thread.ThreadOpened, "Create a thread and subscribe to it."
    ),
    _read(
        "thread/read", thread_params.ThreadReadParams, thread.ThreadResult, "Read a thread, with its turns if asked."
    ),
    _read("thread/list", thread_params.ThreadListParams, thread.ThreadListResult, "List threads, filtered and sorted."),
    _read("thread/turns/list", thread_params.ThreadTurnsListParams, thread.TurnsPage, "List a thread's turns."),
    _read(
        "thread/items/list",
        thread_params.ThreadItemsListParams,
        thread.ThreadItemsListResult,
        "List the items of a thread or of one turn.",
    ),
    _read(
        "thread/events/list",
        thread_params.ThreadEventsListParams,
        thread.ThreadEventsListResult,
        "List a thread's events by sequence.",
    ),
    _change(
        "thread/resume", thread_params.ThreadResumeParams, thread.ThreadResumeResult, "Open a thread and subscribe."
    ),
    _read("thread/unsubscribe", thread_params.ThreadParams, wire.Empty, "Stop the notifications of a thread."),
    _change("thread/fork", thread_params.ThreadForkParams, thread.ThreadOpened, "Copy a thread up to a turn."),
    _change("thread/name/set", thread_params.ThreadNameSetParams, thread.ThreadResult, "Name a thread."),
    _change(
        "thread/metadata/update",
        thread_params.ThreadMetadataUpdateParams,
        thread.ThreadResult,
        "Change what is known about a thread, or link it to a workspace.",
    ),
    _change("thread/archive", thread_params.ThreadParams, wire.Empty, "Put a thread away."),
    _change("thread/unarchive", thread_params.ThreadParams, thread.ThreadResult, "Take a thread out of the archive."),
    _change("thread/delete", thread_params.ThreadParams, wire.Empty, "Remove a thread and all that only it needs."),
    _change(
        "thread/rollback",
        thread_params.ThreadRollbackParams,
        thread.ThreadResult,
        "Take the last turns out of what is read; they stay in the log.",
    ),
    _read(
        "thread/search",
        search.ThreadSearchParams,
        search.ThreadSearchResult,
        "Find messages, commands, outputs, paths and titles by their words.",
    ),
    _read("thread/replay", replay.ThreadReplayParams, replay.ThreadReplayResult, "Send a thread's recorded events."),
    _read(
        "thread/export",
        thread_export.ThreadExportParams,
        thread_export.ThreadExportResult,
        "A thread as one document, to read or to keep.",
    ),
    _change(
        "thread/import",
        thread_export.ThreadImportParams,
        thread_export.ThreadImportResult,
        "Take in a thread that thread/export wrote.",
    ),
    _change("turn/start", turn.TurnStartParams, turn.TurnStartResult, "Open a turn with the user's message."),
    _change("turn/interrupt", turn.TurnInterruptParams, wire.Empty, "End the open turn as interrupted."),
    _change("turn/steer", turn.TurnSteerParams, turn.TurnSteerResult, "Add a user message to the open turn."),
    _read("turn/receipt/read", receipt.ReceiptReadParams, receipt.Receipt, "What a turn did, from durable facts."),
    _change("worker/start", worker.WorkerStartParams, worker.Worker, "Begin a worker, under a lease."),
    _change("worker/heartbeat", worker.WorkerParams, worker.Worker, "Renew a worker's lease."),
    _change("worker/finish", worker.WorkerFinishParams, worker.Worker, "End a worker."),
    _change("worker/retry", worker.WorkerParams, worker.Worker, "Begin the next attempt of a worker that was lost."),
    _read("worker/list", worker.WorkerListParams, worker.WorkerListResult, "List workers."),
    _change("session.create", session_facade.SessionCreateParams, thread.ThreadOpened, "As thread/start."),
    _read("session.list", session_facade.SessionListParams, thread.ThreadListResult, "As thread/list."),
    _change("session.resume", session_facade.SessionResumeParams, thread.ThreadResumeResult, "As thread/resume."),
    _change("session.rename", session_facade.SessionRenameParams, thread.ThreadResult, "As thread/name/set."),
    _change("session.fork", session_facade.SessionForkParams, thread.ThreadOpened, "As thread/fork."),
    _change("session.archive", session_facade.SessionParams, wire.Empty, "As thread/archive."),
    _change("session.delete", session_facade.SessionParams, wire.Empty, "As thread/delete."),
    _change(
        "agentSession/start",
        agent_session.AgentSessionStartParams,
        agent_session.AgentSessionStartResult,
        "Create a session, which is a thread.",
    ),
    _read(
        "agentSession/list",
        agent_session.AgentSessionListParams,
        agent_session.AgentSessionListResult,
        "List sessions.",
    ),
    _read(
        "agentSession/read",
        agent_session.AgentSessionReadParams,
        agent_session.AgentSessionReadResult,
        "Read a session with its turns and items.",
    ),
    _change(
        "agentSession/update",
        agent_session.AgentSessionUpdateParams,
        agent_session.AgentSessionUpdateResult,
        "Change a session's title or model, or archive it.",
    ),
    _change(
        "agentSession/delete",
        agent_session.AgentSessionParams,
        agent_session.AgentSessionDeleteResult,
        "Remove a session, as thread/delete does.",
    ),
    _change(
        "agentSession/thread/resume",
        agent_session.AgentSessionThreadResumeParams,
        agent_session.AgentSessionThreadResumeResult,
        "Open a session and subscribe, as thread/resume does.",
    ),
    _change(
        "agentSession/turn/start",
        agent_session.AgentSessionTurnStartParams,
        agent_session.AgentSessionTurnStartResult,
        "Open a turn with the user's message.",
    ),
    _change(
        "agentSession/turn/cancel",
        agent_session.AgentSessionTurnCancelParams,
        wire.Empty,
        "End the open turn as interrupted.",
    ),
    _change(
        "agentSession/runtimeEvents/append",
        events.AppendParams,
        events.AppendResult,
        "Store events of a thread: all or nothing.",
    ),
    _read(
        "agentSession/fileCheckpoint/list",
        file_checkpoint.FileCheckpointListParams,
        file_checkpoint.FileCheckpointListResult,
        "List a session's file checkpoints, newest first.",
    ),
    _read(
        "agentSession/fileCheckpoint/get",
        file_checkpoint.FileCheckpointGetParams,
        file_checkpoint.FileCheckpointGetResult,
        "Read a file checkpoint and its content.",
    ),
    _read(
        "agentSession/fileCheckpoint/diff",
        file_checkpoint.FileCheckpointDiffParams,
        file_checkpoint.FileCheckpointDiffResult,
        "What a file checkpoint changed.",
    ),
    _change(
        "agentSession/fileCheckpoint/capture",
        file_checkpoint.FileCheckpointCaptureParams,
        file_checkpoint.FileCheckpointCaptureResult,
        "Record how files are now.",
    ),
    _change(
        "agentSession/fileCheckpoint/restore",
        restore.RestoreParams,
        restore.RestoreResult,
        "Put a file back as a checkpoint left it, or found it.",
    ),
    _change(
        "agentSession/fileCheckpoint/rewind",
        restore.RewindParams,
        restore.RewindResult,
        "Put all files of a thread back to before or after a turn.",
    ),
    _change(
        "agentSession/fileCheckpoint/undo",
        restore.UndoParams,
        restore.RewindResult,
        "Take a restore or a rewind back.",
    ),
    _read(
        "artifact/read",
        artifact.ArtifactReadParams,
        artifact.ArtifactReadResult,
        "Read file versions and large outputs.",
    ),
    _read(
        "evidence/export",
        evidence.EvidenceExportParams,
        evidence.EvidenceExportResult,
        "Write what happened as files that others can check.",
    ),
    _read(
        "agentSession/replayCase/export",
        replay.ReplayCaseExportParams,
        replay.ReplayCaseExportResult,
        "Write a session as a case that can be replayed elsewhere.",
    ),
    _read(
        "agentSession/replayCase/verify",
        replay.ReplayCaseVerifyParams,
        replay.ReplayCaseVerifyResult,
        "Check a replay case or an evidence pack.",
    ),
    _read(
        "conversationImport/source/scan",
        conversation_import.SourceScanParams,
        conversation_import.SourceScanResult,
        "Look for sessions that other tools wrote.",
    ),
    _read(
        "conversationImport/thread/preview",
        conversation_import.ImportPreviewParams,
        conversation_import.ImportPreviewResult,
        "What an import would bring.",
    ),
    _change(
        "conversationImport/thread/commit",
        conversation_import.ImportCommitParams,
        conversation_import.ImportJobResult,
        "Start an import.",
    ),
    _read(
        "conversationImport/job/read",
        conversation_import.ImportJobReadParams,
        conversation_import.ImportJobResult,
        "How far an import is.",
    ),
    _change(
        "conversationImport/job/cancel",
        conversation_import.ImportJobCancelParams,
        conversation_import.ImportJobResult,
        "Stop an import; what is in stays, and the next import goes on behind it.",
    ),
    _read(
        "storage/report",
        storage.StorageReportParams,
        storage.StorageReportResult,
        "What is stored, by kind and by thread.",
    ),
    _read(
        "storage/gc",
        storage.StorageGcParams,
        storage.StorageGcResult,
        "List what nothing refers to, and remove it if asked.",
    ),
    _read(
        "storage/verify",
        storage.StorageVerifyParams,
        storage.StorageVerifyResult,
        "Check sums, contents and projection against the rollouts.",
    ),
    _read(
        "storage/rebuild",
        storage.StorageRebuildParams,
        storage.StorageRebuildResult,
        "Make the projection anew from the rollouts.",
    ),
)
"""Name to method."""
