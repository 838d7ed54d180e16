"""Hosts give their child odd surroundings: next to no environment, no home, no current directory, sockets for pipes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.place import Place

HELLO = {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "bare"}}}


def said(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def heard(output: bytes) -> list[Any]:
    return [json.loads(line) for line in output.split(b"\n") if line]


def status(output: bytes) -> dict[str, Any]:
    """What server/status answered, after the handshake."""
    hello, answer = heard(output)
    assert hello["id"] == 0 and hello["result"]["serverInfo"]["title"] == "Lockstitch"
    return answer["result"]


ASK = said(HELLO, {"id": 1, "method": "server/status", "params": []})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def run(place: Place, *wrap: str, data: bytes = ASK, **options: Any) -> tuple[int, bytes]:
    environment = options.pop("env", {"HOME": str(place.home), "PATH": os.defpath})
    command = [*wrap, place.sidecar, *options.pop("arguments", place.arguments)]
    done = subprocess.run(command, input=data, capture_output=True, env=environment, timeout=20, check=False, **options)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout


SURROUNDINGS: dict[str, Callable[[Place], dict[str, str]]] = {
    "only HOME and PATH": lambda place: {"HOME": str(place.home), "PATH": os.defpath},
    "nothing": lambda place: {},
    "HOME that is not there": lambda place: {"HOME": str(place.home / "gone"), "PATH": os.defpath},
    "HOME that is empty": lambda place: {"HOME": "", "PATH": os.defpath},
    "LANG=C": lambda place: {"HOME": str(place.home), "PATH": os.defpath, "LANG": "C", "LC_ALL": "C"},
    "ASCII": lambda place: {"HOME": str(place.home), "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_environments(place: Place, name: str) -> None:
    code, output = run(place, env=SURROUNDINGS[name](place))
    assert code == 0 and status(output)["dataRoot"] == str(place.data)


def test_home_alone_gives_the_default_data_root(place: Place) -> None:
    code, output = run(place, arguments=place.arguments[:-2])
    assert code == 0
    assert status(output)["dataRoot"] == str(place.home / ".local/share/lockstitch/app-server")


def test_a_current_directory_that_is_gone(place: Place) -> None:
    gone = tempfile.mkdtemp(dir=place.folder)
    code, output = run(place, "/bin/sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh")
    assert code == 0 and status(output)["openThreads"] == 0


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_stderr_that_takes_nothing(place: Place, closed: str) -> None:
    code, output = run(place, "/bin/sh", "-c", f'exec "$@" {closed}', "sh")
    assert code == 0 and status(output)["openThreads"] == 0


def test_stdin_that_is_closed_or_empty(place: Place) -> None:
    assert run(place, "/bin/sh", "-c", 'exec "$@" <&-', "sh") == (0, b"")
    assert run(place, data=b"") == (0, b"")


@pytest.mark.parametrize("whole", [True, False], ids=["closed", "shut down for writing"])
def test_a_socket_for_stdin_and_stdout(place: Place, whole: bool) -> None:
    ours, theirs = socket.socketpair()
    command = [place.sidecar, *place.arguments]
    with ours:
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
        theirs.close()
        ours.settimeout(20)
        ours.sendall(ASK)
        output = b""
        while output.count(b"\n") < 2:
            output += ours.recv(65536)
        assert status(output)["openThreads"] == 0
        if not whole:
            ours.shutdown(socket.SHUT_WR)
            assert process.wait(10) == 0
    assert process.wait(10) == 0


@pytest.mark.parametrize("params", [None, [], {}, "missing"], ids=["null", "array", "object", "missing"])
def test_empty_params_in_every_form(place: Place, params: Any) -> None:
    """Go's net/rpc sends an array, Emacs null, many nothing."""
    asked = {"id": 18446744073709551615, "method": "server/status", "params": params}
    if params == "missing":
        del asked["params"]
    code, output = run(place, data=said(HELLO, asked))
    assert code == 0 and heard(output)[1]["id"] == 18446744073709551615
    assert "result" in heard(output)[1]


def test_a_first_message_laid_out_over_lines_is_refused_and_does_not_end_it(place: Place) -> None:
    """json.dump(indent=1) onto a pipe: each line is a message that is none, and the next whole one is answered."""
    code, output = run(place, data=json.dumps(HELLO, indent=1).encode() + b"\n" + ASK)
    assert code == 0
    answers = heard(output)
    assert {one["error"]["code"] for one in answers if one["id"] is None} <= {-32700, -32600}
    assert [one["id"] for one in answers if "result" in one] == [0, 1]


def test_arguments_that_clients_of_the_language_server_protocol_add(place: Place) -> None:
    arguments = [*place.arguments, "--stdio", f"--clientProcessId={os.getpid()}"]
    code, output = run(place, arguments=arguments)
    assert code == 0 and status(output)["openThreads"] == 0
