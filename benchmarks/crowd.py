"""A data root of very many small threads, written line by line as the sidecar writes them, then indexed by it.

A hundred thousand threads through the front door take minutes; two of them do, as a pattern, and the others are
those with other names, made with the sidecar's own encoder. What is measured reads them like any other.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.histories import Story, rollouts
from benchmarks.host import Host
from lockstitch.data_root import archived_place, rollout_name, session_place
from lockstitch.rollout.line import Draft, encode_line, parse_line

FOLDERS = 10
"""So many workspaces share the threads."""
ARCHIVED_EVERY = 50
"""One in so many is archived."""
_PATTERN, _CWD, _NAME = b"crowd-000000", b"/workspace0", b"Mend 000000"


def write(root: Path, threads: int) -> None:
    """Make it; returns when every thread is indexed."""
    with Host(root) as host:
        story = Story(21)
        for number in (0, 1):
            thread = f"crowd-{number:06d}"
            host.call("thread/start", threadId=thread, cwd=f"/workspace{number}", name=f"Mend {number:06d}")
            events = story.turn("userMessage", "agentMessage")
            host.call("agentSession/runtimeEvents/append", sessionId=thread, runtimeEvents=events)
        live = _drafts(rollouts(root)[0])
        host.call("thread/archive", threadId="crowd-000001")
        archived = _drafts(next((root / "archived_sessions").iterdir()), b"000001", b"/workspace1")
    for number in range(2, threads):
        put_away = number % ARCHIVED_EVERY == 1
        _write_one(root, number, archived if put_away else live, archived=put_away)
    with Host(root) as host:
        host.call("thread/list")
        while host.call("server/status")["projectionLag"]:
            time.sleep(0.05)


def _drafts(rollout: Path, number: bytes = b"000000", cwd: bytes = _CWD) -> list[Draft]:
    """The events of a rollout, as those of the pattern."""
    found: list[Draft] = []
    for data in rollout.read_bytes().splitlines():
        line = parse_line(data)
        payload = bytes(line.payload).replace(b"crowd-" + number, _PATTERN).replace(cwd + b'"', _CWD + b'"')
        payload = payload.replace(b"Mend " + number, _NAME)
        found.append(Draft(line.type, payload, line.eventId, line.at, line.turnId, line.itemId))
    return found


def _write_one(root: Path, number: int, drafts: list[Draft], *, archived: bool) -> None:
    thread, digits = f"crowd-{number:06d}", b"%06d" % number
    seconds = number % 86_400
    at = f"2026-10-{1 + number // 86_400:02d}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000000Z"
    cwd = b'/workspace%d"' % (number % FOLDERS)
    lines: list[bytes] = []
    previous = b""
    for sequence, draft in enumerate(drafts, 1):
        payload = draft.payload
        if sequence == 1:
            payload = payload.replace(_PATTERN, b"crowd-" + digits).replace(_NAME, b"Mend " + digits)
            payload = payload.replace(_CWD + b'"', cwd)
        event_id = f"{draft.event_id[:-6]}{number:06x}"
        made = Draft(draft.type, payload, event_id, at, draft.turn_id, draft.item_id)
        encoded = encode_line(sequence, made, previous)
        lines.append(encoded.data)
        previous = encoded.sum
    place = archived_place(rollout_name(at, thread)) if archived else session_place(at, thread)
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_bytes(b"".join(lines))
