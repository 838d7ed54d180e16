"""What belongs to a file beside its bytes and name: owner, extended attributes, the mount that it is on.

Invariant: setuid, setgid and capabilities are never carried over, and what cannot be kept is left out.
"""

from __future__ import annotations

import contextlib
import os
import stat

_KEPT_PREFIX = "user."
_KEPT = {"system.posix_acl_access"}


def adopt(fd: int, like: int | None, mode: int | None) -> None:
    """Give an open file the owner and attributes of another one, as far as allowed, and these permission bits.

    `mode` None leaves the bits as they are. Raises OSError if the bits cannot be set.
    """
    if like is not None:
        _keep_owner(fd, os.fstat(like))
        _keep_attributes(fd, like)
    if mode is not None and stat.S_IMODE(os.fstat(fd).st_mode) != mode & 0o777:
        os.fchmod(fd, mode & 0o777)


def _keep_owner(fd: int, wanted: os.stat_result) -> None:
    found = os.fstat(fd)
    if (found.st_uid, found.st_gid) == (wanted.st_uid, wanted.st_gid):
        return
    for uid, gid in ((wanted.st_uid, wanted.st_gid), (-1, wanted.st_gid)):
        with contextlib.suppress(OSError):
            os.fchown(fd, uid, gid)
            return


def _keep_attributes(fd: int, like: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(like):
            if name.startswith(_KEPT_PREFIX) or name in _KEPT:
                with contextlib.suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(like, name))


def mount_of(fd: int) -> str:
    """Which mount an open file or directory is on: comparable, and nothing else."""
    try:
        with open(f"/proc/self/fdinfo/{fd}", "rb", buffering=0) as told:
            for line in told.read().split(b"\n"):
                if line.startswith(b"mnt_id:"):
                    return line.split()[1].decode()
    except (OSError, IndexError):
        pass
    # COMPAT: without /proc the device has to do; a directory bound in from the same disk is then not seen.
    return f"device {os.fstat(fd).st_dev}"
