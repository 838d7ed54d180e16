"""Packs what goes to npm: the client, and the program of this system as a package of its own.

`python packaging/npm/build.py --binary dist/lockstitch --output dist`. The client names the programs as optional
dependencies with `os` and `cpu`, so that npm fetches the one that fits and runs nothing while installing.
Invariant: no package has an install script, and none fetches anything.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "packaging" / "npm" / "lockstitch"
SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def main() -> int:
    """Make the two tarballs; their paths are printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "dist" / "lockstitch", help="what `make binary` built")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--tsc", help="TypeScript's compiler; default: the one in node_modules of the client")
    options = parser.parse_args()
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        print(pack(program_package(options.binary, Path(name) / "program"), output))
        print(pack(client_package(Path(name) / "client", options.tsc), output))
    return 0


def target() -> tuple[str, str]:
    """Node's names for this system and processor."""
    return SYSTEMS[sys.platform], MACHINES[platform.machine().lower()]


def program_package(binary: Path, folder: Path) -> Path:
    """The program as a package. Links become copies, since npm leaves links out."""
    system, machine = target()
    shutil.copytree(binary, folder / "lockstitch", symlinks=False)
    client = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    package = {
        "name": f"@lockstitch/{system}-{machine}",
        "version": client["version"],
        "description": f"The Lockstitch sidecar for {system} on {machine}; installed by the package lockstitch.",
        "license": client["license"],
        "os": [system],
        "cpu": [machine],
        "files": ["lockstitch"],
        "preferUnplugged": True,
    }
    if system == "linux":
        package["libc"] = ["glibc"]
    (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n", encoding="utf-8")
    shutil.copy(ROOT / "LICENSE", folder)
    return folder


def client_package(folder: Path, tsc: str | None) -> Path:
    """The client, built, in a folder of its own."""
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("dist", "protocol", "node_modules", "test"))
    shutil.copytree(ROOT / "schemas" / "typescript", folder / "src" / "protocol")
    shutil.copy(ROOT / "LICENSE", folder)
    environment = {**os.environ, **({"TSC": tsc} if tsc else {})}
    roots = ["--typeRoots", str(Path(tsc).parents[2] / "@types")] if tsc else []
    subprocess.run(["node", "build.mjs", *roots], cwd=folder, env=environment, check=True)
    return folder


def pack(folder: Path, output: Path) -> Path:
    """`npm pack`; the tarball."""
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(output)]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return output / done.stdout.strip().split("\n")[-1]


if __name__ == "__main__":
    sys.exit(main())
