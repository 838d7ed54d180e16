"""What is known of a thread at one moment, as its exports take it: values of the read model, and its lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from lockstitch.codec import canonical
from lockstitch.errors import UnavailableError
from lockstitch.exports.lines import parsed, redacted_payloads, summed_again
from lockstitch.exports.redaction import Redactor
from lockstitch.timeline.previews import preview_of

GetContent = Callable[[str], bytes]
"""The bytes of a sha256; raises UnavailableError."""


@dataclass(frozen=True, slots=True)
class ContentUse:
    """A content that the thread refers to: `name` is for a person; `preview` is what a line shows of it."""

    sha256: str
    name: str
    preview: str | None = None


@dataclass(frozen=True, slots=True)
class Projected:
    """Everything that the events of a thread come to, by id. Decoded JSON values."""

    thread: dict[str, Any]
    turns: list[dict[str, Any]]
    items: list[dict[str, Any]]
    """`{turnId?, item}`, by sequence."""
    checkpoints: list[dict[str, Any]]

    def digests(self) -> dict[str, Any]:
        """The digest of each part, and of all of it."""
        parts: dict[str, Any] = {
            "thread": digest_of(self.thread),
            "turns": {turn["id"]: digest_of(turn) for turn in self.turns},
            "items": {entry["item"]["id"]: digest_of(entry) for entry in self.items},
            "checkpoints": {found["checkpointId"]: digest_of(found) for found in self.checkpoints},
        }
        order = {name: list(parts[name].items()) for name in ("turns", "items", "checkpoints")}
        parts["projection"] = digest_of({"thread": parts["thread"], **order})
        return parts


def digest_of(value: Any) -> str:
    """SHA-256 of a value's canonical JSON, 64 hexadecimal digits."""
    return sha256(canonical(value)).hexdigest()


@dataclass(frozen=True, slots=True)
class ThreadFacts:
    """A thread, or one turn of it, as an export takes it."""

    thread_id: str
    turn_id: str | None
    thread: dict[str, Any]
    session: dict[str, Any]
    session_turns: list[dict[str, Any]]
    turns: list[dict[str, Any]]
    """With all their items."""
    checkpoints: list[dict[str, Any]]
    """Newest first."""
    artifacts: list[dict[str, Any]]
    recent_artifacts: list[dict[str, Any]]
    receipts: list[dict[str, Any]]
    lines: list[bytes]
    """The rollout's lines without LF, those of the turn if it is about one."""
    verbatim: bool
    """Whether the lines, each with an LF, are the rollout byte for byte."""
    last_sum: str
    last_sequence: int
    pending: int
    workspace: str | None
    projected: Projected
    interrupted: bool = False
    """The open turn is shown as recovery would leave it; no event says so yet."""
    contents: list[ContentUse] = field(default_factory=list[ContentUse])
    gaps: list[str] = field(default_factory=list[str])
    """What is not known or cannot be had, as sentences."""
    left_out: frozenset[str] = frozenset()
    """Contents that hold a secret."""
    redactions: dict[str, int] | None = None
    """How many different secrets of each kind were taken out; None: nothing was looked for."""

    @property
    def title(self) -> str:
        return self.thread.get("name") or self.thread.get("preview") or self.thread_id

    def status_fields(self) -> dict[str, Any]:
        """How the thread stands, by the names that exports share."""
        value: dict[str, Any] = {"threadStatus": self.session["status"]}
        if self.session_turns:
            value["latestTurnStatus"] = self.session_turns[-1]["status"]
        value["pendingRequestCount"], value["queuedTurnCount"] = self.pending, 0
        return value

    def checkpoint_fields(self) -> dict[str, Any]:
        """The three fields that packs and cases carry at their top."""
        return {
            "recentArtifacts": self.recent_artifacts,
            "fileCheckpointCount": len(self.checkpoints),
            "fileCheckpoints": self.checkpoints,
        }


def redacted(facts: ThreadFacts, get: GetContent, pulse: Callable[[], None] = lambda: None) -> ThreadFacts:
    """The same facts without secrets. `pulse` is called now and then, and may raise to end it."""
    lines = parsed(facts.lines)
    redactor = Redactor(_ids(facts, lines))
    left_out: set[str] = set()
    for use in facts.contents:
        pulse()
        if _holds_a_secret(redactor, use, get):
            left_out.add(use.sha256)
    payloads: list[bytes] = []
    for payload in redacted_payloads(lines, redactor):
        pulse()
        payloads.append(payload)
    thread = redactor.value(facts.thread)
    projected = facts.projected
    names = {use.sha256: use.name for use in facts.contents}
    gaps = [f"The content {found} ({names[found]}) holds a secret and is left out: redacted." for found in left_out]
    turns: list[dict[str, Any]] = redactor.value(facts.turns)
    return replace(
        facts,
        thread={**thread, "preview": _preview(turns, thread)},
        session=redactor.value(facts.session),
        turns=turns,
        checkpoints=redactor.value(facts.checkpoints),
        artifacts=redactor.value(facts.artifacts),
        recent_artifacts=redactor.value(facts.recent_artifacts),
        receipts=redactor.value(facts.receipts),
        lines=list(summed_again(lines, payloads)),
        verbatim=False,
        projected=Projected(
            redactor.value(projected.thread),
            redactor.value(projected.turns),
            redactor.value(projected.items),
            redactor.value(projected.checkpoints),
        ),
        contents=[replace(use, name=redactor.text(use.name)) for use in facts.contents],
        gaps=[redactor.text(gap) for gap in [*facts.gaps, *sorted(gaps)]],
        left_out=frozenset(left_out),
        redactions=redactor.counts,
    )


def chained(facts: ThreadFacts) -> ThreadFacts:
    """The same facts with lines that stand by themselves: summed again unless they are the whole rollout."""
    if facts.verbatim:
        return facts
    lines = parsed(facts.lines)
    return replace(facts, lines=list(summed_again(lines, [bytes(line.payload) for line in lines])))


def _holds_a_secret(redactor: Redactor, use: ContentUse, get: GetContent) -> bool:
    try:
        return redactor.learn(get(use.sha256), use.preview)
    except UnavailableError:
        return False


def _ids(facts: ThreadFacts, lines: list[Any]) -> frozenset[str]:
    found: set[str | None] = {facts.thread_id}
    for line in lines:
        found |= {line.eventId, line.turnId, line.itemId}
    found |= {entry["item"]["id"] for entry in facts.projected.items}
    found |= {checkpoint["checkpointId"] for checkpoint in facts.checkpoints}
    return frozenset(name for name in found if name)


def _preview(turns: list[dict[str, Any]], thread: dict[str, Any]) -> str:
    """The preview of what is left of the first message: cut before, it might end within a secret."""
    if not thread.get("preview"):
        return ""
    for turn in turns:
        for item in turn["items"]:
            if item["type"] == "userMessage":
                found = preview_of(item.get("content") or [])
                if found:
                    return found
    return ""
