"""Safety copies: versions that outlive their workspace, within bounds, and what dead processes left staged."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstitch.artifacts import store as store_module
from lockstitch.artifacts.documents import write_version
from lockstitch.artifacts.safety import Budget, SafetyCopies
from lockstitch.artifacts.sidecar import Sidecar, open_sidecar
from lockstitch.artifacts.store import Store
from lockstitch.errors import UnavailableError
from lockstitch.platform.reflink import clone_by_ioctl


def _with_copies(tmp_path: Path, **budget: Any) -> tuple[Sidecar, SafetyCopies]:
    workspace = tmp_path / "ws"
    workspace.mkdir(exist_ok=True)
    safety = SafetyCopies(Store(tmp_path / "data"), Budget(**budget))
    return open_sidecar(workspace, "r", tmp_path / "data", safety), safety


def test_a_version_outlives_its_workspace(tmp_path: Path):
    """`git clean -fdx` or a deleted workspace loses no history; the copy is a file of its own, never a hard link."""
    sidecar, safety = _with_copies(tmp_path)
    large = os.urandom(5000)
    for data in (b"small", large, b"x" * 9000, b""):
        sha256 = sidecar.put(data)
        one, other = sidecar.paths_of(sha256)
        assert one.stat().st_ino != other.stat().st_ino and {one.stat().st_nlink, other.stat().st_nlink} == {1}
        one.write_bytes(b"written in place")
        assert safety.store.get(sha256) == data == sidecar.get(sha256)
    shutil.rmtree(tmp_path / "ws")
    assert sidecar.get(hashlib.sha256(large).hexdigest()) == large
    assert safety.report()["skipped"] == 0


@pytest.mark.parametrize("budget", [{"total": 2000}, {"free": lambda path: (1 << 30, 1 << 40)}])
def test_where_the_budget_ends_nothing_is_removed_and_it_is_said(tmp_path: Path, budget: Any, caplog: Any):
    """A budget that is used up or a disk that is nearly full: versions stay in the workspace only; told once."""
    sidecar, safety = _with_copies(tmp_path, **budget)
    first = sidecar.put(os.urandom(1500))
    for _ in range(3):
        sidecar.put(os.urandom(1500))
    kept = len(list((tmp_path / "data").glob("*/*")))
    assert kept == (1 if "total" in budget else 0)
    told = safety.report()
    assert told["skipped"] == 4 - kept and "storage/gc" in told["advice"] and told["bytes"] == 1500 * kept
    assert len([record for record in caplog.records if "storage/gc" in record.getMessage()]) == 1
    assert len(sidecar.paths_of(first)) == 1 + kept
    assert len(list((tmp_path / "ws/.lockstitch/r/artifacts").glob("*/*"))) == 4


def test_a_data_root_that_takes_no_copy_costs_nothing(tmp_path: Path):
    """The original is what counts: a copy that fails, or that rotted, changes no answer."""
    sidecar, safety = _with_copies(tmp_path)
    (tmp_path / "data").write_bytes(b"in the way")
    sha256 = sidecar.put(b"version")
    assert sidecar.problem is None and sidecar.get(sha256) == b"version"
    (tmp_path / "data").unlink()
    sidecar.put(b"version")
    (copy,) = (tmp_path / "data").glob("*/*")
    copy.write_bytes(b"")  # as a power cut leaves what was not forced to the disk
    sidecar.put(b"version")
    assert copy.read_bytes() == b"version"
    copy.write_bytes(b"rotten!")
    assert sidecar.get(sha256) == b"version"
    sidecar.paths_of(sha256)[0].unlink()
    with pytest.raises(UnavailableError) as caught:
        sidecar.get(sha256)
    assert caught.value.facts["contentStatus"] == "corrupt" and safety.report()["skipped"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="files are cloned by descriptors")
def test_clones_are_made_where_the_disk_makes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A clone takes no space, hence no budget: it is made whatever the budget is."""

    def cloned(source: int, directory: int, name: str) -> bool:
        def ioctl(made: int, request: int, source: int) -> int:
            assert request == 0x40049409  # FICLONE of linux/fs.h
            os.write(made, os.pread(source, 1 << 20, 0))
            return 0

        return clone_by_ioctl(source, directory, name, ioctl)

    monkeypatch.setattr(store_module, "clone", cloned)
    sidecar, safety = _with_copies(tmp_path, total=0)
    for data in (b"small", b"x" * 9000):
        sha256 = sidecar.put(data)
        assert safety.store.get(sha256) == data
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "data").glob("*/*")} == {0o600}
    assert safety.report()["skipped"] == 0
    monkeypatch.setattr(store_module, "clone", lambda *_: False)
    sidecar.put(b"another")
    assert safety.report()["skipped"] == 1


def test_what_a_kill_left_staged_goes_at_the_first_put(tmp_path: Path):
    """Only while nobody else is at work; a link of that name, or a file of another, stays."""
    for alone in (False, True):
        sidecar, _ = _with_copies(tmp_path)
        assert sidecar.store is not None
        sidecar.store.alone = lambda alone=alone: alone
        sidecar.put(b"1")
        base = tmp_path / "ws/.lockstitch/r"
        left = [base / "artifacts/.tmp-0", base / ".tmp-0"]
        if not alone:
            for path in left:
                path.write_bytes(b"half")
            (base / "artifacts/.tmp-1").symlink_to(tmp_path)
            continue
        write_version(sidecar, {"threadId": "t", "versionNo": 1, "path": "a", "before": None, "after": None})
        assert [path.exists() for path in left] == [False, False]
        assert (base / "artifacts/.tmp-1").is_symlink()
