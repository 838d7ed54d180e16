"""What a file event becomes: its two sides, its version number, and the user's own edits recorded before it.

Invariant: nothing is guessed or borrowed. A side that the event does not give and no capture fixed is the last
version of that path in this thread, marked `assumed`, or `notCaptured`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lockstitch.timeline.rows import CheckpointRow

ABSENT: dict[str, Any] = {"contentStatus": "absent"}
"""A side on which there is no file; `null` on the wire."""

NOT_CAPTURED: dict[str, Any] = {"contentStatus": "notCaptured"}

UNCHANGED_TYPE = "artifact.confirmed"
"""A capture that found a file as the last version left it, or found none: an event without a version."""


def path_key(path: str, path_base64: str | None) -> str:
    """What rows and diffs call a file: its path; with the exact bytes behind it where they are not Unicode.

    Two names that print alike are two files. No path holds `//`, so the parts are told apart.
    """
    return path if path_base64 is None else f"{path}//{path_base64}"


class DiffText(msgspec.Struct, frozen=True):
    """The bounded unified diff that an item shows, and its counts (None where they are not known)."""

    text: str
    additions: int | None
    deletions: int | None


class Snapshot(msgspec.Struct):
    """One file event after its contents are safe. References are C of the protocol; contents are stored already."""

    path: str
    source: str
    after: dict[str, Any]
    before: dict[str, Any] | None = None
    """None: the event does not say."""
    disk: dict[str, Any] | None = None
    """What the disk holds, where the content came along with the event and the disk could be read."""
    op: str | None = None
    old_path: str | None = None
    checkpoint_id: str | None = None
    issues: list[str] = []
    place: str = "dataRoot"
    diff: str | None = None
    fields: dict[str, Any] = {}
    """title, kind, previewText, artifactId, metadata, document, requestId, path spellings… as they are stored."""
    only_if_changed: bool = False

    @property
    def key(self) -> str:
        return path_key(self.path, self.fields.get("pathBase64"))

    @property
    def old_key(self) -> str | None:
        return None if self.old_path is None else path_key(self.old_path, self.fields.get("oldPathBase64"))


DiffOf = Callable[[str, str | None, dict[str, Any], dict[str, Any]], DiffText]
"""(`path_key` of the path and of the old one, before, after) → the diff. It reads contents, hence is prepared before
the queue where possible."""


class Known(msgspec.Struct):
    """What the timeline last knew of a path."""

    sha256: str | None
    reference: dict[str, Any]
    version_no: int | None
    version_id: str | None
    confirmed: bool


class Checkpoint(msgspec.Struct, frozen=True):
    """One decided checkpoint: the stored `checkpoint` object and the item that shows it."""

    record: dict[str, Any]
    item: dict[str, Any]
    known: Known


def decide(
    snapshot: Snapshot, known: Known | None, artifact: str, new_id: Callable[[], str], diff_of: DiffOf
) -> list[Checkpoint]:
    """The checkpoints that a snapshot makes: the user's own edits first, then itself."""
    made: list[Checkpoint] = []
    for reference in _external(snapshot, known):
        version = _next_version(known)
        external = Snapshot(snapshot.path, "external", reference, op="external", place=snapshot.place)
        if "pathBase64" in snapshot.fields:
            external.fields["pathBase64"] = snapshot.fields["pathBase64"]
        before = assumed(known)
        made.append(_checkpoint(external, before, version, artifact, new_id(), known, diff_of))
        known = made[-1].known
    before = snapshot.before if snapshot.before is not None else assumed(known)
    if snapshot.before is None and known is None and snapshot.op == "created":
        before = ABSENT  # that is what the host's word for it says
    failed = _failed(snapshot.after)
    version = None if failed else _next_version(known)
    made.append(_checkpoint(snapshot, before, version, artifact, snapshot.checkpoint_id or new_id(), known, diff_of))
    return made


def is_unchanged(snapshot: Snapshot, known: Known | None) -> bool:
    """Whether a capture saw just what the timeline knew; an absent file that was never known is a fact too."""
    if not snapshot.only_if_changed or _failed(snapshot.after):
        return False
    if known is None:
        return snapshot.after is ABSENT
    return known.sha256 == snapshot.after.get("sha256") and (known.sha256 is not None or snapshot.after is ABSENT)


def known_from_row(
    row: CheckpointRow | None, version: CheckpointRow | None, stored: dict[str, Any] | None
) -> Known | None:
    """What is known of a path from its newest fact and newest version; `stored` is that version's `after`."""
    if row is None:
        return None
    reference = ABSENT if row.absent else stored if stored is not None else {**NOT_CAPTURED}
    version_id = None
    number = None if version is None else version.version_no
    return Known(row.after_sha, reference, number, version_id, bool(row.confirmed))


def _external(snapshot: Snapshot, known: Known | None) -> list[dict[str, Any]]:
    """States that neither the agent's event nor the timeline accounts for, each once."""
    found: list[dict[str, Any]] = []
    before, after = snapshot.before, snapshot.after.get("sha256")
    last = None if known is None else known.sha256
    said = None if before is None else before.get("sha256")
    knew = known is not None and (_readable(known.reference) or known.reference is ABSENT)
    renamed = snapshot.old_path is not None  # what was before is then about another path
    if before is not None and said is not None and knew and said != last and not renamed:
        found.append(before)
    disk = snapshot.disk
    if disk is not None and disk.get("sha256") not in (None, last, after, said):
        found.append(disk)
    return found


def _readable(reference: dict[str, Any]) -> bool:
    return reference.get("contentStatus") == "available"


def _failed(after: dict[str, Any]) -> bool:
    return after.get("contentStatus") in ("tooLarge", "unreadable", "missing", "corrupt")


def _next_version(known: Known | None) -> int:
    return 1 if known is None or known.version_no is None else known.version_no + 1


def assumed(known: Known | None) -> dict[str, Any]:
    """The last version as a side that nobody saw: marked `assumed` unless a capture confirmed it."""
    if known is None:
        return NOT_CAPTURED
    if known.reference is ABSENT or known.confirmed or not _readable(known.reference):
        return known.reference
    return {**known.reference, "assumed": True}


def _operation(snapshot: Snapshot, before: dict[str, Any]) -> str:
    if snapshot.op is not None:
        return snapshot.op
    if snapshot.after is ABSENT:
        return "deleted"
    if snapshot.old_path is not None:
        return "renamed"
    return "created" if before is ABSENT else "modified"


def _checkpoint(
    snapshot: Snapshot,
    before: dict[str, Any],
    version: int | None,
    artifact: str,
    checkpoint_id: str,
    known: Known | None,
    diff_of: DiffOf,
) -> Checkpoint:
    after, failed = snapshot.after, version is None
    op = _operation(snapshot, before)
    if snapshot.diff is not None:
        diff = DiffText(snapshot.diff, None, None)
    else:
        diff = diff_of(snapshot.key, snapshot.old_key, before, after)
    record: dict[str, Any] = {
        "checkpointId": checkpoint_id,
        "path": snapshot.path,
        "source": snapshot.source,
        "op": op,
        "status": "failed" if failed else "ready",
    }
    if version is not None:
        record["versionNo"] = version
        record["versionId"] = f"{artifact}:v{version:04d}"
        if known is not None and known.version_no is not None:
            record["previousVersionId"] = f"{artifact}:v{known.version_no:04d}"
    if snapshot.old_path is not None:
        record["oldPath"] = snapshot.old_path
    record["before"] = None if before is ABSENT else before
    record["after"] = None if after is ABSENT else after
    if diff.additions is not None:
        record["additions"], record["deletions"] = diff.additions, diff.deletions
    record["place"] = snapshot.place
    record["validationIssues"] = snapshot.issues
    record.update(snapshot.fields)
    item = {
        "type": "fileChange",
        "id": checkpoint_id,
        "changes": [_change(snapshot, op, diff.text)],
        "status": "failed" if failed else "completed",
        "checkpointId": checkpoint_id,
    }
    if failed:  # the file is as unknown as before; what was known of it stands
        return Checkpoint(record, item, known or Known(None, NOT_CAPTURED, None, None, False))
    now = Known(
        after.get("sha256"), after, version, record["versionId"], snapshot.source in ("capture", "external", "restore")
    )
    return Checkpoint(record, item, now)


def _change(snapshot: Snapshot, op: str, diff: str) -> dict[str, Any]:
    if op == "renamed" and snapshot.old_path is not None:
        return {"path": snapshot.old_path, "kind": {"type": "update", "move_path": snapshot.path}, "diff": diff}
    kind = {"created": "add", "deleted": "delete"}.get(op, "update")
    if snapshot.after is ABSENT:
        kind = "delete"
    return {"path": snapshot.path, "kind": {"type": kind}, "diff": diff}
