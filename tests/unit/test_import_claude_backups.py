"""Claude Code's file history: used where it is there, named by the lines, and fits the edit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lockstitch.imports.detect import open_source

CWD = "/home/ada/loom"
SESSION = "31313131-2222-4333-8444-555555555555"


class Session:
    """A small transcript with its backups."""

    def __init__(self, home: Path, *, beside: bool) -> None:
        self.path = home / "projects" / "-home-ada-loom" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True)
        self.backups = (self.path.parent if beside else home) / "file-history" / SESSION
        self.backups.mkdir(parents=True)
        self.lines: list[dict[str, Any]] = []
        self.add("user", "edit")

    def add(self, kind: str, content: Any, **rest: Any) -> None:
        number = len(self.lines)
        self.lines.append({"type": kind, "uuid": f"u{number}", "sessionId": SESSION, "cwd": CWD, "version": "2",
                           "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": kind, "content": content},
                           **rest})  # fmt: skip

    def backup(self, name: str, content: bytes | None, version: int = 1) -> None:
        named = None
        if content is not None:
            named = f"{hashlib.sha256(f'{CWD}/{name}'.encode()).hexdigest()[:16]}@v{version}"
            (self.backups / named).write_bytes(content)
        told = {name: {"backupFileName": named, "version": version, "backupTime": "2026-01-01T00:00:00.000Z"}}
        snapshot = {"messageId": "u0", "timestamp": "2026-01-01T00:00:00.000Z", "trackedFileBackups": told}
        self.lines.append({"type": "file-history-snapshot", "messageId": "u0", "isSnapshotUpdate": True,
                           "snapshot": snapshot})  # fmt: skip

    def call(self, tool: str, arguments: dict[str, Any], result: Any) -> None:
        call = f"toolu_{len(self.lines)}"
        self.add("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": arguments}])
        block = {"type": "tool_result", "tool_use_id": call, "content": "The file has been updated"}
        self.add("user", [block], toolUseResult=result)

    def edit(self, name: str, old: str, new: str, **told: Any) -> None:
        arguments = {"file_path": f"{CWD}/{name}", "old_string": old, "new_string": new}
        self.call("Edit", arguments, {"filePath": f"{CWD}/{name}", "oldString": old, "newString": new, **told})

    def edits(self) -> list[tuple[Any, Any, str, str]]:
        self.path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        found = [e.payload for e in open_source(self.path).events(final=True) if e.type == "artifact.snapshot"]
        return [
            (
                "absent" if p.get("beforeAbsent") else p.get("previousContent"),
                p.get("content"),
                p["metadata"]["beforeSource"],
                p["metadata"]["afterSource"],
            )
            for p in found
        ]


@pytest.mark.parametrize("beside", [False, True])
def test_a_backup_that_fits_proves_both_sides(tmp_path: Path, beside: bool) -> None:
    """Where the lines do not tell what the file was; the next edit has nothing to stand on until a new backup."""
    session = Session(tmp_path, beside=beside)
    session.backup("a.txt", b"one\ntwo\n")
    session.edit("a.txt", "two", "2")
    session.edit("a.txt", "one", "1")
    session.backup("a.txt", b"1\n2\nmine\n", version=2)
    session.edit("a.txt", "mine", "ours")
    assert session.edits() == [
        ("one\ntwo\n", "one\n2\n", "fileHistory", "fileHistory"),
        (None, None, "notCaptured", "notCaptured"),
        ("1\n2\nmine\n", "1\n2\nours\n", "fileHistory", "fileHistory"),
    ]


def test_a_backup_that_does_not_fit_is_not_used(tmp_path: Path) -> None:
    """Another content, a name that leads elsewhere, bytes that are no text, a link: the side stays not captured."""
    session = Session(tmp_path, beside=False)
    session.backup("a.txt", b"something else\n")
    session.edit("a.txt", "two", "2")
    session.backup("b.txt", b"two\xff\n")
    session.edit("b.txt", "two", "2")
    session.backup("c.txt", b"two\n")
    session.lines[-1]["snapshot"]["trackedFileBackups"]["c.txt"]["backupFileName"] = "../../c.txt"
    session.edit("c.txt", "two", "2")
    session.backup("d.txt", b"two two\n")
    session.edit("d.txt", "two", "2")
    assert {edit[:2] for edit in session.edits()} == {(None, None)}


def test_line_ends_are_those_of_the_backup(tmp_path: Path) -> None:
    """The tool tells texts with line feeds, whatever the file had."""
    session = Session(tmp_path, beside=False)
    session.backup("a.txt", b"one\r\ntwo\r\n")
    session.edit("a.txt", "two", "2", originalFile="one\ntwo\n", userModified=False)
    session.backup("b.txt", b"one\r\ntwo\r\n")
    session.edit("b.txt", "one\ntwo", "1\n2")
    assert session.edits() == [
        ("one\r\ntwo\r\n", "one\r\n2\r\n", "fileHistory", "originalFile"),
        ("one\r\ntwo\r\n", "1\r\n2\r\n", "fileHistory", "fileHistory"),
    ]


def test_a_written_file(tmp_path: Path) -> None:
    """The pre-image of a Write is the backup if the line counts agree; null says that there was no file."""
    session = Session(tmp_path, beside=False)
    for name, before in (("a.txt", b"one\n"), ("b.txt", b"one\ntwo\n"), ("c.txt", None)):
        session.backup(name, before)
        hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": []}
        told = {"type": "update", "filePath": f"{CWD}/{name}", "content": "x\ny\n", "structuredPatch": [hunk]}
        if before is None:
            told = {"type": "create", "filePath": f"{CWD}/{name}", "content": "x\ny\n", "structuredPatch": []}
        session.call("Write", {"file_path": f"{CWD}/{name}", "content": "x\ny\n"}, {**told, "originalFile": None})
    assert session.edits() == [
        ("one\n", "x\ny\n", "fileHistory", "Write"),
        (None, "x\ny\n", "notCaptured", "Write"),
        ("absent", "x\ny\n", "Write", "Write"),
    ]
