"""Finding, telling apart and previewing session files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.property.import_pieces import Thread

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
        (
            '[{"type":"summary","leafUuid":"u"},{"uuid":"u","type":"user","sessionId":"x","message":{}}]',
            "Claude .*jq -c",
        ),
        ('[\n{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}\n]', "array of Codex lines"),
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


CLAUDE, CODEX, DOCUMENT = (FIXTURES / name for name in ("claude_edits.jsonl", "codex_g3.jsonl", "gemini_document.json"))
CLAUDE_ID, CODEX_ID = "11111111-2222-4333-8444-555555555555", "0195a000-aaaa-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("source", "change"),
    [
        (CLAUDE, lambda data: b"\xef\xbb\xbf" + data),
        (CLAUDE, lambda data: data.replace(b"\n", b"\r\n")),
        (CLAUDE, lambda data: data.replace(b"\n", b"")),
        (CLAUDE, lambda data: b"a warning on standard output\n\n" + data),
        (CLAUDE, lambda data: data + bytes(4096)),
        (CLAUDE, lambda data: data + data),
        (CLAUDE, lambda data: b"".join(b"\x1e" + line + b"\n" for line in data.split(b"\n")[:-1])),
        (CODEX, lambda data: data.replace(b"\n", b"\r\n")),
        (CODEX, lambda data: data.replace(b"\n", b"")),
        (CODEX, lambda data: data + data),
        (DOCUMENT, lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")),
        (DOCUMENT, lambda data: json.dumps(json.loads(data)).encode()),
        (DOCUMENT, lambda data: json.dumps(dict(reversed(json.loads(data).items()))).encode()),
        (DOCUMENT, lambda data: data[:-6]),
    ],
)
def test_the_same_session_however_it_was_kept(tmp_path: Path, source: Path, change: Callable[[bytes], bytes]) -> None:
    """Byte-order marks, line ends, glued, doubled and padded lines, other names: the same thread comes of it."""
    path = tmp_path / "kept.txt"
    path.write_bytes(change(source.read_bytes()))
    found, wanted = Thread(), Thread()
    found.take(path)
    wanted.take(source)
    told, expected = found.told(), wanted.told()
    assert open_source(path).thread.source_thread_id == open_source(source).thread.source_thread_id
    for name in ("items", "usage", "files"):
        assert told[name] == expected[name]
    ends = [[(turn, end.split()[0]) for turn, end in each["turns"].items()] for each in (told, expected)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x1f\x8b\x08", "gzip"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04", "zip"),
        (b"SQLite format 3\x00", "database"),
        (b'{"type":"summary","summary":"x","leafUuid":"y"}\n', "without a message"),
    ],
)
def test_what_has_to_be_unpacked_first_is_said(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "x.jsonl").write_bytes(data)
    with pytest.raises(InvalidError, match=told):
        open_source(tmp_path / "x.jsonl")


def test_a_rollout_whose_head_is_damaged_has_the_id_of_its_name(tmp_path: Path) -> None:
    """The rest is read; under another name the id is made from what is left."""
    for name, found in ((f"rollout-2026-03-01T10-00-00-{CODEX_ID}.jsonl", CODEX_ID), ("x.jsonl", "codex-")):
        (tmp_path / name).write_bytes(CODEX.read_bytes()[100:])
        reading = open_source(tmp_path / name)
        assert reading.thread.source_thread_id.startswith(found)
        assert sum(event.type == "turn.started" for event in reading.events()) == 2
        assert reading.damaged == 1


def test_scan_of_a_directory_with_everything(tmp_path: Path) -> None:
    """Sessions of all tools in one tree, whatever they are called; links, pipes and other files are no trouble."""
    deep = tmp_path / "a" / "b c" / "ü"
    deep.mkdir(parents=True)
    for number, source in enumerate((CLAUDE, CODEX, DOCUMENT)):
        shutil.copy(source, deep / f"{number}.jsonl")
    (deep / "rubbish.json").write_bytes(b"{" * 5000)
    (deep / "empty.jsonl").touch()
    if hasattr(os, "mkfifo"):
        os.mkfifo(deep / "pipe.jsonl")
        (deep / "loop").symlink_to(tmp_path)
        (deep / "gone.jsonl").symlink_to(tmp_path / "nowhere")
        (tmp_path / "a" / "again.jsonl").symlink_to(deep / "0.jsonl")
    found = list(scan_sources(None, tmp_path))
    assert sorted(thread.client for thread in found) == ["claude", "codex", "gemini"]
    assert len(list(scan_sources("gemini", tmp_path))) == 1


def test_scan_of_a_home_directory_looks_into_the_tools_own(tmp_path: Path) -> None:
    """A person's home is not walked; the tools' folders in it are, and what lies beside them."""
    for folder, source in (
        (".codex/sessions/2026", CODEX),
        (".claude/projects/x", CLAUDE),
        (Path(".gemini", "tmp", "h", "chats"), DOCUMENT),
    ):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(source, tmp_path / folder)
    (tmp_path / "pictures").mkdir()
    shutil.copy(FIXTURES / "codex_g1.jsonl", tmp_path / "pictures")
    shutil.copy(FIXTURES / "codex_bare.jsonl", tmp_path)
    assert [thread.path.name for thread in scan_sources(None, tmp_path)] == [
        "gemini_document.json", "claude_edits.jsonl", "codex_g3.jsonl", "codex_bare.jsonl",
    ]  # fmt: skip
