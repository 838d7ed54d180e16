"""Claude Code file edits: `originalFile` with the old and new strings, or the whole content of a Write.

Invariant: `structuredPatch` is never applied (its tabs are spaces); its line counts only confirm a computed side.
Invariant: a side is given only if the strings lead to one result; otherwise it is not captured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstitch.imports.edits import ABSENT, Edit
from lockstitch.imports.fields import mapping, sequence, string, whole

EDITORS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_CREATED = "File created successfully at:"


@dataclass(frozen=True, slots=True)
class Replacement:
    """One old string that became a new one."""

    old: str
    new: str
    everywhere: bool


def read_edit(tool: str, arguments: Any, result: Any, text: str) -> Edit | None:
    """The edit of a call that succeeded; None if it says no path."""
    given, told = mapping(arguments), mapping(result)
    path = string(told.get("filePath")) or string(given.get("file_path")) or string(given.get("notebook_path"))
    path = path or string(told.get("notebook_path"))
    if path is None:
        return None
    if tool == "Write":
        return _write(path, given, told, text)
    if tool == "NotebookEdit":
        return _notebook(path, told)
    replacements = _replacements(told) or _replacements(given)
    original = _original(told)
    created = not original and bool(replacements) and replacements[0].old == ""
    # Where only a sentence tells the result, a creation is proven by its words, and nothing else is.
    if created and (told or text.startswith(_CREATED)):
        after = None if told.get("userModified") is True else _apply("", replacements)
        if original is None or text.startswith(_CREATED):
            return Edit(path, "created", ABSENT, after, tool, tool)
        return Edit(path, "modified", None, after, tool, tool)  # an empty original: no file, or an empty one
    diff = "\n".join(_as_diff(replacement) for replacement in replacements)
    if original is None:
        return Edit(path, "modified", None, None, "originalFile", "originalFile", diff, "strings")
    after = None if told.get("userModified") is True else _confirmed(original, replacements, told)
    return Edit(path, "modified", original, after, "originalFile", "originalFile", diff, "strings")


def _write(path: str, given: dict[str, Any], told: dict[str, Any], text: str) -> Edit:
    content = told.get("content", given.get("content"))
    after = content if isinstance(content, str) else None
    original = _original(told)
    if original is not None:
        return Edit(path, "modified", original, after, "originalFile", "Write")
    if told.get("type") == "create" or (not told and text.startswith(_CREATED)):
        return Edit(path, "created", ABSENT, after, "Write", "Write")
    return Edit(path, "modified", None, after, "Write", "Write")


def _notebook(path: str, told: dict[str, Any]) -> Edit:
    before, after = told.get("original_file"), told.get("updated_file")
    return Edit(
        path,
        "modified",
        before if isinstance(before, str) else None,
        after if isinstance(after, str) else None,
        "originalFile",
        "updatedFile",
        string(told.get("new_source")),
        "strings",
    )


def _original(told: dict[str, Any]) -> str | None:
    original = told.get("originalFile", told.get("originalFileContents"))
    return original if isinstance(original, str) else None


def _replacements(facts: dict[str, Any]) -> list[Replacement]:
    edits = [mapping(edit) for edit in sequence(facts.get("edits"))] or [facts]
    found: list[Replacement] = []
    for edit in edits:
        old, new = edit.get("old_string", edit.get("oldString")), edit.get("new_string", edit.get("newString"))
        if isinstance(old, str) and isinstance(new, str):
            everywhere = edit.get("replace_all", edit.get("replaceAll")) is True
            found.append(Replacement(old, new, everywhere))
    return found


def _apply(text: str, replacements: list[Replacement], *, whole_lines: bool = False) -> str | None:
    """The text after the replacements, or None where they do not lead to one result."""
    for replacement in replacements:
        old = replacement.old
        if whole_lines and replacement.new == "" and not old.endswith("\n") and old + "\n" in text:
            old += "\n"
        if old == "":
            if text:
                return None
            text = replacement.new
            continue
        count = text.count(old)
        if count == 0 or (count > 1 and not replacement.everywhere):
            return None
        text = text.replace(old, replacement.new)
    return text


def _confirmed(original: str, replacements: list[Replacement], told: dict[str, Any]) -> str | None:
    if not replacements:
        return None
    plain = _apply(original, replacements)
    # Some versions take the line's end along when a whole line is deleted: the strings do not tell which did.
    closed = _apply(original, replacements, whole_lines=True)
    growth = _growth(told)
    if growth is None:
        return plain if plain == closed else None
    fitting = {text for text in (plain, closed) if text is not None and _lines(text) - _lines(original) == growth}
    return fitting.pop() if len(fitting) == 1 else None


def has_replacements(arguments: Any, result: Any) -> bool:
    """Whether an edit tells old and new strings."""
    return bool(_replacements(mapping(result)) or _replacements(mapping(arguments)))


def confirmed_after(original: str, arguments: Any, result: Any) -> str | None:
    """What an edit made of a content, if its strings lead from it to one result; None if they do not fit."""
    told = mapping(result)
    replacements = _replacements(told) or _replacements(mapping(arguments))
    after = _confirmed(original, replacements, told)
    if after is None and "\r\n" in original:
        ends = [Replacement(_crlf(each.old), _crlf(each.new), each.everywhere) for each in replacements]
        after = _confirmed(original, ends, told)
    return after


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def fits_growth(before: str, after: str, result: Any) -> bool:
    """Whether a content grew by as many lines as the tool tells; it must tell it."""
    growth = _growth(mapping(result))
    return growth is not None and _lines(after) - _lines(before) == growth


def _growth(told: dict[str, Any]) -> int | None:
    hunks = [mapping(hunk) for hunk in sequence(told.get("structuredPatch"))]
    growth = 0
    for hunk in hunks:
        old, new = whole(hunk.get("oldLines")), whole(hunk.get("newLines"))
        if old is None or new is None:
            return None
        growth += new - old
    return growth if hunks else None


def _lines(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


def _as_diff(replacement: Replacement) -> str:
    old = "".join(f"-{line}\n" for line in replacement.old.split("\n")) if replacement.old else ""
    return old + ("".join(f"+{line}\n" for line in replacement.new.split("\n")) if replacement.new else "")
