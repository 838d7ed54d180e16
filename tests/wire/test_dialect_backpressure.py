"""Nothing that was accepted is dropped, and nothing grows without bound, on the real process."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from tests.wire.process import Sidecar

MIB = 1024 * 1024


def test_five_thousand_requests_in_one_write_are_all_answered(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        ids = list(range(10, 5010))
        data = b"".join(
            s.frame(s.message("test/slow" if key % 50 == 0 else "test/ping", {"seconds": 0.01}, id=key)) for key in ids
        )
        writer = threading.Thread(target=s.raw, args=(data,))
        writer.start()
        seen = [m["id"] for m in (s.take() for _ in range(5100)) if "id" in m]
        writer.join()
        assert sorted(seen) == ids
        assert s.close() == 0


def test_more_than_1024_wait_in_order(tmp_path: Path) -> None:
    """With 1024 running, what comes next waits; cancels still get through and make room."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.raw(b"".join(s.frame(s.message("test/wait", id=n)) for n in range(1024)))
        s.send("test/order", {"n": 1}, id="a")
        s.send("test/order", {"n": 2, "tell": True}, id="b")
        s.send("test/order", {"n": 3}, id="cancelled while waiting")
        s.notify("$/cancelRequest", {"id": "cancelled while waiting"})
        reply = s.take()
        assert (reply["id"], reply["error"]["code"]) == ("cancelled while waiting", -32800)
        s.notify("$/cancelRequest", {"id": 5})
        assert s.take()["id"] == 5
        replies = [s.take(), s.take()]
        assert [r["id"] for r in replies] == ["a", "b"]
        assert replies[1]["result"]["order"] == [1, 2]
        s.process.stdin.close()
        # the gate never opens: nothing but the tests' patience ends these
        s.process.kill()


def test_a_client_that_reads_late_gets_everything_and_memory_stays_bounded(tmp_path: Path) -> None:
    """700 MiB of replies are asked for before the first is read: past 256 MiB the process stops reading."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        count = 700
        pad = "p" * 400_000  # 280 MB of requests: those of 256 replies and 64 MiB that wait are less
        data = b"".join(s.frame(s.message("test/big", {"bytes": MIB, "pad": pad}, id=n)) for n in range(10, 10 + count))
        writer = threading.Thread(target=s.raw, args=(data,))
        writer.start()
        writer.join(2)
        assert writer.is_alive(), "everything was taken although nothing was read"
        assert memory(s, "VmRSS") < 560
        seen: set[int] = set()
        while len(seen) < count:
            raw = s.take_raw(30)
            seen.add(json.loads(raw[:40].partition(b',"result"')[0] + b"}")["id"])
        writer.join()
        assert s.close() == 0


def test_input_that_waits_is_bounded_in_bytes(tmp_path: Path) -> None:
    """160 MB of requests that take a while: past 64 MiB in hand the process stops reading, and drops none."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        pad = "p" * 800_000
        data = b"".join(s.frame(s.message("test/slow", {"seconds": 1.5, "pad": pad}, id=n)) for n in range(10, 210))
        writer = threading.Thread(target=s.raw, args=(data,))
        writer.start()
        seen = sorted(m["id"] for m in (s.take() for _ in range(400)) if "id" in m)
        writer.join()
        assert seen == list(range(10, 210))
        assert memory(s, "VmHWM") < 180
        assert s.close() == 0


def test_a_large_reply_is_not_kept(tmp_path: Path) -> None:
    """Once it is written its memory goes back to the system: a host that exports once does not pay for ever."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        before = memory(s, "VmRSS")
        for _ in range(3):
            s.call("test/big", {"bytes": 48 * MIB})
            s.call("test/ping")
        last = 0.0
        while memory(s, "VmRSS") > before + 24 and last < 400:  # it is given back behind the write
            s.call("test/ping")
            last += 1
        assert memory(s, "VmRSS") <= before + 24
        assert s.close() == 0


def memory(s: Sidecar, field: str) -> int:
    """MiB, where the system tells; else none."""
    status = Path(f"/proc/{s.process.pid}/status")
    if not status.exists():
        return 0
    return int(next(line for line in status.read_text().splitlines() if line.startswith(field)).split()[1]) // 1024


def test_a_flood_of_notifications_waits_for_the_reader(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        key = s.send("test/flood", {"bytes": MIB, "count": 300})
        count = 0
        while b'"method":"fake/flood"' in s.take_raw(30)[:60]:
            count += 1
        assert count == 300
        assert s.call("test/ping", id=f"{key} done") == {}


@pytest.mark.parametrize("closed", [False, True])
def test_a_host_that_does_not_read_stderr(tmp_path: Path, closed: bool) -> None:
    """Field report B54. More is logged than a pipe holds, and 10 MB of requests are written before any is read."""
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        if closed:
            s.process.stderr.close()
        assert s.call("test/chatter", {"lines": 5000}) == {}
        pad = "p" * 10_000
        data = b"".join(s.frame(s.message("test/ping", {"pad": pad}, id=n)) for n in range(10, 1010))
        writer = threading.Thread(target=s.raw, args=(data,))
        writer.start()
        seen = sorted(s.take()["id"] for _ in range(1000))
        writer.join()
        assert seen == list(range(10, 1010))
        assert s.close() == 0
