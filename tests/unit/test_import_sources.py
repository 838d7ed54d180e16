"""Finding, telling apart and previewing session files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from lockstitch.errors import InvalidError, NotFoundError
from lockstitch.imports.detect import open_source
from lockstitch.imports.preview import preview
from lockstitch.imports.scan import scan_sources

FIXTURES = Path(__file__).parent.parent / "fixtures" / "imports"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('{\n  "projectHash": "y",\n  "messages": []\n}', "Gemini"),
        ('{"sessionId":"x","type":"user","message":{"parts":[]}}', "Qwen"),
        ('[\n{"role":"user","content":[]}]', "Cline"),
        ('{"type":"session","version":3,"id":"x"}', "pi"),
        ("", "empty"),
        ("hello", "not JSON"),
        ('{"a":1}\n', "unknown tool"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path: Path, content: str, found: str) -> None:
    """A file that has no reader is refused with what it is and what would do, whatever it is called."""
    path = tmp_path / "rollout-claude-codex.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidError, match=found) as caught:
        open_source(path)
    assert "Claude Code" in caught.value.message
    assert caught.value.facts["errors"][0]["path"] == "sourcePath"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are of POSIX")
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(InvalidError, match="not a regular file"):
            open_source(path)


def test_missing_files(tmp_path: Path) -> None:
    """A file or a root that is not there is an error that names it."""
    with pytest.raises(InvalidError, match="there is no file"):
        open_source(tmp_path / "no.jsonl")
    with pytest.raises(NotFoundError):
        list(scan_sources(None, tmp_path / "no"))
    with pytest.raises(InvalidError):
        open_source(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for place, name in (("2026/03/01", "codex_g1"), ("2026/03/02", "codex_g4"), ("2026/03/02", "codex_bare")):
        (tmp_path / "sessions" / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / f"{name}.jsonl", tmp_path / "sessions" / place)
    (tmp_path / "archived_sessions").mkdir()
    shutil.copy(FIXTURES / "codex_g3.jsonl", tmp_path / "archived_sessions")
    index = [{"id": "6f1c2a58-0c1e-4c55-9a8e-1f2e3d4c5b6a", "thread_name": name} for name in ("First", "Second")]
    (tmp_path / "session_index.jsonl").write_text("\n".join(map(json.dumps, index)), encoding="utf-8")
    (tmp_path / "sessions" / "notes.jsonl").write_text("nothing\n", encoding="utf-8")
    return tmp_path


def test_scan_of_a_home(home: Path) -> None:
    """Newest first, with the person's titles; what no reader takes is passed over; archives on request."""
    found = list(scan_sources("codex", home))
    assert [thread.path.stem for thread in found] == ["codex_g1", "codex_g4", "codex_bare"]
    assert found[0].title == "Second"
    assert found[0].updated_at == "2026-03-01T10:00:03.500000Z"
    assert found[0].as_wire()["bytes"] == (FIXTURES / "codex_g1.jsonl").stat().st_size
    with_archive = list(scan_sources("codex", home, include_archived=True))
    assert [thread.path.stem for thread in with_archive if thread.archived] == ["codex_g3"]


def test_scan_filters(home: Path) -> None:
    """Project, text and tool narrow the list."""
    assert len(list(scan_sources(None, home, project_path="/home/ada/"))) == 3
    assert list(scan_sources(None, home, project_path="/home/ad")) == []
    assert [t.path.stem for t in scan_sources(None, home, query="PLAN the")] == ["codex_g1"]
    assert list(scan_sources("claude", home)) == []
    assert len(list(scan_sources("claude", FIXTURES))) == 2
    assert len(list(scan_sources("gemini", FIXTURES))) == 2


def test_files_of_one_thread_are_one_entry(home: Path) -> None:
    """Two files with one id are one thread; the one written last stands for it, the other is named."""
    first = home / "sessions" / "2026" / "03" / "02" / "codex_g4.jsonl"
    lines = first.read_bytes().split(b"\n")
    second = first.with_name("again.jsonl")
    second.write_bytes(b"\n".join(lines[:4]) + b"\n")
    (thread,) = (t for t in scan_sources("codex", home) if t.base is not None)
    assert (thread.path, thread.other_paths) == (first, (second,))


def test_preview_counts_what_an_import_would_bring() -> None:
    """Thread, counts and the first messages, as they would be imported."""
    found = preview(FIXTURES / "claude_edits.jsonl", limit=2)
    assert found["thread"]["title"] == "Weaving session"
    assert found["summary"] == {"turns": 3, "items": 19, "edits": 5, "damagedLines": 0}
    assert [(m["role"], m["text"]) for m in found["messages"]] == [
        ("user", "Weave a loom"),
        ("assistant", "I write it."),
    ]
