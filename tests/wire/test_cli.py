"""The command line through its real commands: what is shown, what goes into pipes, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.wire.cli_scene import COMMAND, ENVIRONMENT, SAMPLE, Root

from lockstitch.cli.local import opened
from lockstitch_protocol.methods import METHODS

EVIL = "\x1b]0;title\x07\x1b[2Jcleared"


async def _fill(path: Path, workspace: Path) -> None:
    async with opened(str(path)) as local:
        await local.ask("thread/start", threadId="alpha-1", name="Tidy the loom", cwd=str(workspace))
        await local.ask("thread/start", threadId="alpha-2", cwd=str(workspace))
        await local.ask(
            "turn/start", threadId="alpha-1", turnId="turn-a", input=[{"type": "text", "text": "Tidy it " + EVIL}]
        )
        events: list[dict[str, Any]] = [
            {
                "type": "artifact.snapshot",
                "payload": {
                    "path": "loom.txt",
                    "previousContent": "a\nb\nc\n",
                    "content": "a\nB\nc\n",
                    "checkpointId": "ck-1",
                },
            },
            {
                "type": "artifact.snapshot",
                "payload": {"path": "evil.txt", "beforeAbsent": True, "content": EVIL + "\n", "checkpointId": "ck-2"},
            },
            {
                "type": "item.completed",
                "payload": {"item": {"type": "agentMessage", "id": "m1", "text": "Done. " + EVIL}},
            },
            {"type": "turn.completed", "payload": {}},
        ]
        await local.ask("agentSession/runtimeEvents/append", sessionId="alpha-1", turnId="turn-a", runtimeEvents=events)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    folder = tmp_path_factory.mktemp("cli")
    workspace = folder / "loom"
    workspace.mkdir()
    (workspace / "loom.txt").write_bytes(b"a\nB\nc\n")
    asyncio.run(_fill(folder / "data", workspace))
    return Root(folder / "data", workspace)


# -- what is shown ----------------------------------------------------------------------------------------------------
def test_threads_lists_one_a_line(root: Root) -> None:
    done = root.run("threads")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].split() == ["THREAD", "LAST", "USED", "TURNS", "FILES", "TITLE"]
    rows = {line.split()[0]: line for line in lines[1:]}
    assert set(rows) == {"alpha-1", "alpha-2"}
    assert rows["alpha-1"].endswith("Tidy the loom")
    assert max(map(len, lines)) <= 80


def test_threads_can_be_narrowed(root: Root) -> None:
    assert [one["id"] for one in root.run("threads", "--search", "loom", "--json").value["data"]] == ["alpha-1"]
    assert len(root.run("threads", "--limit", "1", "--json").value["data"]) == 1
    assert root.run("threads", "--archived").out == "No such thread.\n"
    assert len(root.run("threads", "--project", f"{root.workspace}{os.sep}", "--all", "--json").value["data"]) == 2


def test_show_tells_the_turn(root: Root) -> None:
    done = root.run("show", "ALPHA-1")
    assert done.status == 0
    assert "Tidy the loom" in done.out
    assert "turn 1 completed" in done.out
    assert "    -b\n    +B\n" in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 80
    assert root.run("show", "alpha-1", "--turn", "1", "--json").value["thread"]["turns"][0]["id"] == "turn-a"


def test_checkpoints_and_their_diffs(root: Root) -> None:
    listed = root.run("checkpoints", "alpha-1")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["CHECKPOINT", "ck-2", "ck-1"]
    assert root.run("checkpoints", "alpha-1", "--path", "loom.txt", "--json").value["checkpointCount"] == 1
    by_id, by_path = root.run("diff", "alpha-1", "ck-1"), root.run("diff", "alpha-1", "loom.txt")
    assert by_id.out == by_path.out
    assert by_id.out.endswith("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
    assert root.run("diff", "alpha-1", "ck-1", "--json").value["diff"]["additions"] == 1
    assert root.run("diff", "alpha-1", "ck-1", "--live").out == ""


def test_a_diff_in_a_pipe_applies(root: Root, tmp_path: Path) -> None:
    (tmp_path / "loom.txt").write_bytes(b"a\nb\nc\n")
    patch = root.run("diff", "alpha-1", "ck-1").out
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "loom.txt").read_bytes() == b"a\nB\nc\n"


def test_doctor_says_where_everything_is(root: Root) -> None:
    done = root.run("doctor")
    assert done.status == 0
    assert str(root.path) in done.out
    assert "Everything is sound." in done.out
    value = root.run("doctor", "--json").value
    assert (value["sound"], value["threads"], value["dataRoot"]["source"]) == (True, 2, "argument")


# -- call -------------------------------------------------------------------------------------------------------------
def test_call_answers_as_the_wire_does(root: Root) -> None:
    done = root.run("call", "thread/read", '{"threadId": "alpha-1"}')
    assert done.value["thread"]["name"] == "Tidy the loom"
    assert root.spawn("call", "thread/read", "-", stdin=b'{"threadId":"alpha-1"}').out == done.out


def test_call_lists_methods_of_the_registry(root: Root) -> None:
    listed = {one["method"] for one in root.run("call", "--list", "--json").value}
    assert {"thread/list", "agentSession/runtimeEvents/append"} <= listed <= set(METHODS)


# -- how it ends ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["show", "nope"], 1, "no thread nope"),
        (["show", "alpha"], 2, "2 threads begin with 'alpha'"),
        (["show", "alpha-1", "--turn", "9"], 1, "has no turn 9"),
        (["diff", "alpha-1", "ck-9"], 1, "no checkpoint and no file 'ck-9'"),
        (["diff", "alpha-1", "ck-"], 2, "2 checkpoints begin with"),
        (["call", "thread/read", "{"], 2, "not JSON"),
        (["call", "thread/read", "[]"], 2, "a JSON object"),
        (["call", "thread/read"], 2, "threadId"),
        (["call", "thread/unheard"], 2, "no such method"),
        (["call", "initialize"], 2, "belongs to a connection"),
        (["call", "agent_runtime_get_thread_read"], 2, "is retired; use"),
        (["threads", "--limit", "0"], 2, "at least 1"),
        (["weave"], 2, "no command 'weave'"),
        (["sho", "alpha-1"], 2, "did you mean `show`?"),
        (["show"], 2, "`lockstitch help show` says more"),
        (["show", "alpha-1", "--fulll"], 2, "unrecognized arguments: --fulll"),
        (["threads", "--since", "soon"], 2, "not a day"),
        (["import", "nowhere.jsonl"], 1, ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_failures_say_what_to_do_and_have_a_status(root: Root, arguments: list[str], status: int, said: str) -> None:
    done = root.run(*arguments)
    assert done.status == status, done.err
    assert said in done.err
    assert "Traceback" not in done.err


def test_the_status_of_the_process_is_that_of_the_command(root: Root) -> None:
    assert root.spawn("threads").status == 0
    assert root.spawn("show", "nope").status == 1
    assert root.spawn("weave").status == 2


def test_an_error_is_json_where_json_was_asked_for(root: Root) -> None:
    done = root.run("show", "nope", "--json")
    assert (done.status, done.out) == (1, "")
    assert json.loads(done.err)["error"]["kind"] == "threadNotFound"


def test_a_data_root_that_cannot_be_used_is_status_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    done = Root(tmp_path / "file", tmp_path).run("threads")
    assert done.status == 2
    assert "--data-dir" in done.err


def test_the_environment_names_the_data_root(root: Root) -> None:
    run = subprocess.run(
        [*COMMAND, "doctor", "--json"],
        capture_output=True,
        env={**ENVIRONMENT, "LOCKSTITCH_DATA_DIR": str(root.path)},
        check=False,
    )
    assert json.loads(run.stdout)["dataRoot"]["variable"] == "LOCKSTITCH_DATA_DIR"


def test_a_pipe_that_closes_early_ends_the_command_quietly(root: Root) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [*COMMAND, "show", "alpha-1", "--data-dir", str(root.path)],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
    )
    os.close(writing)
    assert (run.returncode, run.stderr) == (0, b"")


# -- on a terminal ----------------------------------------------------------------------------------------------------
def on_a_terminal(root: Root, *arguments: str, **environment: str) -> str:
    """The output of a command whose standard output is a terminal of 80 columns."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    given = {**ENVIRONMENT, "COLUMNS": "80", **environment}
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--data-dir", str(root.path)], stdin=subprocess.DEVNULL, stdout=theirs, env=given
    )
    os.close(theirs)
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(ours)
    assert process.wait() == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    "arguments",
    [
        ["threads"],
        ["show", "alpha-1"],
        ["show", "alpha-1", "--full"],
        ["checkpoints", "alpha-1"],
        ["diff", "alpha-1", "ck-2"],
        ["call", "thread/read", '{"threadId":"alpha-1","includeTurns":true}'],
    ],
    ids=" ".join,
)
def test_a_transcript_cannot_drive_the_terminal(root: Root, arguments: list[str]) -> None:
    plain = COLOURS.sub("", on_a_terminal(root, *arguments))
    assert "\x1b" not in plain
    assert "\x07" not in plain


def test_colours_are_for_terminals_that_want_them(root: Root) -> None:
    coloured = on_a_terminal(root, "diff", "alpha-1", "ck-1")
    assert "\x1b[32m+B\x1b[0m" in coloured
    assert "\x1b" not in on_a_terminal(root, "diff", "alpha-1", "ck-1", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(root, "diff", "alpha-1", "ck-1", TERM="dumb")
    assert "\x1b" not in root.spawn("show", "alpha-1").out


# -- import and demo --------------------------------------------------------------------------------------------------
def test_a_session_is_imported_once(tmp_path: Path) -> None:
    fresh = Root(tmp_path / "data", tmp_path)
    first = fresh.spawn("import", str(SAMPLE), "--json")
    assert first.status == 0, first.err
    result = first.value["imports"][0]["result"]
    assert (result["turns"], result["checkpoints"], result["damaged"]) == (3, 3, 0)
    again = fresh.run("import", str(SAMPLE))
    assert "nothing new" in again.out
    assert [one["id"] for one in fresh.run("threads", "--json").value["data"]] == [result["threadId"]]


def test_a_folder_is_searched_and_one_failure_stops_no_other(tmp_path: Path) -> None:
    home = tmp_path / "home" / "projects" / "-home-ada-almanac"
    home.mkdir(parents=True)
    (home / "5a3c1e70-0d2b-4c7e-9f10-2b6d1c0a7e55.jsonl").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "empty").mkdir()
    fresh = Root(tmp_path / "data", tmp_path)
    done = fresh.run("import", str(tmp_path / "empty"), str(tmp_path / "home"), "--json")
    assert done.status == 1
    outcomes = done.value["imports"]
    assert ["error" in outcome for outcome in outcomes] == [True, False]


def test_the_demo_loses_nothing(tmp_path: Path) -> None:
    run = subprocess.run(
        [*COMMAND, "demo", "--json"],
        capture_output=True,
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
        check=False,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["ok"]
    assert all(check["holds"] for check in report["checks"])
    assert list(tmp_path.iterdir()) == []
