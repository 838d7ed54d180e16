"""A checkpoint of one changed file in a large workspace, against a shadow git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.histories import Story
from benchmarks.host import Host
from benchmarks.measure import Floor, Row, at_most, in_turns, seconds

_FILES = 5000


def rows(bench: Bench) -> Iterator[Row]:
    workspace = bench.place / "workspace"
    story = Story(5)
    for number in range(_FILES):
        path = workspace / f"folder{number % 50}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(story.text(20, 80) for _ in range(20)) + "\n")
    changed = workspace / "folder7" / "file7.py"
    versions = iter(range(1 << 30))

    def change() -> None:
        changed.write_text("\n".join(story.text(20, 80) for _ in range(20)) + f"\n{next(versions)}\n")

    with Host(bench.place / "captures") as host:
        host.call("thread/start", threadId="files", cwd=str(workspace))
        host.call(
            "agentSession/runtimeEvents/append",
            sessionId="files",
            runtimeEvents=[{"type": "turn.started", "payload": {}}],
        )
        host.call("agentSession/fileCheckpoint/capture", sessionId="files", paths=["folder7/file7.py"])

        def ours() -> float:
            change()
            line = host.request(
                "agentSession/fileCheckpoint/capture", {"sessionId": "files", "paths": ["folder7/file7.py"]}
            )
            return seconds(lambda: host.reply_to(line))

        runs = {"ours": ours}
        git = _ShadowGit(bench) if shutil.which("git") else None
        if git is not None:
            git.commit()

            def theirs() -> float:
                change()
                return seconds(git.commit)

            runs["git"] = theirs
        found = in_turns(bench.rounds(11), runs)
    floors: tuple[Floor, ...] = ()
    if "git" in found:
        floors = (Floor("shadow git: `add -A`, `write-tree`, `commit-tree`", found["git"].times(1e3)),)
    yield Row(
        "capture",
        f"checkpoint of one changed file among {_FILES:,}",
        "ms",
        found["ours"].times(1e3),
        floors,
        (at_most(0.1),) if floors else (),
        note="" if floors else "no git on this machine",
    )


class _ShadowGit:
    """A repository beside the workspace, as agents keep them for checkpoints."""

    def __init__(self, bench: Bench) -> None:
        self._workspace = bench.place / "workspace"
        self._environment = {
            **os.environ,
            "GIT_DIR": str(bench.place / "shadow.git"),
            "GIT_WORK_TREE": str(self._workspace),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        self._parent: list[str] = []
        self._git("init", "--quiet")
        (bench.place / "shadow.git" / "info" / "exclude").write_text(".lockstitch/\n")

    def commit(self) -> None:
        self._git("add", "-A")
        tree = self._git("write-tree")
        self._parent = ["-p", self._git("commit-tree", tree, *self._parent, "-m", "turn")]

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            check=True,
            cwd=self._workspace,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        return done.stdout.decode().strip()
