"""The commands that find, prove and tell again: search, receipt, replay."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from tests.wire.cli_scene import THREAD, Root, loom

from lockstitch.cli.local import opened

EVIL = "\x1b]0;title\x07\x1b[2Jzap \u202eback"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    return loom(tmp_path_factory.mktemp("evidence"))


async def _say(root: Root, thread_id: str, text: str) -> None:
    async with opened(str(root.path)) as local:
        await local.ask("thread/start", threadId=thread_id)
        await local.ask("turn/start", threadId=thread_id, input=[{"type": "text", "text": text}])


def test_search(root: Root) -> None:
    """By thread, what was found painted if there are colours; nothing found is status 1; JSON is that of the method."""
    done = root.run("search", "weave", "LOOM")
    assert (done.status, done.out) == (1, "Nothing found.\n"), "what is in a file was not said"
    done = root.run("search", "LOOM", "--color", "always")
    assert done.status == 0 and "4 hits" in done.out and "src/\x1b[33;1mloom" in done.out
    assert "\x1b" not in root.run("search", "LOOM").out
    assert root.run("search", "make a loom").status == 0 and root.run("search", "loom a make").status == 1
    assert root.run("search", "oil", "--thread", THREAD[:6]).status == 0
    assert root.run("search", "oil", "--archived").status == 1
    assert root.run("search", "oil", "--project", str(root.path)).status == 1
    limited = root.run("search", "loom", "--limit", "1")
    assert "1 hit\n" in limited.out and "--limit shows more" in limited.out
    found = root.run("search", "loom", "--json", "--limit", "150").value["data"]
    assert len(found) == 4 and {hit["threadId"] for hit in found} == {THREAD}
    assert root.run("search", "zebra", "--json").value == {"data": []}


def test_search_is_harmless_to_a_terminal(root: Root) -> None:
    asyncio.run(_say(root, "evil-1", EVIL))
    for word in ("zap", "back"):
        done = root.run("search", word, "--color", "always")
        assert done.status == 0 and re.sub(r"\x1b\[[\d;]*m", "", done.out).replace("\n", "").isprintable()


def test_receipt(root: Root) -> None:
    """The last turn's, or that of one; JSON are the bytes of the method, the same every time."""
    done = root.run("receipt", THREAD[:6])
    assert done.status == 0 and "turn-2" in done.out and "src/loom.py" in done.out
    assert "route, authority, usage, cost" in done.out
    assert "notes.md" in root.run("receipt", THREAD[:6], "--turn", "1").out
    first, second = (root.run("receipt", THREAD, "--turn", "turn-1", "--json").out for _ in range(2))
    assert first == second and json.loads(first)["turnId"] == "turn-1"
    assert root.run("receipt", THREAD, "--turn", "7").status == 1
    assert root.run("receipt", "nothing-like-it").status == 1


def test_replay(root: Root) -> None:
    """Every event once, in order, one a line; nothing is written."""
    rollout = next((root.path / "sessions").rglob(f"*{THREAD}.jsonl"))
    before = rollout.read_bytes(), (root.workspace / "notes.md").stat().st_mtime_ns
    lines = root.run("replay", THREAD, "--json").out.splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    shown = root.run("replay", THREAD, "--after", "1", "--until", "3", "--speed", "1000").out
    assert "turn.started" in shown and "thread.started" not in shown and "\n2 events\ndigest " in shown
    assert (rollout.read_bytes(), (root.workspace / "notes.md").stat().st_mtime_ns) == before
    assert root.run("replay", THREAD, "--speed", "0").status == 2


def test_how_it_is_on_the_way(root: Root, tmp_path: Path) -> None:
    """A root without any index: the command waits until it is complete."""
    other = loom(tmp_path)
    assert not list((other.path / "sqlite").glob("search-*"))
    assert other.run("search", "loom").status == 0 and list((other.path / "sqlite").glob("search-*"))
