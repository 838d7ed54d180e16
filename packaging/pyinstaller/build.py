"""Builds the program that needs no Python: `python packaging/pyinstaller/build.py`, or `make binary`.

A folder, not one file: one file unpacks itself at every start, which costs ten times the start. It goes to
`dist/lockstitch/`, is tried there, and `dist/lockstitch-binary.json` says what is in it, with sha256.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PYINSTALLER = "pyinstaller>=6.10"

EXCLUDED = (
    # Parts of Python that nothing here imports, but that something imported names.
    "_tkinter",
    "curses",
    "distutils",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "multiprocessing",
    "pdb",
    "pip",
    "pydoc",
    "pydoc_data",
    "setuptools",
    "test",
    "tkinter",
    "turtledemo",
    "unittest",
    "wheel",
    "xmlrpc",
    # Parts of what we stand on that need something which is not there.
    "anyio._backends._trio",
    "anyio.pytest_plugin",
    "email_validator",
    "hypothesis",
    "mypy",
    "numpy",
    "pydantic.mypy",
    "pydantic.v1",
    "pytest",
    "rich",
    "trio",
)
"""The one list of what is left out."""


def main() -> int:
    """Build it, try it, write the manifest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        python = environment(work / "venv")
        folder = build(python, work, options.output.resolve())
    program = folder / ("lockstitch.exe" if os.name == "nt" else "lockstitch")
    status = subprocess.run([str(program), "self-test"], check=False).returncode
    if status:
        return status
    manifest = options.output.resolve() / "lockstitch-binary.json"
    manifest.write_text(json.dumps(contents(folder), indent=2) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"{program}: {size / 1e6:.1f} MB, sha256 of every file in {manifest.name}")
    return 0


def environment(folder: Path) -> str:
    """A Python that has what the program needs at run time, PyInstaller, and nothing else."""
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    subprocess.run(
        [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install", PYINSTALLER, str(ROOT)], check=True
    )
    return python


def build(python: str, work: Path, output: Path) -> Path:
    """Run PyInstaller; the folder with the program in it."""
    staged = work / "dist"
    command = [python, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "ERROR"]
    command += ["--distpath", str(staged), "--workpath", str(work / "build"), str(HERE / "lockstitch.spec")]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "946684800"}
    subprocess.run(command, check=True, env=environment)
    folder = output / "lockstitch"
    shutil.rmtree(folder, ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    shutil.copytree(staged / "lockstitch", folder, symlinks=True)
    return folder


def contents(folder: Path) -> dict[str, object]:
    """The release manifest: each file with its size and sha256, and what it is built for and from."""
    files: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            files[name] = {"link": os.readlink(path)}
        elif path.is_file():
            data = path.read_bytes()
            files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    version = (
        (ROOT / "sidecar/lockstitch/__init__.py").read_text(encoding="utf-8").split('__version__ = "')[1].split('"')[0]
    )
    return {
        "name": "lockstitch",
        "version": version,
        "system": sys.platform,
        "machine": platform.machine().lower(),
        "python": platform.python_version(),
        "files": files,
    }


if __name__ == "__main__":
    sys.exit(main())
