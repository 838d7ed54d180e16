"""Both framings and what arrives in them, on the real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.wire.process import HELLO, Sidecar

MIB = 1024 * 1024


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("jsonrpc", [False, True])
def test_answers_use_framing_and_dialect_of_the_client(tmp_path: Path, framed: bool, jsonrpc: bool) -> None:
    with Sidecar(tmp_path / "d", framed=framed, jsonrpc=jsonrpc) as s:
        s.send("initialize", HELLO)
        s.send("test/ping")
        replies = [s.take(), s.take()]
        assert [r["id"] for r in replies] == [1, 2]
        assert all(("jsonrpc" in r) == jsonrpc for r in replies)
        assert s.close() == 0
        assert s.process.stderr.read().count(b"Traceback") == 0


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b" \r\n\t", b"\xef\xbb\xbf\n\n  "])
@pytest.mark.parametrize("framed", [False, True])
def test_mark_and_whitespace_before_the_first_byte_are_skipped(tmp_path: Path, start: bytes, framed: bool) -> None:
    with Sidecar(tmp_path / "d", framed=framed) as s:
        s.raw(start)
        assert s.initialize()["serverInfo"]["name"] == "app-server"
        assert s.close() == 0


def test_anything_else_first_means_lines(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.raw(b"hello?\n")
        reply = s.take()
        assert reply["error"]["code"] == -32700
        assert reply["id"] is None
        s.initialize()
        assert s.close() == 0


@pytest.mark.parametrize("broken", [b"{", b'{"id": 1, "method"', b'{"id": 1, "method": "init'])
def test_a_first_message_that_is_cut_off_is_answered(tmp_path: Path, broken: bytes) -> None:
    """What comes first is read by a scanner of its own, which has its own ways to fail."""
    with Sidecar(tmp_path / "d") as s:
        s.raw(broken + b"\n")
        assert s.take()["error"]["code"] == -32700
        s.initialize()
        assert s.close() == 0
        assert s.process.stderr.read().count(b"Traceback") == 0


def test_lines_end_at_lf_only(tmp_path: Path) -> None:
    """Other parsers' line ends are text; CR before LF belongs to the line end."""
    text = "a\u2028b\u2029c\u0085d\x7f e"
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.raw(b'{"id":1,"method":"test/echo","params":{"t":"' + text.encode() + b'"}}\r\n')
        assert s.take()["result"]["params"]["t"] == text
        s.raw(b"\n\r\n   \n")
        assert s.call("test/ping") == {}
        s.raw(b"\x0b\x0c\x1c\n")
        assert s.take()["error"]["code"] == -32700
        assert s.close() == 0


def test_bytes_may_come_one_by_one(tmp_path: Path) -> None:
    for framed in (False, True):
        with Sidecar(tmp_path / "d", framed=framed) as s:
            for byte in s.frame(s.message("initialize", HELLO, id=1)) + s.frame(s.message("test/ping", id=2)):
                s.raw(bytes([byte]))
            assert [s.take()["id"], s.take()["id"]] == [1, 2]


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: x\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"\r\nContent-Length:   %d  \r\n\r\n",
    ],
)
def test_odd_headers_are_read(tmp_path: Path, header: bytes) -> None:
    with Sidecar(tmp_path / "d", framed=True) as s:
        s.initialize()
        body = b'{"jsonrpc":"2.0","id":9,"method":"test/ping"}'
        s.raw(header % len(body) + body)
        assert s.take() == {"jsonrpc": "2.0", "id": 9, "result": {}}
        assert s.call("test/ping") == {}


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: ten\r\n\r\n",
        b"Content-Length: 99999999999999999999999\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
    ],
)
def test_headers_that_tell_no_length_are_answered_and_survived(tmp_path: Path, header: bytes) -> None:
    with Sidecar(tmp_path / "d", framed=True) as s:
        s.initialize()
        s.raw(header + (b"" if b": 0" in header else b'{"id":3,"method":"test/ping"}'))
        reply = s.take()
        assert (reply["id"], reply["error"]["code"]) == (None, -32700)
        assert reply["error"]["data"]["kind"] == "parseError"
        assert s.call("test/ping") == {}
        assert s.close() == 0


@pytest.mark.parametrize("framed", [False, True])
def test_a_message_that_is_too_large_is_refused_by_id_and_the_next_one_works(tmp_path: Path, framed: bool) -> None:
    """Field report B49."""
    with Sidecar(tmp_path / "d", "--max-message-bytes", "100000", framed=framed) as s:
        s.initialize()
        filler = b'"t":"' + b"x" * 300_000 + b'","id":"inner"'
        s.raw(s.frame(b'{"jsonrpc":"2.0","id":"first","method":"test/echo","params":{' + filler + b"}}"))
        s.raw(s.frame(b'{"method":"test/echo","params":{' + filler + b'},"id":77,"jsonrpc":"2.0"}'))
        s.raw(s.frame(b'{"method":"test/echo","params":{' + filler + b"}}"))
        found = [s.take() for _ in range(3)]
        assert [r["id"] for r in found] == ["first", 77, None]
        assert {r["error"]["code"] for r in found} == {-32600}
        assert [r["error"]["data"] for r in found] == [{"kind": "messageTooLarge", "limit": 100_000}] * 3
        assert s.call("test/ping") == {}
        assert s.close() == 0


def test_the_limit_itself_is_allowed(tmp_path: Path) -> None:
    """Field report B49."""
    with Sidecar(tmp_path / "d", "--max-message-bytes", "1000") as s:
        s.initialize()
        body = b'{"id":1,"method":"test/ping","params":{"t":"%b"}}'
        s.raw(body % (b"x" * (1000 - len(body) + 2)) + b"\r\n")
        assert s.take()["result"] == {}
        s.raw(body % (b"x" * (1001 - len(body) + 2)) + b"\n")
        assert s.take()["error"]["data"]["kind"] == "messageTooLarge"


def test_a_too_large_first_message_and_one_that_never_ends(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d", "--max-message-bytes", "1000") as s:
        s.raw(b'{"id":1,"method":"initialize","x":"' + b"y" * 5000 + b'"}\n')
        assert s.take()["id"] == 1
        s.initialize()
        s.raw(b'{"id":"open","x":"' + b"y" * 5000)
        s.process.stdin.close()
        assert [r["id"] for r in s.rest()] == ["open"]
        assert s.process.wait(10) == 0


def test_skipping_does_not_hold_the_message(tmp_path: Path) -> None:
    """A message of 200 MiB is skipped in less memory than that."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.raw(b'{"id":5,"method":"test/echo","params":{"t":"')
        for _ in range(200):
            s.raw(b"x" * MIB)
        s.raw(b'"}}\n')
        reply = s.take()
        assert (reply["id"], reply["error"]["data"]["kind"]) == (5, "messageTooLarge")
        status = Path(f"/proc/{s.process.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            assert int(peak.split()[1]) < 190 * 1024, peak
        assert s.call("test/ping") == {}


@pytest.mark.parametrize("framed", [False, True])
def test_a_large_message_is_taken_whole(tmp_path: Path, framed: bool) -> None:
    """Field report B49."""
    with Sidecar(tmp_path / "d", framed=framed) as s:
        s.initialize()
        text = "é" * (8 * MIB)
        key = s.send("test/echo", {"t": text})
        reply = s.take(60)
        assert reply["id"] == key
        assert reply["result"]["params"]["t"] == text
        assert s.close() == 0


def test_replies_are_single_lines_whatever_is_in_them(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        text = "a\nb\r\nc\x00d\u2028"
        s.raw(s.frame(s.message("test/echo", {"t": text}, id=1)))
        raw = s.take_raw()
        assert json.loads(raw)["result"]["params"]["t"] == text
