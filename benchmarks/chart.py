"""The chart of growth: each request on 1, 10 and 100 times the data, as a share of what it takes on the least."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Row


def draw(rows: list[Row], target: Path) -> bool:
    """Write the chart of the `growth` rows as SVG; False where there are none, or matplotlib is not installed."""
    grown = [row for row in rows if row.key.startswith("growth.")]
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return False
    if not grown:
        return False
    mpl.rcParams["svg.hashsalt"] = "growth"  # the same rows draw the same bytes
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for row in grown:
        name, _, last = row.what.partition(", on ")
        scales = [int(floor.name.split()[0]) for floor in row.floors] + [int(last.split()[0])]
        values = [floor.sample.median for floor in row.floors] + [row.ours.median]
        shares = [value / values[0] for value in values]
        axes.plot(scales, shares, marker="o", label=f"{name.replace('`', '')} ({values[-1]:.3g} {row.unit})")
    axes.set_xscale("log")
    axes.set_xticks(scales, [f"{scale} ×" for scale in scales])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("threads, and turns of the longest thread")
    axes.set_ylabel("times the least")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    return True
