"""Completion: what may stand next, in the words of the command itself and in real shells."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.wire.cli_scene import ENVIRONMENT, THREAD, Root, loom, run_here

from lockstitch.cli.arguments import VERBS
from lockstitch.cli.completion import SCRIPTS
from lockstitch.cli.local import opened
from lockstitch.timeline import glance
from lockstitch.timeline.rows import ItemKind


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    return loom(tmp_path_factory.mktemp("completion"))


def offered(*words: str) -> list[str]:
    done = run_here("--complete", *words)
    assert (done.status, done.err) == (0, "")
    return [line.split("\t")[0] for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["re"], ["restore", "rewind", "rename", "receipt", "replay"]),
        ([""], list(VERBS)),
        (["--js"], ["--json"]),
        (["show", "--tu"], ["--turn"]),
        (["show", "--full", "--fu"], []),
        (["completion", "z"], ["zsh"]),
        (["threads", "--color", "a"], ["auto", "always"]),
        (["threads", "--color=al"], ["--color=always"]),
        (["threads", "--color", "="], ["auto", "always", "never"]),
        (["threads", "--color", "=", "al"], ["always"]),
        ([], list(VERBS)),
        (["help", "che"], ["checkpoints"]),
        (["call", "thread/arch"], ["thread/archive"]),
        (["import", "x"], [":files"]),
        (["threads", "--project", ""], [":folders"]),
        (["rename", "x", ""], []),
        (["nonsense", ""], list(VERBS)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_may_stand_next(words: list[str], found: list[str]) -> None:
    assert offered(*words) == found


def test_recorded_things_are_offered(root: Root) -> None:
    place = ["--data-dir", str(root.path)]
    assert offered(*place, "show", "0") == [THREAD]
    assert offered(*place, "rewind", "019", "") == ["1", "2"]
    assert offered(*place, "diff", "019", "") == ["src/loom.py", "notes.md"]
    assert offered(*place, "diff", "019", "ck-a") == ["ck-a2", "ck-a1"]
    assert offered(*place, "diff", "nope", "") == []


def test_nothing_is_made_for_a_keystroke(root: Root, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert offered("--data-dir", str(missing), "show", "") == []
    assert offered("--data-dir", str(missing), "rewind", "019", "") == []
    assert not missing.exists()
    before = sorted(root.path.rglob("*"))
    assert offered("--data-dir", str(root.path), "rewind", "019", "") == ["1", "2"]
    assert sorted(root.path.rglob("*")) == before


def test_without_a_database_there_are_still_ids(tmp_path: Path) -> None:
    fresh = loom(tmp_path)
    for file in (fresh.path / "sqlite").iterdir():
        file.unlink()
    assert offered("--data-dir", str(fresh.path), "show", "0") == [THREAD]
    assert offered("--data-dir", str(fresh.path), "archive", "--undo", "0") == []


def test_what_another_process_does_just_now_is_seen(tmp_path: Path) -> None:
    fresh = loom(tmp_path)

    async def meanwhile() -> list[str]:
        async with opened(str(fresh.path)) as local:
            await local.ask("thread/start", threadId="brand-new", cwd=str(tmp_path))
            await local.ask("thread/archive", threadId=THREAD)
            place = ["--data-dir", str(fresh.path)]
            return [*offered(*place, "show", ""), *offered(*place, "archive", "--undo", "")]

    assert asyncio.run(meanwhile()) == ["brand-ne", THREAD[:8]]


def test_a_keystroke_brings_in_nothing_slow(root: Root) -> None:
    """Shells ask at every tab: a whole start would be felt."""
    ask = "import sys; from lockstitch.cli.main import main; main(sys.argv[1:]); print(*sys.modules, sep=chr(10))"
    words = ["--complete", "--data-dir", str(root.path), "rewind", "019", ""]
    done = subprocess.run([sys.executable, "-c", ask, *words], capture_output=True, env=ENVIRONMENT, check=True)
    lines = done.stdout.decode().split()
    assert lines[:1] == ["1"]
    assert not {"asyncio", "pydantic", "logging", "subprocess"} & set(lines)


def test_the_look_knows_the_kinds_of_rows() -> None:
    assert ItemKind.userMessage == glance._USER_MESSAGE  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_shell_completes_with_it(shell: str, root: Root, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None or os.name == "nt":
        pytest.skip(f"there is no {shell} here")
    command = tmp_path / "lockstitch"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m lockstitch "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell], encoding="utf-8")
    ask = {
        "bash": f"source {script}; COMP_WORDS=({command} show 0); COMP_CWORD=2; _lockstitch; echo ${{COMPREPLY[@]}}",
        "zsh": f"compdef() {{ :; }}; compadd() {{ print -l $values; }}; source {script}; "
        f"words=({command} show 0); CURRENT=3; _lockstitch",
        "fish": f"complete -e -c lockstitch; source {script}; complete -C 'lockstitch show 0'",
    }[shell]
    run = subprocess.run(
        [program, "-c", ask],
        capture_output=True,
        env={
            **ENVIRONMENT,
            "PATH": f"{tmp_path}:{ENVIRONMENT.get('PATH', '')}",
            "HOME": str(tmp_path),
            "LOCKSTITCH_DATA_DIR": str(root.path),
        },
        check=False,
        timeout=60,
    )
    assert run.stdout.decode().split()[0] == THREAD, (run.stdout, run.stderr)
