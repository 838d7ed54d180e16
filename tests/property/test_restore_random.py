"""A few random lives of a workspace; tests/soak_restore.py plays thousands."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from tests.property.restore_model import Life


@pytest.mark.parametrize("seed", range(12))
def test_no_byte_is_lost_and_what_comes_back_is_equal(tmp_path: Path, seed: int) -> None:
    """Agent edits, user edits, captures, restores, rewinds, undos, kills and restarts in any order."""
    asyncio.run(Life(tmp_path, random.Random(seed)).live(25))
