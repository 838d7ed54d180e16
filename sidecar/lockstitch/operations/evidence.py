"""`evidence/export`: what happened in a session, as a reply and as a pack of files that others can check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.codec import Raw, encode
from lockstitch.errors import RefusedError
from lockstitch.exports import evidence_pack as pack
from lockstitch.exports.facts import ThreadFacts, chained, redacted
from lockstitch.exports.seal import FileSeal
from lockstitch.operations.call import Call
from lockstitch.operations.cancelling import stoppable
from lockstitch.operations.export_folders import Files, open_target, write_folder
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread_facts import thread_facts
from lockstitch.timeline.events import event_of_bytes

if TYPE_CHECKING:
    from lockstitch_protocol.evidence import EvidenceExportParams

SOURCE = "lockstitch"
_ROOM = 64 << 10
"""What the description of the pack itself may take in a reply."""


async def export(runtime: Runtime, call: Call, params: EvidenceExportParams) -> dict[str, Any]:
    """Export a session, or one turn of it."""
    if params.include_evidence_pack:
        runtime.ephemeral.refuse(params.session_id, "written into an evidence pack")
    exported_at = runtime.now()
    facts = await gathered(runtime, params.session_id, params.turn_id, redact=params.redact)
    value: dict[str, Any] = {
        "session": facts.session,
        "turns": facts.session_turns,
        "events": [Raw(event_of_bytes(facts.thread_id, line)) for line in facts.lines] if params.include_events else [],
        "artifacts": facts.artifacts if params.include_artifacts else [],
        "exportedAt": exported_at,
    }
    _refuse_too_large(call, value)
    if params.include_evidence_pack:
        value["evidencePack"] = await _write_pack(runtime, call, facts, exported_at)
    return value


async def gathered(runtime: Runtime, thread_id: str, turn_id: str | None, *, redact: bool) -> ThreadFacts:
    """The facts of an export, without secrets if asked."""
    facts = await runtime.read_thread(thread_id, lambda view: thread_facts(view, thread_id, turn_id))
    get = runtime.contents_of(facts.thread_id).sidecar(facts.workspace).get
    return await stoppable(runtime, lambda pulse: redacted(facts, get, pulse) if redact else chained(facts))


def _refuse_too_large(call: Call, value: dict[str, Any]) -> None:
    """A reply that the client cannot take is refused before anything is written."""
    most = call.connection.max_message_bytes
    if most is None:
        return
    size = len(encode(value)) + _ROOM
    if size > most:
        raise RefusedError(
            f"The reply would have about {size} bytes, more than the client takes; ask with includeEvents and "
            "includeArtifacts false: the pack holds them all the same.",
            kind="messageTooLarge",
            bytes=size,
            limit=most,
        )


async def _write_pack(runtime: Runtime, call: Call, facts: ThreadFacts, exported_at: str) -> dict[str, Any]:
    target = await open_target(runtime, facts.workspace, facts.thread_id, "evidence", exported_at)
    gaps = [*facts.gaps, *([target.problem] if target.problem else [])]
    get = runtime.contents_of(facts.thread_id).sidecar(facts.workspace).get

    def contents(files: list[FileSeal]) -> Files:
        del files
        return pack.content_files(facts, get, gaps)

    def described(files: list[FileSeal]) -> Files:
        return pack.described_files(facts, exported_at, gaps, list(files))

    def manifest(files: list[FileSeal]) -> Files:
        yield pack.MANIFEST, pack.manifest(facts, exported_at, gaps, files)

    total = len(facts.contents) + len(pack.KINDS)
    written = await write_folder(runtime, call, target, (contents, described, manifest), total)
    value: dict[str, Any] = {
        "packRelativeRoot": written.relative_root,
        "packAbsoluteRoot": written.absolute_root,
        "exportedAt": exported_at,
        **facts.status_fields(),
        "turnCount": len(facts.turns),
        "itemCount": sum(len(turn["items"]) for turn in facts.turns),
        "recentArtifactCount": len(facts.recent_artifacts),
        "knownGaps": gaps,
        "observabilitySummary": {
            "schema_version": pack.SCHEMA,
            "source": SOURCE,
            "event_count": len(facts.lines),
            "artifact_count": len(facts.artifacts),
            "evidence_artifact_count": len(written.files),
        },
        "completionAuditSummary": {"decision": pack.decision(facts)},
        "artifacts": written.artifacts(pack.kind_of),
        "manifestSha256": written.files[-1].sha256,
    }
    if facts.redactions is not None:
        value["redactions"] = facts.redactions
    return value
