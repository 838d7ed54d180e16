"""How fast the machine itself was while the rows were measured, so that two reports can be held side by side."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from benchmarks.measure import Sample, median_of, number, seconds
from benchmarks.start import BARE, bare

_BLOCK = bytes(1 << 22)
_STEPS = 200_000
_UNEVEN = 1.5
"""Where a loop that does nothing but count took so many times its least, somebody else was at work."""


class Yardsticks:
    """Four things that have nothing to do with us, measured before each row group and at the end."""

    def __init__(self, place: Path) -> None:
        self._fd = os.open(place / "yardstick", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self._found: dict[str, list[float]] = {}

    def look(self) -> None:
        """Measure once; some hundred milliseconds."""
        for name, value in (
            ("a loop in Python, ms", median_of(3, _count) * 1e3),
            ("sha256 of 4 MiB, ms", median_of(3, lambda: hashlib.sha256(_BLOCK).digest()) * 1e3),
            (f"{BARE}, ms", median_of(3, bare) * 1e3),
            ("raw append + `fdatasync`, µs", median_of(30, self._append) * 1e6),
        ):
            self._found.setdefault(name, []).append(value)

    def close(self) -> None:
        os.close(self._fd)

    @property
    def samples(self) -> dict[str, Sample]:
        return {name: Sample(tuple(values)) for name, values in self._found.items()}

    @property
    def busy(self) -> bool:
        """Whether the machine had other work during the run."""
        loop = next(iter(self.samples.values()))
        return loop.high > loop.low * _UNEVEN

    def _append(self) -> None:
        os.write(self._fd, b"x" * 600)
        os.fdatasync(self._fd)


def _count() -> None:
    seconds(lambda: sum(range(_STEPS)))


def beside(now: dict[str, Sample], before: dict[str, Any]) -> str:
    """This machine and the one of an earlier report, in words."""
    told = [
        f"{name}: {number(before[name]['median'])} then, {number(now[name].median)} now"
        for name in now
        if name in before
    ]
    return "; ".join(told)
