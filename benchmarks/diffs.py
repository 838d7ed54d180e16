"""Diffs of large files, an ordinary one and the worst cases, against `git diff --no-index` of the same."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Floor, Row, seconds
from lockstitch.diff import diff_files

_LINES = 20_000


def rows(bench: Bench) -> Iterator[Row]:
    """One row a case. git's time holds the start of a process; `--version` of the same process is taken off."""
    place = bench.place / "diffs"
    place.mkdir()
    has_git = shutil.which("git") is not None
    for key, (name, before, after) in _cases().items():
        (place / "before").write_bytes(before)
        (place / "after").write_bytes(after)
        made = diff_files(before, after, path="file")

        def ours(before: bytes = before, after: bytes = after) -> float:
            return seconds(lambda: diff_files(before, after, path="file"))

        runs = {"ours": ours}
        if has_git:
            runs["git"] = lambda: max(
                1e-4, _git(place, "diff", "--no-index", "before", "after") - _git(place, "version")
            )
        found = bench.in_turns(9, runs)
        theirs = _changed_lines(place) if has_git else "?"
        yield Row(
            f"diff.{key}",
            name,
            "ms",
            found["ours"].times(1e3),
            (Floor("`git diff --no-index`, without the start of git", found["git"].times(1e3)),) if has_git else (),
            note=f"{made.additions + made.deletions:,} changed lines, git: {theirs}"
            + (", approximate" if made.approximate else ""),
        )


def _cases() -> dict[str, tuple[str, bytes, bytes]]:
    chance = random.Random(7)
    lines = [f"    value_{number} = compute({chance.random()})" for number in range(_LINES)]
    edited = list(lines)
    for _ in range(500):
        at = chance.randrange(len(edited))
        edited[at : at + chance.randrange(3)] = [f"edited {chance.random()}" for _ in range(chance.randrange(3))]
    alike = [chance.choice(["", "    }", "    {", "  x"]) for _ in range(_LINES)]
    shuffled = list(alike)
    chance.shuffle(shuffled)
    moved = list(lines)
    chance.shuffle(moved)
    return {
        "edits": (f"{_LINES:,} lines, 500 edits", _text(lines), _text(edited)),
        "every": (f"{_LINES:,} lines, every one another", _text(lines), _text([f"{line}!" for line in lines])),
        "alike": (f"{_LINES:,} lines of four kinds, shuffled", _text(alike), _text(shuffled)),
        "moved": (f"{_LINES:,} different lines, shuffled", _text(lines), _text(moved)),
        "long": (
            "one line of 4 MB, one character another",
            b"x" * (4 << 20),
            b"x" * (2 << 20) + b"y" + b"x" * (2 << 20),
        ),
    }


def _text(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _git(place: Path, *arguments: str) -> float:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def run() -> None:
        subprocess.run(["git", *arguments], cwd=place, env=environment, capture_output=True, check=False)

    return seconds(run)


def _changed_lines(place: Path) -> str:
    done = subprocess.run(
        ["git", "diff", "--no-index", "--numstat", "before", "after"], cwd=place, capture_output=True, check=False
    )
    return f"{sum(int(word) for word in done.stdout.split()[:2]):,}"
