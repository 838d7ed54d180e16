"""Copies that share their blocks with the original until one of them is written to.

Sources: ioctl_ficlonerange(2) of Linux (btrfs, XFS, bcachefs, ZFS), fclonefileat(2) of macOS (APFS).
Invariant: a clone is never a hard link: a write to the one in place does not change the other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Any

_FICLONE = 0x40049409
_CLONE_NOFOLLOW = 1
# The disk, the pair of disks, or the file itself does not take it; anything else is an error of its own.
_NOT_HERE = {
    errno.EOPNOTSUPP,
    errno.ENOTSUP,
    errno.ENOTTY,
    errno.EXDEV,
    errno.EINVAL,
    errno.ENOSYS,
    errno.EPERM,
    errno.EBADF,
    errno.ETXTBSY,
}


def clone_by_ioctl(source: int, directory: int, name: str, ioctl: Any) -> bool:
    """Make `name` a clone of an open file by one ioctl on a new, empty file; see `clone`."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    made = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        os.fchmod(made, 0o600)
        ioctl(made, _FICLONE, source)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=directory)
        if error.errno not in _NOT_HERE:
            raise
        return False
    finally:
        os.close(made)
    return True


def clone_by_call(source: int, directory: int, name: str, call: Any) -> bool:
    """Make `name` a clone of an open file by one call that also makes the name; see `clone`."""
    import ctypes

    ctypes.set_errno(0)
    if call(source, directory, os.fsencode(name), _CLONE_NOFOLLOW) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), name)


def clone(source: int, directory: int, name: str) -> bool:
    """Make `name` in an open directory, which must not be there, a clone of an open file.

    False where the file system has no clones, and nothing is left then. Raises OSError.
    """
    if sys.platform == "linux":
        import fcntl

        return clone_by_ioctl(source, directory, name, fcntl.ioctl)
    if sys.platform == "darwin":
        call = getattr(_library(), "fclonefileat", None)
        return call is not None and clone_by_call(source, directory, name, call)
    return False


def _library() -> Any:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "fclonefileat", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
        call.restype = ctypes.c_int
    return library
