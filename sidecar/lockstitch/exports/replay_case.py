"""The replay case: a thread's events and what they came to, for whoever wants to see that they still do.

Invariant: self-contained: everything that verifying needs is in the folder, and no path of this machine matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstitch.codec import encode
from lockstitch.exports.evidence_pack import events_file
from lockstitch.exports.facts import ThreadFacts
from lockstitch.exports.seal import CASE, FileSeal, event_seal, seal
from lockstitch.exports.summary import plain

SCHEMA = "agent-session-replay-case.v1"
EXPECTED = "expected.json"
KINDS = {
    "input.json": ("input", "What the case is about"),
    EXPECTED: ("expected", "What the events have to come to"),
    "grader.md": ("grader", "How to judge a replay"),
    "evidence-links.json": ("evidence_links", "What was there as evidence"),
    "events.jsonl": ("events", "Recorded events"),
}


def case_files(
    facts: ThreadFacts, exported_at: str, locale: str | None, gaps: list[str]
) -> Iterator[tuple[str, bytes]]:
    """All files but the contents and the expectation. `gaps` is whole by now."""
    fields = facts.checkpoint_fields()
    case: dict[str, Any] = {
        "schemaVersion": SCHEMA,
        "exportedAt": exported_at,
        "sessionId": facts.thread_id,
        "threadId": facts.thread_id,
        "session": facts.session,
        "thread": facts.thread,
        "turns": facts.turns,
        **facts.status_fields(),
        **fields,
        "runtimeContext": {**fields, "workspaceRoot": facts.workspace or ""},
        "knownGaps": gaps,
        "redactions": facts.redactions,
    }
    if locale is not None:
        case["locale"] = locale
    yield "input.json", encode(case) + b"\n"
    yield "grader.md", _grader(facts).encode("utf-8", "replace")
    yield "evidence-links.json", encode({"artifacts": facts.artifacts, "receipts": facts.receipts}) + b"\n"
    yield "events.jsonl", events_file(facts)


def expectation(facts: ThreadFacts, exported_at: str, gaps: list[str], files: list[FileSeal]) -> bytes:
    """`expected.json`."""
    fields: dict[str, Any] = {
        "schemaVersion": CASE,
        "threadId": facts.thread_id,
        "exportedAt": exported_at,
        "redacted": facts.redactions is not None,
        "complete": not gaps,
        **facts.status_fields(),
        "turnStatuses": {turn["turnId"]: turn["status"] for turn in facts.session_turns},
        "rollout": {"lastSum": facts.last_sum, "lastSequence": facts.last_sequence, "verbatim": facts.verbatim},
        "events": event_seal(facts.lines),
        "digests": facts.projected.digests(),
        "interrupted": facts.interrupted,
    }
    return seal(fields, files)


def kind_of(path: str) -> tuple[str, str]:
    """Kind and title of a file of the case."""
    return KINDS.get(path) or ("content", f"Content {path.rpartition('/')[2][:12]}")


def _grader(facts: ThreadFacts) -> str:
    turns = [f"- turn `{turn['turnId']}` ends as {turn['status']}" for turn in facts.session_turns]
    files = [f"- `{plain(path)}` holds {digest}" for path, digest in _last_states(facts).items()]
    lines = [
        f"# Replay case: {plain(facts.title)}",
        "",
        "Reduce `events.jsonl` again and compare with `expected.json`, item by item, by digest:",
        "`agentSession/replayCase/verify` does it. A replay runs no tool and writes no file.",
        "",
        "An agent that is given the same input should come to:",
        "",
        *(turns or ["- no turn"]),
        *files,
        "",
    ]
    return "\n".join(lines)


def _last_states(facts: ThreadFacts) -> dict[str, str]:
    """What each file held last, by path."""
    found: dict[str, str] = {}
    for checkpoint in reversed(facts.checkpoints):
        after = checkpoint.get("after")
        found[checkpoint["path"]] = "nothing: it is gone" if after is None else str(after.get("sha256") or "unknown")
    return dict(sorted(found.items()))
