"""The sample host in `packaging/electron`, driven with keys as a person would, and looked at."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from tests.hosts import tools
from tests.hosts.place import Place, last_json

SAMPLE = tools.ROOT / "packaging" / "electron"
DRIVER = Path(__file__).parent / "clients" / "sample_driver.js"
BRIDGE = "export hello on request send"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app with the client in its node_modules, as npm would put it."""
    if os.environ.get("LOCKSTITCH_HOSTS") == "quick":
        pytest.skip("a window takes longer than the quick ones may")
    tsc = tools.NPM / "node_modules" / "typescript" / "bin" / "tsc"
    node = tools.node()
    if tools.electron() is None or tools.display() is None or node is None or not tsc.exists():
        pytest.skip("Electron, xvfb or TypeScript is not here")
    folder = tmp_path_factory.mktemp("sample") / "app"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    client = folder / "node_modules" / "lockstitch"
    shutil.copytree(tools.ROOT / "packaging/npm/lockstitch", client, ignore=shutil.ignore_patterns("dist", "protocol"))
    shutil.copytree(tools.ROOT / "schemas" / "typescript", client / "src" / "protocol")
    build = [node, "build.mjs", "--typeRoots", str(tsc.parents[2] / "@types")]
    subprocess.run(build, cwd=client, env={**os.environ, "TSC": str(tsc)}, check=True)
    return folder


def test_a_person_uses_it(app: Path, tmp_path: Path) -> None:
    place = Place(tmp_path)
    pictures = Path(os.environ.get("LOCKSTITCH_PICTURES", tmp_path / "pictures"))
    pictures.mkdir(exist_ok=True)
    exported = tmp_path / "thread.md"
    environment = place.environment(
        # the packaged program is found as `binaryPath()` finds it, and started with `serve`
        **{"LOCKSTITCH_BINARY" if place.arguments[0] == "serve" else "SAMPLE_SIDECAR": place.sidecar},
        SAMPLE_DATA_DIR=str(place.data),
        SAMPLE_WORKSPACE=str(place.workspace),
        SAMPLE_EXPORT_TO=str(exported),
        DRIVER_PICTURES=str(pictures),
    )
    binary, screen = tools.electron(), tools.display()
    assert binary is not None and screen is not None
    command = [screen, "-a", "-s", "-screen 0 1280x800x24", binary, "--require", str(DRIVER), str(app)]
    command += ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=90)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0, errors.decode(errors="replace")[-3000:]
    facts = last_json(output)
    assert facts["inThePage"] == f"undefined, undefined, undefined, {BRIDGE}"
    assert "may not call" in facts["notAllowed"]
    assert facts["title"] == "Over and under"
    assert facts["threads"] == ["Over and under\n2 turns"]
    assert (
        facts["items"] == ["userMessage", "agentMessage", "fileChange"] * 2 or facts["items"].count("fileChange") == 2
    )
    assert facts["diff"] == ["context  Over and under", "add+ locked"]
    assert facts["plan"] == "poem.txt will be written."
    assert facts["restored"] == "Over and under\n"
    assert facts["undone"] == "Over and under\nlocked\n"
    assert facts["refused"] is True and "poem.txt was changed since" in facts["conflict"]
    assert facts["untouched"] == "mine\n"
    assert facts["turns"] == 3
    assert "add a line" in facts["found"] and "in a message" in facts["found"]
    assert (place.workspace / "poem.txt").read_text(encoding="utf-8") == "Over and under\nagain\n"
    assert "Over and under" in exported.read_text(encoding="utf-8")
    assert place.log().rstrip("\n").endswith("end, status 0")
    for name in ("light", "dark", "plan"):
        width, height = size(pictures / f"{name}.png")
        assert width > 700 and height > 400


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG."""
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    return struct.unpack(">II", data[16:24])
