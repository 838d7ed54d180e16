"""Random damage to a good rollout: nothing raises, nothing undamaged is lost, every loss is told."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from lockstitch.rollout.line import Draft, encode_append
from lockstitch.rollout.recorder import Recorder
from lockstitch.rollout.repair import apply_repair, plan_repair
from lockstitch.rollout.scan import HARMLESS, Damage, Record, read_tail, scan

AT = "2026-12-01T02:40:11.123456Z"
PAYLOADS = [
    b"{}",
    b'{"message":"h\xc3\xa9llo"}',
    b'{"a":{"sum":"0123456789abcdef"}}',
    b'{"nested":[{"sequence":3,"at":"x"},{"sequence":4,"at":"2026","sum":"0123456789abcdef"}]}',
    b'{"text":"\\"}{\\"sequence\\":9,\\"at\\":\\""}',
    b'{"long":"' + b"x" * 200 + b'"}',
]

Cell = tuple[int, int | None]
"""A byte, and which line it came from (LFs and bytes from elsewhere: None)."""


def rollout(appends: list[list[int]]) -> list[bytes]:
    lines: list[bytes] = []
    previous = b""
    for payloads in appends:
        first = len(lines) + 1
        drafts = [Draft("acme.event", PAYLOADS[p], f"evt_{first + n}", AT, "turn_1") for n, p in enumerate(payloads)]
        made = encode_append(first, drafts, previous)
        lines += [line[:-1] for line in made.lines]
        previous = made.sum
    return lines


files = st.lists(st.lists(st.integers(0, len(PAYLOADS) - 1), min_size=1, max_size=3), min_size=1, max_size=5).map(
    rollout
)
places = st.floats(0, 1, exclude_max=True)
damages = st.tuples(
    st.sampled_from(["flip", "delete", "insert", "zero", "unline", "truncate", "line feed", "drop line"]),
    places,
    st.integers(1, 60),
    st.sampled_from(
        [b"\n", b"\0" * 7, b"garbage", b"\xff\xfe", b"\r", b'{"sequence":2,"at":"', b'"}{"sequence":', b" \n"]
    ),
)


def damaged(cells: list[Cell], what: str, place: float, length: int, inserted: bytes) -> list[Cell]:
    at = int(place * len(cells))
    if what == "flip" and cells:
        cells[at] = (cells[at][0] ^ (1 << length % 8), None)
    elif what == "delete":
        del cells[at : at + length]
    elif what == "insert":
        cells[at:at] = [(byte, None) for byte in inserted]
    elif what == "zero":
        cells[at : at + length] = [(0, None) for _ in cells[at : at + length]]
    elif what == "unline":
        feeds = [n for n, cell in enumerate(cells) if cell[0] == 10]
        if feeds:
            del cells[feeds[int(place * len(feeds))]]
    elif what == "line feed" and cells:
        cells[at] = (10, None)
    elif what == "truncate":
        del cells[at:]
    elif what == "drop line" and cells:
        gone = cells[at][1]
        cells = [cell for cell in cells if cell[1] != gone or gone is None]
    return cells


def intact(cells: list[Cell], lines: list[bytes]) -> dict[int, int]:
    """Which lines are still there whole, and where."""
    places: dict[int, list[int]] = {}
    for at, (_, number) in enumerate(cells):
        if number is not None:
            places.setdefault(number, []).append(at)
    return {
        number: ats[0]
        for number, ats in places.items()
        if len(ats) == len(lines[number]) and ats[-1] - ats[0] + 1 == len(ats)
    }


def cells_of(lines: list[bytes]) -> list[Cell]:
    cells: list[Cell] = []
    for number, line in enumerate(lines):
        cells += [(byte, number) for byte in line]
        cells.append((10, None))
    return cells


def read_all(data: bytes) -> tuple[list[Record], list[Damage]]:
    found = list(scan(io.BytesIO(data), 0, len(data), previous_sum=b"", next_sequence=1))
    return [f for f in found if isinstance(f, Record)], [f for f in found if isinstance(f, Damage)]


def assert_every_byte_is_accounted_for(data: bytes, records: list[Record], damages: list[Damage]) -> None:
    seen = bytearray(len(data))
    for record in records:
        assert data[record.offset : record.end] == record.data
        assert not any(seen[record.offset : record.end])
        seen[record.offset : record.end] = b"\1" * len(record.data)
        if data[record.end : record.end + 1] == b"\n":
            seen[record.end] = 1
    for damage in damages:
        assert 0 <= damage.start <= damage.end <= len(data)
        seen[damage.start : damage.end] = b"\1" * (damage.end - damage.start)
    assert seen.count(1) == len(data), (seen.find(0), records, damages)


@given(files)
def test_a_good_file_is_read_whole(lines: list[bytes]) -> None:
    records, damage = read_all(b"\n".join(lines) + b"\n")
    assert [record.data for record in records] == lines
    assert all(record.chained and record.proven for record in records)
    assert not damage


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(files, st.lists(damages, min_size=1, max_size=1))
def test_one_damage_costs_only_itself(lines: list[bytes], hurts: list[tuple[str, float, int, bytes]]) -> None:
    check_damage(lines, hurts)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(files, st.lists(damages, min_size=2, max_size=4))
def test_several_damages_cost_only_themselves(lines: list[bytes], hurts: list[tuple[str, float, int, bytes]]) -> None:
    check_damage(lines, hurts)


def check_damage(lines: list[bytes], hurts: list[tuple[str, float, int, bytes]]) -> None:
    cells = cells_of(lines)
    for hurt in hurts:
        cells = damaged(cells, *hurt)
    data = bytes(cell[0] for cell in cells)
    whole = intact(cells, lines)
    records, damage = read_all(data)
    note(f"{data!r}\n{whole}\n{[(r.offset, r.line.sequence, r.proven) for r in records]}\n{damage}")
    assert_every_byte_is_accounted_for(data, records, damage)
    read = {record.offset: record for record in records}
    for number, at in whole.items():
        assert at in read, f"line {number + 1} at {at} is whole and was not read"
        assert read[at].data == lines[number]
    originals = set(lines)
    assert all(record.data in originals for record in records if record.proven)
    sequences = [record.line.sequence for record in records]
    assert sequences == sorted(set(sequences))
    cut_off = set(range(max(sequences, default=0) + 1, len(lines) + 1))
    if set(range(1, len(lines) + 1)) - set(sequences) - cut_off:
        assert any(d.reason not in HARMLESS for d in damage)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files, st.lists(damages, min_size=0, max_size=2), st.sampled_from(["gone", "all", "some"]))
def test_repairing_twice_is_repairing_once(
    lines: list[bytes], hurts: list[tuple[str, float, int, bytes]], knows: str
) -> None:
    whole_file = b"\n".join(lines) + b"\n"
    cells = cells_of(lines)
    for hurt in hurts:
        cells = damaged(cells, *hurt)
    data = bytes(cell[0] for cell in cells)
    ends = [n + 1 for n, byte in enumerate(whole_file) if byte == 10]
    known_size = {"gone": None, "all": len(whole_file), "some": ends[len(ends) // 2]}[knows]
    known_sum = None if known_size is None else whole_file[:known_size][-19:-3]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollout.jsonl"
        path.write_bytes(data)
        recorder = Recorder.open(path)
        plan = plan_repair(recorder.fd, len(data), known_size=known_size, known_sum=known_sum)
        assert plan == plan_repair(recorder.fd, len(data), known_size=known_size, known_sum=known_sum)
        if plan is not None:
            assert plan.damages
            apply_repair(recorder, plan, Path(folder) / "quarantine", "thread_1")
        once = path.read_bytes()
        kept = sorted(os.walk(folder))
        again = plan_repair(recorder.fd, len(once), known_size=known_size, known_sum=known_sum)
        if again is not None:
            assert again.keep == again.size == len(once)
            assert not again.reappend
            apply_repair(recorder, again, Path(folder) / "quarantine", "thread_1")
        assert path.read_bytes() == once
        assert sorted(os.walk(folder)) == kept
        assert read_tail(recorder.fd, len(once)).last_sum is not None, "the next append has something to follow"
        recorder.close()
    if plan is None or not any(damage.reason == "tornAppend" for damage in plan.damages if damage.end > damage.start):
        before = {record.data for record in read_all(data)[0]}
        after = {record.data for record in read_all(once)[0]}
        assert before == after, "a repair keeps all that can be read"
