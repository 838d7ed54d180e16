"""The patch text of Codex's apply_patch tool, and where it stands in a shell command.

Invariant: only what the patch text says is returned; what it was applied to is unknown here.
Source of the format: `*** Begin Patch` … `*** End Patch` with Add, Delete and Update File sections, an optional
`*** Move to:` line, and hunks that open with `@@` and carry no line numbers.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

_HEADER = re.compile(r"\*\*\* (Add|Delete|Update) File: (.+)")
_BLOCK = re.compile(r"^\*\*\* Begin Patch[ \t]*\r?\n(.*?)^[ \t]*\*\*\* End Patch", re.MULTILINE | re.DOTALL)
_SUCCESS = "Success. Updated the following files:"
_CHANGED = re.compile(r"([AMD]) (.+)")
_CD = re.compile(r"""\s*cd\s+("[^"$`]+"|'[^']+'|[^\s"'$`;&|]+)\s*(?:&&|;)\s*""")


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """One section of a patch. `text` is the added file's content, or the hunks of an update."""

    kind: str
    """add, delete or update."""
    path: str
    move_path: str | None
    text: str


def parse_patches(text: str) -> list[PatchedFile]:
    """All sections of all patches in a text; what is no section is passed over."""
    found: list[PatchedFile] = []
    for block in _BLOCK.finditer(text):
        found += _parse_block(block[1])
    return found


def _parse_block(body: str) -> list[PatchedFile]:
    found: list[PatchedFile] = []
    kind = path = move_path = None
    lines: list[str] = []

    def close() -> None:
        if kind is not None and path is not None:
            found.append(PatchedFile(kind, path, move_path, "".join(lines)))

    for line in body.replace("\r\n", "\n").split("\n"):
        if header := _HEADER.fullmatch(line):
            close()
            kind, path, move_path, lines = header[1].lower(), header[2].strip(), None, []
        elif line.startswith("*** Move to: "):
            move_path = line[13:].strip()
        elif kind == "add":
            if line.startswith("+"):
                lines.append(line[1:] + "\n")
        elif kind == "update" and (line or lines):
            lines.append(line + "\n")
    close()
    return [
        PatchedFile(f.kind, f.path, f.move_path, f.text.rstrip("\n") + "\n") if f.kind == "update" else f for f in found
    ]


def changed_paths(output: str) -> set[str] | None:
    """The paths that the tool reports as changed, as the patch names them; None if it reports no success."""
    start = output.find(_SUCCESS)
    if start < 0:
        return None
    changed: set[str] = set()
    while start >= 0:
        for line in output[start + len(_SUCCESS) :].split("\n")[1:]:
            match = _CHANGED.fullmatch(line.removesuffix("\r"))
            if match is None:
                break
            changed.add(match[2].strip())
        start = output.find(_SUCCESS, start + 1)
    return changed


def directory_of(script: str, cwd: str | None) -> str | None:
    """The directory that a patch in a shell script is relative to; None where the script does not say."""
    head = re.split(r"(?:applypatch|apply_patch)\b", script, maxsplit=1)[0]
    match = _CD.match(head)
    if match:
        head = head[match.end() :]
        target = match[1].strip("\"'")
        if target.startswith("~"):
            return None
        cwd = target if target.startswith("/") else posixpath.join(cwd, target) if cwd else None
    return None if re.search(r"\b(?:cd|pushd|popd)\b", head) else cwd
