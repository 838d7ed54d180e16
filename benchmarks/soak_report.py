"""What an hour of `python -m tests.soak_hour` showed: judged, told, written with its chart.

What the last sixth of the run shows is held beside its third: until then what is bounded fills up (SQLite's pages, 16
MiB for the writer and one for each reader; contents and diffs at hand, a few MiB; hashes of the ids of long threads).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.measure import number

HERE = Path(__file__).with_name("report")
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Run:
    """One run and its samples."""

    commit: str
    seconds: float
    rate: int
    took: float
    appended: int
    threads_ended: int
    faults: tuple[str, ...]
    note: str
    samples: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """Something that must stay flat."""

    what: str
    unit: str
    early: float
    late: float
    bound: str
    flat: bool


def judge(run: Run) -> list[Judged]:
    """Each thing in the third sixth of the run and in the last."""
    sixth = max(1, len(run.samples) // 6)
    early, late = run.samples[2 * sixth : 3 * sixth] or run.samples, run.samples[-sixth:]

    def middle(samples: tuple[dict[str, Any], ...], value: Callable[[dict[str, Any]], float]) -> float:
        return statistics.median(map(value, samples))

    found: list[Judged] = []
    for index in range(len(run.samples[0]["processes"])):

        def of(key: str, factor: float = 1, index: int = index) -> Callable[[dict[str, Any]], float]:
            return lambda sample: sample["processes"][index][key] * factor

        def took(sample: dict[str, Any], index: int = index) -> float:
            return sample["processes"][index]["append"].get("median", 0.0)

        name = f"process {index + 1}"
        before, after = (middle(part, of("resident", 1 / _MIB)) for part in (early, late))
        found.append(
            Judged(
                f"resident, {name}",
                "MiB",
                before,
                after,
                "≤ 1.15 × or 8 MiB more",
                after <= max(before * 1.15, before + 8),
            )
        )
        before, after = (middle(part, of("handles")) for part in (early, late))
        found.append(Judged(f"open handles, {name}", "", before, after, "no more than 2 more", after <= before + 2))
        before, after = (middle(part, took) for part in (early, late))
        slower = max(1.0, *(_grown(early, late, name) for name in ("raw", "loop")))
        bound = "≤ 1.5 × as a raw append on this disk or a bare loop goes"
        found.append(Judged(f"an append's median, {name}", "ms", before, after, bound, after <= before * 1.5 * slower))
    before, after = (middle(part, lambda sample: sample["late"].get("median", 0.0)) for part in (early, late))
    found.append(Judged("heard by the other process, median", "ms", before, after, "≤ 250 ms", after <= 250))
    before, after = (max(sample["wal"] for sample in part) / _MIB for part in (early, late))
    found.append(
        Judged("write-ahead log, most", "MiB", before, after, "≤ 1.5 × or 16 MiB", after <= max(before * 1.5, 16))
    )
    return found


def _grown(early: tuple[dict[str, Any], ...], late: tuple[dict[str, Any], ...], name: str) -> float:
    """How many times slower one of the machine's own figures is late than early; 1 where it was not taken."""
    before, after = ([sample[name] for sample in part if name in sample] for part in (early, late))
    return statistics.median(after) / statistics.median(before) if before and after else 1.0


def told(run: Run, judged: list[Judged]) -> Iterator[str]:
    """Lines for the terminal."""
    yield f"{run.appended:,} events in {run.took:.0f} s, {run.threads_ended} threads ended, commit {run.commit}"
    for each in judged:
        grown = "flat" if each.flat else "GROWN"
        values = f"{number(each.early)} then, {number(each.late)} {each.unit} at the end"
        yield f"{each.what}: {values} ({each.bound}): {grown}"
    yield f"{len(run.faults)} faults"
    yield from run.faults[:20]


def write(run: Run, judged: list[Judged]) -> None:
    """`soak.json`, `soak.md` and, where matplotlib is installed, `soak.svg`."""
    HERE.mkdir(exist_ok=True)
    plain = {**asdict(run), "judged": [asdict(each) for each in judged]}
    (HERE / "soak.json").write_bytes(msgspec.json.encode(plain) + b"\n")
    last = run.samples[-1]
    text = [
        "# An hour" if run.seconds == 3600 else f"# {run.seconds:,.0f} seconds",
        "",
        f"`python -m tests.soak_hour`, {run.rate} events a second over two processes on one data root, "
        f"20 subscriptions, on commit {run.commit}: {run.appended:,} events, {run.threads_ended} threads ended and as "
        f"many begun, {last['rollouts'] / _MIB:,.0f} MiB of rollouts and a database of "
        f"{last['database'] / _MIB:,.0f} MiB at the end.",
    ]
    if run.note:
        text += ["", run.note]
    text += ["", "| what | third sixth | last sixth | bound | flat |", "|---|---|---|---|---|"]
    for each in judged:
        flat = "yes" if each.flat else "**no**"
        unit = f" {each.unit}".rstrip()
        text.append(f"| {each.what} | {number(each.early)}{unit} | {number(each.late)}{unit} | {each.bound} | {flat} |")
    rate = statistics.median(sample["rate"] for sample in run.samples)
    used = [statistics.median(s["processes"][i]["processor"] for s in run.samples) * 100 for i in (0, 1)]
    text += ["", f"{rate:.0f} events a second were kept; {used[0]:.1f} and {used[1]:.1f} % of a core. "]
    text[-1] += (
        f"{len(run.faults)} events were missed, doubled, out of order or refused."
        if run.faults
        else ("Every subscription heard every event once, in order, and `storage/verify` found nothing afterwards.")
    )
    text += [f"- {fault}" for fault in run.faults[:20]]
    if draw(run, HERE / "soak.svg"):
        text += ["", "![Memory, handles, write-ahead log and latency over the run](soak.svg)"]
    (HERE / "soak.md").write_text("\n".join(text) + "\n", encoding="utf-8")


def draw(run: Run, target: Path) -> bool:
    """The chart; False where matplotlib is not installed."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return False
    mpl.rcParams["svg.hashsalt"] = "soak"
    figure = Figure(figsize=(9, 10), layout="constrained")
    memory, handles, log, latency = figure.subplots(4, 1, sharex=True)
    minutes = [sample["at"] / 60 for sample in run.samples]
    for index in range(len(run.samples[0]["processes"])):
        of = [sample["processes"][index] for sample in run.samples]
        name = f"process {index + 1}"
        memory.plot(minutes, [each["resident"] / _MIB for each in of], label=name)
        handles.plot(minutes, [each["handles"] for each in of], label=name)
        latency.plot(minutes, [each["append"].get("median") for each in of], label=f"append, median, {name}")
    latency.plot(
        minutes,
        [max(each["append"].get("p99", 0.0) for each in sample["processes"]) for sample in run.samples],
        label="append, 99th percentile, the slower process",
        linewidth=0.7,
    )
    latency.plot(minutes, [sample["late"].get("median") for sample in run.samples], label="heard by the other process")
    latency.plot(minutes, [sample["raw"] for sample in run.samples], label="raw append + fdatasync", color="grey")
    latency.plot(minutes, [sample.get("loop") for sample in run.samples], label="a bare loop in Python", color="black")
    log.plot(minutes, [sample["wal"] / _MIB for sample in run.samples], label="write-ahead log")
    for axes, unit in ((memory, "resident, MiB"), (handles, "open handles"), (log, "MiB"), (latency, "ms")):
        axes.set_ylabel(unit)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    for axes in (memory, handles, log):
        axes.set_ylim(bottom=0)
    latency.set_yscale("log")
    latency.set_xlabel("minutes")
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    return True
