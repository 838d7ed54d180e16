"""What is checked in says nothing about the machine or the place where it was made."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PEOPLE = ("ada", "zoé", "you")
"""Made-up people whose homes may stand in examples."""

HOMES = re.compile(r"(?<![\w.~-])(?:/home|/Users|[A-Za-z]:\\+Users)[/\\]+([\w.-]+)[/\\]")
ROOT_HOME = re.compile(r"(?<![\w.~/-])/" + r"root/")
BESIDE = "../" + "shared"
"""A folder that a clone elsewhere does not have beside it."""


def tracked() -> list[Path]:
    """The files of the index, or of the folder where this is no clone."""
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if run.returncode == 0:
        return [ROOT / name for name in run.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    skipped = {".venv", ".git", "node_modules", "__pycache__", ".hypothesis", ".ruff_cache", ".pytest_cache"}
    return [path for path in ROOT.rglob("*") if path.is_file() and not skipped & set(path.relative_to(ROOT).parts)]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def test_no_path_of_a_machine_is_checked_in() -> None:
    here = [f"{place}/" for place in (ROOT, Path.home()) if len(place.parts) > 1]
    found: list[str] = []
    for path in tracked():
        for number, line in enumerate(text_of(path).split("\n"), 1):
            homes = [name for name in HOMES.findall(line) if name not in PEOPLE]
            if homes or ROOT_HOME.search(line) or BESIDE in line or any(place in line for place in here):
                found.append(f"{path.relative_to(ROOT)}:{number}")
    assert found == []


def test_text_files_end_in_one_newline_and_use_lf() -> None:
    found: list[str] = []
    for path in tracked():
        if path.suffix not in {".md", ".toml", ".json", ".ts"} or "fixtures" in path.parts:
            continue
        content = path.read_bytes()
        if content and (b"\r" in content or not content.endswith(b"\n") or content.endswith(b"\n\n")):
            found.append(str(path.relative_to(ROOT)))
    assert found == []
