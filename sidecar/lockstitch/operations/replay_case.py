"""`agentSession/replayCase/*`: a thread as a case on the disk, and whether a case still comes to what it came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.exports import replay_case as case
from lockstitch.exports.evidence_pack import content_files
from lockstitch.exports.facts import Projected
from lockstitch.exports.seal import FileSeal
from lockstitch.exports.verify import verify as verify_folder
from lockstitch.operations.call import Call
from lockstitch.operations.evidence import gathered
from lockstitch.operations.export_folders import Files, open_target, write_folder
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.views.projection import projected_value
from lockstitch.timeline.reduced import Reduced

if TYPE_CHECKING:
    from lockstitch_protocol.replay import ReplayCaseExportParams, ReplayCaseVerifyParams


async def export(runtime: Runtime, call: Call, params: ReplayCaseExportParams) -> dict[str, Any]:
    """Write a replay case."""
    runtime.ephemeral.refuse(params.session_id, "written into a replay case")
    exported_at = runtime.now()
    facts = await gathered(runtime, params.session_id, None, redact=params.redact)
    target = await open_target(runtime, facts.workspace, facts.thread_id, "replay", exported_at)
    gaps = [*facts.gaps, *([target.problem] if target.problem else [])]
    get = runtime.contents_of(facts.thread_id).sidecar(facts.workspace).get

    def contents(files: list[FileSeal]) -> Files:
        del files
        return content_files(facts, get, gaps)

    def described(files: list[FileSeal]) -> Files:
        del files
        return case.case_files(facts, exported_at, params.locale, gaps)

    def expected(files: list[FileSeal]) -> Files:
        yield case.EXPECTED, case.expectation(facts, exported_at, gaps, files)

    total = len(facts.contents) + len(case.KINDS)
    written = await write_folder(runtime, call, target, (contents, described, expected), total)
    value: dict[str, Any] = {"sessionId": facts.thread_id, "threadId": facts.thread_id}
    if facts.session.get("workspaceId") is not None:
        value["workspaceId"] = facts.session["workspaceId"]
    value |= {
        "workspaceRoot": facts.workspace or "",
        "replayRelativeRoot": written.relative_root,
        "replayAbsoluteRoot": written.absolute_root,
        "handoffBundleRelativeRoot": written.relative_root,
        "evidencePackRelativeRoot": f"{target.relative.rpartition('/')[0]}/evidence",
        "exportedAt": exported_at,
        **facts.status_fields(),
        "linkedHandoffArtifactCount": 0,
        "linkedEvidenceArtifactCount": len(facts.artifacts),
        "recentArtifactCount": len(facts.recent_artifacts),
        "artifacts": written.artifacts(case.kind_of),
    }
    if facts.redactions is not None:
        value["redactions"] = facts.redactions
    return value


async def verify(runtime: Runtime, call: Call, params: ReplayCaseVerifyParams) -> dict[str, Any]:
    """Check a replay case or an evidence pack, wherever it lies."""
    del call
    verdict = await runtime.slowly(lambda: verify_folder(params.path, projected))
    return verdict.as_wire()


def projected(found: Reduced) -> Projected:
    """What the events of a case come to, read as a live thread is."""
    with found.view.rollout(found.thread) as rollout:
        return projected_value(found.view, found.thread, rollout.lines)
