"""Every way in which the process ends: quickly, in order, with nothing lost and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.wire.process import HELLO, Sidecar, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and descriptors of POSIX")

QUICK = 2.0


def quiet(s: Sidecar) -> bool:
    return b"Traceback" not in (s.process.stderr.read() if s.process.stderr and not s.process.stderr.closed else b"")


def test_eof_when_idle(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        assert s.call("test/ping") == {}
        began = time.monotonic()
        assert s.close() == 0
        assert time.monotonic() - began < QUICK
        assert s.rest() == []
        assert quiet(s)


def test_eof_before_anything_arrived(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        assert s.close() == 0
        assert s.process.stderr.read() == b""


def test_an_unterminated_last_line_is_served(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.raw(b'{"id":"last","method":"test/store","params":{"text":"kept"}}')
        s.process.stdin.close()
        assert [m["id"] for m in s.rest()] == ["last"]
        assert s.process.wait(10) == 0
    assert (tmp_path / "d/fake.txt").read_text() == "kept\nclosed\n"


@pytest.mark.parametrize("framed", [False, True])
def test_a_message_that_is_cut_off_is_told_and_not_run(tmp_path: Path, framed: bool) -> None:
    with Sidecar(tmp_path / "d", framed=framed) as s:
        s.initialize()
        s.raw(s.frame(s.message("test/store", {"text": "never"}, id=2))[:-9])
        s.process.stdin.close()
        assert [m["error"]["code"] for m in s.rest()] == [-32700]
        assert s.process.wait(10) == 0
    assert "never" not in (tmp_path / "d/fake.txt").read_text()


def test_an_unterminated_first_line_is_served(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.raw(json.dumps(s.message("initialize", HELLO, id=1)).encode())
        s.process.stdin.close()
        assert [m["id"] for m in s.rest()] == [1]
        assert s.process.wait(10) == 0


def test_pending_requests_are_answered_at_eof(tmp_path: Path) -> None:
    """And running long reads are cancelled instead of waited for."""
    with Sidecar(tmp_path / "d") as s:
        s.raw(
            s.frame(s.message("initialize", HELLO, id="i"))
            + b"".join(s.frame(s.message("test/slow", {"seconds": 0.2}, id=n)) for n in range(6))
            + s.frame(s.message("test/longRead", id="read"))
            + s.frame(s.message("test/store", {"text": "kept"}, id="store"))
        )
        s.process.stdin.close()
        replies = {m["id"]: m for m in s.rest() if "id" in m}
        assert set(replies) == {"i", *range(6), "read", "store"}
        assert all("result" in replies[n] for n in range(6))
        assert replies["read"]["error"]["code"] == -32800
        assert s.process.wait(10) == 0
    assert (tmp_path / "d/fake.txt").read_text() == "kept\nclosed\n"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize("when", ["waiting", "partial", "idle", "busy"])
def test_signals(tmp_path: Path, name: str, when: str) -> None:
    """In every phase: status 0 in under 2 s, and what was read is answered."""
    with Sidecar(tmp_path / "d") as s:
        if when == "partial":
            s.raw(b'{"id":1,"meth')
        elif when != "waiting":
            s.initialize()
        if when == "busy":
            s.send("test/slow", {"seconds": 0.3, "commit": True}, id="slow")
            assert s.take()["method"] == "fake/started"
        elif when == "idle":
            assert s.call("test/ping") == {}
        else:
            wait_until_reading(s)
        began = time.monotonic()
        assert s.stop(getattr(signal, name)) == 0
        assert time.monotonic() - began < QUICK
        found = s.rest()
        assert [m["id"] for m in found] == (["slow"] if when == "busy" else [])
        assert all("result" in m for m in found)
        assert quiet(s)


def wait_until_reading(s: Sidecar) -> None:
    """Until the process has set up its signals and waits for input: seen in the kernel, where it can be seen."""
    handlers = Path(f"/proc/{s.process.pid}/status")
    wanted = 1 << (signal.SIGTERM - 1)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        caught = next((line for line in handlers.read_text().splitlines() if line.startswith("SigCgt")), "SigCgt: 0")
        state = next(line for line in handlers.read_text().splitlines() if line.startswith("State"))
        if int(caught.split()[1], 16) & wanted and "S (" in state:
            return
    raise TimeoutError("the process does not wait for input")


def test_exit(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.send("test/slow", {"seconds": 0.1}, id="slow")
        s.notify("exit")
        assert [m["id"] for m in s.rest() if "id" in m] == ["slow"]
        assert s.process.wait(10) == 0
    with Sidecar(tmp_path / "d") as s:
        s.notify("exit")  # before initialize
        assert s.process.wait(10) == 0
        assert s.rest() == []


def test_what_cannot_be_stored_is_not_a_clean_end(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d", env={"FAKE_DRAIN": "fails"}) as s:
        s.initialize()
        assert s.close() == 70
        assert quiet(s)


# -- the parent -------------------------------------------------------------------------------------
def parent() -> subprocess.Popen[bytes]:
    """A process to live with, which waits for us."""
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


@pytest.mark.parametrize("how", ["argument, before a message", "argument", "processId"])
def test_the_parents_death_ends_it_although_stdin_stays_open(tmp_path: Path, how: str) -> None:
    """Field report B51."""
    host = parent()
    arguments = [] if how == "processId" else ["--parent-pid", str(host.pid)]
    with Sidecar(tmp_path / "d", *arguments) as s:
        if how == "processId":
            s.initialize(clientInfo={"name": "x", "processId": host.pid})
        elif how == "argument":
            s.initialize()
        else:
            wait_until_reading(s)
        if how != "argument, before a message":
            assert s.call("test/store", {"text": "kept"}) == {}
        began = time.monotonic()
        host.kill()
        assert s.process.wait(10) == 0
        assert time.monotonic() - began < QUICK
        assert quiet(s)
        host.wait()
        host.stdin.close()
    if how != "argument, before a message":
        assert (tmp_path / "d/fake.txt").read_text() == "kept\nclosed\n"


def test_what_a_dead_parent_wrote_is_still_done(tmp_path: Path) -> None:
    """The host wrote requests and died; somebody else holds stdin open."""
    with Sidecar(tmp_path / "d") as s:
        host = parent()
        s.initialize(clientInfo={"name": "x", "processId": host.pid})
        s.raw(b"".join(s.frame(s.message("test/store", {"text": str(n)}, id=n)) for n in range(10, 210)))
        host.kill()
        host.wait()
        host.stdin.close()
        assert len(s.rest()) == 200
        assert s.process.wait(10) == 0
    assert len((tmp_path / "d/fake.txt").read_text().splitlines()) == 201


@pytest.mark.parametrize("how", ["argument", "processId"])
def test_a_parent_that_cannot_be_found_is_ignored_and_logged(tmp_path: Path, how: str) -> None:
    gone = parent()
    gone.kill()
    gone.wait()
    gone.stdin.close()
    with Sidecar(tmp_path / "d", *(["--parent-pid", str(gone.pid)] if how == "argument" else [])) as s:
        s.initialize(**({} if how == "argument" else {"clientInfo": {"name": "x", "processId": gone.pid}}))
        assert s.call("test/ping") == {}
        assert s.close() == 0
    assert f"no process {gone.pid}" in (tmp_path / "d/log/sidecar.log").read_text()


# -- dead pipes -------------------------------------------------------------------------------------
def test_a_dead_stdout_loses_no_write(tmp_path: Path) -> None:
    """stdout is closed first, then requests are written: all are done, the status says that replies were not sent."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        assert s.call("test/ping") == {}
        s.process.stdout.close()
        s.raw(b"".join(s.frame(s.message("test/store", {"text": str(n)}, id=n)) for n in range(10, 510)))
        s.process.stdin.close()
        assert s.process.wait(10) == 3
        assert quiet(s)
    assert len((tmp_path / "d/fake.txt").read_text().splitlines()) == 501


def test_a_first_reply_that_nobody_reads(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.process.stdout.close()
        s.send("initialize", HELLO)
        assert s.close() == 3
        assert quiet(s)


def test_a_dead_stdout_ends_it_although_stdin_stays_open(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        assert s.call("test/ping") == {}
        s.process.stdout.close()
        s.send("test/store", {"text": "kept"})
        assert s.process.wait(10) == 3
        assert quiet(s)
    assert (tmp_path / "d/fake.txt").read_text() == "kept\nclosed\n"


def test_a_dead_stderr_harms_nothing(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.process.stderr.close()
        s.initialize()
        assert s.call("test/chatter", {"lines": 10}) == {}
        assert s.error("test/fail", {"how": "bug"})["code"] == -32603
        assert s.call("test/ping") == {}
        assert s.close() == 0


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2), (1, 2)])
def test_descriptors_that_are_closed_at_the_start(tmp_path: Path, closed: tuple[int, ...]) -> None:
    """Nothing that is opened later takes their place."""
    shut = "; ".join(f"os.close({n})" for n in closed)
    then = "os.execv(sys.executable, [sys.executable, '-m', 'tests.wire.fake_app', *sys.argv[1:]])"
    run = f"import os, sys; {shut}; {then}"
    with Sidecar(tmp_path / "d", command=[sys.executable, "-c", run]) as s:
        if 0 not in closed:
            s.raw(s.frame(s.message("initialize", HELLO, id=1)) + s.frame(s.message("test/store", {"text": "x"}, id=2)))
            if 1 not in closed:
                assert s.take()["id"] == 1
                assert s.take()["id"] == 2
        s.process.stdin.close()
        unsent = 1 in closed and 0 not in closed
        assert s.process.wait(10) == (3 if unsent else 0), "replies that nobody can get are told by the status"
        assert quiet(s)
    if 0 not in closed:
        assert (tmp_path / "d/fake.txt").read_text() == "x\nclosed\n"


def test_output_that_nobody_takes_is_given_up_after_five_seconds(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.send("test/big", {"bytes": 1_000_000})
        s.send("test/store", {"text": "kept"})
        s.process.stdin.close()
        began = time.monotonic()
        assert s.process.wait(15) == 3
        assert 4.5 < time.monotonic() - began < 8
    assert (tmp_path / "d/fake.txt").read_text() == "kept\nclosed\n"


def test_a_slow_reader_is_waited_for(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.send("test/big", {"bytes": 1_000_000})
        s.process.stdin.close()
        reply = s.take()
        assert len(reply["result"]["text"]) == 1_000_000
        assert s.process.wait(10) == 0


# -- idle -------------------------------------------------------------------------------------------
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_idle_costs_nothing(tmp_path: Path) -> None:
    """Field report B51. No timers: within half a second not one clock tick, and hardly a context switch."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        assert s.call("test/ping") == {}
        before = ticks_and_switches(s.process.pid)
        threading.Event().wait(0.5)
        after = ticks_and_switches(s.process.pid)
        assert after[0] - before[0] <= 1
        assert after[1] - before[1] < 20
        assert s.close() == 0


def ticks_and_switches(pid: int) -> tuple[int, int]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    switches = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt"):
                switches += int(line.split()[1])
    return int(fields[11]) + int(fields[12]), switches


# -- arguments and the data root --------------------------------------------------------------------
def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from lockstitch.__main__ import sidecar; sidecar()", *arguments],
        env=environment(**env),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nope"],
        ["extra"],
        ["--listen", "tcp://127.0.0.1:1"],
        ["--parent-pid", "x"],
        ["--parent-pid", "0"],
        ["--parent-pid", "-4"],
        ["--max-message-bytes", "0"],
        ["--max-message-bytes=1e6"],
        ["--log-level", "loud"],
        ["--data-dir"],
        ["--data-dir", ""],
        ["--stdio=yes"],
    ],
)
def test_bad_arguments_are_one_line_and_status_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert arguments[0].partition("=")[0] in done.stderr


def test_arguments_of_hosts_are_accepted(tmp_path: Path) -> None:
    done = run(
        *("--stdio", "--listen", "stdio://", "--backend=unavailable", "--app-policy", "x", "--log-level=debug"),
        *(f"--parent-pid={os.getpid()}", "--max-message-bytes", "1000", "--data-dir", str(tmp_path / "d")),
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_help_and_version() -> None:
    assert run("--version").stdout.startswith("lockstitch 0.")
    usage = run("--help")
    assert usage.returncode == 0
    assert "--data-dir" in usage.stdout


def test_an_unusable_data_root_is_one_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for root in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere/x")):
        done = run("--data-dir", str(root))
        assert (done.returncode, done.stdout) == (2, ""), root
        assert len(done.stderr.splitlines()) == 1
        assert str(root) in done.stderr
        assert "--data-dir" in done.stderr


def test_the_root_is_private_whatever_the_umask(tmp_path: Path) -> None:
    for mask in (0o000, 0o077, 0o777):
        root = tmp_path / f"{mask:o}" / "a" / "b"
        with Sidecar(root, umask=mask) as s:
            s.initialize()
            assert s.close() == 0
        for path in (root, root.parent, root.parent.parent):
            assert path.stat().st_mode & 0o777 == 0o700, (mask, path)


def test_the_environment_and_the_platform_name_the_root(tmp_path: Path) -> None:
    names = {"LOCKSTITCH_DATA_DIR": "one", "APP_SERVER_DATA_DIR": "two", "LOCKSTITCH_RUNTIME_ROOT": "three"}
    values = {name: str(tmp_path / place) for name, place in names.items()}
    home = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": ""}
    for name in names:
        with Sidecar(None, env={**values, **home}) as s:
            assert s.initialize()["dataRoot"] == {"path": values[name], "source": "environment", "variable": name}
        values[name] = ""
    with Sidecar(None, env={**values, **home}) as s:
        root = s.initialize()["dataRoot"]
        assert root["source"] == "platform"
        assert root["path"].startswith(home["HOME"])
        assert "variable" not in root


def test_a_link_in_the_roots_path_is_reported_as_given(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with Sidecar(tmp_path / "link" / "d") as s:
        assert s.initialize()["dataRoot"]["path"] == str(tmp_path / "link" / "d")
    assert (tmp_path / "real" / "d").is_dir()
