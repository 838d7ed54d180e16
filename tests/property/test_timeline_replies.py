"""Whatever is appended, in whatever pieces: the log tells it all, and the rows say the same when made anew."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstitch.cli.local import Local, opened
from lockstitch.errors import LockstitchError

THREAD = "thread-1"
IDS = st.sampled_from(["a", "b", "C", "c"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
KINDS = st.sampled_from(
    ["agentMessage", "plan", "reasoning", "commandExecution", "mcpToolCall", "webSearch", "hologram"]
)
USAGE = st.fixed_dictionaries(
    {name: st.integers(0, 9) for name in ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens")}
)


def item(kind: str, item_id: str, text: str) -> dict[str, Any]:
    return {
        "type": kind,
        "id": item_id,
        "command": "x",
        "server": "s",
        "tool": "t",
        **({"text": text} if kind in ("agentMessage", "plan") and text else {}),
    }


def event(type_: str, payload: Any, **more: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(type_), "payload": payload}, **more)


EVENTS = st.one_of(
    event("turn.started", st.fixed_dictionaries({"turnId": st.sampled_from([f"t{n}" for n in range(6)])})),
    st.sampled_from(["turn.completed", "turn.failed", "turn.canceled"]).flatmap(
        lambda end: event(end, st.one_of(st.just({}), st.fixed_dictionaries({"usage": USAGE})))
    ),
    st.sampled_from(["item.started", "item.updated", "item.completed"]).flatmap(
        lambda type_: event(type_, st.builds(lambda *given: {"item": item(*given)}, KINDS, IDS, TEXTS))
    ),
    st.sampled_from(["message.delta", "reasoning.delta", "command.output"]).flatmap(
        lambda type_: event(type_, st.fixed_dictionaries({"itemId": IDS, "delta": TEXTS}))
    ),
    event("command.exited", st.fixed_dictionaries({"itemId": IDS, "exitCode": st.integers(0, 1)})),
    event("reasoning.final", st.fixed_dictionaries({"itemId": IDS}, optional={"text": TEXTS})),
    event("patch.applied", st.fixed_dictionaries({"itemId": IDS})),
    event("message.created", st.fixed_dictionaries({"itemId": IDS, "role": st.just("user"), "content": TEXTS})),
    event("provider.usage", USAGE),
    event("action.required", st.fixed_dictionaries({"requestId": IDS})),
    event("action.resolved", st.fixed_dictionaries({"requestId": IDS})),
    event("route.selected", st.fixed_dictionaries({"provider": TEXTS, "model": TEXTS})),
    event(
        "artifact.snapshot",
        st.fixed_dictionaries(
            {"path": st.sampled_from(["x", "y"]), "content": TEXTS},
            optional={"previousContent": TEXTS},
        ),
    ),
    event(
        "artifact.snapshot",
        st.fixed_dictionaries({"path": st.just("x"), "content": TEXTS, "beforeAbsent": st.just(True)}),
    ),
    event("acme.any", st.dictionaries(TEXTS, st.one_of(st.none(), st.floats(allow_nan=False), TEXTS, st.integers()))),
    event("acme.once", st.just({}), optional={"eventId": st.sampled_from(["e1", "E1", "e2"])}),
)
MOVES = st.sampled_from(
    [
        ("thread/rollback", {"numTurns": 1}),
        ("thread/name/set", {"name": "n"}),
        ("thread/archive", {}),
        ("thread/unarchive", {}),
        ("thread/fork", {}),
        ("thread/metadata/update", {"extra": {"k": 1.5}}),
    ]
)
STEPS = st.lists(st.one_of(st.lists(EVENTS, min_size=1, max_size=4), MOVES), max_size=14)


@contextmanager
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as found:
        yield Path(found).resolve()


async def append(local: Local, events: list[dict[str, Any]]) -> None:
    await local.ask("agentSession/runtimeEvents/append", sessionId=THREAD, runtimeEvents=events)


async def rollout(local: Local) -> Path:
    return Path((await local.ask("thread/read", threadId=THREAD))["thread"]["path"])


async def take(local: Local, step: Any) -> bool:
    """Do one step; a refused one must leave the log as it was."""
    path = await rollout(local)
    before = path.read_bytes()
    try:
        if isinstance(step, list):
            await append(local, step)
        else:
            await local.ask(step[0], threadId=THREAD, **step[1])
    except LockstitchError as error:
        assert error.kind != "internalError"
        after = path.read_bytes()
        # What was streamed and accepted before may be written any time; a refused append adds nothing of its own.
        assert after.startswith(before)
        assert all(b'.delta"' in line or b'"command.output"' in line for line in after[len(before) :].splitlines())
        return False
    return True


async def close_turn(local: Local) -> None:
    turns = (await local.ask("thread/read", threadId=THREAD, includeTurns=True))["thread"]["turns"]
    if turns and turns[-1]["status"] == "inProgress":
        await append(local, [{"type": "turn.completed", "payload": {}}])


async def replies(local: Local) -> dict[str, bytes]:
    """Every read of every thread, byte for byte."""
    found: dict[str, bytes] = {}

    async def keep(method: str, **params: Any) -> Any:
        name = f"{method} {json.dumps(params, sort_keys=True)}"
        found[name] = await local.call(method, params)
        return json.loads(found[name])

    threads: list[str] = []
    for archived in (False, True):
        for sort in ("created_at", "updated_at", "recency_at"):
            page = await keep("thread/list", archived=archived, sortKey=sort)
        threads += [thread["id"] for thread in page["data"]]
    await keep("agentSession/list", includeArchived=True)
    for thread in threads:
        read = await keep("thread/read", threadId=thread, includeTurns=True)
        for direction in ("asc", "desc"):
            for view in ("notLoaded", "summary", "full"):
                await keep("thread/turns/list", threadId=thread, sortDirection=direction, itemsView=view)
            await keep("thread/items/list", threadId=thread, sortDirection=direction)
        await keep("thread/events/list", threadId=thread)
        await keep("agentSession/read", sessionId=thread)
        await keep("artifact/read", sessionId=thread, includeContent=True)
        listed = await keep("agentSession/fileCheckpoint/list", sessionId=thread)
        for checkpoint in listed["checkpoints"]:
            await keep("agentSession/fileCheckpoint/get", sessionId=thread, checkpointId=checkpoint["checkpointId"])
        for turn in read["thread"]["turns"]:
            await keep("turn/receipt/read", threadId=thread, turnId=turn["id"])
            await keep("thread/items/list", threadId=thread, turnId=turn["id"])
    return found


def rows(data: Path) -> dict[str, list[Any]]:
    """Every row of the projection, with thread ids for thread numbers."""
    database = sqlite3.connect(next((data / "sqlite").glob("timeline-v*.sqlite")))
    try:
        names = dict(database.execute("SELECT thread_no, thread_id FROM thread"))
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        return {
            table: sorted(
                (names[row[0]], *map(repr, row[1:])) for row in database.execute(f"SELECT * FROM {table}").fetchall()
            )
            for table in tables
            if not table.startswith("sqlite_")
        }
    finally:
        database.close()


def check_log(data: Path) -> None:
    """Sums chain and sequences are gapless in every rollout."""
    for path in data.rglob("rollout-*.jsonl"):
        previous = b""
        for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
            head, tail = line[:-26], line[-26:]
            expected = hashlib.sha256(previous + head).hexdigest()[:16].encode()
            assert tail == b',"sum":"' + expected + b'"}'
            assert json.loads(line)["sequence"] == number
            previous = expected


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_the_rows_can_be_made_anew(steps: list[Any]) -> None:
    """A random history: refused appends change nothing; replies are byte-identical after the database is gone."""

    async def live(data: Path) -> dict[str, bytes]:
        async with opened(str(data)) as local:
            await local.ask("thread/start", threadId=THREAD)
            for step in steps:
                await take(local, step)
            await local.ask("thread/unarchive", threadId=THREAD)
            await close_turn(local)
            return await replies(local)

    async def again(data: Path) -> dict[str, bytes]:
        async with opened(str(data)) as local:
            return await replies(local)

    with directory() as data:
        first = asyncio.run(live(data))
        stored = rows(data)
        check_log(data)
        assert asyncio.run(again(data)) == first, "after a restart"
        shutil.rmtree(data / "sqlite")
        assert asyncio.run(again(data)) == first, "after a rebuild"
        assert rows(data) == stored


def told(found: dict[str, bytes]) -> Any:
    """What replies say, without what the clock, chance and the number of segments decide."""
    read = json.loads(next(v for k, v in found.items() if k.startswith("thread/read")))["thread"]
    checkpoints = json.loads(next(v for k, v in found.items() if "fileCheckpoint/list" in k))["checkpoints"]
    items = json.loads(next(v for k, v in found.items() if k.startswith("thread/items/list")))["data"]
    made = {c["checkpointId"]: f"checkpoint {n}" for n, c in enumerate(checkpoints)}

    def named(value: dict[str, Any]) -> dict[str, Any]:
        return {k: made.get(v, v) if k in ("id", "checkpointId") else v for k, v in value.items()}

    return {
        "turns": [
            (t["id"], t["status"], t.get("usage"), t.get("route"), list(map(named, t["items"]))) for t in read["turns"]
        ],
        "items": [(entry["turnId"], named(entry["item"])) for entry in items],
        "thread": (read["preview"], read["turnCount"], read.get("usage"), read["status"]),
        "checkpoints": [
            {k: v for k, v in c.items() if k not in ("checkpointId", "updatedAt", "sequence")} for c in checkpoints
        ],
    }


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(EVENTS, max_size=24), st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_in_whatever_pieces(events: list[dict[str, Any]], sizes: list[int]) -> None:
    """Event by event, in random pieces, or all at once: turns, items and checkpoints are the same."""

    async def one_by_one(data: Path) -> tuple[list[dict[str, Any]], Any]:
        async with opened(str(data)) as local:
            await local.ask("thread/start", threadId=THREAD)
            accepted = [event for event in events if await take(local, [event])]
            await close_turn(local)
            return accepted, told(await replies(local))

    async def in_pieces(data: Path, accepted: list[dict[str, Any]], pieces: list[int]) -> Any:
        async with opened(str(data)) as local:
            await local.ask("thread/start", threadId=THREAD)
            rest, number = accepted, 0
            while rest:
                size = pieces[number % len(pieces)]
                await append(local, rest[:size])
                rest, number = rest[size:], number + 1
            await close_turn(local)
            return told(await replies(local))

    with directory() as root:
        accepted, expected = asyncio.run(one_by_one(root / "one"))
        assert asyncio.run(in_pieces(root / "pieces", accepted, sizes)) == expected
        assert asyncio.run(in_pieces(root / "whole", accepted, [max(1, len(accepted))])) == expected
