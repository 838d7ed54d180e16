"""What every row group is handed: where to put things, how long to go on, and the roots that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.histories import Roots
from benchmarks.measure import LeftOut, Row, Sample, in_turns


@dataclass(frozen=True, slots=True)
class Bench:
    """One run."""

    place: Path
    """A directory on the file system that is measured; removed at the end."""
    roots: Roots
    quick: bool
    """Fewer rounds, and less data where making it takes long: the whole run stays under three minutes."""

    def rounds(self, usual: int) -> int:
        return max(3, usual // 3) if self.quick else usual

    def in_turns(
        self,
        usual: int,
        runs: Mapping[str, Callable[[], float]],
        *,
        warm_up: int = 1,
        within: float | None = None,
        costly: bool = False,
    ) -> dict[str, Sample]:
        """Measure in turns, so many rounds in a full run. `costly`: for a quick one, one round is enough."""
        return in_turns(
            self.rounds(usual),
            runs,
            warm_up=min(warm_up, 1) if self.quick else warm_up,
            within=within if within is not None else 2.0 if self.quick else 7.0,
            least=1 if costly and self.quick else 3,
        )


Group = Callable[[Bench], Iterator[Row | LeftOut]]
