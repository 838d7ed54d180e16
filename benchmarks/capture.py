"""Checkpoints of one changed file in a large workspace, their diffs and their restoring, against a shadow git.

The tree is as large repositories have it: ten files a folder, three folders deep, ten to three hundred lines; the
change is an edit of three lines. Git runs as tools run it that keep a repository beside the workspace: three processes
that look at every file and, by git's default, force no object to the disk. Ours forces contents and line to it.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.histories import Story
from benchmarks.host import Host
from benchmarks.measure import Floor, Goal, LeftOut, Row, Sample, at_most, seconds

_FILES = 5000
_NAME = "area0/package0/module0/file7.py"


def rows(bench: Bench) -> Iterator[Row | LeftOut]:
    if not shutil.which("git"):
        yield LeftOut("checkpoints beside a shadow git", "no git on this machine")
        return
    workspace = bench.place / "workspace"
    story = Story(5)
    lines = [story.text(20, 80) for _ in range(1000)]
    for number in range(_FILES):
        folder = f"area{number // 500}/package{number // 100 % 5}/module{number // 10 % 10}"
        path = workspace / folder / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = number * 7 % 700
        path.write_text("\n".join(lines[first : first + 10 + number * 13 % 291]) + "\n")
    versions = iter(range(1 << 30))

    def change() -> None:
        edited = (workspace / _NAME).read_text().split("\n")
        for at in (1, len(edited) // 2, len(edited) - 3):
            edited[at] = f"edit {next(versions)} of this line"
        (workspace / _NAME).write_text("\n".join(edited))

    with Host(bench.place / "captures") as host:
        git = _ShadowGit(bench)
        files = _Files(host, workspace)
        files.capture()
        git.commit()
        change()
        files.capture()
        git.commit()

        def changed(run: Callable[[], object]) -> Callable[[], float]:
            def measured() -> float:
                change()
                return seconds(run)

            return measured

        found = bench.in_turns(11, {"ours": changed(files.capture), "git": changed(git.commit)})
        processor = _processor(host, change, files.capture, git.commit)
        old, new = files.checkpoints[-2:]
        before, after = git.trees[-2:]
        found |= {
            f"diff {name}": sample
            for name, sample in bench.in_turns(
                11,
                {
                    "ours": lambda: seconds(lambda: files.diff(new)),
                    "git": lambda: seconds(lambda: git.run("diff", before, after)),
                },
            ).items()
        }
        sides = iter(range(1 << 30))

        def restored(run: Callable[[str], object], versions: tuple[str, str]) -> Callable[[], float]:
            return lambda: seconds(lambda: run(versions[next(sides) // 2 % 2]))

        found |= {
            f"restore {name}": sample
            for name, sample in bench.in_turns(
                11,
                {
                    "ours": restored(files.restore, (old, new)),
                    "git": restored(lambda tree: git.run("checkout", tree, "--", _NAME), (before, after)),
                },
            ).items()
        }
    for key, what, prefix, floor, goals in (
        (
            "capture",
            f"checkpoint of one changed file among {_FILES:,}",
            "",
            "shadow git: `add -A`, `write-tree`, `commit-tree`",
            (at_most(0.1),),
        ),
        ("capture.diff", "diff of that checkpoint with the one before", "diff ", "`git diff` of the two trees", ()),
        (
            "capture.restore",
            "restore of that file, verified, on the disk, undoable",
            "restore ",
            "`git checkout <tree> -- <file>`, which forces nothing to the disk",
            (),
        ),
    ):
        floors = (Floor(floor, found[f"{prefix}git"].times(1e3)),)
        yield Row(key, what, "ms", found[f"{prefix}ours"].times(1e3), floors, goals)
    yield Row(
        "capture.processor",
        "that checkpoint, in processor time",
        "ms",
        Sample((processor[0] * 1e3,)),
        (Floor("shadow git, all its processes", Sample((processor[1] * 1e3,))),),
        (Goal("ratio", 0.1),),
    )


def _processor(
    host: Host, change: Callable[[], None], ours: Callable[[], object], theirs: Callable[[], object]
) -> tuple[float, float]:
    """Processor seconds of one of ours and one of theirs, over twenty of each."""
    count = 20
    before, children = host.processor_seconds, resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(count):
        change()
        ours()
    used = host.processor_seconds - before
    for _ in range(count):
        change()
        theirs()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    git = spent.ru_utime + spent.ru_stime - children.ru_utime - children.ru_stime
    return max(used, 1e-2) / count, git / count


class _Files:
    """One file's checkpoints, through the sidecar."""

    def __init__(self, host: Host, workspace: Path) -> None:
        self._host = host
        self.checkpoints: list[str] = []
        host.call("thread/start", threadId="files", cwd=str(workspace))
        begin: dict[str, Any] = {"type": "turn.started", "payload": {}}
        host.call("agentSession/runtimeEvents/append", sessionId="files", runtimeEvents=[begin])

    def capture(self) -> None:
        found = self._host.call("agentSession/fileCheckpoint/capture", sessionId="files", paths=[_NAME])
        self.checkpoints += [each["checkpointId"] for each in found["captured"]]

    def diff(self, checkpoint: str) -> None:
        self._host.call("agentSession/fileCheckpoint/diff", sessionId="files", checkpointId=checkpoint)

    def restore(self, checkpoint: str) -> None:
        self._host.call(
            "agentSession/fileCheckpoint/restore",
            sessionId="files",
            checkpointId=checkpoint,
            confirmRestore=True,
            onConflict="backup",
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
        self.trees: list[str] = []
        self.run("init", "--quiet")
        (bench.place / "shadow.git" / "info" / "exclude").write_text(".lockstitch/\n")

    def commit(self) -> None:
        self.run("add", "-A")
        self.trees.append(self.run("write-tree"))
        self._parent = ["-p", self.run("commit-tree", self.trees[-1], *self._parent, "-m", "turn")]

    def run(self, *arguments: str) -> str:
        """What git prints."""
        done = subprocess.run(
            ["git", *arguments],
            check=True,
            cwd=self._workspace,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        return done.stdout.decode().strip()
