"""Codex file edits: `changes` where a version wrote them, else the patch text of a call that reports success.

Invariant: an edit that failed, or that nothing reports as done, gives no checkpoint.
Invariant: an update proves neither side; an add proves what came, a delete in `changes` what was.
"""

from __future__ import annotations

from typing import Any

from lockstitch.imports.apply_patch import PatchedFile, changed_paths, directory_of, parse_patches
from lockstitch.imports.codex_calls import CallDetail
from lockstitch.imports.composer import Composer
from lockstitch.imports.edits import ABSENT, Edit, is_absolute, list_outside, record_edit, relative_path
from lockstitch.imports.fields import mapping, string

_OPS = {"add": "created", "delete": "deleted", "update": "modified"}


class CodexEdits:
    """The file edits of one rollout."""

    def __init__(self, composer: Composer) -> None:
        self.told: set[str] = set()
        """Calls whose changes an event told in full: their patch text says less."""
        self._composer = composer
        self.workspace: str | None = None
        """The session's directory, once a line names it."""
        self._present: set[str] = set()
        """Paths that an edit left in place: Codex says "add" even where it writes over a file."""

    def changes(self, call_id: str | None, changes: dict[str, Any], *, done: bool) -> None:
        """Absolute path → add (content), delete (content of before), update (hunks)."""
        name = call_id or f"patch_{self._composer.line[0]}"
        self.told.add(name)
        if not done:
            self._composer.account.skipped["changes.failed"] += 1
            return
        for path, told in changes.items():
            change = mapping(told)
            content, kind = change.get("content"), change.get("type")
            text = content if isinstance(content, str) else None
            if kind == "add":
                self._record(name, Edit(path, "created", ABSENT, text, "FileChange", "FileChange"))
            elif kind == "delete":
                self._record(name, Edit(path, "deleted", text, ABSENT, "FileChange", "FileChange"))
            elif kind == "update":
                hunks = string(change.get("unified_diff"))
                self._record(name, _updated(path, string(change.get("move_path")), hunks, "unified"))
            else:
                self._composer.keep_opaque("change", {path: told})

    def patches(self, call_id: str | None, detail: CallDetail, output: str) -> None:
        """The patches in a call's text, as far as its output names their files."""
        if call_id is None or call_id in self.told or "*** Begin Patch" not in detail.script:
            return
        changed = changed_paths(output)
        if changed is None:
            return
        base = detail.directory
        if detail.name != "apply_patch":
            base = directory_of(detail.script, detail.directory)
        for section in parse_patches(detail.script):
            if section.path not in changed and section.move_path not in changed:
                continue
            if base is None and self.workspace is not None and not is_absolute(section.path):
                # Relative to a directory that the script does not tell.
                list_outside(self._composer, section.path, _OPS[section.kind], call_id)
                continue
            self._record(call_id, _patched(section), base)

    def _record(self, call_id: str, edit: Edit, base: str | None = None) -> None:
        place = relative_path(edit.path, base, self.workspace)
        if edit.op == "created" and place in self._present:
            edit = Edit(edit.path, "modified", None, edit.after, edit.before_source, edit.after_source)
        if record_edit(self._composer, edit, call_id=call_id, base=base, workspace=self.workspace) is None:
            return
        if edit.old_path is not None:
            self._present.discard(relative_path(edit.old_path, base, self.workspace) or "")
        if edit.op == "deleted":
            self._present.discard(place or "")
        else:
            self._present.add(place or "")


def _patched(section: PatchedFile) -> Edit:
    if section.kind == "add":
        return Edit(section.path, "created", ABSENT, section.text, "patchAdd", "patchAdd")
    if section.kind == "delete":
        return Edit(section.path, "deleted", None, ABSENT, "patchDelete", "patchDelete")
    return _updated(section.path, section.move_path, section.text, "applyPatch")


def _updated(path: str, move_path: str | None, diff: str | None, diff_format: str) -> Edit:
    if move_path is None or move_path == path:
        return Edit(path, "modified", None, None, "", "", diff, diff_format)
    return Edit(move_path, "renamed", None, None, "", "", diff, diff_format, old_path=path)
