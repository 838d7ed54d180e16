"""Where a host runs: a sidecar to spawn, a data root, a workspace, and an environment with almost nothing in it."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.hosts import tools

PATIENCE = 10.0


class Place:
    """One host's surroundings below `folder`."""

    def __init__(self, folder: Path, program: str | None = None) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.data = folder / "data"
        self.workspace = folder / "workspace"
        for made in (self.home, self.workspace):
            made.mkdir(parents=True)
        self.sidecar = program or sidecar(folder)
        verb = ["serve"] if Path(self.sidecar).stem == "lockstitch" else []
        self.arguments = [*verb, "--data-dir", str(self.data)]

    def environment(self, **extra: str) -> dict[str, str]:
        """HOME and PATH, and how the host finds the rest: some hosts pass no more than that."""
        host = {
            "sidecar": self.sidecar,
            "arguments": self.arguments,
            "workspace": str(self.workspace),
            "packages": str(tools.NPM),
        }
        kept = {"HOME": str(self.home), "PATH": os.environ.get("PATH", os.defpath)}
        return {**kept, "HOST_PLACE": json.dumps(host), **extra}

    def log(self) -> str:
        """What the sidecar logged."""
        found = self.data / "log" / "sidecar.log"
        return found.read_text(encoding="utf-8") if found.exists() else ""

    def ended(self, pid: int) -> bool:
        """Whether that process is gone within a few seconds, waited for."""
        deadline = time.monotonic() + PATIENCE
        while alive(pid):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


def sidecar(folder: Path) -> str:
    """The program under test: `LOCKSTITCH_SIDECAR`, or the code of this clone behind a script of its name."""
    given = os.environ.get("LOCKSTITCH_SIDECAR")
    if given:
        return given
    command = folder / "bin" / "lockstitch-sidecar"
    command.parent.mkdir()
    paths = [str(tools.ROOT / "sidecar"), str(tools.ROOT / "protocol")]
    code = f"import sys; sys.path[:0] = {paths!r}; from lockstitch.__main__ import sidecar; sidecar()"
    command.write_text(f"#!{sys.executable} -P\n{code}\n", encoding="utf-8")
    command.chmod(0o755)
    return str(command)


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not, where the system can tell."""
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def last_json(output: bytes) -> dict[str, Any]:
    """The report of a client: its last line that is JSON."""
    lines = [line for line in output.decode("utf-8").split("\n") if line.startswith("{")]
    assert lines, output
    return json.loads(lines[-1])
