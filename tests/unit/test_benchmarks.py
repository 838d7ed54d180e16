"""What a report of the benchmarks says of itself and of the one before it. Nothing is measured here."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("msgspec")
from benchmarks import report, soak_report
from benchmarks.measure import Floor, LeftOut, Row, Sample, at_least, at_most, below

REPORTS = sorted(Path(report.HERE).glob("*.json"))


def run(*rows: Row, loop: tuple[float, ...] = (10.0,)) -> report.Run:
    samples = {"a loop": Sample(loop)}
    yardsticks = SimpleNamespace(samples=samples, busy=max(loop) > min(loop) * 1.5)
    return report.Run(list(rows), [], 1.0, [], cast(Any, yardsticks))


def row(key: str, ours: tuple[float, ...], floor: tuple[float, ...] = (1.0,), unit: str = "ms") -> Row:
    return Row(key, f"what {key} is", unit, Sample(ours), (Floor("bare", Sample(floor)),))


def test_two_rows_of_one_key_are_refused() -> None:
    """A later report would compare one of them with the other."""
    with pytest.raises(ValueError, match="import"):
        report.as_json(run(row("import", (1.0,)), row("import", (60.0,))))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_committed_reports_have_a_row_a_key(path: Path) -> None:
    rows = json.loads(path.read_bytes()).get("rows", [])
    assert [key for key, count in Counter(row["key"] for row in rows).items() if count > 1] == []


def test_only_ratios_are_compared() -> None:
    """A machine that is twice as slow for both is no regression; a ratio that is a fifth worse is one."""
    before = report.as_json(run(row("a", (10.0, 10.1, 10.2), (5.0, 5.0, 5.0))))
    assert report.worse_than_before(run(row("a", (20.0, 20.2, 20.4), (10.0, 10.0, 10.0))), before) == []
    worse = report.worse_than_before(run(row("a", (13.0, 13.1, 13.2), (5.0, 5.0, 5.0)), loop=(10.0, 20.0)), before)
    assert worse[0] == "what a is: ratio 2.02 then, 2.62 now"
    assert worse[1] == "(the machines: a loop: 10 then, 15 now; with other work now)"


def test_rates_are_worse_when_they_are_less() -> None:
    before = report.as_json(run(row("a", (100.0,), (100.0,), "events/s")))
    assert report.worse_than_before(run(row("a", (130.0,), (100.0,), "events/s")), before) == []
    assert report.worse_than_before(run(row("a", (70.0,), (100.0,), "events/s")), before)


def test_what_lies_within_the_spread_is_not_named() -> None:
    before = report.as_json(run(row("a", (10.0, 12.0, 20.0), (10.0, 10.0, 10.0))))
    assert report.worse_than_before(run(row("a", (15.0, 16.0, 17.0), (10.0, 10.0, 10.0))), before) == []


def test_every_goal_or_one_of_them() -> None:
    """`every` asks for all; without it one is enough."""
    sample, floors = Sample((3.0,)), (Floor("bare", Sample((3.0,))),)
    assert Row("a", "", "ms", sample, floors, (below(2), at_most(1.2))).met
    assert not Row("a", "", "ms", sample, floors, (below(2), at_most(1.2)), every=True).met
    assert Row("a", "", "ms", sample, floors, (at_least(1), at_most(1.2)), every=True).met


def test_a_report_tells_all_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, how many goals are met, what was left out or failed, what the machine did, and the chart of growth."""
    monkeypatch.setattr(report, "HERE", tmp_path)
    floors = (Floor("1 ×", Sample((2.0,))), Floor("10 ×", Sample((2.0,))))
    grown = Row("growth.list", "a list, on 100 × the data", "ms", Sample((2.2,)), floors, (at_most(1.5),))
    plain = row("a|b", (3.0,))
    found = report.Run(
        [grown, plain], [LeftOut("a program", "it is not built")], 9.0, ["reads: gone"], run().yardsticks
    )
    assert report.write("report", found) == []
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for part in (
        "1 of 1 goals are met",
        "| a list, on 100 × the data | 2.2 ms | 1 ×: 2<br>10 ×: 2 | 1.1 × | ≤ 1.5 × | yes |",
        "what a\\|b is",
        "- a program: it is not built",
        "- reads: gone",
        "The machine meanwhile: a loop: 10.",
    ):
        assert part in text, part
    assert ("growth.svg" in text) == (tmp_path / "growth.svg").exists()
    saved = json.loads((tmp_path / "report.json").read_bytes())
    assert [each["key"] for each in saved["rows"]] == ["growth.list", "a|b"]


def soaked(resident: int, handles: int) -> soak_report.Run:
    """An hour in which a process goes from 60 MiB and 30 handles to what is given."""
    samples: list[dict[str, Any]] = []
    for number in range(12):
        share = number / 11
        process = {
            "resident": (60 << 20) + (resident - (60 << 20)) * share,
            "handles": round(30 + (handles - 30) * share),
            "append": {"median": 1.0},
        }
        samples.append({"processes": [process], "raw": 0.1, "loop": 5.0, "late": {"median": 100.0}, "wal": 4 << 20})
    return soak_report.Run("c", 3600, 200, 3600, 1, 1, (), "", tuple(samples))


def test_what_grows_in_an_hour_is_told() -> None:
    judged = {each.what: each.flat for each in soak_report.judge(soaked(61 << 20, 31))}
    assert set(judged.values()) == {True}
    judged = {each.what: each.flat for each in soak_report.judge(soaked(160 << 20, 60))}
    assert not judged["resident, process 1"]
    assert not judged["open handles, process 1"]
    assert judged["write-ahead log, most"]
