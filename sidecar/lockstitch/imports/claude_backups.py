"""Claude Code's own backups of files, where they are still there: they prove what an edit replaced.

Invariant: a backup is used for the first edit after it only, and only if the edit can have been made on its content.
Source of the format: `file-history-snapshot` lines name per path a file of `file-history/<session>/` in the tool's
home, `<16 hex digits>@v<version>`, or null where there was no file; a new version is made when the file had changed.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from lockstitch.imports.claude_edits import confirmed_after, fits_growth, has_replacements
from lockstitch.imports.edits import ABSENT, Edit, is_absolute
from lockstitch.imports.fields import mapping, string, whole
from lockstitch.imports.source import SourceThread

SOURCE = "fileHistory"
MAX_BYTES = 64 << 20
_NAME = re.compile(r"[0-9a-f]{16}@v[0-9]{1,9}")


class ClaudeBackups:
    """The backups of one session, as its lines name them."""

    def __init__(self, thread: SourceThread) -> None:
        session = thread.parent_thread_id or thread.source_thread_id
        folder = thread.path.parent
        homes = [parent.parent for parent in thread.path.parents if parent.name == "projects"]
        places = [home / "file-history" / session for home in homes]
        places += [folder / "file-history" / session, folder / session / "file-history", folder / "file-history"]
        self._places = places
        self._named: dict[str, tuple[str | None, int]] = {}
        self._used: dict[str, int] = {}
        """Path → the version that an edit has replaced since."""

    def note(self, record: dict[str, Any]) -> None:
        """A `file-history-snapshot` line: what it names is how the files were then."""
        backups = mapping(mapping(record.get("snapshot")).get("trackedFileBackups"))
        for path, told in backups.items():
            backup = mapping(told)
            if "backupFileName" in backup:
                name = string(backup["backupFileName"])
                self._named[_plain(path)] = (name, whole(backup.get("version")) or 0)

    def edited(self, path: str, workspace: str | None) -> str | None:
        """What a path held when it is edited now: text, ABSENT, or None where no backup tells. Asked once an edit."""
        place = _plain(path)
        found = self._named.get(place)
        if found is None and workspace is not None:
            # Paths are told from the session's directory; it may not have been known when they were.
            prefix = _plain(workspace).rstrip("/") + "/"
            relative = place.removeprefix(prefix) if is_absolute(path) else prefix + place
            found = self._named.get(relative)
        name, version = found or (None, -1)
        if version < 0 or version <= self._used.get(place, -1):
            return None
        self._used[place] = version
        return ABSENT if name is None else self._read(name)

    def _read(self, name: str) -> str | None:
        if not _NAME.fullmatch(name):
            return None
        for place in self._places:
            found = _regular_text(place / name)
            if found is not None:
                return found
        return None


def _regular_text(path: Path) -> str | None:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _plain(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))


def with_backup(edit: Edit, backup: str | None, arguments: Any, result: Any) -> Edit:
    """The edit with what a backup proves of its sides, if its content fits."""
    if backup is None or edit.op not in ("created", "modified"):
        return edit
    if backup == ABSENT:
        absent = edit.op == "created" and edit.before is None
        return replace(edit, before=ABSENT, before_source=SOURCE) if absent else edit
    if edit.before is not None:
        return _with_line_ends(edit, backup)
    if edit.op == "created":
        return edit
    if edit.after is not None:
        # A whole content was written: the counts of lines that the tool tells must agree.
        return replace(edit, before=backup, before_source=SOURCE) if fits_growth(backup, edit.after, result) else edit
    if not has_replacements(arguments, result):
        return edit
    after = confirmed_after(backup, arguments, result)
    if after is None:
        return edit
    if mapping(result).get("userModified") is True:
        return replace(edit, before=backup, before_source=SOURCE)
    return replace(edit, before=backup, after=after, before_source=SOURCE, after_source=SOURCE)


def _with_line_ends(edit: Edit, backup: str) -> Edit:
    """The tool tells texts with line feeds; the backup has the line ends that the file had."""
    before, after = edit.before, edit.after
    if before in (None, ABSENT) or backup == before or backup.replace("\r\n", "\n") != before:
        return edit
    if backup.count("\r\n") != backup.count("\n"):
        after = None  # mixed line ends: which the tool wrote is not told
    elif after not in (None, ABSENT) and edit.after_source != "Write":
        after = after.replace("\n", "\r\n") if after else after
    return replace(edit, before=backup, after=after, before_source=SOURCE)
