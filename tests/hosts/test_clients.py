"""Clients that nobody here wrote meet the real process: the same story through each, compared by what they saw."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.crash.host import lines, rollouts
from tests.hosts.place import PATIENCE, Place, last_json
from tests.hosts.roster import ROSTER, Client

BIG = "Füße ✓ 漢字 🧵 \u2028|" * 240_000
UNIFIED = """\
diff --git a/poem.txt b/poem.txt
--- a/poem.txt
+++ b/poem.txt
@@ -1,2 +1,3 @@
 Over,
-under.
+under,
+locked.
"""
FACTS = {
    "server": "Lockstitch",
    "versions": [2, 1],
    "content": "Over,\nunder,\nlocked.\n",
    "unified": UNIFIED,
    "bigIsWhole": True,
    "bigBytes": len(BIG.encode()),
    "cancelled": -32800,
    "lastSequence": 7,
    "heard": ["thread/started", "turn/started", "item/completed", "turn/completed"],
}
EVENTS = [
    "thread.started",
    "turn.started",
    "item.completed",
    *["artifact.snapshot"] * 2,
    "message.created",
    "turn.completed",
]
"""What the rollout holds in the end: no client's own way to end may lose any of it."""


@pytest.mark.parametrize("client", ROSTER, ids=lambda client: client.name)
def test_the_story_through(client: Client, tmp_path: Path) -> None:
    if client.graphical and os.environ.get("LOCKSTITCH_HOSTS") == "quick":
        pytest.skip("a window takes longer than the quick ones may")
    command = client.start()
    if command is None:
        note(client, "", f"not tried: {client.needs} is not here")
        pytest.skip(f"{client.needs} is not here")
    note(client, tell(client, command, Place(tmp_path)), "passes")


def tell(client: Client, command: list[str], place: Place) -> str:
    """Let that client tell the story and judge what it saw and what it left; its version."""
    told, version = run(client, command, place)
    facts = told["facts"]
    pid = facts.pop("pid")
    assert facts.pop("exit", 0) == 0
    assert facts == FACTS
    assert told["framing"] == client.framing
    assert place.ended(pid), "the sidecar outlives its host"
    if not client.killed:
        assert place.log().rstrip("\n").endswith("end, status 0")
    (rollout,) = rollouts(place.data).values()
    assert [line["type"] for line in lines(rollout)] == EVENTS
    return version


def run(client: Client, command: list[str], place: Place) -> tuple[dict[str, Any], str]:
    environment = place.environment(**client.environment)
    stderr = os.open(place.folder / "stderr", os.O_WRONLY | os.O_CREAT)
    process = subprocess.Popen(
        command,
        cwd=place.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    )
    os.close(stderr)
    assert process.stdout is not None
    try:
        if client.name == "Electron (crash)":
            output = next(line for line in process.stdout if line.startswith(b"{"))
            kill_main(process.pid)
            process.wait(PATIENCE)
        else:
            output = process.communicate(timeout=60)[0]
            assert process.returncode == 0, (place.folder / "stderr").read_text(errors="replace")[-3000:]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
    told = last_json(output)
    return told, told["version"]


def kill_main(launcher: int) -> None:
    """SIGKILL for the main process of Electron, which xvfb-run started: its helpers have a `--type`."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
            session = int((entry / "stat").read_text().rpartition(")")[2].split()[3])
        except OSError:
            continue
        if (
            session == launcher
            and arguments[0].endswith(b"/electron")
            and not any(b"--type=" in one for one in arguments)
        ):
            os.kill(int(entry.name), signal.SIGKILL)
            return
    raise AssertionError("there is no Electron to kill")


def note(client: Client, version: str, result: str) -> None:
    """A row for the table that `make hosts` prints."""
    table = os.environ.get("LOCKSTITCH_HOSTS_TABLE")
    if table:
        with Path(table).open("a", encoding="utf-8") as rows:
            rows.write(json.dumps([client.name, version, client.framing, client.ends, result]) + "\n")
