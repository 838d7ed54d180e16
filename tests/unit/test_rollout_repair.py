"""Recovery cuts only the tail, keeps every byte it cuts, and says whether anything committed is lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lockstitch.errors import StorageError
from lockstitch.platform import files
from lockstitch.rollout.line import Draft, encode_append
from lockstitch.rollout.recorder import Recorder
from lockstitch.rollout.repair import QuarantinedRange, Repair, apply_repair, plan_repair
from lockstitch.rollout.scan import Damage, Record, read_tail, scan

AT = "2026-12-01T02:40:11.123456Z"


def appends(*counts: int) -> list[list[bytes]]:
    """One list of lines an append."""
    made: list[list[bytes]] = []
    sequence, previous = 1, b""
    for count in counts:
        drafts = [Draft("acme.event", b'{"n":%d}' % n, f"evt_{n}", AT) for n in range(sequence, sequence + count)]
        encoded = encode_append(sequence, drafts, previous)
        made.append(encoded.lines)
        sequence, previous = sequence + count, encoded.sum
    return made


def joined(*lines: list[bytes]) -> bytes:
    return b"".join(b"".join(append) for append in lines)


class Bench:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "rollout.jsonl"
        self.quarantine = folder / "quarantine"

    def write(self, data: bytes) -> None:
        self.path.write_bytes(data)

    def plan(self, known: bytes | None) -> Repair | None:
        """`known`: the bytes that the projection knows."""
        fd = os.open(self.path, os.O_RDONLY)
        try:
            return plan_repair(
                fd,
                os.fstat(fd).st_size,
                known_size=None if known is None else len(known),
                known_sum=None if known is None else known[-19:-3],
            )
        finally:
            os.close(fd)

    def repair(self, plan: Repair) -> list[QuarantinedRange]:
        recorder = Recorder.open(self.path)
        try:
            return apply_repair(recorder, plan, self.quarantine, "thread_1")
        finally:
            recorder.close()

    def sequences(self) -> list[int]:
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            found = list(scan(file, 0, size, previous_sum=b"", next_sequence=1))
        return [f.line.sequence for f in found if isinstance(f, Record)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def planned(plan: Repair | None) -> Repair:
    assert plan is not None
    return plan


@pytest.mark.parametrize("gone", [True, False])
def test_a_clean_file_needs_nothing(bench: Bench, gone: bool) -> None:
    data = joined(*appends(1, 3, 1))
    bench.write(data)
    assert bench.plan(None if gone else data) is None


def test_lines_that_the_projection_has_not_seen_need_nothing(bench: Bench) -> None:
    one, two, three = appends(1, 3, 1)
    bench.write(joined(one, two, three))
    assert bench.plan(joined(one)) is None
    assert bench.plan(b"") is None


def test_an_empty_file_has_lost_all(bench: Bench) -> None:
    """A rollout appears with its first line in it. Nothing is lost only if the projection knows that it is empty."""
    bench.write(b"")
    plan = planned(bench.plan(None))
    assert [damage.reason for damage in plan.damages] == ["missing"]
    assert plan.committed_lost
    assert bench.plan(b"") is None


def test_a_torn_tail_of_what_was_committed_costs_only_the_tear(bench: Bench) -> None:
    one, ten = appends(1, 10)
    whole = joined(one, ten)
    bench.write(whole[:-25])
    for known in (whole, None):
        plan = planned(bench.plan(known))
        keep = len(joined(one, ten[:-1]))
        assert plan == Repair(len(whole) - 25, keep, (Damage(keep, len(whole) - 25, "torn"),), (), True)
    (kept,) = bench.repair(planned(bench.plan(whole)))
    assert kept.path is not None
    assert kept.path.read_bytes() == ten[-1][:-25]
    assert kept.path.parent == bench.quarantine / "thread_1"
    assert bench.path.read_bytes() == joined(one, ten[:-1])
    assert bench.sequences() == list(range(1, 11))


def test_an_append_that_was_never_answered_is_set_aside_whole(bench: Bench) -> None:
    one, three = appends(2, 3)
    for torn in (joined(three)[:-5], joined(three[:-1]), joined(three[:1]), joined(three[:2])[:-1]):
        bench.write(joined(one) + torn)
        plan = planned(bench.plan(joined(one)))
        start = len(joined(one))
        assert plan == Repair(start + len(torn), start, (Damage(start, start + len(torn), "tornAppend"),), (), False)
        (kept,) = bench.repair(plan)
        assert kept.path is not None
        assert kept.path.read_bytes() == torn
        assert bench.path.read_bytes() == joined(one)
        assert bench.plan(joined(one)) is None


def test_a_tail_that_was_never_answered_is_set_aside_without_the_flag(bench: Bench) -> None:
    one, two = appends(2, 1)
    for tear in (joined(two)[:-5], b"\0" * 4096):
        bench.write(joined(one) + tear)
        plan = planned(bench.plan(joined(one)))
        assert plan.keep == len(joined(one))
        assert not plan.committed_lost


def test_committed_lines_cut_off_at_a_line_feed_are_missed(bench: Bench) -> None:
    one, three = appends(1, 3)
    whole = joined(one, three)
    for left in (joined(one), joined(one, three[:1]), b""):
        bench.write(left)
        plan = planned(bench.plan(whole))
        assert plan == Repair(len(left), len(left), (Damage(len(left), len(left), "missing"),), (), True)
        assert bench.repair(plan) == [QuarantinedRange(len(left), len(left), "missing", None)]


def test_an_open_append_without_a_projection_stays_and_is_told(bench: Bench) -> None:
    one, three = appends(1, 3)
    data = joined(one, three[:2])
    bench.write(data)
    plan = planned(bench.plan(None))
    assert plan == Repair(len(data), len(data), (Damage(len(data), len(data), "tornAppend"),), (), True)
    assert bench.plan(data) is None, "once the projection knows the lines, a promise of more is no further damage"


def test_a_whole_last_line_without_its_line_feed_is_given_one(bench: Bench) -> None:
    one, two = appends(2, 1)
    whole = joined(one, two)
    for known in (whole, joined(one), None):
        bench.write(whole[:-1])
        plan = planned(bench.plan(known))
        end = len(whole) - 1
        assert plan == Repair(end, end, (Damage(end, end, "unterminated"),), (b"\n",), False)
        bench.repair(plan)
        assert bench.path.read_bytes() == whole
        assert bench.plan(known if known == joined(one) else whole) is None


def test_a_record_glued_to_the_front_of_the_next_is_kept(bench: Bench) -> None:
    one, two, three = appends(1, 1, 1)
    bench.write(joined(one) + joined(two)[:-1] + joined(three)[:20])
    plan = planned(bench.plan(joined(one)))
    assert plan.keep == len(joined(one, two)) - 1
    bench.repair(plan)
    assert bench.path.read_bytes() == joined(one, two)


def test_damage_before_the_tail_is_copied_and_left_where_it_is(bench: Bench) -> None:
    first, two, three, four = appends(1, 1, 1, 1)
    bad = joined(two).replace(b"acme", b"ac\0e")
    data = joined(first) + bad + joined(three) + joined(four)[:-3]
    bench.write(data)
    plan = planned(bench.plan(joined(first)))
    assert plan.committed_lost, "a line that an LF closes may have been answered"
    kept = bench.repair(plan)
    assert [(one.start, one.end, one.reason) for one in kept] == [
        (len(joined(first)), len(joined(first)) + len(bad), "nul"),
        (len(joined(first)) + len(bad) + len(joined(three)), len(data), "torn"),
    ]
    assert [one.path.read_bytes() for one in kept if one.path] == [bad, joined(four)[:-3]]
    assert bench.path.read_bytes() == joined(first) + bad + joined(three)
    assert bench.plan(bench.path.read_bytes()) is None


def test_a_rotten_last_line_is_kept_and_told(bench: Bench) -> None:
    one, two = appends(1, 1)
    data = joined(one, two)[:-5] + b"zz" + joined(two)[-3:]
    bench.write(data)
    for known in (joined(one, two), None):
        plan = planned(bench.plan(known))
        assert plan.keep == len(data)
        assert plan.committed_lost
    with bench.path.open("rb") as file:
        tail = read_tail(file, len(data))
    assert tail.last_sum is not None


def test_dying_before_the_cut_makes_the_same_plan_and_copies_nothing_twice(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = appends(1, 1)
    bench.write(joined(one, two)[:-5])

    def die(*_: object, **__: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "cut_back", die)
        with pytest.raises(KeyboardInterrupt):
            bench.repair(planned(bench.plan(joined(one))))
    assert bench.path.read_bytes() == joined(one, two)[:-5]
    bench.repair(planned(bench.plan(joined(one))))
    assert bench.path.read_bytes() == joined(one)
    assert len(list((bench.quarantine / "thread_1").iterdir())) == 1


def test_nothing_is_cut_if_the_copy_cannot_be_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = appends(1, 1)
    bench.write(joined(one, two)[:-5])

    def full(fd: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_all", full)
    with pytest.raises(StorageError) as caught:
        bench.repair(planned(bench.plan(joined(one))))
    assert caught.value.kind == "storageFull"
    assert bench.path.read_bytes() == joined(one, two)[:-5]
    assert not list((bench.quarantine / "thread_1").iterdir())


def test_a_file_that_grew_since_the_plan_is_not_touched(bench: Bench) -> None:
    one, two = appends(1, 1)
    bench.write(joined(one, two)[:-5])
    plan = planned(bench.plan(joined(one)))
    bench.write(joined(one, two))
    with pytest.raises(StorageError):
        bench.repair(plan)
    assert bench.path.read_bytes() == joined(one, two)
