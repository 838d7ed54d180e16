"""A few planted escapes; tests/soak_escapes.py plays hundreds."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tests.property.escapes import Escapes


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is the witness")
def test_nothing_outside_is_read_or_written(tmp_path: Path) -> None:
    """Paths, links, devices, planted stores and journals, through every method that takes or follows one."""
    counts = asyncio.run(Escapes(tmp_path).play(range(20)))
    assert counts["refused: pathRefused"] > 20
    assert len([name for name in counts if name.startswith("planted")]) >= 6
