"""The client for Node: built, compiled against, and its own tests on the real process with kills in the middle."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.hosts import tools
from tests.hosts.place import Place

PACKAGE = tools.ROOT / "packaging" / "npm" / "lockstitch"
TSC = tools.NPM / "node_modules" / "typescript" / "bin" / "tsc"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with its dist/, below node_modules as an app would have it."""
    if tools.node() is None or not TSC.exists():
        pytest.skip("Node or TypeScript is not here")
    folder = tmp_path_factory.mktemp("npm")
    copy = folder / "node_modules" / "lockstitch"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("dist", "protocol", "node_modules"))
    shutil.copytree(tools.ROOT / "schemas" / "typescript", copy / "src" / "protocol")
    run([str(copy / "build.mjs"), "--typeRoots", str(TSC.parents[2] / "@types")], copy)
    return copy


def run(arguments: list[str], folder: Path, **environment: str) -> str:
    node = tools.node()
    assert node is not None
    known = {**os.environ, "TSC": str(TSC), **environment}
    done = subprocess.run([node, *arguments], cwd=folder, env=known, capture_output=True, check=False, timeout=110)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return done.stdout.decode()


def test_its_own_tests(built: Path, tmp_path: Path) -> None:
    tests = sorted(str(path) for path in (built / "test").glob("*.test.mjs"))
    output = run(["--test", *tests], built, TEST_SIDECAR=Place(tmp_path).sidecar)
    found = re.search(r"# pass (\d+)\n# fail (\d+)", output)
    assert found is not None and int(found[1]) >= 12 and found[2] == "0"


def test_its_types_hold_what_they_say(built: Path) -> None:
    """`@ts-expect-error` makes each line that should not compile an error if it does."""
    options = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--types", "node"]
    options += ["--typeRoots", str(TSC.parents[2] / "@types"), str(built / "test" / "types.ts")]
    for module, resolution in (("node16", "node16"), ("commonjs", "node10")):
        run([str(TSC), *options, "--module", module, "--moduleResolution", resolution], built.parents[1])


def test_it_depends_on_nothing_and_runs_nothing_at_install(built: Path) -> None:
    package = json.loads((built / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    assert not {"install", "preinstall", "postinstall", "prepare"} & set(package["scripts"])
    for script in (built / "dist").glob("*.js"):
        wanted = set(re.findall(r'require\("([^"]+)"\)', script.read_text(encoding="utf-8")))
        assert {name for name in wanted if not name.startswith(".")} <= {
            "child_process",
            "crypto",
            "fs",
            "path",
            "string_decoder",
        }
