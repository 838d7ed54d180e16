"""The suite covers the protocol: each method, error kind, event type and notification, and nothing that is not there.

What a test claims with `covers` is checked while it runs: it must have happened in that very test.
"""

from __future__ import annotations

import ast
from pathlib import Path

from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.event_types import EVENT_TYPES
from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.notifications import NOTIFICATIONS

HERE = Path(__file__).parent
CONSTANTS = {
    "APPEND": "agentSession/runtimeEvents/append",
    "GET": "agentSession/fileCheckpoint/get",
    "DIFF": "agentSession/fileCheckpoint/diff",
    "LIST": "agentSession/fileCheckpoint/list",
    "CAPTURE": "agentSession/fileCheckpoint/capture",
    "SCAN": "conversationImport/source/scan",
    "PREVIEW": "conversationImport/thread/preview",
    "COMMIT": "conversationImport/thread/commit",
    "JOB": "conversationImport/job/read",
}
ELSEWHERE = {
    "storageFull": "tests/crash: needs a small file system",
    "storageReadOnly": "tests/crash: needs a file system that cannot be written",
    "storageBusy": "tests/crash: needs a lock that is held for 10 s",
    "internalError": "test_dialect_envelope.py: only a bug makes one",
    "thread.recovered": "tests/crash: needs a damaged rollout",
}
LATER = {
    "overloaded": "reserved",
    "itemNotFound": "no method names an item yet",
}


def claims() -> dict[str, set[str]]:
    """What each name is claimed by."""
    found: dict[str, set[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "covers":
                for argument in node.args:
                    name = CONSTANTS[argument.id] if isinstance(argument, ast.Name) else ast.literal_eval(argument)
                    found.setdefault(name, set()).add(path.name)
    return found


def protocol() -> set[str]:
    return {*METHODS, *ERROR_CODES, *EVENT_TYPES, *NOTIFICATIONS}


def test_everything_is_covered() -> None:
    missing = protocol() - claims().keys() - ELSEWHERE.keys() - LATER.keys()
    assert not missing, f"no test covers {sorted(missing)}"


def test_nothing_is_claimed_that_does_not_exist() -> None:
    known = protocol() | {"artifact.confirmed"}  # the sidecar's own, not of the table
    for name in (*claims(), *ELSEWHERE, *LATER):
        assert name in known, f"{name} is not in the protocol"


def test_what_is_excused_is_not_covered_after_all() -> None:
    stale = claims().keys() & (ELSEWHERE.keys() | LATER.keys())
    assert not stale, f"{sorted(stale)} is covered: take it out of the excuses"
