"""The examples of README.md run, as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    return blocks[0]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Where `lockstitch-sidecar` is on the PATH and everything is kept in a temporary folder."""
    if os.name == "nt":
        pytest.skip("the stand-in for the installed command is a shell script")
    command = tmp_path / "bin" / "lockstitch-sidecar"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable} -P\nfrom lockstitch.__main__ import sidecar\nsidecar()\n", encoding="utf-8")
    command.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "sidecar"), str(ROOT / "protocol")]),
        "LOCKSTITCH_DATA_DIR": str(tmp_path / "data"),
    }


def run(command: list[str], environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_the_host_in_python(environment: dict[str, str], tmp_path: Path) -> None:
    said = run([sys.executable, "-c", example("python")], environment, tmp_path)
    assert "'contentStatus': 'available'" in said


def test_the_host_in_node(environment: dict[str, str], tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node here")
    script = example("js")
    assert len(script.splitlines()) < 20
    (tmp_path / "host.mjs").write_text(script, encoding="utf-8")
    assert "+Over, under,\n+locked.\n" in run([node, "host.mjs"], environment, tmp_path)


def test_every_command_of_the_readme_exists() -> None:
    from lockstitch.cli.arguments import parser

    block = next(block for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "lockstitch threads" in block)
    lines = [line.split("#")[0].split() for line in block.splitlines() if line.startswith("lockstitch ")]
    assert len(lines) >= 8
    for arguments in lines:
        parser().parse_args(arguments[1:])
