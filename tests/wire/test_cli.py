"""The command line through its real commands: what is shown, what goes into pipes, and how it ends."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.wire.cli_scene import COMMAND, ENVIRONMENT, SAMPLE, Root, on_terminal, run_here

from lockstitch.cli import diff, events
from lockstitch.cli.arguments import VERBS, parser
from lockstitch.cli.local import opened
from lockstitch.cli.main import main
from lockstitch.cli.terminal import Terminal, of_process
from lockstitch.cli.text import cells
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


def test_threads_of_some_days(root: Root) -> None:
    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in root.run("threads", "--json", *arguments).value["data"]]

    assert len(ids("--since", "today")) == 2
    assert len(ids("--since", "1d", "--until", "today", "--limit", "1")) == 1
    assert ids("--until", "yesterday") == []
    assert ids("--since", "2999-01-01") == []


def test_items_and_events_are_listed(root: Root) -> None:
    items = root.run("show", "alpha-1", "--turn", "1", "--items")
    assert [line.split()[2] for line in items.out.splitlines() if line.startswith("   1")] == [
        "userMessage", "fileChange", "fileChange", "agentMessage"
    ]  # fmt: skip
    assert len(root.run("show", "alpha-1", "--items", "--json").value["items"]) == 4
    events = root.run("events", "alpha-1", "--after", "1", "--limit", "3")
    assert [line.split()[0] for line in events.out.splitlines()] == ["SEQ", "2", "3", "4"]
    only = root.run("events", "alpha-1", "--type", "turn.completed", "--json")
    assert [json.loads(line)["type"] for line in only.out.splitlines()] == ["turn.completed"]


def test_a_turn_and_a_thread_have_diffs_too(root: Root, tmp_path: Path) -> None:
    whole = root.run("diff", "alpha-1").out
    assert whole == root.run("diff", "alpha-1", "--turn", "1").out
    assert whole == root.run("diff", "alpha-1", "ck-1").out + root.run("diff", "alpha-1", "ck-2").out
    (tmp_path / "loom.txt").write_bytes(b"a\nb\nc\n")
    subprocess.run(["git", "apply", "-"], input=whole.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "evil.txt").read_bytes() == f"{EVIL}\n".encode()
    stat = root.run("diff", "alpha-1", "--stat")
    assert stat.out.splitlines() == [
        "evil.txt |    1 +",
        "loom.txt |    2 +-",
        "2 files, 2 lines added, 1 line removed",
    ]


def test_what_was_only_seen_is_no_difference_and_a_renamed_file_is_not_gone(tmp_path: Path) -> None:
    """A host captures a file before an edit: that says what it was, and is no change whose other side is missing."""
    workspace = tmp_path / "loom"
    workspace.mkdir()
    (workspace / "a.txt").write_bytes(b"one\n")

    async def record() -> None:
        async with opened(str(tmp_path / "data")) as local:
            await local.ask("thread/start", threadId="seen", cwd=str(workspace))
            await local.ask("agentSession/fileCheckpoint/capture", sessionId="seen", paths=["a.txt"])
            (workspace / "a.txt").write_bytes(b"two\n")
            changed = {"type": "file.changed", "payload": {"path": "a.txt"}}
            await local.ask("agentSession/runtimeEvents/append", sessionId="seen", runtimeEvents=[changed])
            (workspace / "a.txt").rename(workspace / "b.txt")
            moved = {"type": "file.changed", "payload": {"path": "b.txt", "oldPath": "a.txt", "op": "renamed"}}
            await local.ask("agentSession/runtimeEvents/append", sessionId="seen", runtimeEvents=[moved])

    asyncio.run(record())
    fresh = Root(tmp_path / "data", workspace)
    done = fresh.run("diff", "seen")
    assert (done.status, done.err) == (0, "")
    assert "-one\n+two\n" in done.out and "rename from a.txt\n" in done.out
    named = fresh.run("diff", "seen", "--stat").out.splitlines()
    assert named[0].split() == ["a.txt", "|", "2", "+-"]
    assert fresh.run("diff", "seen", "--live").out == ""
    rows = {row["path"]: row["state"] for row in fresh.run("checkpoints", "seen", "--files", "--json").value["files"]}
    assert rows == {"a.txt": "renamed", "b.txt": "same"}
    shown = COLOURS.sub("", on_terminal(fresh, "diff", "seen").out)
    assert "a.txt → b.txt  renamed" in shown and "diff --git" not in shown and "similarity" not in shown


def test_a_bar_shows_what_is_there_however_small() -> None:
    assert diff._bar(1, 1, 1000, 40) == (1, 2)  # pyright: ignore[reportPrivateUsage] - pure, and all its cases matter
    assert diff._bar(500, 500, 1000, 40) == (20, 40)  # pyright: ignore[reportPrivateUsage]
    assert diff._bar(0, 3, 3, 40) == (0, 3)  # pyright: ignore[reportPrivateUsage]
    assert diff._bar(999, 1, 1000, 40) == (39, 40)  # pyright: ignore[reportPrivateUsage]
    assert diff._bar(0, 0, 0, 40) == (0, 0)  # pyright: ignore[reportPrivateUsage]


def test_the_files_of_a_thread(root: Root) -> None:
    rows = {row["path"]: row["state"] for row in root.run("checkpoints", "alpha-1", "--files", "--json").value["files"]}
    assert rows == {"evil.txt": "missing", "loom.txt": "same"}


# -- call -------------------------------------------------------------------------------------------------------------
def test_call_answers_as_the_wire_does(root: Root) -> None:
    done = root.run("call", "thread/read", '{"threadId": "alpha-1"}')
    assert done.value["thread"]["name"] == "Tidy the loom"
    assert root.spawn("call", "thread/read", "-", stdin=b'{"threadId":"alpha-1"}').out == done.out


def test_call_lists_methods_of_the_registry(root: Root) -> None:
    listed = {one["method"] for one in root.run("call", "--list", "--json").value["methods"]}
    assert {"thread/list", "agentSession/runtimeEvents/append"} <= listed <= set(METHODS)


# -- how it ends ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["show", "nope"], 1, "no thread nope; `lockstitch threads` lists"),
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
        (["import", ""], 2, "it is empty"),
        (["show", ""], 2, "it is empty"),
        (["export", "alpha-1", "--to", "no/such/x.md"], 2, "there is no folder"),
        (["verify", "."], 2, ". is not the folder of a pack or a case"),
        (["undo", "alpha-1", "nope"], 1, "has no restore and no rewind 'nope'"),
        (["weave"], 2, "no command 'weave'"),
        (["sho", "alpha-1"], 2, "did you mean `show`?"),
        (["show"], 2, "`lockstitch help show` says more"),
        (["show", "alpha-1", "--fulll"], 2, "there is no option --fulll; did you mean --full?"),
        (["show", "alpha-1", "more"], 2, "'more' is one argument too many; `lockstitch help show`"),
        (["--weave"], 2, "there is no option --weave; `lockstitch help`"),
        (["threads", "--since", "soon"], 2, "not a day"),
        (["import", "nowhere.jsonl"], 1, "lockstitch: nowhere.jsonl: there is no file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_failures_say_what_to_do_and_have_a_status(root: Root, arguments: list[str], status: int, said: str) -> None:
    done = root.run(*arguments)
    assert done.status == status, done.err
    assert said in done.err
    assert "Traceback" not in done.err


def test_the_status_of_the_process_is_that_of_the_command(root: Root) -> None:
    assert root.spawn("show", "nope").status == 1


def test_help_and_version_are_not_errors() -> None:
    for arguments in (["help"], ["--help"], ["show", "--help"], ["help", "show"], ["--version"], []):
        done = run_here(*arguments)
        assert (done.status, done.err) == (0, ""), arguments
        assert "lockstitch" in done.out
    assert run_here("show", "--help").out == run_here("help", "show").out
    assert run_here("help", "weave").status == 2
    assert [one["command"] for one in json.loads(run_here("help", "--json").out)["commands"]] == list(VERBS)


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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("arguments", [["show", "alpha-1"], ["call", "thread/list"], ["--version"]], ids=" ".join)
def test_an_output_that_takes_no_more_is_a_failure_and_no_fault(root: Root, arguments: list[str]) -> None:
    error = io.StringIO()
    with open("/dev/full", "w", encoding="utf-8") as full, redirect_stdout(full), redirect_stderr(error):
        status = main([*arguments, "--data-dir", str(root.path)])
    assert status == 1
    assert error.getvalue() == "lockstitch: standard output cannot be written: No space left on device\n"


def test_threads_says_that_there_are_more_only_where_there_are(root: Root) -> None:
    assert root.run("threads", "--limit", "1").out.splitlines()[-1] == "the 1 last used; --all lists all of them"
    assert "--all" not in root.run("threads", "--limit", "2").out


# -- on a terminal ----------------------------------------------------------------------------------------------------
def in_a_terminal(root: Root, *arguments: str, **environment: str) -> str:
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


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize(
    "arguments",
    [
        ["threads"],
        ["show", "alpha-1"],
        ["show", "alpha-1", "--full"],
        ["show", "alpha-1", "--items"],
        ["events", "alpha-1"],
        ["checkpoints", "alpha-1"],
        ["checkpoints", "alpha-1", "--files"],
        ["diff", "alpha-1", "ck-2"],
        ["diff", "alpha-1"],
        ["diff", "alpha-1", "--stat"],
        ["restore", "alpha-1", "ck-2", "--dry-run"],
        ["doctor"],
        ["receipt", "alpha-1"],
        ["replay", "alpha-1"],
        ["search", "cleared"],
        ["storage"],
        ["storage", "verify"],
        ["export", "alpha-1"],
        ["rename", "alpha-2", "two" + EVIL],
        ["threads", "--json"],
        ["call", "--list"],
        ["help"],
        ["help", "diff"],
        ["call", "thread/read", '{"threadId":"alpha-1","includeTurns":true}'],
    ],
    ids=" ".join,
)
def test_a_transcript_cannot_drive_the_terminal_and_no_line_is_too_wide(
    root: Root, arguments: list[str], width: int
) -> None:
    plain = COLOURS.sub("", on_terminal(root, *arguments, width=width).out)
    assert plain
    assert not [c for c in plain if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F or 0x202A <= ord(c) <= 0x202E]
    if (arguments[0] not in ("call", "export") and "--json" not in arguments) or "--list" in arguments:
        assert max(map(cells, plain.splitlines())) <= width


def test_a_real_terminal_has_colours_and_no_control_characters(root: Root) -> None:
    coloured = in_a_terminal(root, "diff", "alpha-1", "--no-pager")
    assert "\x1b[32m+B\x1b[0m" in coloured
    plain = COLOURS.sub("", coloured)
    assert "\x1b" not in plain and "\x07" not in plain


@pytest.mark.parametrize(
    ("is_terminal", "environment", "wanted", "coloured"),
    [
        (True, {}, "auto", True),
        (True, {"NO_COLOR": "1"}, "auto", False),
        (True, {"TERM": "dumb"}, "auto", False),
        (True, {"NO_COLOR": "1"}, "always", True),
        (True, {}, "never", False),
        (False, {}, "auto", False),
        (False, {}, "always", True),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, environment: dict[str, str], wanted: str, coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert of_process(wanted).coloured is coloured


def test_two_sides_stand_beside_each_other_where_there_is_room(root: Root) -> None:
    wide = COLOURS.sub("", on_terminal(root, "diff", "alpha-1", "ck-1", width=160).out).splitlines()
    assert [line.split() for line in wide if "B" in line] == [["2", "-", "b", "│", "2", "+", "B"]]
    narrow = COLOURS.sub("", on_terminal(root, "diff", "alpha-1", "ck-1", width=100).out)
    assert "\n-b\n+B\n" in narrow
    assert "\n-b\n+B\n" in COLOURS.sub("", on_terminal(root, "diff", "alpha-1", "ck-1", "--unified", width=160).out)


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


# -- watching ---------------------------------------------------------------------------------------------------------
class _Watched(io.StringIO):
    """An output that says when a text was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.awaited: dict[str, asyncio.Event] = {}

    def write(self, text: str) -> int:
        for wanted, event in self.awaited.items():
            if wanted in text:
                event.set()
        return super().write(text)


def test_follow_shows_what_another_process_adds(tmp_path: Path) -> None:
    async def watch() -> str:
        output = _Watched()
        begun, added = (output.awaited.setdefault(word, asyncio.Event()) for word in ("thread.started", "Hello there"))
        options = parser().parse_args(["events", "watched", "--follow"])
        shown = Terminal(output, coloured=False, width=80, is_terminal=False)
        async with opened(str(tmp_path)) as local, opened(str(tmp_path)) as other:
            await other.ask("thread/start", threadId="watched")
            options.json = False
            following = asyncio.create_task(events.run(local, options, shown))
            async with asyncio.timeout(30):
                await begun.wait()
                await other.ask("thread/name/set", threadId="watched", name="Hello there")
                await added.wait()
            following.cancel()
        return output.getvalue()

    assert asyncio.run(watch()).count("thread.started") == 1
