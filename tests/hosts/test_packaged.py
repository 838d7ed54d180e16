"""What is handed out, installed as a user would: the wheel in a clean environment, the program from npm's packages."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest
from tests.hosts import tools
from tests.hosts.place import Place
from tests.hosts.roster import ROSTER
from tests.hosts.test_clients import tell

HOST = """
import { binaryPath, spawnSidecar } from "lockstitch";
const sidecar = await spawnSidecar({ clientInfo: { name: "app" }, dataDir: process.argv[2] });
const { thread } = await sidecar.request("thread/start", {});
await sidecar.append(thread.id, [{ type: "note", payload: { text: "from npm" } }]);
const { data } = await sidecar.request("thread/events/list", { threadId: thread.id });
const types = data.map((event) => event.type);
console.log(JSON.stringify({ path: binaryPath(), types, exit: await sidecar.close() }));
"""


def call(command: list[str], folder: Path, **environment: str) -> str:
    known = {key: value for key, value in os.environ.items() if not key.startswith(("LOCKSTITCH", "PYTHONPATH"))}
    done = subprocess.run(
        command, cwd=folder, env={**known, **environment}, capture_output=True, check=False, timeout=110
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return done.stdout.decode()


def works(program: str, sidecar: str, folder: Path) -> None:
    """Its own test passes, and a client in each framing tells the whole story through it."""
    for client in ROSTER:
        command = client.start()
        if client.name in ("json-rpc-2.0", "vscode-jsonrpc (named)") and command is not None:
            tell(client, command, Place(folder / client.name, sidecar))
    found = json.loads(call([program, "--json", "self-test"], folder))
    assert found["works"] is True and len(found["checks"]) == 8


@pytest.fixture(scope="module")
def binary() -> Path:
    """The folder that `make binary` made; `make hosts` builds it first."""
    found = Path(os.environ.get("LOCKSTITCH_BINARY_FOLDER", tools.ROOT / "dist" / "lockstitch"))
    if not (found / "lockstitch").exists():
        pytest.skip("make binary has not been run")
    return found


def test_the_wheel_in_a_clean_environment(tmp_path: Path) -> None:
    if os.environ.get("LOCKSTITCH_HOSTS") == "quick":
        pytest.skip("an environment of its own takes longer than the quick ones may")
    pip = ["-m", "pip", "-q", "--disable-pip-version-check"]
    call([sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", "wheel", str(tools.ROOT)], tmp_path)
    venv.create(tmp_path / "clean", with_pip=True)
    (wheel,) = (tmp_path / "wheel").glob("lockstitch-*.whl")
    programs = tmp_path / "clean" / "bin"
    call([str(programs / "python"), *pip, "install", str(wheel)], tmp_path)
    works(str(programs / "lockstitch"), str(programs / "lockstitch-sidecar"), tmp_path)
    assert "lockstitch" in call([str(programs / "lockstitch-sidecar"), "--version"], tmp_path)


def test_the_program_needs_nothing_but_itself(binary: Path, tmp_path: Path) -> None:
    works(str(binary / "lockstitch"), str(binary / "lockstitch"), tmp_path)
    bare = subprocess.run(
        [str(binary / "lockstitch"), "self-test"], env={}, cwd=tmp_path, capture_output=True, check=False
    )
    assert bare.returncode == 0, bare.stdout


def test_its_manifest_names_every_file(binary: Path) -> None:
    manifest = json.loads((binary.parent / "lockstitch-binary.json").read_text(encoding="utf-8"))
    there = {
        path.relative_to(binary).as_posix(): path for path in binary.rglob("*") if path.is_file() or path.is_symlink()
    }
    assert set(manifest["files"]) == set(there)
    for name, entry in manifest["files"].items():
        if "sha256" in entry:
            assert hashlib.sha256(there[name].read_bytes()).hexdigest() == entry["sha256"]


def test_installed_from_npm_packages_and_spawned(binary: Path, tmp_path: Path) -> None:
    """npm runs no script, and finds the program that fits this system by `os` and `cpu`."""
    tsc = tools.NPM / "node_modules" / "typescript" / "bin" / "tsc"
    if tools.node() is None or not tsc.exists():
        pytest.skip("Node or TypeScript is not here")
    builder = str(tools.ROOT / "packaging" / "npm" / "build.py")
    made = call(
        [sys.executable, builder, "--binary", str(binary), "--output", str(tmp_path), "--tsc", str(tsc)], tmp_path
    )
    tarballs = made.split()
    call([sys.executable, str(tools.ROOT / "packaging" / "manifest.py"), str(tmp_path)], tmp_path)
    released = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))["files"]
    assert {one["name"] for one in released} == {Path(path).name for path in tarballs}
    for path in tarballs:
        with tarfile.open(path) as archive:
            packed = archive.extractfile("package/package.json")
            assert packed is not None and "install" not in json.load(packed).get("scripts", {})
    app = tmp_path / "app"
    app.mkdir()
    (app / "package.json").write_text('{"private":true,"type":"module"}', encoding="utf-8")
    install = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    call([*install, *tarballs], app)
    (app / "host.mjs").write_text(HOST, encoding="utf-8")
    told = json.loads(call(["node", "host.mjs", str(tmp_path / "data")], app))
    assert told["path"].startswith(str(app / "node_modules" / "@lockstitch"))
    assert (told["types"], told["exit"]) == (["thread.started", "note"], 0)
