"""The table of a run: on the terminal, as Markdown, as JSON, and against the report before it.

Invariant: no path, host name or user name of the machine is in a report.
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks import chart
from benchmarks.measure import LeftOut, Row, Sample, number
from benchmarks.yardstick import Yardsticks, beside

HERE = Path(__file__).with_name("report")
_WORSE = 1.2
"""A ratio that is so much worse than in the report before is named."""


def machine() -> dict[str, Any]:
    """What may be said of the machine."""
    return {
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "system": platform.system(),
    }


@dataclass(frozen=True, slots=True)
class Run:
    """What a run found."""

    rows: list[Row]
    left_out: list[LeftOut]
    seconds: float
    problems: list[str]
    yardsticks: Yardsticks


def as_json(run: Run) -> bytes:
    """Raises ValueError where two rows have one key: a later report would compare the wrong things."""
    doubled = [key for key, count in Counter(row.key for row in run.rows).items() if count > 1]
    if doubled:
        raise ValueError(f"several rows have the key {', '.join(doubled)}")
    value = {
        "machine": machine(),
        "yardsticks": {name: _spread(sample) for name, sample in run.yardsticks.samples.items()},
        "busy": run.yardsticks.busy,
        "seconds": round(run.seconds, 1),
        "rows": [_plain(row) for row in run.rows],
    }
    if run.left_out:
        value["leftOut"] = [f"{each.what}: {each.why}" for each in run.left_out]
    if run.problems:
        value["problems"] = run.problems
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _plain(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {"key": row.key, "what": row.what, "unit": row.unit, "ours": _spread(row.ours)}
    found["floors"] = [{"name": floor.name, **_spread(floor.sample)} for floor in row.floors]
    if row.ratio is not None:
        found["ratio"] = _spread(row.ratio)
    if row.goals:
        found["goal"] = goal_of(row)
        found["met"] = row.met
    if row.note:
        found["note"] = row.note
    return found


def _spread(sample: Sample) -> dict[str, float]:
    return {"median": sample.median, "min": sample.low, "max": sample.high, "rounds": len(sample.values)}


def goal_of(row: Row) -> str:
    return (" and " if row.every else " or ").join(goal.text(row.unit) for goal in row.goals)


def line(row: Row) -> str:
    """One row for the terminal."""
    parts = [f"{row.what}: {_told(row.ours)} {row.unit}"]
    parts += [f"{floor.name} {_told(floor.sample)}" for floor in row.floors]
    if row.ratio is not None:
        parts.append(f"ratio {_told(row.ratio)}")
    if row.goals:
        parts.append(f"goal {goal_of(row)}: {'met' if row.met else 'NOT MET'}")
    return " | ".join(parts)


def _told(sample: Sample) -> str:
    if len(sample.values) == 1:
        return number(sample.median)
    return f"{number(sample.median)} ({number(sample.low)}–{number(sample.high)})"


def as_markdown(run: Run, worse: list[str]) -> str:
    facts = machine()
    yardsticks = "; ".join(f"{name}: {_told(sample)}" for name, sample in run.yardsticks.samples.items())
    busy = (
        " **It had other work during the run: single values may be off, ratios less so.**"
        if run.yardsticks.busy
        else ""
    )
    met = [row.met for row in run.rows if row.met is not None]
    text = [
        "# Benchmarks",
        "",
        f"{facts['processors']} processors, {facts['system']}, Python {facts['python']}, SQLite {facts['sqlite']}. "
        f"The run took {run.seconds:.0f} s; {sum(met)} of {len(met)} goals are met.",
        "",
        f"The machine meanwhile: {yardsticks}.{busy}",
        "",
        "Each value is the median of its rounds, with the least and the greatest. Ours and the floors are measured in "
        "turns in one run; the ratio is the median of the rounds' ratios to the first floor. For times less is better, "
        "for things a second more.",
        "",
        "| what | ours | floors | ratio | goal | met |",
        "|---|---|---|---|---|---|",
    ]
    for row in run.rows:
        floors = "<br>".join(f"{floor.name}: {_told(floor.sample)}" for floor in row.floors)
        what = row.what + (f"<br>*{row.note}*" if row.note else "")
        ratio = _told(row.ratio) + " ×" if row.ratio is not None else ""
        met = "" if row.met is None else "yes" if row.met else "**no**"
        cells = (what, f"{_told(row.ours)} {row.unit}", floors, ratio, goal_of(row), met)
        text.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    if run.left_out:
        text += ["", "Left out on this machine:", "", *[f"- {each.what}: {each.why}" for each in run.left_out]]
    if run.problems:
        text += ["", "Not measured:", "", *[f"- {problem}" for problem in run.problems]]
    if worse:
        text += ["", "Worse than in the report before:", "", *[f"- {entry}" for entry in worse]]
    return "\n".join(text) + "\n"


def worse_than_before(run: Run, before: bytes | None) -> list[str]:
    """Rows whose ratio to their floor is more than a fifth worse than in an earlier report, beyond the spread of both.

    Nothing but ratios is compared: the two machines, or what else they had to do, may differ. Their yardsticks are
    told beside.
    """
    if before is None:
        return []
    earlier = msgspec.json.decode(before)
    known = {row["key"]: row for row in earlier["rows"]}
    found: list[str] = []
    for row in run.rows:
        old, new = known.get(row.key, {}).get("ratio"), row.ratio
        if new is None or old is None:
            continue
        if row.unit.endswith("/s"):
            change, apart = old["median"] / new.median, new.high < old["min"]
        else:
            change, apart = new.median / old["median"], new.low > old["max"]
        if change > _WORSE and apart:
            found.append(f"{row.what}: ratio {number(old['median'])} then, {number(new.median)} now")
    if found:
        machines = beside(run.yardsticks.samples, earlier.get("yardsticks", {}))
        busy = [name for name, is_so in (("then", earlier.get("busy")), ("now", run.yardsticks.busy)) if is_so]
        if machines:
            found.append(f"(the machines: {machines}{'; with other work ' + ' and '.join(busy) if busy else ''})")
    return found


def write(name: str, run: Run) -> list[str]:
    """Write the report of that name in the repository; what got worse since the one that was there."""
    HERE.mkdir(exist_ok=True)
    target = HERE / f"{name}.json"
    found = as_json(run)
    worse = worse_than_before(run, target.read_bytes() if target.exists() else None)
    target.write_bytes(found)
    text = as_markdown(run, worse)
    drawn = f"growth{name.removeprefix('report')}.svg"
    if chart.draw(run.rows, HERE / drawn):
        text += f"\n![The same requests on 1, 10 and 100 times the data]({drawn})\n"
    (HERE / f"{name}.md").write_text(text, encoding="utf-8")
    return worse
