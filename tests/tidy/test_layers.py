"""The layers of ARCHITECTURE.md hold: `.importlinter` is the rule, this runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_layer_imports_only_what_lies_below_it() -> None:
    code = (
        "import sys; sys.path[:0] = ['sidecar', 'protocol']; "
        "from importlinter.cli import lint_imports_command as run; run()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
