"""Commands that change something: a plan first, a question on a terminal, nothing without a yes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.wire.cli_scene import THREAD, Root, loom, on_terminal

from lockstitch.platform.beneath import CAN_OPEN_BENEATH

OLD, NEW = "def weave():\n    pass\n", "def weave(oil):\n    return oil\n"


puts_files_back = pytest.mark.skipif(not CAN_OPEN_BENEATH, reason="restore is refused on this system, and says so")


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return loom(tmp_path)


def files(root: Root) -> dict[str, str]:
    """What the workspace holds."""
    return {
        path.relative_to(root.workspace).as_posix(): path.read_text(encoding="utf-8")
        for path in root.workspace.rglob("*")
        if path.is_file() and ".lockstitch" not in path.parts
    }


@puts_files_back
def test_restore_asks_and_no_is_no(root: Root) -> None:
    before = files(root)
    asked = on_terminal(root, "restore", "019", "src/loom.py", "--before", answers="n\n")
    assert asked.status == 1
    assert "write   \x1b[0m  src/loom.py" in asked.out and "Change 1 file? [y/N]" in asked.out
    assert asked.out.endswith("Nothing was changed.\n")
    assert files(root) == before


@puts_files_back
def test_restore_and_undo_on_a_terminal(root: Root) -> None:
    done = on_terminal(root, "restore", "019", "ck-a2", "--before", answers="y\n")
    assert (done.status, files(root)["src/loom.py"]) == (0, OLD)
    assert f"`lockstitch undo {THREAD}` takes it back" in done.out
    assert root.run("undo", "019", "--yes").status == 0
    assert files(root)["src/loom.py"] == NEW


@puts_files_back
def test_without_a_terminal_nothing_is_done_without_yes(root: Root) -> None:
    before = files(root)
    for arguments in (["restore", "019", "ck-a1"], ["rewind", "019", "1", "--before"], ["rm", "019"]):
        done = root.run(*arguments)
        assert (done.status, "--yes" in done.err) == (2, True), arguments
        assert root.run(*arguments, "--json").status == 2
    assert files(root) == before
    assert len(root.run("threads", "--json").value["data"]) == 1


@puts_files_back
def test_rewind_undo_and_undo_again(root: Root) -> None:
    both = files(root)
    assert root.run("rewind", "019", "1", "--before", "--yes").status == 0
    assert files(root) == {}
    assert root.run("rewind", "019", "2", "--yes").status == 0
    assert files(root) == both
    assert root.run("undo", "019", "--yes").status == 0  # of the second rewind
    assert files(root) == {}
    assert root.run("undo", "019", "--yes").status == 0  # of the first: what is undone is not undone again
    assert files(root) == both
    nothing = root.run("undo", "019", "--yes")
    assert (nothing.status, "still stands" in nothing.err) == (1, True)


@puts_files_back
def test_a_dry_run_shows_the_plan_and_does_nothing(root: Root) -> None:
    before = files(root)
    done = root.run("rewind", "019", "1", "--before", "--dry-run")
    assert done.status == 0
    assert [line.split() for line in done.out.splitlines()] == [["delete", "notes.md"], ["delete", "src/loom.py"]]
    assert not root.run("rewind", "019", "1", "--dry-run", "--json").value["applied"]
    assert files(root) == before


@puts_files_back
def test_a_conflict_is_refused_and_a_backup_keeps_what_was_there(root: Root) -> None:
    (root.workspace / "notes.md").write_text("mine\n", encoding="utf-8")
    before = files(root)
    refused = root.run("rewind", "019", "1", "--before", "--yes")
    assert refused.status == 1
    assert "CONFLICT  notes.md  holds something that was never recorded" in refused.out
    assert files(root) == before
    as_json = root.run("rewind", "019", "1", "--before", "--yes", "--json")
    assert (as_json.status, json.loads(as_json.err)["error"]["kind"]) == (1, "conflict")
    assert root.run("rewind", "019", "1", "--before", "--on-conflict", "backup", "--yes").status == 0
    assert files(root) == {}
    newest = root.run("checkpoints", "019", "--path", "notes.md", "--json").value["checkpoints"]
    assert {"external", "restore"} <= {one["source"] for one in newest}


@puts_files_back
def test_rewind_takes_the_conversation_along(root: Root) -> None:
    assert root.run("rewind", "019", "1", "--conversation", "--yes").status == 0
    assert len(root.run("show", "019", "--json").value["thread"]["turns"]) == 1
    assert root.run("undo", "019", "--yes").status == 0
    assert len(root.run("show", "019", "--json").value["thread"]["turns"]) == 2


def test_rename_archive_fork_and_remove(root: Root) -> None:
    assert root.run("rename", "019", "A \x1b[31mred one").status == 0
    assert "A ␛[31mred one" in root.run("threads").out
    fork = root.run("fork", "019", "--turn", "1", "--name", "another", "--json").value["thread"]["id"]
    assert len(root.run("show", fork, "--json").value["thread"]["turns"]) == 1
    assert root.run("archive", THREAD, fork).status == 0
    assert root.run("threads").out.startswith("No threads yet")
    assert root.run("archive", fork, "--undo").status == 0
    silent = root.run("rm", fork, "--json")
    assert (silent.status, silent.out) == (2, ""), "into a pipe of JSON goes nothing for people"
    kept = on_terminal(root, "rm", fork, answers="\n")
    assert (kept.status, "another" in kept.out) == (1, True)
    assert root.run("rm", fork, "nope", "--yes").status == 1, "a name that fits nothing ends it before anything is done"
    assert on_terminal(root, "rm", fork, answers="yes\n").status == 0
    assert root.run("show", fork).status == 1
    assert root.run("show", THREAD).status == 0


def test_a_moved_workspace_is_found_again(root: Root) -> None:
    moved = root.workspace.with_name("spinning") / "loom-2"
    moved.parent.mkdir()
    root.workspace.rename(moved)
    said = root.run("doctor")
    assert (said.status, "is gone" in said.out, "doctor --relink" in said.out) == (0, True, True)
    lost = root.run("doctor", "--json").value["lostWorkspaces"]
    assert lost == [{"cwd": str(root.workspace), "threadIds": [THREAD], "found": [str(moved)]}]
    assert root.run("doctor", "--relink").status == 2
    assert on_terminal(root, "doctor", "--relink", answers="n\n").status == 1
    assert on_terminal(root, "doctor", "--relink", answers="y\n").status == 0
    assert root.run("show", "019", "--json").value["thread"]["cwd"] == str(moved)
    assert root.run("checkpoints", "019", "--files", "--json").value["files"][0]["state"] == "same"


def test_a_copy_of_a_workspace_makes_the_place_uncertain(root: Root) -> None:
    import shutil

    shutil.copytree(root.workspace, root.workspace.with_name("one"))
    root.workspace.rename(root.workspace.with_name("two"))
    done = root.run("doctor", "--relink", "--yes")
    assert (done.status, "no place is certain" in done.out) == (1, True)
