"""Samples, ratios and goals: how a row of the table is measured and judged.

Invariant: two things that are compared are measured in turns, round by round, and their ratio is the median of
the rounds' own ratios, so that a slow second of the machine meets both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of the rounds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def times(self, factor: float) -> Sample:
        return Sample(tuple(value * factor for value in self.values))

    def per_second(self, count: float) -> Sample:
        """Seconds for `count` things as things a second."""
        return Sample(tuple(count / value for value in self.values))

    def over(self, other: Sample) -> Sample:
        """Round by round, this divided by the other; a single value stands for every round."""
        mine, others = self.values, other.values
        if len(mine) != len(others):
            mine, others = (self.median,), (other.median,)
        return Sample(tuple(a / b for a, b in zip(mine, others, strict=True)))


@dataclass(frozen=True, slots=True)
class Floor:
    """What a row is held against."""

    name: str
    sample: Sample


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row has to reach: a bound on its ratio to the first floor, or on its own value."""

    of: str
    """`ratio` or `ours`."""
    bound: float
    at_least: bool = False

    def text(self, unit: str) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {number(self.bound)} {'×' if self.of == 'ratio' else unit}"

    def is_met(self, row: Row) -> bool:
        found = row.ratio if self.of == "ratio" else row.ours
        if found is None:
            return False
        return found.median >= self.bound if self.at_least else found.median <= self.bound


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    key: str
    what: str
    unit: str
    ours: Sample
    floors: tuple[Floor, ...] = ()
    goals: tuple[Goal, ...] = ()
    """Reaching one of them is enough, unless `every` says otherwise."""
    note: str = ""
    every: bool = False
    ratio: Sample | None = field(init=False)

    def __post_init__(self) -> None:
        ratio = self.ours.over(self.floors[0].sample) if self.floors else None
        object.__setattr__(self, "ratio", ratio)

    @property
    def met(self) -> bool | None:
        if not self.goals:
            return None
        return (all if self.every else any)(goal.is_met(self) for goal in self.goals)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that this machine cannot give, and why."""

    what: str
    why: str


def at_most(times: float) -> Goal:
    """At most so many times the floor."""
    return Goal("ratio", times)


def below(value: float) -> Goal:
    """Ours is at most that, in the row's unit."""
    return Goal("ours", value)


def at_least(times: float) -> Goal:
    """At least so many times the floor."""
    return Goal("ratio", times, at_least=True)


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def seconds(run: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def median_of(count: int, run: Callable[[], object]) -> float:
    """The median time of so many calls, one after the other."""
    return statistics.median(seconds(run) for _ in range(count))


_LEAST_ROUNDS = 3


def in_turns(
    rounds: int,
    runs: Mapping[str, Callable[[], float]],
    *,
    warm_up: int = 1,
    within: float = 7.0,
    least: int = _LEAST_ROUNDS,
) -> dict[str, Sample]:
    """Measure each of `runs` once a round, in turns; what the first rounds give is thrown away.

    On a machine that is slow or busy there are fewer rounds, but at least `least`, once `within` seconds are over.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    begun = time.perf_counter()
    for turn in range(-warm_up, rounds):
        if turn >= least and time.perf_counter() - begun > within:
            break
        for name, run in runs.items():
            value = run()
            if turn >= 0:
                found[name].append(value)
    return {name: Sample(tuple(values)) for name, values in found.items()}
