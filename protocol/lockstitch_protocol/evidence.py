"""Evidence: what happened in a session, as a reply and as a folder of files that anybody can check."""

from typing import Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.agent_session import AgentSession, AgentTurn
from lockstitch_protocol.artifact import Artifact
from lockstitch_protocol.events import AgentEvent
from lockstitch_protocol.wire import Count, Params, Shape


class EvidenceExportParams(Params):
    """Params of evidence/export."""

    session_id: str = Field(description="The session (the thread's id).")
    turn_id: str | None = Field(default=None, description="Only this turn.")
    include_events: bool = Field(default=True, description="False: `events` stays empty; the pack has them anyway.")
    include_artifacts: bool = Field(
        default=True, description="False: `artifacts` stays empty; the pack has them anyway."
    )
    include_evidence_pack: bool = Field(default=True, description="False: no file is written.")
    redact: bool = Field(default=True, description="False: secrets that are recognised stay in.")


class ObservabilitySummary(Shape):
    """Counts of a pack. Its names are snake_case on the wire."""

    model_config = ConfigDict(alias_generator=None)
    schema_version: Literal["runtime-evidence-pack.v1"] = Field(description="The form of the pack.")
    source: str = Field(description="Who made it.")
    event_count: Count = Field(description="Events in it.")
    artifact_count: Count = Field(description="File versions and large outputs in it.")
    evidence_artifact_count: Count = Field(description="Files of the pack.")


class CompletionAuditSummary(Shape):
    """How far the work is."""

    decision: Literal["completed", "needs_input", "in_progress", "failed", "verifying"] = Field(
        description="From the status of the last turn; `verifying` is never said by this version."
    )


class EvidenceFile(Shape):
    """A file of an evidence pack."""

    kind: Literal["summary", "runtime", "timeline", "artifacts", "events", "receipts", "content", "manifest"] = Field(
        description="What it holds."
    )
    title: str = Field(description="Its name for a person.")
    relative_path: str = Field(description="Relative to the workspace; without one, to the data root.")
    absolute_path: str = Field(description="Where it is.")
    bytes: Count = Field(description="Its size.")


class EvidencePack(Shape):
    """A pack that was written. Each export has a folder of its own; nothing is overwritten."""

    pack_relative_root: str = Field(description="The folder, relative to the workspace or the data root.")
    pack_absolute_root: str = Field(description="The folder.")
    exported_at: str = Field(description="RFC 3339, UTC, microseconds.")
    thread_status: str = Field(description="As `AgentSession.status`.")
    latest_turn_status: str | None = Field(default=None, description="As `AgentTurn.status`.")
    turn_count: Count = Field(description="Turns in it.")
    item_count: Count = Field(description="Items in these turns.")
    pending_request_count: Count = Field(description="Questions to the user without an answer.")
    queued_turn_count: Count = Field(description="Always 0.")
    recent_artifact_count: Count = Field(description="Length of `recentArtifacts` in its files.")
    known_gaps: list[str] = Field(description="What is missing, damaged or left out; empty: the pack is complete.")
    observability_summary: ObservabilitySummary = Field(description="Counts.")
    completion_audit_summary: CompletionAuditSummary = Field(description="How far the work is.")
    artifacts: list[EvidenceFile] = Field(description="Its files.")
    manifest_sha256: str = Field(description="SHA-256 of manifest.json: who keeps it elsewhere has proof of all.")
    redactions: dict[str, int] | None = Field(
        default=None, description="How many different secrets of each kind were left out; absent with redact false."
    )


class EvidenceExportResult(Shape):
    """Result of evidence/export."""

    session: AgentSession = Field(description="The session.")
    turns: list[AgentTurn] = Field(description="Its turns, oldest first.")
    events: list[AgentEvent] = Field(description="Its events, without secrets unless redact is false.")
    artifacts: list[Artifact] = Field(description="Its file versions and large outputs, without contents.")
    exported_at: str = Field(description="RFC 3339, UTC, microseconds.")
    evidence_pack: EvidencePack | None = Field(default=None, description="The pack, if one was written.")
