"""Programs of different versions on one data root: refused or built again, never damaged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tests.crash.host import Host, RefusedError, database, lines, rollouts


def test_an_older_program_reads_a_newer_rollout_and_leaves_it_alone(tmp_path: Path) -> None:
    home = tmp_path / "data"
    with Host(home) as host:
        host.start().call("thread/start", threadId="newer", name="From tomorrow")
        host.append("newer", ("note", {"text": "kept"}))
    path = rollouts(home)["newer"]
    path.write_bytes(in_format(path.read_bytes(), 99))
    before = path.read_bytes()
    database(home).unlink()
    stranger = home / "sqlite" / "timeline-v0.sqlite"
    stranger.write_bytes(b"of another version")
    stranger.with_name("timeline-v999.sqlite").write_bytes(b"of a later one")
    with Host(home) as host:
        host.start()
        assert [one["name"] for one in host.call("thread/list")["data"]] == ["From tomorrow"]
        events = host.events("newer")
        assert events[-1]["payload"] == {"text": "kept"}
        for act in (lambda: host.append("newer", ("note", {})), lambda: host.call("thread/archive", threadId="newer")):
            try:
                act()
            except RefusedError as refused:
                assert (refused.kind, refused.data["reason"]) == ("storageReadOnly", "newerFormat")
            else:
                raise AssertionError("an older program changed a newer rollout")
        host.call("thread/start", threadId="own")
    assert path.read_bytes() == before
    assert len(lines(path)) == len(events)
    assert stranger.read_bytes() == b"of another version"
    assert stranger.with_name("timeline-v999.sqlite").read_bytes() == b"of a later one"


def in_format(data: bytes, version: int) -> bytes:
    """The same rollout as a program of another format would have written it, with its sums."""
    found: list[bytes] = []
    previous = b""
    for raw in data[:-1].split(b"\n"):
        body = raw[:-26]
        if not found:
            assert json.loads(raw)["payload"]["format"] == 1
            body = body.replace(b'"format":1', b'"format":%d' % version)
        previous = hashlib.sha256(previous + body).hexdigest()[:16].encode()
        found.append(body + b',"sum":"' + previous + b'"}')
    return b"\n".join(found) + b"\n"
