"""What makes a large append quick changes nothing of what is stored, told or answered."""

from __future__ import annotations

import dataclasses
import re
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.protocol_examples import ITEMS

from lockstitch.codec import decode, encode
from lockstitch.operations.append_request import SentAppend, plain_append
from lockstitch.operations.incoming import incoming_events
from lockstitch.rollout.line import Draft, encode_append, parse_line, payload_span
from lockstitch.timeline.admission import Admission, Surroundings
from lockstitch.timeline.database import WAL_PAGES, Database
from lockstitch.timeline.events import event_of_draft, events_of_append
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.payloads import ItemDraft, known_item, read_item
from lockstitch.timeline.reduce_append import reduce_append
from lockstitch.timeline.reducer import MARK_EVERY, Fact, moment_of, reduce
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.segments import Segments
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.stored import StoredRows
from lockstitch_protocol.events import RuntimeEventInput
from lockstitch_protocol.ids import is_id, new_ids

NOW = "2026-12-01T02:40:11.123456Z"


def admission() -> Admission:
    """An append to a thread with an open turn, which knows nothing yet."""
    state = ThreadState(ThreadRow(1, "t", "p"), StoredRows(Database.in_memory().connection), fresh=True)
    fields: dict[str, Any] = dict.fromkeys((field.name for field in dataclasses.fields(Surroundings)), None)
    around = Surroundings(**{**fields, "boot_id": "boot", "now": lambda: NOW, "spill": lambda item: item})
    made = Admission(state, around, Segments())
    made.add(Incoming("turn.started", {"turnId": "turn_1"}, "turn_1"))
    return made


@pytest.mark.parametrize("type_", ["item.started", "item.updated", "item.completed"])
@pytest.mark.parametrize("at", [None, "2026-11-30T00:00:00Z"])
def test_plain_items_are_stored_as_others_are(type_: str, at: str | None) -> None:
    sent = [{"type": type_, "payload": {"item": item}} | ({} if at is None else {"at": at}) for item in ITEMS]
    request = {"sessionId": "t", "runtimeEvents": sent}
    plain = plain_append(msgspec.json.decode(encode(request), type=SentAppend))
    assert plain is not None
    quick, general = admission(), admission()
    for event in incoming_events(plain.runtime_events, None):
        quick.add(event)
    for event in incoming_events([RuntimeEventInput.model_validate(event) for event in sent], None):
        general.add(event)
    known = {n: known_item(draft) for n, draft in enumerate(quick.drafts) if isinstance(draft, ItemDraft)}
    assert len(known) > len(ITEMS) // 2, "most examples should have the plain form"
    for one, other in zip(quick.drafts, general.drafts, strict=True):
        assert (one.type, one.at, one.turn_id, one.item_id) == (other.type, other.at, other.turn_id, other.item_id)
        assert decode(one.payload) == decode(other.payload)
        assert moment_of(one.at, one.payload) == moment_of(other.at, other.payload)
    for number, found in known.items():
        assert found == read_item(quick.drafts[number].payload)


@pytest.mark.parametrize("bad", ["a b", "a\nb", "", "-a", "a" * 129])
def test_an_id_that_is_none_is_left_to_the_model(bad: str) -> None:
    item = {"type": "agentMessage", "id": "a", "text": "x"}
    for event in (
        {"type": "item.completed", "payload": {"item": {**item, "id": bad}}},
        {"type": "item.completed", "payload": {"item": item}, "eventId": bad},
        {"type": "turn.started", "payload": {"turnId": bad}},
    ):
        sent = {"sessionId": "t", "runtimeEvents": [{"type": "acme.note"}, event]}
        assert plain_append(msgspec.json.decode(encode(sent), type=SentAppend)) is None


@pytest.mark.parametrize(
    "payload", ['{"inputTokens":1.0}', '{"inputTokens":-1}', '{"inputTokens":true}', '{"inputTokens":1,"model":"m"}']
)
def test_usage_of_another_form_is_read_as_it_was_sent(payload: str) -> None:
    sent = b'{"sessionId":"t","runtimeEvents":[{"type":"provider.usage","payload":%b}]}' % payload.encode()
    plain = plain_append(msgspec.json.decode(sent, type=SentAppend))
    assert plain is not None
    assert not isinstance(plain.runtime_events[0], Incoming), "it is checked like any other"


def test_rows_of_an_append_are_those_of_its_events_one_by_one() -> None:
    item = {"type": "agentMessage", "id": "Item_1", "text": "a"}
    prompt = {"type": "userMessage", "id": "item_0", "content": [{"type": "text", "text": "hello"}]}
    tokens = {"inputTokens": 1, "cachedInputTokens": 2, "outputTokens": 3, "reasoningOutputTokens": 4}
    events: list[dict[str, Any]] = [
        {"type": "item.completed", "payload": {"item": prompt}},
        *({"type": "item.completed", "payload": {"item": each}} for each in ITEMS),
        {"type": "item.started", "payload": {"item": item}},
        {"type": "item.completed", "payload": {"item": {**item, "id": "iTEM_1", "text": "b"}}, "eventId": "mine_1"},
        {"type": "item.completed", "payload": {"item": {**item, "id": "item_2"}}, "eventId": "mine_2"},
        {"type": "item.completed", "payload": {"item": {**item, "id": "item_3"}}, "at": "2026-11-30T00:00:00Z"},
        {"type": "provider.usage", "payload": tokens},
        {"type": "turn.completed", "payload": {}},
        {"type": "turn.started", "payload": {"turnId": "turn_2"}},
        *({"type": "item.completed", "payload": {"item": {**item, "id": f"many_{n}"}}} for n in range(2 * MARK_EVERY)),
        {"type": "provider.usage", "payload": tokens | {"costUsd": 0.5}},
        {"type": "turn.failed", "payload": {"usage": tokens}},
    ]
    plain = plain_append(msgspec.json.decode(encode({"sessionId": "t", "runtimeEvents": events}), type=SentAppend))
    assert plain is not None
    quick = admission()
    for event in incoming_events(plain.runtime_events, None):
        quick.add(event)
    made = encode_append(1, quick.drafts, b"", "f" * 32)
    end = reduce_append(quick.state, quick.drafts, made, req="f" * 32, now=quick.now())
    slow = admission().state
    at = 0
    for line in made.lines:
        read = parse_line(line[:-1])
        start, length = payload_span(line[:-1])
        payload = line[start : start + length]
        fact = (read.sequence, read.at, read.type, read.eventId, read.turnId, read.itemId, payload, at, len(line) - 1)
        reduce(slow, Fact(*fact, start, read.digest, read.req))
        at += len(line)
    assert end == at
    for name in ("thread", "turns", "items", "open_items", "client_events", "new_rows", "dirty_items", "dirty_turns"):
        assert getattr(quick.state, name) == getattr(slow, name), name
    assert quick.state.thread.preview == "hello" and len(quick.state.turns) == 2


@pytest.mark.parametrize("odd", ["plain", 'quo"te', "back\\slash", "line\nfeed", "é", '","at":"x', '{"sequence":1'])
@pytest.mark.parametrize("thread_id", ["thread", 'thr"ead'])
def test_the_answer_is_made_of_the_lines(odd: str, thread_id: str) -> None:
    drafts = [
        Draft(odd, b'{"n":1}', "evt_1", NOW, "turn_1", "item_1"),
        Draft("acme.event", b'{"at":"x"}', odd, NOW),
        Draft("acme.event", b"{}", "evt_3", NOW, odd, None, "0" * 32),
        Draft("acme.event", b"{}", "evt_4", odd, None, odd),
    ]
    made = encode_append(9, drafts, b"", "f" * 32)
    expected = [event_of_draft(thread_id, sequence, draft) for sequence, draft in enumerate(drafts, 9)]
    assert events_of_append(thread_id, made) == b"[%b]" % b",".join(expected)


def test_ids_of_one_append_are_new_ascending_and_uuids_of_version_7() -> None:
    ids = list(islice(new_ids("evt"), 70_000))
    assert len(set(ids)) == len(ids) and ids == sorted(ids)
    assert all(map(is_id, ids))
    assert all(re.fullmatch(r"evt_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}", found) for found in ids[::500])
    assert not set(ids) & set(islice(new_ids("evt"), 1000)), "another append got the same ids"


def test_many_client_events_are_looked_up_at_once() -> None:
    database = Database.in_memory()
    database.connection.execute("INSERT INTO client_event VALUES(1, 'Evt_A', 5, 0, 10, x'00')")
    database.connection.execute("INSERT INTO client_event VALUES(2, 'evt_b', 5, 0, 10, x'00')")
    state = ThreadState(ThreadRow(1, "t", "p"), StoredRows(database.connection))
    state.expect_client_events(["EVT_a", "evt_b", 'odd"id'])
    found = state.client_event("evt_A")
    assert found is not None and found.sequence == 5
    assert state.client_event("evt_b") is None and state.client_event('ODD"id') is None


def test_the_wal_is_written_back_when_it_is_large_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "timeline.sqlite"
    Database(path, bulk=True).finish_bulk()
    database = Database(path)
    database.connection.execute("CREATE TABLE big(value BLOB)")
    database.checkpoint()
    small = path.stat().st_size
    database.connection.execute(f"INSERT INTO big VALUES(zeroblob({(WAL_PAGES + 10) * 4096}))")
    assert path.stat().st_size == small, "the commit wrote back what it should leave for later"
    database.checkpoint()
    assert path.stat().st_size > WAL_PAGES * 4096
    database.close()
