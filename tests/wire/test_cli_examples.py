"""Every example of the help runs, as it stands there, and does what it says."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.wire.cli_scene import SAMPLE, Done, Root, loom, run_here

from lockstitch.cli.arguments import VERBS
from lockstitch.cli.grammar import Verb
from lockstitch.platform.beneath import CAN_OPEN_BENEATH

ELSEWHERE = {"lockstitch demo": "is run by a test of its own", "lockstitch self-test": "is run by a test of its own"}
BEFORE = {
    "undo": ["lockstitch rewind 019ad3a1 1 --yes"],
    "verify": ["lockstitch export 019ad3a1 --format pack --to pack"],
}
"""What has to have been done before an example makes sense."""


def run_example(command: str) -> Done:
    """Run it: the command in this process, what stands behind a `|` in a shell, `>` into a file."""
    ours, _, rest = command.partition(" | ")
    words = shlex.split(ours)
    target = None
    if ">" in words:
        words, (target,) = words[: words.index(">")], words[words.index(">") + 1 :]
    assert words[0] == "lockstitch"
    done = run_here(*words[1:])
    if target is not None:
        Path(target).write_text(done.out, encoding="utf-8")
    if not rest:
        return done
    assert done.status == 0, done.err
    if os.name == "nt":
        return done  # there is no shell to pipe into
    piped = subprocess.run(["sh", "-c", rest], input=done.out.encode(), capture_output=True, check=False)
    return Done(piped.returncode, piped.stdout, piped.stderr)


def runnable(verb: Verb) -> bool:
    if verb.name in ("restore", "rewind", "undo") and not CAN_OPEN_BENEATH:
        return False  # it is refused on this system
    return any(example.command not in ELSEWHERE for example in verb.examples)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    """The thread of the examples, a session of another tool, and no other home than that."""
    root = loom(tmp_path)
    shutil.copy(SAMPLE, root.workspace / "session.jsonl")
    home = tmp_path / "home" / ".claude" / "projects" / "-home-ada-almanac"
    home.mkdir(parents=True)
    shutil.copy(SAMPLE, home / "5a3c1e70-0d2b-4c7e-9f10-2b6d1c0a7e55.jsonl")
    for name in [name for name in os.environ if name.startswith(("LOCKSTITCH_", "APP_SERVER_", "CODEX_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("LOCKSTITCH_DATA_DIR", str(root.path))
    monkeypatch.chdir(root.workspace)
    return root


@pytest.mark.parametrize("verb", [verb for verb in VERBS.values() if runnable(verb)], ids=lambda verb: verb.name)
def test_the_examples_of_a_command_run(scene: Root, verb: Verb) -> None:
    if verb.name == "diff":
        (scene.workspace / "src" / "loom.py").write_text("# mine\n", encoding="utf-8")
    for example in verb.examples:
        if example.command in ELSEWHERE:
            continue
        for needed in BEFORE.get(verb.name, []):
            assert run_example(needed).status == 0
        done = run_example(example.command)
        assert (done.status, done.err) == (0, ""), example.command
        assert done.out or ">" in example.command, example.command


def test_every_command_has_an_example() -> None:
    assert [verb.name for verb in VERBS.values() if not verb.examples] == ["serve"]


def test_what_is_handed_on_is_taken_in_and_what_was_changed_is_found(
    scene: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """export, import and verify, as two people use them."""
    assert run_here("export", "019ad3a1", "--format", "bundle").status == 0
    (bundle,) = scene.workspace.glob("lockstitch-*.zip")
    assert run_here("export", "019ad3a1", "--format", "bundle").status == 2, "nothing is written over"
    assert run_here("export", "019ad3a1", "--format", "case", "--to", "case").status == 0
    assert run_here("verify", "case").status == 0
    events = scene.workspace / "case" / "events.jsonl"
    events.write_bytes(events.read_bytes().replace(b"turn.started", b"turn.startet", 1))
    done = run_here("verify", "case")
    assert done.status == 1 and "file events.jsonl" in done.out and "event 2" in done.out
    assert not run_here("verify", "case", "--json").value["verdicts"][0]["ok"]
    page = run_here("open", "019ad3a1", "--json").value["path"]
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")
    shutil.rmtree(Path(page).parent)
    events_here = run_here("show", "019ad3a1", "--full").out
    monkeypatch.setenv("LOCKSTITCH_DATA_DIR", str(tmp_path / "elsewhere"))
    done = run_here("import", str(bundle))
    assert done.status == 0 and "lockstitch" in done.out and " events" in done.out
    assert run_here("show", "019ad3a1", "--full").out == events_here
    assert "nothing new" in run_here("import", str(bundle)).out


@pytest.mark.parametrize("verb", [verb for verb in VERBS.values() if runnable(verb)], ids=lambda verb: verb.name)
def test_every_command_can_write_json(scene: Root, verb: Verb) -> None:
    del scene
    example = next(one.command for one in verb.examples if "|" not in one.command).split(" > ")[0]
    for needed in BEFORE.get(verb.name, []):
        assert run_example(needed).status == 0
    done = run_example(example if "--json" in example else f"{example} --json")
    assert (done.status, done.err) == (0, "")
    assert [json.loads(line) for line in done.out.splitlines()]
