"""Lines of a fork: what is taken as bytes is what decoding and encoding each line would give."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lockstitch.rollout.line import Draft, encode_append, encode_line
from lockstitch.rollout.scan import Record, scan
from lockstitch.timeline import workers
from lockstitch.timeline.moves import write_fork

STARTED = Draft("thread.started", b'{"threadId":"fork"}', "evt_fork", "2026-12-01T00:00:00.000000Z")
KEPT_OUT = ("thread.recovered", "thread.archived", workers.STARTED)


def rollout(chance: random.Random) -> list[bytes]:
    """Appends of several lines, with ids of the client, requests, awkward texts and events that a fork leaves out."""
    first = encode_line(1, Draft("thread.started", b"{}", "evt_1", "2026-12-01T00:00:00.000000Z"), b"")
    lines, last = [first.data], first.sum
    while len(lines) < 60:
        drafts = [
            Draft(
                chance.choice(("item.completed", "turn.started", 'a"b', *KEPT_OUT)),
                chance.choice(
                    (b"{}", b'{"a":{"b":"}"}}', b'{"digest":",\\"digest\\":\\"x"}', '{"t":"\u2028é"}'.encode())
                ),
                f"evt_{len(lines)}_{number}",
                f"2026-12-01T00:00:{len(lines) % 60:02d}.000000Z",
                chance.choice((None, "turn-1")),
                chance.choice((None, "item-1")),
                chance.choice((None, "d" * 32)),
            )
            for number in range(chance.randint(1, 5))
        ]
        made = encode_append(len(lines) + 1, drafts, last, chance.choice((None, "f" * 32)))
        lines, last = lines + made.lines, made.sum
    return lines


def expected(path: Path, until: int | None, closing: Draft | None) -> bytes:
    """The slow way: each record decoded and encoded."""
    made = [encode_line(1, STARTED, b"")]
    with path.open("rb") as file:
        for found in scan(file.fileno(), 0, path.stat().st_size, previous_sum=b"", next_sequence=1):
            if not isinstance(found, Record) or found.line.type in ("thread.started", *KEPT_OUT):
                continue
            line = found.line
            if until is not None and line.sequence >= until:
                break
            draft = Draft(line.type, bytes(line.payload), line.eventId, line.at, line.turnId, line.itemId, line.digest)
            made.append(encode_line(len(made) + 1, draft, made[-1].sum))
    if closing is not None:
        made.append(encode_line(len(made) + 1, closing, made[-1].sum))
    return b"".join(line.data for line in made)


@pytest.mark.parametrize("seed", range(40))
def test_a_fork_is_what_its_records_give(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks of any size, up to any sequence, with damage anywhere."""
    chance = random.Random(seed)
    monkeypatch.setattr("lockstitch.rollout.renumber.CHUNK_BYTES", chance.choice((1, 50, 1000, 1 << 20)))
    lines = rollout(chance)
    hurt = chance.random() < 0.5
    if hurt:
        at = chance.randrange(len(lines))
        lines[at] = chance.choice((b"", lines[at][:20], lines[at] * 2, lines[at].replace(b"0", b"1", 1), b"\n"))
    source, target = tmp_path / "parent", tmp_path / "fork"
    source.write_bytes(b"".join(lines))
    until = chance.choice((None, None, chance.randint(2, len(lines))))
    last = Draft("turn.interrupted", b"{}", "evt_last", "")
    closing = chance.choice((None, last))
    write_fork(source, source.stat().st_size, until, STARTED, closing and (lambda at: closing), target)
    assert target.read_bytes() == expected(source, until, closing)
    assert hurt or until or target.read_bytes().count(b"\n") > 20


def test_the_closing_event_has_the_time_of_the_last_one(tmp_path: Path) -> None:
    """Also where a left out event follows it."""
    first = encode_line(1, STARTED, b"")
    said = encode_line(2, Draft("item.completed", b"{}", "evt_2", "2026-12-01T00:00:07.000000Z"), first.sum)
    away = encode_line(3, Draft("thread.archived", b"{}", "evt_3", "2026-12-01T00:00:09.000000Z"), said.sum)
    source = tmp_path / "parent"
    source.write_bytes(first.data + said.data + away.data)
    told: list[str] = []

    def closing(at: str) -> Draft:
        told.append(at)
        return Draft("turn.interrupted", b"{}", "evt_4", at)

    write_fork(source, source.stat().st_size, None, STARTED, closing, tmp_path / "fork")
    assert told == ["2026-12-01T00:00:07.000000Z"]
