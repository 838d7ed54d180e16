"""File checkpoints on the wire: S, and what a checkpoint's line says besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from lockstitch.codec import NOTHING, ParseError, Raw, decode, decoder
from lockstitch.rollout.line import Draft, parse_line
from lockstitch.timeline.checkpoints import path_key
from lockstitch.timeline.lines import DamagedLineError, Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow

_SUMMARY = (
    "checkpointId",
    "turnId",
    "path",
    "pathBase64",
    "source",
    "updatedAt",
    "versionNo",
    "versionId",
    "requestId",
    "title",
    "kind",
    "status",
    "previewText",
    "snapshotPath",
    "validationIssueCount",
    "sequence",
    "op",
    "oldPath",
    "oldPathBase64",
    "before",
    "after",
    "additions",
    "deletions",
)
_ALWAYS = frozenset({"before", "after"})


class _Payload(msgspec.Struct):
    checkpoint: Raw
    item: Raw = NOTHING


_payload = decoder(_Payload)


class Recorded:
    """A checkpoint as its line holds it."""

    def __init__(self, thread: ThreadRow, root_id: str, sequence: int, draft: Draft) -> None:
        """Raises codec.ParseError."""
        payload = _payload(draft.payload)
        self.record: dict[str, Any] = decode(bytes(payload.checkpoint))
        self.item = payload.item
        self.sequence, self.at = sequence, draft.at
        self.turn_id, self.event_id = draft.turn_id, draft.event_id
        self._thread, self._root_id = thread, root_id

    @classmethod
    def of_line(cls, thread: ThreadRow, root_id: str, data: bytes) -> Recorded:
        """The checkpoint in a line's bytes. Raises codec.ParseError."""
        line = parse_line(data)
        draft = Draft(line.type, bytes(line.payload), line.eventId, line.at, line.turnId, line.itemId)
        return cls(thread, root_id, line.sequence, draft)

    @property
    def thread_id(self) -> str:
        return self._thread.thread_id

    @property
    def issues(self) -> list[str]:
        return self.record.get("validationIssues") or []

    @property
    def version_no(self) -> int | None:
        return self.record.get("versionNo")

    @property
    def artifact_id(self) -> str:
        """Of the path: where its version documents are."""
        from lockstitch.artifacts.paths import artifact_id  # a list of threads without files needs none of it

        return artifact_id(self.exact_path)

    @property
    def exact_path(self) -> str:
        """The path as the disk has it."""
        from lockstitch.artifacts.paths import path_from_wire

        return path_from_wire(self.record["path"], self.record.get("pathBase64"))

    @property
    def key(self) -> str:
        """What rows call the path."""
        return path_key(self.record["path"], self.record.get("pathBase64"))

    @property
    def old_key(self) -> str | None:
        """The same of the path before a rename."""
        old_path = self.record.get("oldPath")
        return path_key(old_path, self.record.get("oldPathBase64")) if isinstance(old_path, str) else None

    @property
    def snapshot_path(self) -> str | None:
        """The version document, workspace-relative; None where the contents went to the data root."""
        if self.version_no is None or self.record.get("place") != "workspace" or not self._thread.linked:
            return None
        from lockstitch.artifacts.documents import document_path

        return document_path(self._root_id, self._thread.thread_id, self.exact_path, self.version_no)

    def summary(self) -> dict[str, Any]:
        """S of the protocol."""
        known = {
            **self.record,
            "turnId": self.turn_id,
            "updatedAt": self.at,
            "snapshotPath": self.snapshot_path,
            "validationIssueCount": len(self.issues),
            "sequence": self.sequence,
        }
        return {name: known.get(name) for name in _SUMMARY if name in _ALWAYS or known.get(name) is not None}

    def document(self) -> dict[str, Any]:
        """The version document, by the names of its format."""
        return {
            **self.record,
            "threadId": self._thread.thread_id,
            "turnId": self.turn_id,
            "createdAt": self.at,
            "artifactVersionDiff": self.shown_diff,
        }

    @property
    def shown_diff(self) -> str | None:
        """The bounded unified diff that the checkpoint's item shows."""
        if not self.item:
            return None
        changes: list[dict[str, Any]] = decode(bytes(self.item)).get("changes") or [{}]
        return changes[0].get("diff") or None


def recorded(view: View, thread: ThreadRow, row: CheckpointRow, lines: Lines) -> Recorded:
    """The checkpoint of a row. Raises DamagedLineError, codec.ParseError."""
    return Recorded.of_line(thread, view.root_id, lines.line(row.line_at, row.line_length))


def summary_of(view: View, thread: ThreadRow, row: CheckpointRow, lines: Lines) -> dict[str, Any] | None:
    """S of a row; None if its line is damaged."""
    try:
        return recorded(view, thread, row, lines).summary()
    except (DamagedLineError, ParseError):
        return None


def summaries_of(view: View, thread: ThreadRow, rows: Sequence[CheckpointRow], lines: Lines) -> list[dict[str, Any]]:
    """S of each row whose line can be read."""
    found: list[dict[str, Any]] = []
    for row, line in zip(rows, lines.many([(row.line_at, row.line_length) for row in rows]), strict=True):
        if line is not None:
            summary = Recorded.of_line(thread, view.root_id, line).summary()
            if summary["checkpointId"].lower() != row.checkpoint_id.lower():
                view.note_damage()  # of the row
            found.append(summary)
    return found
