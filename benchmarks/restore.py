"""Files put back: a rewind of a hundred files, against `git checkout` of the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.histories import Story
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, seconds

_FILES = 100
_VERSIONS = ("one", "two")


def rows(bench: Bench) -> Iterator[Row]:
    """One row; both replace the same contents in workspaces of their own."""
    story = Story(6)
    contents = {
        version: {f"folder{number % 10}/file{number}.py": story.text(20, 8000) for number in range(_FILES)}
        for version in _VERSIONS
    }
    ours, theirs = bench.place / "rewound", bench.place / "checked-out"
    with Host(bench.place / "rewinds") as host:
        host.call("thread/start", threadId="files", cwd=str(ours))
        for version in _VERSIONS:
            _write(ours, contents[version])
            events = [{"type": "turn.started", "payload": {"turnId": version}}]
            events += [{"type": "artifact.snapshot", "payload": {"path": path}} for path in contents[version]]
            events.append({"type": "turn.completed", "payload": {}})
            host.call("agentSession/runtimeEvents/append", sessionId="files", turnId=version, runtimeEvents=events)
        turns = cycle(_VERSIONS)

        def rewind() -> float:
            params = {"sessionId": "files", "toTurnId": next(turns), "confirmRestore": True}
            line = host.request("agentSession/fileCheckpoint/rewind", params)
            return seconds(lambda: host.reply_to(line))

        runs = {"ours": rewind}
        if shutil.which("git"):
            commits = cycle(_repository(theirs, contents))
            runs["git"] = lambda: seconds(lambda: _git(theirs, "checkout", "--quiet", next(commits), "--", "."))
        found = bench.in_turns(12, runs)
    floors = (Floor("`git checkout <commit> -- .`, which forces nothing to the disk", found["git"].times(1e3)),)
    yield Row(
        "rewind",
        f"rewind of {_FILES} files, all or nothing, verified, on the disk",
        "ms",
        found["ours"].times(1e3),
        floors if "git" in found else (),
        note="" if "git" in found else "no git on this machine",
    )


def _write(root: Path, contents: dict[str, str]) -> None:
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _repository(root: Path, contents: dict[str, dict[str, str]]) -> list[str]:
    """Two commits of the same files; returns their ids."""
    root.mkdir()
    _git(root, "init", "--quiet")
    commits: list[str] = []
    for files in contents.values():
        _write(root, files)
        _git(root, "add", "-A")
        _git(root, "commit", "--quiet", "-m", "turn")
        commits.append(_git(root, "rev-parse", "HEAD"))
    return commits


def _git(root: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    done = subprocess.run(
        ["git", *arguments], check=True, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True
    )
    return done.stdout.decode().strip()
