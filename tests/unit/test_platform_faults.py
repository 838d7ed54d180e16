"""Faults are off unless a test arms them, and then do what the plan says."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstitch.platform import faults, files


@pytest.fixture
def plan(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "plan"
    before = faults.point, faults.whole
    faults.arm(str(path))
    yield path
    faults.point, faults.whole = before


def test_nothing_happens_until_armed() -> None:
    assert faults.point("write") is None
    assert faults.whole(memoryview(b"abc")) == b"abc"


def test_the_step_that_the_plan_names_fails_that_often(plan: Path, tmp_path: Path) -> None:
    plan.write_text("sync 2 fail 28\n")
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    files.sync_file(fd)
    with pytest.raises(OSError) as caught:
        files.sync_file(fd)
    assert caught.value.errno == errno.ENOSPC
    files.sync_file(fd)
    os.close(fd)


def test_a_torn_write_leaves_so_many_bytes(plan: Path, tmp_path: Path) -> None:
    plan.write_text("write 1 tear 3 fail 28\n")
    path = tmp_path / "file"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError):
        files.write_all(fd, b"whole")
    assert path.read_bytes() == b"who"
    plan.unlink()
    files.write_all(fd, b"!")
    os.close(fd)


def test_points_are_traced_and_chosen_by_their_path(plan: Path, tmp_path: Path) -> None:
    plan.write_text("*@kept - trace\n")
    files.write_atomically(tmp_path / "kept", b"x")
    files.write_atomically(tmp_path / "other", b"x")
    assert f"rename {tmp_path / 'kept'}\n" in Path(f"{plan}.trace").read_text()
    assert "other" not in Path(f"{plan}.trace").read_text()
