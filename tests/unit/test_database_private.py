"""DESIGN section 3: files are 0600 whatever the umask, the projection's as well."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lockstitch.timeline.database import Database


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_the_projection_is_private_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    path = tmp_path / "timeline.sqlite"
    before = os.umask(mask)
    try:
        Database(path, bulk=True).finish_bulk()
        database = Database(path)
        database.connection.execute("CREATE TABLE probe (x)")
        modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()}
        database.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("timeline.sqlite", "timeline.sqlite-wal", "timeline.sqlite-shm"), 0o600)
