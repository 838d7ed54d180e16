"""What the timeline says a file was, at any sequence of its thread, and what it was last known to be.

Invariant: nothing is guessed. What was never captured is said to be so, and by which contentStatus.
Captures and external versions change no file: they tell what was there already when they were recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstitch.artifacts.paths import path_of_key, path_to_wire
from lockstitch.artifacts.restore_plan import Wanted, mode_of
from lockstitch.codec import ParseError, mapping
from lockstitch.operations.views.checkpoints import Recorded
from lockstitch.timeline.checkpoints import path_key
from lockstitch.timeline.lines import DamagedLineError, Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow

_REVEALS = ("capture", "external")
"""Sources of checkpoints that record a state and made none."""


@dataclass(frozen=True, slots=True)
class Side:
    """A state of a file: a content reference, or None for no file; or why it cannot be told."""

    reference: dict[str, Any] | None = None
    unavailable: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Rename:
    sequence: int
    old_path: str
    row: CheckpointRow


class FileStates:
    """The files of one thread, on one view. A path is here what its rows call it, `path_key`."""

    def __init__(self, view: View, thread: ThreadRow, lines: Lines) -> None:
        self._view, self._thread, self._lines = view, thread, lines
        rows = self._rows("op='renamed' ORDER BY sequence")
        named = [(row, self._recorded(row)) for row in rows]
        self._renames = [
            _Rename(row.sequence, found.old_key, row) for row, found in named if found and found.old_key is not None
        ]

    # -- what is asked ----------------------------------------------------------------------------------------
    def touched_after(self, sequence: int) -> list[str]:
        """The paths of which anything was recorded after that sequence."""
        found = {row.path for row in self._rows("sequence>?", sequence)}
        found.update(rename.old_path for rename in self._renames if rename.sequence > sequence)
        gone = self._above(found) | self._beneath(found)
        return sorted(found.union(path for path in gone if self.at(path, sequence).reference is not None))

    def _above(self, keys: set[str]) -> set[str]:
        """Recorded paths at which there can be no file while there is one at any of these, beneath them."""
        folders = {
            "/".join(parts[:n]) for key in keys for parts in [path_of_key(key).split("/")] for n in range(1, len(parts))
        }
        recorded = {self._key_of(folder) for folder in folders}
        return {key for key in recorded - keys if self._one("path=?", key) is not None}

    def _beneath(self, keys: set[str]) -> set[str]:
        """Recorded paths beneath one of these, which cannot be files while it is one."""
        found: set[str] = set()
        for key in keys:
            if "//" not in key:
                found.update(row.path for row in self._rows("path>? AND path<?", f"{key}/", f"{key}0"))
        return found - keys

    @staticmethod
    def _key_of(path: str) -> str:
        told = path_to_wire(path)
        return path_key(told["path"], told.get("pathBase64"))

    def at(self, path: str, sequence: int) -> Side:
        """The file as it was right after that event."""
        row = self._one("path=? AND sequence<=? ORDER BY sequence DESC", path, sequence)
        away = self._renamed_away(path, 0, sequence)
        if away is not None and (row is None or away.sequence > row.sequence):
            return Side()
        if row is None:
            return self._first_after(path, sequence)
        return self._after_of(row, sequence)

    def before_edits_since(self, path: str, sequence: int) -> Side:
        """The file as what came after that event found it.

        That is what the first edit was told it found, else the first capture: a later one records what happened since,
        as a command's work. Where nothing but one capture is known, the file is as that capture found it.
        """
        rows = self._rows("path=? AND sequence>? ORDER BY sequence", path, sequence)
        away = self._renamed_away(path, sequence, None)
        found: CheckpointRow | None = None
        for row in rows:
            if row.op != "confirmed" and row.source not in _REVEALS:
                break
            if away is not None and away.sequence < row.sequence:
                break
            told = row.op == "confirmed" or row.version_no is not None
            if told and (found is None or row.source == "external"):
                found = row
        else:
            if found is None and away is None:
                return self._newest(path)
        return self.at(path, sequence) if found is None else self._after_of(found, found.sequence)

    def told_of(self, path: str, sequence: int) -> int:
        """The last event until then that recorded anything of a path; 0 if there is none."""
        row = self._one("path=? AND sequence<=? ORDER BY sequence DESC", path, sequence)
        return 0 if row is None else row.sequence

    def wanted(self, path: str, side: Side) -> Wanted:
        """What a restore of that file needs to know."""
        known, absent = self._known(path)
        reference = side.reference
        mode = None
        if reference is not None and reference.get("mode") is None:
            mode = self._newest_mode(path)
        return Wanted(path_of_key(path), reference, known, absent, side.unavailable, side.reason, mode)

    def record(self, row: CheckpointRow) -> dict[str, Any]:
        """The `checkpoint` object of a row; empty if its line is damaged."""
        found = self._recorded(row)
        return {} if found is None else found.record

    def side_of(self, row: CheckpointRow, name: str) -> Side:
        """One recorded side of a checkpoint."""
        record = self.record(row)
        if name not in record:
            return Side(unavailable="corrupt")
        reference = record[name]
        if reference is not None and reference.get("contentStatus") != "available":
            return Side(unavailable=reference.get("contentStatus") or "missing")
        return Side(reference)

    def _recorded(self, row: CheckpointRow) -> Recorded | None:
        try:
            return Recorded.of_line(self._thread, self._view.root_id, self._lines.line(row.line_at, row.line_length))
        except (DamagedLineError, ParseError):
            return None

    # -- how it is found --------------------------------------------------------------------------------------
    def _rows(self, where: str, *values: Any) -> list[CheckpointRow]:
        return self._view.rows.all(CheckpointRow, f"thread_no=? AND {where}", self._thread.thread_no, *values)

    def _one(self, where: str, *values: Any) -> CheckpointRow | None:
        return self._view.rows.one(CheckpointRow, f"thread_no=? AND {where} LIMIT 1", self._thread.thread_no, *values)

    def _renamed_away(self, path: str, after: int, until: int | None) -> _Rename | None:
        """The last time within these bounds that a rename took the file from this path; the first if no end is set."""
        found = [
            rename
            for rename in self._renames
            if rename.old_path == path and rename.sequence > after and (until is None or rename.sequence <= until)
        ]
        if not found:
            return None
        return found[0] if until is None else found[-1]

    def _after_of(self, row: CheckpointRow, sequence: int) -> Side:
        """The state that a row leaves behind."""
        if row.absent:
            return Side()
        if row.op != "confirmed":
            return self.side_of(row, "after")
        version = self._one(
            "path=? AND after_sha=? AND version_no IS NOT NULL AND sequence<=? ORDER BY sequence DESC",
            row.path,
            row.after_sha,
            sequence,
        )
        return Side(unavailable="missing") if version is None else self.side_of(version, "after")

    def _first_after(self, path: str, sequence: int) -> Side:
        """The earliest that is known of a file of which nothing was known at that sequence."""
        row = self._one("path=? AND sequence>? ORDER BY sequence", path, sequence)
        away = self._renamed_away(path, sequence, None)
        if away is not None and (row is None or away.sequence < row.sequence):
            return self.side_of(away.row, "before")
        if row is None:
            return Side(unavailable="notCaptured")
        if row.op == "confirmed":
            return self._after_of(row, row.sequence)
        if row.op == "renamed":
            return Side()
        side = self.side_of(row, "before")
        if side.unavailable == "notCaptured" and row.source in _REVEALS and row.version_no is not None:
            first = self._after_of(row, row.sequence)
            return Side(first.reference, first.unavailable, "firstSeen")
        return side

    def _newest(self, path: str) -> Side:
        row = self._view.rows.latest_checkpoint(self._thread.thread_no, path)
        away = self._renamed_away(path, 0, 1 << 62)
        if away is not None and (row is None or away.sequence > row.sequence):
            return Side()
        return Side(unavailable="notCaptured") if row is None else self._after_of(row, row.sequence)

    def _known(self, path: str) -> tuple[str | None, bool]:
        """What the timeline last knew: a hash, or that there was no file, or neither."""
        row = self._view.rows.latest_checkpoint(self._thread.thread_no, path)
        away = self._renamed_away(path, 0, 1 << 62)
        if away is not None and (row is None or away.sequence > row.sequence):
            return None, True
        if row is None:
            return None, False
        return (None, True) if row.absent else (row.after_sha, False)

    def _newest_mode(self, path: str) -> int | None:
        for row in reversed(self._rows("path=? AND after_sha IS NOT NULL AND op<>'confirmed' ORDER BY sequence", path)):
            mode = mapping(self.record(row).get("after")).get("mode")
            if mode is not None:
                return mode_of(mode, None)
        return None
