"""The table of a run: on the terminal, as Markdown, as JSON, and against the report before it.

Invariant: no path, host name or user name of the machine is in a report.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks import chart
from benchmarks.measure import Row, Sample, number

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


def as_json(rows: list[Row], seconds: float, problems: list[str]) -> bytes:
    value = {"machine": machine(), "seconds": round(seconds, 1), "rows": [_plain(row) for row in rows]}
    if problems:
        value["problems"] = problems
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
    return " or ".join(goal.text(row.unit) for goal in row.goals)


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


def as_markdown(rows: list[Row], seconds: float, worse: list[str], problems: list[str]) -> str:
    facts = machine()
    text = [
        "# Benchmarks",
        "",
        f"{facts['processors']} processors, {facts['system']}, Python {facts['python']}, SQLite {facts['sqlite']}. "
        f"The run took {seconds:.0f} s.",
        "",
        "Each value is the median of its rounds, with the least and the greatest. Ours and the floors are measured in "
        "turns in one run; the ratio is the median of the rounds' ratios to the first floor. For times less is better, "
        "for things a second more.",
        "",
        "| what | ours | floors | ratio | goal | met |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        floors = "<br>".join(f"{floor.name}: {_told(floor.sample)}" for floor in row.floors)
        what = row.what + (f"<br>*{row.note}*" if row.note else "")
        ratio = _told(row.ratio) + " ×" if row.ratio is not None else ""
        met = "" if row.met is None else "yes" if row.met else "**no**"
        cells = (what, f"{_told(row.ours)} {row.unit}", floors, ratio, goal_of(row), met)
        text.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    if problems:
        text += ["", "Not measured:", "", *[f"- {problem}" for problem in problems]]
    if worse:
        text += ["", "Worse than in the report before:", "", *[f"- {entry}" for entry in worse]]
    return "\n".join(text) + "\n"


def worse_than_before(rows: list[Row], before: bytes | None) -> list[str]:
    """Rows whose ratio to their floor is more than a fifth worse than in an earlier report."""
    if before is None:
        return []
    earlier = {row["key"]: row for row in msgspec.json.decode(before)["rows"]}
    found: list[str] = []
    for row in rows:
        old = earlier.get(row.key, {}).get("ratio")
        if row.ratio is None or old is None:
            continue
        more_is_better = row.unit.endswith("/s")
        change = old["median"] / row.ratio.median if more_is_better else row.ratio.median / old["median"]
        if change > _WORSE:
            found.append(f"{row.what}: ratio {number(old['median'])} then, {number(row.ratio.median)} now")
    return found


def write(name: str, rows: list[Row], seconds: float, problems: list[str]) -> list[str]:
    """Write the report of that name in the repository; what got worse since the one that was there."""
    HERE.mkdir(exist_ok=True)
    target = HERE / f"{name}.json"
    worse = worse_than_before(rows, target.read_bytes() if target.exists() else None)
    target.write_bytes(as_json(rows, seconds, problems))
    text = as_markdown(rows, seconds, worse, problems)
    if chart.draw(rows, HERE / "growth.svg"):
        text += "\n![The same requests on 1, 10 and 100 times the data](growth.svg)\n"
    (HERE / f"{name}.md").write_text(text, encoding="utf-8")
    return worse
