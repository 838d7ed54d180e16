/* Generated from lockstitch_protocol by `python -m lockstitch_protocol.generate`. Do not edit. */

import type {
  ActionPayload,
  AgentSessionDeleteResult,
  AgentSessionListParams,
  AgentSessionListResult,
  AgentSessionParams,
  AgentSessionReadParams,
  AgentSessionReadResult,
  AgentSessionStartParams,
  AgentSessionStartResult,
  AgentSessionThreadResumeParams,
  AgentSessionThreadResumeResult,
  AgentSessionTurnCancelParams,
  AgentSessionTurnStartParams,
  AgentSessionTurnStartResult,
  AgentSessionUpdateParams,
  AgentSessionUpdateResult,
  AppendParams,
  AppendResult,
  ArtifactReadParams,
  ArtifactReadResult,
  AuthorityPayload,
  CancelParams,
  CommandExitedPayload,
  CommandStartedPayload,
  CompactionPayload,
  DeltaNotification,
  DeltaPayload,
  Empty,
  EventNotification,
  EventsDropped,
  EvidenceExportParams,
  EvidenceExportResult,
  FileCheckpointCaptureParams,
  FileCheckpointCaptureResult,
  FileCheckpointDiffParams,
  FileCheckpointDiffResult,
  FileCheckpointGetParams,
  FileCheckpointGetResult,
  FileCheckpointListParams,
  FileCheckpointListResult,
  ImportCommitParams,
  ImportJobCancelParams,
  ImportJobReadParams,
  ImportJobResult,
  ImportPreviewParams,
  ImportPreviewResult,
  InitializeParams,
  InitializeResult,
  ItemCompleted,
  ItemPayload,
  ItemStarted,
  MessagePayload,
  NoParams,
  PatchEndedPayload,
  PatchStartedPayload,
  PlanPayload,
  Progress,
  ReasoningPayload,
  Receipt,
  ReceiptReadParams,
  ReplayCaseExportParams,
  ReplayCaseExportResult,
  ReplayCaseVerifyParams,
  ReplayCaseVerifyResult,
  RestoreParams,
  RestoreResult,
  RewindParams,
  RewindResult,
  RoutePayload,
  ServerStatusResult,
  SessionCreateParams,
  SessionForkParams,
  SessionListParams,
  SessionParams,
  SessionRenameParams,
  SessionResumeParams,
  SnapshotPayload,
  SourceScanParams,
  SourceScanResult,
  StorageGcParams,
  StorageGcResult,
  StorageRebuildParams,
  StorageRebuildResult,
  StorageReportParams,
  StorageReportResult,
  StorageVerifyParams,
  StorageVerifyResult,
  ThreadArchived,
  ThreadDeleted,
  ThreadEventsListParams,
  ThreadEventsListResult,
  ThreadExportParams,
  ThreadExportResult,
  ThreadForkParams,
  ThreadImportParams,
  ThreadImportResult,
  ThreadItemsListParams,
  ThreadItemsListResult,
  ThreadListParams,
  ThreadListResult,
  ThreadMetadataUpdateParams,
  ThreadNameSetParams,
  ThreadOpened,
  ThreadParams,
  ThreadReadParams,
  ThreadReplayEvent,
  ThreadReplayParams,
  ThreadReplayResult,
  ThreadResult,
  ThreadResumeParams,
  ThreadResumeResult,
  ThreadRollbackParams,
  ThreadSearchParams,
  ThreadSearchResult,
  ThreadStartParams,
  ThreadStarted,
  ThreadTurnsListParams,
  TokenUsageUpdated,
  TurnInterruptParams,
  TurnNotification,
  TurnPayload,
  TurnStartParams,
  TurnStartResult,
  TurnSteerParams,
  TurnSteerResult,
  TurnsPage,
  UndoParams,
  UsagePayload,
  Worker,
  WorkerFinishParams,
  WorkerListParams,
  WorkerListResult,
  WorkerParams,
  WorkerPayload,
  WorkerStartParams,
  WorkerStartedPayload,
} from "./types";

/** What a client may ask. */
export interface Requests {
  /** Open the connection. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** How the process is doing. */
  "server/status": { params: NoParams; result: ServerStatusResult };
  /** Store and answer everything; then close stdin or send exit. */
  "shutdown": { params: NoParams; result: Empty };
  /** Create a thread and subscribe to it. */
  "thread/start": { params: ThreadStartParams; result: ThreadOpened };
  /** Read a thread, with its turns if asked. */
  "thread/read": { params: ThreadReadParams; result: ThreadResult };
  /** List threads, filtered and sorted. */
  "thread/list": { params: ThreadListParams; result: ThreadListResult };
  /** List a thread's turns. */
  "thread/turns/list": { params: ThreadTurnsListParams; result: TurnsPage };
  /** List the items of a thread or of one turn. */
  "thread/items/list": { params: ThreadItemsListParams; result: ThreadItemsListResult };
  /** List a thread's events by sequence. */
  "thread/events/list": { params: ThreadEventsListParams; result: ThreadEventsListResult };
  /** Open a thread and subscribe. */
  "thread/resume": { params: ThreadResumeParams; result: ThreadResumeResult };
  /** Stop the notifications of a thread. */
  "thread/unsubscribe": { params: ThreadParams; result: Empty };
  /** Copy a thread up to a turn. */
  "thread/fork": { params: ThreadForkParams; result: ThreadOpened };
  /** Name a thread. */
  "thread/name/set": { params: ThreadNameSetParams; result: ThreadResult };
  /** Change what is known about a thread, or link it to a workspace. */
  "thread/metadata/update": { params: ThreadMetadataUpdateParams; result: ThreadResult };
  /** Put a thread away. */
  "thread/archive": { params: ThreadParams; result: Empty };
  /** Take a thread out of the archive. */
  "thread/unarchive": { params: ThreadParams; result: ThreadResult };
  /** Remove a thread and all that only it needs. */
  "thread/delete": { params: ThreadParams; result: Empty };
  /** Take the last turns out of what is read; they stay in the log. */
  "thread/rollback": { params: ThreadRollbackParams; result: ThreadResult };
  /** Find messages, commands, outputs, paths and titles by their words. */
  "thread/search": { params: ThreadSearchParams; result: ThreadSearchResult };
  /** Send a thread's recorded events. */
  "thread/replay": { params: ThreadReplayParams; result: ThreadReplayResult };
  /** A thread as one document, to read or to keep. */
  "thread/export": { params: ThreadExportParams; result: ThreadExportResult };
  /** Take in a thread that thread/export wrote. */
  "thread/import": { params: ThreadImportParams; result: ThreadImportResult };
  /** Open a turn with the user's message. */
  "turn/start": { params: TurnStartParams; result: TurnStartResult };
  /** End the open turn as interrupted. */
  "turn/interrupt": { params: TurnInterruptParams; result: Empty };
  /** Add a user message to the open turn. */
  "turn/steer": { params: TurnSteerParams; result: TurnSteerResult };
  /** What a turn did, from durable facts. */
  "turn/receipt/read": { params: ReceiptReadParams; result: Receipt };
  /** Begin a worker, under a lease. */
  "worker/start": { params: WorkerStartParams; result: Worker };
  /** Renew a worker's lease. */
  "worker/heartbeat": { params: WorkerParams; result: Worker };
  /** End a worker. */
  "worker/finish": { params: WorkerFinishParams; result: Worker };
  /** Begin the next attempt of a worker that was lost. */
  "worker/retry": { params: WorkerParams; result: Worker };
  /** List workers. */
  "worker/list": { params: WorkerListParams; result: WorkerListResult };
  /** As thread/start. */
  "session.create": { params: SessionCreateParams; result: ThreadOpened };
  /** As thread/list. */
  "session.list": { params: SessionListParams; result: ThreadListResult };
  /** As thread/resume. */
  "session.resume": { params: SessionResumeParams; result: ThreadResumeResult };
  /** As thread/name/set. */
  "session.rename": { params: SessionRenameParams; result: ThreadResult };
  /** As thread/fork. */
  "session.fork": { params: SessionForkParams; result: ThreadOpened };
  /** As thread/archive. */
  "session.archive": { params: SessionParams; result: Empty };
  /** As thread/delete. */
  "session.delete": { params: SessionParams; result: Empty };
  /** Create a session, which is a thread. */
  "agentSession/start": { params: AgentSessionStartParams; result: AgentSessionStartResult };
  /** List sessions. */
  "agentSession/list": { params: AgentSessionListParams; result: AgentSessionListResult };
  /** Read a session with its turns and items. */
  "agentSession/read": { params: AgentSessionReadParams; result: AgentSessionReadResult };
  /** Change a session's title or model, or archive it. */
  "agentSession/update": { params: AgentSessionUpdateParams; result: AgentSessionUpdateResult };
  /** Remove a session, as thread/delete does. */
  "agentSession/delete": { params: AgentSessionParams; result: AgentSessionDeleteResult };
  /** Open a session and subscribe, as thread/resume does. */
  "agentSession/thread/resume": { params: AgentSessionThreadResumeParams; result: AgentSessionThreadResumeResult };
  /** Open a turn with the user's message. */
  "agentSession/turn/start": { params: AgentSessionTurnStartParams; result: AgentSessionTurnStartResult };
  /** End the open turn as interrupted. */
  "agentSession/turn/cancel": { params: AgentSessionTurnCancelParams; result: Empty };
  /** Store events of a thread: all or nothing. */
  "agentSession/runtimeEvents/append": { params: AppendParams; result: AppendResult };
  /** List a session's file checkpoints, newest first. */
  "agentSession/fileCheckpoint/list": { params: FileCheckpointListParams; result: FileCheckpointListResult };
  /** Read a file checkpoint and its content. */
  "agentSession/fileCheckpoint/get": { params: FileCheckpointGetParams; result: FileCheckpointGetResult };
  /** What a file checkpoint changed. */
  "agentSession/fileCheckpoint/diff": { params: FileCheckpointDiffParams; result: FileCheckpointDiffResult };
  /** Record how files are now. */
  "agentSession/fileCheckpoint/capture": { params: FileCheckpointCaptureParams; result: FileCheckpointCaptureResult };
  /** Put a file back as a checkpoint left it, or found it. */
  "agentSession/fileCheckpoint/restore": { params: RestoreParams; result: RestoreResult };
  /** Put all files of a thread back to before or after a turn. */
  "agentSession/fileCheckpoint/rewind": { params: RewindParams; result: RewindResult };
  /** Take a restore or a rewind back. */
  "agentSession/fileCheckpoint/undo": { params: UndoParams; result: RewindResult };
  /** Read file versions and large outputs. */
  "artifact/read": { params: ArtifactReadParams; result: ArtifactReadResult };
  /** Write what happened as files that others can check. */
  "evidence/export": { params: EvidenceExportParams; result: EvidenceExportResult };
  /** Write a session as a case that can be replayed elsewhere. */
  "agentSession/replayCase/export": { params: ReplayCaseExportParams; result: ReplayCaseExportResult };
  /** Check a replay case or an evidence pack. */
  "agentSession/replayCase/verify": { params: ReplayCaseVerifyParams; result: ReplayCaseVerifyResult };
  /** Look for sessions that other tools wrote. */
  "conversationImport/source/scan": { params: SourceScanParams; result: SourceScanResult };
  /** What an import would bring. */
  "conversationImport/thread/preview": { params: ImportPreviewParams; result: ImportPreviewResult };
  /** Start an import. */
  "conversationImport/thread/commit": { params: ImportCommitParams; result: ImportJobResult };
  /** How far an import is. */
  "conversationImport/job/read": { params: ImportJobReadParams; result: ImportJobResult };
  /** Stop an import; what is in stays, and the next import goes on behind it. */
  "conversationImport/job/cancel": { params: ImportJobCancelParams; result: ImportJobResult };
  /** What is stored, by kind and by thread. */
  "storage/report": { params: StorageReportParams; result: StorageReportResult };
  /** List what nothing refers to, and remove it if asked. */
  "storage/gc": { params: StorageGcParams; result: StorageGcResult };
  /** Check sums, contents and projection against the rollouts. */
  "storage/verify": { params: StorageVerifyParams; result: StorageVerifyResult };
  /** Make the projection anew from the rollouts. */
  "storage/rebuild": { params: StorageRebuildParams; result: StorageRebuildResult };
}

/** What a client may say without an answer. */
export interface ClientNotifications {
  /** The client has read the reply to initialize. */
  "initialized": NoParams;
  /** End as if stdin had ended. */
  "exit": NoParams;
  /** Cancel a request, if it is not yet being stored. */
  "$/cancelRequest": CancelParams;
}

/** What the sidecar says unasked. */
export interface ServerNotifications {
  /** A thread was created, by start, fork or import. */
  "thread/started": ThreadStarted;
  /** A thread went into the archive, or out of it. */
  "thread/archived": ThreadArchived;
  /** A thread went into the archive, or out of it. */
  "thread/unarchived": ThreadArchived;
  /** A thread is gone. */
  "thread/deleted": ThreadDeleted;
  /** Usage was reported. */
  "thread/tokenUsage/updated": TokenUsageUpdated;
  /** A recorded event of a replay. Nothing is done again: it tells what was done. */
  "thread/replay/event": ThreadReplayEvent;
  /** A turn began or ended. */
  "turn/started": TurnNotification;
  /** A turn began or ended. */
  "turn/completed": TurnNotification;
  /** An item began. */
  "item/started": ItemStarted;
  /** An item is whole. It was announced as started before. */
  "item/completed": ItemCompleted;
  /** Streamed text, announced before it is stored. */
  "item/agentMessage/delta": DeltaNotification;
  /** Streamed text, announced before it is stored. */
  "item/reasoning/textDelta": DeltaNotification;
  /** Streamed text, announced before it is stored. */
  "item/commandExecution/outputDelta": DeltaNotification;
  /** An event that no other notification covers. */
  "agentSession/event": EventNotification;
  /** Notifications of a thread were left out; read the events again from here. */
  "agentSession/eventsDropped": EventsDropped;
  /** Progress of a request that carried a progressToken. */
  "$/progress": Progress;
}

/** What a host may append. Any other type takes any object. */
export interface EventPayloads {
  /** Opens a turn. */
  "turn.started": TurnPayload;
  /** Ends the turn: completed. */
  "turn.completed": TurnPayload;
  /** Ends the turn: failed. */
  "turn.failed": TurnPayload;
  /** Ends the turn: interrupted by the user. */
  "turn.canceled": TurnPayload;
  /** An item begins. */
  "item.started": ItemPayload;
  /** An item changes. */
  "item.updated": ItemPayload;
  /** An item is whole. */
  "item.completed": ItemPayload;
  /** Streamed text of a message. */
  "message.delta": DeltaPayload;
  /** Streamed text of reasoning. */
  "reasoning.delta": DeltaPayload;
  /** Streamed output of a command. */
  "command.output": DeltaPayload;
  /** A message item. */
  "message.created": MessagePayload;
  /** A command item begins. */
  "command.started": CommandStartedPayload;
  /** A command item is whole. */
  "command.exited": CommandExitedPayload;
  /** A file change item begins. */
  "patch.started": PatchStartedPayload;
  /** A file change item is completed. */
  "patch.applied": PatchEndedPayload;
  /** A file change item is failed. */
  "patch.failed": PatchEndedPayload;
  /** A file change item is declined. */
  "patch.declined": PatchEndedPayload;
  /** A plan item. */
  "plan.final": PlanPayload;
  /** A reasoning item. */
  "reasoning.final": ReasoningPayload;
  /** A context compaction item. */
  "context.compaction.completed": CompactionPayload;
  /** A file checkpoint. */
  "artifact.snapshot": SnapshotPayload;
  /** A file checkpoint. */
  "file.changed": SnapshotPayload;
  /** A question to the user is open. */
  "action.required": ActionPayload;
  /** A question was answered. */
  "action.resolved": ActionPayload;
  /** A question was withdrawn. */
  "action.cancelled": ActionPayload;
  /** Adds to the usage of turn and thread. */
  "provider.usage": UsagePayload;
  /** The turn's provider and model. */
  "route.selected": RoutePayload;
  /** What the turn's agent may do. */
  "authority.set": AuthorityPayload;
  /** A worker begins its first attempt. */
  "worker.started": WorkerStartedPayload;
  /** Renews a worker's lease. */
  "worker.heartbeat": WorkerPayload;
  /** Ends a worker: completed. */
  "worker.completed": WorkerPayload;
  /** Ends a worker: failed. */
  "worker.failed": WorkerPayload;
  /** Ends a worker: cancelled. */
  "worker.cancelled": WorkerPayload;
  /** A worker begins its next attempt. */
  "worker.retried": WorkerPayload;
}

/** `error.data.kind`. */
export type ErrorKind = "parseError" | "invalidRequest" | "messageTooLarge" | "tooDeep" | "noActiveTurn" | "threadArchived" | "attemptsExhausted" | "methodNotFound" | "methodRetired" | "invalidParams" | "internalError" | "overloaded" | "notInitialized" | "alreadyInitialized" | "threadNotFound" | "turnNotFound" | "itemNotFound" | "checkpointNotFound" | "workerNotFound" | "turnTerminal" | "turnNotActive" | "turnActive" | "threadExists" | "turnExists" | "checkpointExists" | "workerExists" | "eventConflict" | "pathRefused" | "workspaceUnavailable" | "workspaceNotLinked" | "conflict" | "contentUnavailable" | "storageFull" | "storageReadOnly" | "storageFailed" | "storageBusy" | "requestCancelled";
