"""What a system must have to open beneath a directory, and what counts as a pointer or as ours."""

from __future__ import annotations

import os
import stat
import types
from pathlib import Path

import pytest

from lockstitch.platform import beneath


def test_the_capability_is_found_by_what_there_is():
    """Linux and macOS have it; a system without dir_fd or O_NOFOLLOW (Windows) has not."""
    assert beneath.can_open_beneath(os, os.supports_dir_fd)
    assert not beneath.can_open_beneath(os, set())
    assert not beneath.can_open_beneath(types.SimpleNamespace(), os.supports_dir_fd)


def test_junctions_are_pointers():
    """Windows marks junctions and other reparse points by an attribute, not by the mode."""
    junction = types.SimpleNamespace(st_mode=stat.S_IFDIR | 0o777, st_file_attributes=0x410)
    plain = types.SimpleNamespace(st_mode=stat.S_IFDIR | 0o777, st_file_attributes=0x10)
    assert beneath.is_pointer(junction)  # pyright: ignore[reportArgumentType]
    assert not beneath.is_pointer(plain)  # pyright: ignore[reportArgumentType]


def test_ours_is_what_the_effective_user_owns(tmp_path: Path):
    """Where the system has no users, everything is."""
    found = tmp_path.stat()
    assert beneath.is_ours(found, found.st_uid)
    assert not beneath.is_ours(found, found.st_uid + 1)
    assert beneath.is_ours(found, None)


@pytest.mark.parametrize("make", [beneath.open_root, beneath.PathDirectory], ids=["handles", "paths"])
def test_both_kinds_of_directory_do_the_same(tmp_path: Path, make: type[beneath.PathDirectory]):
    """Create, stage, replace, remove, and refuse what is not plain."""
    before = os.umask(0o777)
    try:
        with make(tmp_path) as root:
            root.make_directory("d")
            root.make_directory("d")
            assert stat.S_IMODE(root.status("d").st_mode) == 0o700
            with root.enter("d") as inner:
                fd = inner.open("x", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                os.write(fd, b"1")
                os.close(fd)
                assert stat.S_IMODE(inner.status("x").st_mode) == 0o600
                inner.replace("x", "y")
                inner.sync()
                inner.unlink("y")
                assert stat.S_ISDIR(inner.own_status().st_mode)
            (tmp_path / "l").symlink_to("d")
            with pytest.raises(beneath.LinkError):
                root.enter("l")
            with pytest.raises(FileNotFoundError):
                root.enter("none")
            (tmp_path / "f").write_bytes(b"")
            with pytest.raises(NotADirectoryError):
                root.enter("f")
            with pytest.raises(beneath.LinkError):
                root.open("l", os.O_RDONLY)
            with pytest.raises(OSError):
                root.open("d", os.O_RDONLY)
    finally:
        os.umask(before)
