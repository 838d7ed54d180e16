"""Completion: what may stand next, in the words of the command itself and in real shells."""

from __future__ import annotations

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
