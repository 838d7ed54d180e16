"""The params of requests as structs, for requests that need no model: each function makes one of them.

Generated from the models by `python -m lockstitch_protocol.generate`. Do not edit.
"""
# ruff: noqa: N802 - the names are those of the models

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field


def _NoParams() -> type[Struct]:
    class NoParams(Struct, rename="camel"):
        pass

    return NoParams


def _ThreadStartParams() -> type[Struct]:
    class ThreadStartParams(Struct, rename="camel", dict=True):
        cwd: str | None = None
        model: str | None = None
        model_provider: str | None = None
        runtime_workspace_roots: list[str] | None = None
        ephemeral: bool = False
        thread_source: Any = None
        service_name: str | None = None
        name: str | None = None
        thread_id: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\\Z")] | None = None
        git_info: None = None

    return ThreadStartParams


def _ThreadReadParams() -> type[Struct]:
    class ThreadReadParams(Struct, rename="camel"):
        thread_id: str
        include_turns: bool = False

    return ThreadReadParams


def _ThreadListParams() -> type[Struct]:
    class ThreadListParams(Struct, rename="camel"):
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 25
        sort_key: Literal["created_at", "updated_at", "recency_at"] = "created_at"
        sort_direction: Literal["asc", "desc"] = "desc"
        model_providers: list[str] | None = None
        source_kinds: list[str] | None = None
        archived: bool = False
        cwd: str | list[str] | None = None
        search_term: str | None = None
        parent_thread_id: str | None = None
        ancestor_thread_id: str | None = None

    return ThreadListParams


def _ThreadTurnsListParams() -> type[Struct]:
    class ThreadTurnsListParams(Struct, rename="camel"):
        thread_id: str
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 25
        sort_direction: Literal["asc", "desc"] = "desc"
        items_view: Literal["notLoaded", "summary", "full"] = "full"

    return ThreadTurnsListParams


def _ThreadItemsListParams() -> type[Struct]:
    class ThreadItemsListParams(Struct, rename="camel"):
        thread_id: str
        turn_id: str | None = None
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 100
        sort_direction: Literal["asc", "desc"] = "asc"

    return ThreadItemsListParams


def _ThreadEventsListParams() -> type[Struct]:
    class ThreadEventsListParams(Struct, rename="camel"):
        thread_id: str
        after_sequence: Annotated[int, Meta(ge=0)] = 0
        limit: Annotated[int, Meta(ge=1, le=10000)] = 500
        types: list[str] | None = None

    return ThreadEventsListParams


def _ThreadResumeParams() -> type[Struct]:
    class InitialTurnsPage(Struct, rename="camel"):
        limit: Annotated[int, Meta(ge=1, le=500)] = 25
        sort_direction: Literal["asc", "desc"] = "desc"
        items_view: Literal["notLoaded", "summary", "full"] = "full"

    class ThreadResumeParams(Struct, rename="camel"):
        thread_id: str
        exclude_turns: bool = False
        initial_turns_page: InitialTurnsPage | None = None
        after_sequence: Annotated[int, Meta(ge=0)] | None = None

    return ThreadResumeParams


def _ThreadParams() -> type[Struct]:
    class ThreadParams(Struct, rename="camel"):
        thread_id: str

    return ThreadParams


def _ThreadForkParams() -> type[Struct]:
    class ThreadForkParams(Struct, rename="camel"):
        thread_id: str
        last_turn_id: str | None = None
        before_turn_id: str | None = None
        exclude_turns: bool = False
        name: str | None = None
        cwd: str | None = None

    return ThreadForkParams


def _ThreadNameSetParams() -> type[Struct]:
    class ThreadNameSetParams(Struct, rename="camel"):
        thread_id: str
        name: str

    return ThreadNameSetParams


def _ThreadMetadataUpdateParams() -> type[Struct]:
    class ThreadMetadataUpdateParams(Struct, rename="camel"):
        thread_id: str
        git_info: None = None
        extra: dict[str, Any] | None = None
        workspace: str | None = None

    return ThreadMetadataUpdateParams


def _ThreadRollbackParams() -> type[Struct]:
    class ThreadRollbackParams(Struct, rename="camel"):
        thread_id: str
        num_turns: Annotated[int, Meta(ge=0)] | None = None
        to_turn_id: str | None = None

    return ThreadRollbackParams


def _ThreadSearchParams() -> type[Struct]:
    class ThreadSearchParams(Struct, rename="camel"):
        query: str
        thread_id: str | None = None
        cwd: str | None = None
        archived: bool | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 20
        cursor: str | None = None

    return ThreadSearchParams


def _ThreadExportParams() -> type[Struct]:
    class ThreadExportParams(Struct, rename="camel"):
        thread_id: str
        format: Literal["jsonl", "markdown", "html", "bundle"]
        path: str | None = None
        redact: bool | None = None

    return ThreadExportParams


def _ThreadImportParams() -> type[Struct]:
    class ThreadImportParams(Struct, rename="camel"):
        path: Annotated[str, Meta(min_length=1)]

    return ThreadImportParams


def _TurnStartParams() -> type[Struct]:
    class TextInput(Struct, rename="camel", tag_field="type", tag="text"):
        text: str

    class ImageInput(Struct, rename="camel", tag_field="type", tag="image"):
        url: str

    class LocalImageInput(Struct, rename="camel", tag_field="type", tag="localImage"):
        path: str

    class SkillInput(Struct, rename="camel", tag_field="type", tag="skill"):
        name: str
        path: str

    class MentionInput(Struct, rename="camel", tag_field="type", tag="mention"):
        name: str
        path: str

    class TurnStartParams(Struct, rename="camel", dict=True):
        thread_id: str
        input: Annotated[list[TextInput | ImageInput | LocalImageInput | SkillInput | MentionInput], Meta(min_length=1)]
        client_user_message_id: str | None = None
        turn_id: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\\Z")] | None = None
        model: str | None = None
        effort: str | None = None
        cwd: str | None = None

    return TurnStartParams


def _TurnInterruptParams() -> type[Struct]:
    class TurnInterruptParams(Struct, rename="camel"):
        thread_id: str
        turn_id: str

    return TurnInterruptParams


def _TurnSteerParams() -> type[Struct]:
    class TextInput(Struct, rename="camel", tag_field="type", tag="text"):
        text: str

    class ImageInput(Struct, rename="camel", tag_field="type", tag="image"):
        url: str

    class LocalImageInput(Struct, rename="camel", tag_field="type", tag="localImage"):
        path: str

    class SkillInput(Struct, rename="camel", tag_field="type", tag="skill"):
        name: str
        path: str

    class MentionInput(Struct, rename="camel", tag_field="type", tag="mention"):
        name: str
        path: str

    class TurnSteerParams(Struct, rename="camel"):
        thread_id: str
        input: Annotated[list[TextInput | ImageInput | LocalImageInput | SkillInput | MentionInput], Meta(min_length=1)]
        expected_turn_id: str
        client_user_message_id: str | None = None

    return TurnSteerParams


def _ReceiptReadParams() -> type[Struct]:
    class ReceiptReadParams(Struct, rename="camel"):
        thread_id: str
        turn_id: str

    return ReceiptReadParams


def _WorkerStartParams() -> type[Struct]:
    class WorkerStartParams(Struct, rename="camel"):
        thread_id: str
        kind: Annotated[str, Meta(min_length=1)]
        turn_id: str | None = None
        worker_id: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\\Z")] | None = None
        lease_ms: Annotated[int, Meta(ge=1, le=604800000)] = 30000
        max_attempts: Annotated[int, Meta(ge=1, le=1000)] = 3

    return WorkerStartParams


def _WorkerParams() -> type[Struct]:
    class WorkerParams(Struct, rename="camel"):
        thread_id: str
        worker_id: str

    return WorkerParams


def _WorkerFinishParams() -> type[Struct]:
    class WorkerFinishParams(Struct, rename="camel"):
        thread_id: str
        worker_id: str
        status: Literal["completed", "failed", "cancelled"]
        result: Any = None
        error: Any = None

    return WorkerFinishParams


def _WorkerListParams() -> type[Struct]:
    class WorkerListParams(Struct, rename="camel"):
        thread_id: str | None = None
        status: Literal["active", "completed", "failed", "cancelled", "interrupted"] | None = None
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 100

    return WorkerListParams


def _SessionListParams() -> type[Struct]:
    class SessionListParams(Struct, rename="camel"):
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 25
        sort_key: Literal["created_at", "updated_at", "recency_at"] = "created_at"
        sort_direction: Literal["asc", "desc"] = "desc"
        model_providers: list[str] | None = None
        source_kinds: list[str] | None = None
        archived: bool = False
        cwd: str | list[str] | None = None
        search_term: str | None = None
        parent_thread_id: str | None = None
        ancestor_thread_id: str | None = None

    return SessionListParams


def _AgentSessionStartParams() -> type[Struct]:
    class AgentSessionStartParams(Struct, rename="camel", dict=True):
        cwd: str | None = None
        model: str | None = None
        model_provider: str | None = None
        runtime_workspace_roots: list[str] | None = None
        ephemeral: bool = False
        thread_source: Any = None
        service_name: str | None = None
        name: str | None = None
        thread_id: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\\Z")] | None = None
        git_info: None = None
        session_id: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\\Z")] | None = None
        app_id: str | None = None
        workspace_id: str | None = None
        title: str | None = None

    return AgentSessionStartParams


def _AgentSessionListParams() -> type[Struct]:
    class AgentSessionListParams(Struct, rename="camel"):
        include_archived: bool = False
        archived_only: bool = False
        cwd: str | list[str] | None = None
        workspace_id: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 100
        cursor: str | None = None

    return AgentSessionListParams


def _AgentSessionReadParams() -> type[Struct]:
    class AgentSessionReadParams(Struct, rename="camel"):
        session_id: str
        history_limit: Annotated[int, Meta(ge=0, le=10000)] | None = None
        history_offset: Annotated[int, Meta(ge=0)] = 0

    return AgentSessionReadParams


def _AgentSessionUpdateParams() -> type[Struct]:
    class AgentSessionUpdateParams(Struct, rename="camel", dict=True):
        session_id: str
        title: str | None = None
        provider_name: str | None = None
        model_name: str | None = None
        archived: bool | None = None

    return AgentSessionUpdateParams


def _AgentSessionParams() -> type[Struct]:
    class AgentSessionParams(Struct, rename="camel"):
        session_id: str

    return AgentSessionParams


def _AgentSessionThreadResumeParams() -> type[Struct]:
    class InitialTurnsPage(Struct, rename="camel"):
        limit: Annotated[int, Meta(ge=1, le=500)] = 25
        sort_direction: Literal["asc", "desc"] = "desc"
        items_view: Literal["notLoaded", "summary", "full"] = "full"

    class AgentSessionThreadResumeParams(Struct, rename="camel"):
        session_id: str
        exclude_turns: bool = False
        initial_turns_page: InitialTurnsPage | None = None
        after_sequence: Annotated[int, Meta(ge=0)] | None = None

    return AgentSessionThreadResumeParams


def _AgentSessionTurnCancelParams() -> type[Struct]:
    class AgentSessionTurnCancelParams(Struct, rename="camel"):
        session_id: str
        turn_id: str

    return AgentSessionTurnCancelParams


def _FileCheckpointListParams() -> type[Struct]:
    class FileCheckpointListParams(Struct, rename="camel"):
        session_id: str
        path: str | None = None
        path_base64: str | None = None
        turn_id: str | None = None
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=5000)] = 500

    return FileCheckpointListParams


def _FileCheckpointGetParams() -> type[Struct]:
    class FileCheckpointGetParams(Struct, rename="camel"):
        session_id: str
        checkpoint_id: str
        side: Literal["before", "after"] | None = None
        max_bytes: Annotated[int, Meta(ge=0)] = 1048576
        as_: Literal["text", "base64"] | None = field(name="as", default=None)

    return FileCheckpointGetParams


def _FileCheckpointDiffParams() -> type[Struct]:
    class FileCheckpointDiffParams(Struct, rename="camel"):
        session_id: str
        checkpoint_id: str
        against: str | None = None
        context_lines: Annotated[int, Meta(ge=0, le=10000)] = 3
        max_bytes: Annotated[int, Meta(ge=0)] | None = None

    return FileCheckpointDiffParams


def _FileCheckpointCaptureParams() -> type[Struct]:
    class FileCheckpointCaptureParams(Struct, rename="camel"):
        session_id: str
        turn_id: str | None = None
        paths: list[str] | None = None
        paths_base64: list[str] | None = None
        reason: str | None = None

    return FileCheckpointCaptureParams


def _RestoreParams() -> type[Struct]:
    class RestoreParams(Struct, rename="camel"):
        session_id: str
        checkpoint_id: str
        side: Literal["before", "after"] = "after"
        confirm_restore: bool = False
        create_backup: bool = True
        on_conflict: Literal["refuse", "backup"] = "refuse"
        dry_run: bool = False

    return RestoreParams


def _RewindParams() -> type[Struct]:
    class RewindParams(Struct, rename="camel"):
        session_id: str
        to_turn_id: str
        position: Literal["before", "after"] = "after"
        paths: list[str] | None = None
        paths_base64: list[str] | None = None
        confirm_restore: bool = False
        on_conflict: Literal["refuse", "backup"] = "refuse"
        dry_run: bool = False
        conversation: bool = False

    return RewindParams


def _UndoParams() -> type[Struct]:
    class UndoParams(Struct, rename="camel"):
        session_id: str
        rewind_id: str | None = None
        restore_checkpoint_id: str | None = None
        confirm_restore: bool = False
        on_conflict: Literal["refuse", "backup"] = "refuse"
        dry_run: bool = False

    return UndoParams


def _ArtifactReadParams() -> type[Struct]:
    class ArtifactReadParams(Struct, rename="camel"):
        session_id: str
        turn_id: str | None = None
        artifact_ref: str | None = None
        include_content: bool = False
        cursor: str | None = None
        limit: Annotated[int, Meta(ge=1, le=500)] = 100

    return ArtifactReadParams


def _EvidenceExportParams() -> type[Struct]:
    class EvidenceExportParams(Struct, rename="camel"):
        session_id: str
        turn_id: str | None = None
        include_events: bool = True
        include_artifacts: bool = True
        include_evidence_pack: bool = True
        redact: bool = True

    return EvidenceExportParams


def _ReplayCaseExportParams() -> type[Struct]:
    class ReplayCaseExportParams(Struct, rename="camel"):
        session_id: str
        locale: str | None = None
        redact: bool = True

    return ReplayCaseExportParams


def _ReplayCaseVerifyParams() -> type[Struct]:
    class ReplayCaseVerifyParams(Struct, rename="camel"):
        path: Annotated[str, Meta(min_length=1)]

    return ReplayCaseVerifyParams


def _SourceScanParams() -> type[Struct]:
    class SourceScanParams(Struct, rename="camel"):
        source_client: Literal["codex", "claude", "gemini"] | None = None
        source_root: str | None = None
        project_path: str | None = None
        query: str | None = None
        include_archived: bool = False
        limit: Annotated[int, Meta(ge=1, le=500)] = 100
        cursor: str | None = None

    return SourceScanParams


def _ImportPreviewParams() -> type[Struct]:
    class ImportPreviewParams(Struct, rename="camel"):
        source_path: str
        limit: Annotated[int, Meta(ge=0, le=500)] = 50

    return ImportPreviewParams


def _ImportCommitParams() -> type[Struct]:
    class ImportCommitParams(Struct, rename="camel"):
        source_path: str | None = None
        source_thread_id: str | None = None
        source_client: Literal["codex", "claude", "gemini"] | None = None
        source_root: str | None = None
        confirmed: bool = False
        replace_existing: bool = False
        progress_token: str | int | None = None

    return ImportCommitParams


def _ImportJobReadParams() -> type[Struct]:
    class ImportJobReadParams(Struct, rename="camel"):
        job_id: str

    return ImportJobReadParams


def _ImportJobCancelParams() -> type[Struct]:
    class ImportJobCancelParams(Struct, rename="camel"):
        job_id: str

    return ImportJobCancelParams


def _StorageReportParams() -> type[Struct]:
    class StorageReportParams(Struct, rename="camel"):
        thread_limit: Annotated[int, Meta(ge=0)] = 100

    return StorageReportParams


def _StorageGcParams() -> type[Struct]:
    class StorageGcParams(Struct, rename="camel"):
        dry_run: bool = True
        older_than_days: None = None
        max_bytes: Annotated[int, Meta(ge=0)] | None = None

    return StorageGcParams


def _StorageVerifyParams() -> type[Struct]:
    class StorageVerifyParams(Struct, rename="camel"):
        thread_id: str | None = None

    return StorageVerifyParams


def _StorageRebuildParams() -> type[Struct]:
    class StorageRebuildParams(Struct, rename="camel"):
        pass

    return StorageRebuildParams


FORMS: dict[str, Callable[[], type[Struct]]] = {
    "server/status": _NoParams,
    "shutdown": _NoParams,
    "thread/start": _ThreadStartParams,
    "thread/read": _ThreadReadParams,
    "thread/list": _ThreadListParams,
    "thread/turns/list": _ThreadTurnsListParams,
    "thread/items/list": _ThreadItemsListParams,
    "thread/events/list": _ThreadEventsListParams,
    "thread/resume": _ThreadResumeParams,
    "thread/unsubscribe": _ThreadParams,
    "thread/fork": _ThreadForkParams,
    "thread/name/set": _ThreadNameSetParams,
    "thread/metadata/update": _ThreadMetadataUpdateParams,
    "thread/archive": _ThreadParams,
    "thread/unarchive": _ThreadParams,
    "thread/delete": _ThreadParams,
    "thread/rollback": _ThreadRollbackParams,
    "thread/search": _ThreadSearchParams,
    "thread/export": _ThreadExportParams,
    "thread/import": _ThreadImportParams,
    "turn/start": _TurnStartParams,
    "turn/interrupt": _TurnInterruptParams,
    "turn/steer": _TurnSteerParams,
    "turn/receipt/read": _ReceiptReadParams,
    "worker/start": _WorkerStartParams,
    "worker/heartbeat": _WorkerParams,
    "worker/finish": _WorkerFinishParams,
    "worker/retry": _WorkerParams,
    "worker/list": _WorkerListParams,
    "session.list": _SessionListParams,
    "agentSession/start": _AgentSessionStartParams,
    "agentSession/list": _AgentSessionListParams,
    "agentSession/read": _AgentSessionReadParams,
    "agentSession/update": _AgentSessionUpdateParams,
    "agentSession/delete": _AgentSessionParams,
    "agentSession/thread/resume": _AgentSessionThreadResumeParams,
    "agentSession/turn/cancel": _AgentSessionTurnCancelParams,
    "agentSession/fileCheckpoint/list": _FileCheckpointListParams,
    "agentSession/fileCheckpoint/get": _FileCheckpointGetParams,
    "agentSession/fileCheckpoint/diff": _FileCheckpointDiffParams,
    "agentSession/fileCheckpoint/capture": _FileCheckpointCaptureParams,
    "agentSession/fileCheckpoint/restore": _RestoreParams,
    "agentSession/fileCheckpoint/rewind": _RewindParams,
    "agentSession/fileCheckpoint/undo": _UndoParams,
    "artifact/read": _ArtifactReadParams,
    "evidence/export": _EvidenceExportParams,
    "agentSession/replayCase/export": _ReplayCaseExportParams,
    "agentSession/replayCase/verify": _ReplayCaseVerifyParams,
    "conversationImport/source/scan": _SourceScanParams,
    "conversationImport/thread/preview": _ImportPreviewParams,
    "conversationImport/thread/commit": _ImportCommitParams,
    "conversationImport/job/read": _ImportJobReadParams,
    "conversationImport/job/cancel": _ImportJobCancelParams,
    "storage/report": _StorageReportParams,
    "storage/gc": _StorageGcParams,
    "storage/verify": _StorageVerifyParams,
    "storage/rebuild": _StorageRebuildParams,
}
"""By method, what makes the struct of its params."""
