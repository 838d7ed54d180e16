"""What every row group is handed: where to put things, how long to go on, and the roots that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.histories import Roots
from benchmarks.measure import Row


@dataclass(frozen=True, slots=True)
class Bench:
    """One run."""

    place: Path
    """A directory on the file system that is measured; removed at the end."""
    roots: Roots
    quick: bool

    def rounds(self, usual: int) -> int:
        return max(3, usual // 3) if self.quick else usual


Group = Callable[[Bench], Iterator[Row]]
