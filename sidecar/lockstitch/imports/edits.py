"""File edits as `artifact.snapshot` events: each side is content that the source proves, or is named as not captured.

Invariant: no side is computed from what a file probably held; a diff text never becomes content.
Invariant: a path is relative to the session's directory, or the edit is counted and gives no checkpoint.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from lockstitch.imports.composer import Composer

ABSENT = "\x00absent"
"""A side on which there is no file. Not a possible content: contents with NUL are not text."""

_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one file. A side is its text, ABSENT, or None where the source does not prove it."""

    path: str
    """As the source names it: absolute, or relative to `base` of `record_edit`."""
    op: str
    """created, modified, deleted or renamed."""
    before: str | None
    after: str | None
    before_source: str
    after_source: str
    diff: str | None = None
    diff_format: str | None = None
    """unified (hunks with line numbers), applyPatch (hunks without), or strings (an old and a new text)."""
    old_path: str | None = None


def record_edit(composer: Composer, edit: Edit, *, call_id: str, base: str | None, workspace: str | None) -> str | None:
    """Emit the checkpoint of an edit that succeeded. Returns its relative path, or None if it has none here."""
    path = relative_path(edit.path, base, workspace)
    if path is None:
        list_outside(composer, edit.path, edit.op, call_id)
        return None
    before, after = _proven(edit.before), _proven(edit.after)
    composer.account.unproven += (before is None) + (after is None)
    sides = ("before",) * (before is not None) + ("after",) * (after is not None)
    composer.account.edits["both" if len(sides) == 2 else "".join(sides) or "none"] += 1
    payload: dict[str, Any] = {"path": path, "op": edit.op}
    if edit.old_path is not None and (old_path := relative_path(edit.old_path, base, workspace)) is not None:
        payload["oldPath"] = old_path
    if before is None:
        payload["beforeNotCaptured"] = True
    elif before == ABSENT:
        payload["beforeAbsent"] = True
    else:
        payload["previousContent"] = before
    if after is None:
        payload["afterNotCaptured"] = True
    elif after != ABSENT:
        payload["content"] = after
    metadata: dict[str, Any] = {"callId": call_id}
    metadata["beforeSource"] = edit.before_source if before is not None else "notCaptured"
    metadata["afterSource"] = edit.after_source if after is not None else "notCaptured"
    if edit.diff is not None and (before is None or after is None):
        payload["diff"] = edit.diff
        metadata["diffFormat"] = edit.diff_format
    composer.need_turn()
    name = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    checkpoint_id = composer.new_id("checkpoint", f"{composer.settle_id(call_id)[:100]}:{name}")
    composer.tell_calls()
    payload |= {"checkpointId": checkpoint_id, "source": "import", "metadata": metadata}
    composer.emit("artifact.snapshot", payload, item_id=checkpoint_id, key=f"checkpoint:{checkpoint_id}")
    return path


def list_outside(composer: Composer, path: str, op: str, call_id: str) -> None:
    """List an edit at a place of which nothing is stored: outside the session's directory, or refused."""
    composer.account.outside += 1
    composer.keep_opaque("outsideEdit", {"path": path, "op": op, "callId": call_id})


def _proven(side: str | None) -> str | None:
    # A tool that reads bytes as UTF-8 puts U+FFFD where they are not: such a text is not what the file held.
    return None if side is not None and "\ufffd" in side else side


def relative_path(path: str, base: str | None, workspace: str | None) -> str | None:
    """The path relative to `workspace`, by its spelling alone; None if it is outside, or at a refused place."""
    if "\x00" in path or not path.strip():
        return None
    if workspace is None:
        # Where the session's directory is not told, a relative path is still relative to it.
        relative = posixpath.normpath(_plain(path))
        return relative if base is None and not is_absolute(relative) and _is_recorded(relative) else None
    absolute, root = _plain(path), _plain(workspace)
    if not is_absolute(absolute):
        absolute = posixpath.join(_plain(base) if base else root, absolute)
    absolute, root = posixpath.normpath(absolute), posixpath.normpath(root)
    if not is_absolute(absolute) or not is_absolute(root):
        return None
    prefix = root if root.endswith("/") else root + "/"
    head = absolute[: len(prefix)]
    same = head.casefold() == prefix.casefold() if _DRIVE.match(prefix) else head == prefix
    relative = absolute[len(prefix) :]
    return relative if same and _is_recorded(relative) else None


def _plain(path: str) -> str:
    if path.startswith("file://"):
        path = unquote(path[7:])
        if _DRIVE.match(path[1:]):
            path = path[1:]
    if _DRIVE.match(path) or path.startswith("\\\\"):
        path = path.replace("\\", "/")
    # posixpath keeps two leading slashes, which mean the same as one everywhere but in a Windows share.
    return "/" + path.lstrip("/") if path.startswith("///") else path


def is_absolute(path: str) -> bool:
    """Whether a path names its place by itself, in POSIX or Windows spelling."""
    return path.startswith("/") or _DRIVE.match(path) is not None


def _is_recorded(relative: str) -> bool:
    components = relative.split("/")
    if components[0].startswith("~") or re.match(r"[A-Za-z]:", components[0]):
        return False
    return not any(
        component in ("", ".", "..")
        or component.rstrip(". ").casefold() in (".git", ".lockstitch", "git~1")
        or _RESERVED.fullmatch(component.rstrip(". "))
        for component in components
    )
