"""The evidence pack: what happened in a thread, for people and programs that have nothing but its folder.

Invariant: nothing is left out without a word: what is missing, corrupt or redacted stands in `knownGaps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstitch.codec import encode
from lockstitch.errors import UnavailableError
from lockstitch.exports.facts import ContentUse, GetContent, ThreadFacts
from lockstitch.exports.seal import PACK, FileSeal, event_seal, seal
from lockstitch.exports.summary import summary_of

SCHEMA = "runtime-evidence-pack.v1"
MANIFEST = "manifest.json"
KINDS = {
    "summary.md": ("summary", "Summary"),
    "runtime.json": ("runtime", "Thread, turns and state"),
    "timeline.json": ("timeline", "Turns with their items"),
    "artifacts.json": ("artifacts", "File checkpoints and large outputs"),
    "events.jsonl": ("events", "Recorded events"),
    "receipts.json": ("receipts", "Receipts of the turns"),
    MANIFEST: ("manifest", "Digests of all files"),
}


def content_files(facts: ThreadFacts, get: GetContent, gaps: list[str]) -> Iterator[tuple[str, bytes]]:
    """The contents as files, one at a time; `gaps` gets a sentence for each that cannot be had."""
    seen: set[str] = set(facts.left_out)
    for use in facts.contents:
        if use.sha256 in seen:
            continue
        seen.add(use.sha256)
        try:
            data = get(use.sha256)
        except UnavailableError as error:
            gaps.append(_gap(use, error))
            continue
        yield f"files/{use.sha256}", data


def _gap(use: ContentUse, error: UnavailableError) -> str:
    return f"The content {use.sha256} ({use.name}) cannot be had: {error.facts.get('contentStatus', 'missing')}."


def events_file(facts: ThreadFacts) -> bytes:
    """`events.jsonl`."""
    return b"".join(line + b"\n" for line in facts.lines)


def decision(facts: ThreadFacts) -> str:
    """How far the work is, in one word."""
    if not facts.session_turns:
        return "in_progress"
    status = facts.session_turns[-1]["status"]
    return {"completed": "completed", "failed": "failed", "canceled": "failed", "waitingAction": "needs_input"}.get(
        status, "in_progress"
    )


def described_files(
    facts: ThreadFacts, exported_at: str, gaps: list[str], contents: list[FileSeal]
) -> Iterator[tuple[str, bytes]]:
    """All files but the contents and the manifest. `gaps` is whole by now."""
    stored = {found.path for found in contents}
    fields = facts.checkpoint_fields()
    runtime: dict[str, Any] = {
        "schemaVersion": SCHEMA,
        "exportedAt": exported_at,
        "threadId": facts.thread_id,
        "sessionId": facts.thread_id,
        "session": facts.session,
        "thread": facts.thread,
        "turns": facts.session_turns,
        **facts.status_fields(),
        **fields,
        "completionAuditSummary": {"decision": decision(facts)},
        "complete": not gaps,
        "knownGaps": gaps,
        "redactions": facts.redactions,
    }
    if facts.turn_id is not None:
        runtime["turnId"] = facts.turn_id
    yield "summary.md", summary_of(facts, exported_at, gaps).encode("utf-8", "replace")
    yield "runtime.json", _json(runtime)
    yield "timeline.json", _json({"threadId": facts.thread_id, "turns": facts.turns})
    listed = [
        {
            "sha256": use.sha256,
            "name": use.name,
            "path": f"files/{use.sha256}" if f"files/{use.sha256}" in stored else None,
        }
        for use in facts.contents
    ]
    yield "artifacts.json", _json({"artifacts": facts.artifacts, **fields, "contents": listed})
    yield "events.jsonl", events_file(facts)
    yield "receipts.json", _json({"receipts": facts.receipts})


def manifest(facts: ThreadFacts, exported_at: str, gaps: list[str], files: list[FileSeal]) -> bytes:
    """`manifest.json`."""
    fields: dict[str, Any] = {
        "schemaVersion": PACK,
        "threadId": facts.thread_id,
        "exportedAt": exported_at,
        "redacted": facts.redactions is not None,
        "redactions": facts.redactions or {},
        "complete": not gaps,
        "knownGaps": gaps,
        "rollout": {"lastSum": facts.last_sum, "lastSequence": facts.last_sequence, "verbatim": facts.verbatim},
        "events": event_seal(facts.lines),
    }
    if facts.turn_id is None:
        fields |= {"digests": facts.projected.digests(), "interrupted": facts.interrupted}
    else:
        fields["turnId"] = facts.turn_id
    return seal(fields, files)


def kind_of(path: str) -> tuple[str, str]:
    """Kind and title of a file of the pack."""
    return KINDS.get(path) or ("content", f"Content {path.rpartition('/')[2][:12]}")


def _json(value: Any) -> bytes:
    return encode(value) + b"\n"
