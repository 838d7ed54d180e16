"""Renames that lose nothing: two names exchanged in one call, or a name that fails if something is there.

Invariant: no call here removes or overwrites anything. Both names are single components of one open directory.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import Any

from lockstitch.platform import faults
from lockstitch.platform.files import unlink

_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2
_MACOS_SWAP, _MACOS_EXCLUSIVE = 2, 4
# The system, or the file system below it, has no such call.
_NOT_HERE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class Renames:
    """The calls of one system. `call` renames with flags, or is None where the system has no such call."""

    def __init__(self, call: Any, exchange_flag: int, exclusive_flag: int) -> None:
        self._call, self._exchange, self._exclusive = call, exchange_flag, exclusive_flag

    def exchange(self, directory: int, one: str, other: str) -> bool:
        """Swap what two names stand for, in one step. False where that is not possible. Raises OSError."""
        return self._rename(directory, one, other, self._exchange)

    def move_new(self, directory: int, source: str, target: str) -> None:
        """Rename `source`, or raise FileExistsError if there is something at `target` at that very moment.

        Raises OSError(ENOTSUP) where neither a call nor a hard link can promise that.
        """
        if self._rename(directory, source, target, self._exclusive):
            return
        try:
            os.link(source, target, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NO_HARD_LINKS:
                raise OSError(errno.ENOTSUP, "This disk cannot rename without overwriting", target) from error
            raise
        faults.point("linked", target)
        unlink(source, dir_fd=directory)

    def _rename(self, directory: int, source: str, target: str, flag: int) -> bool:
        if self._call is None:
            return False
        faults.point("exchange", target)
        ctypes.set_errno(0)
        if self._call(directory, os.fsencode(source), directory, os.fsencode(target), flag) == 0:
            faults.point("exchanged", target)
            return True
        number = ctypes.get_errno()
        if number in _NOT_HERE:
            return False
        raise OSError(number, os.strerror(number), target)


def renames_of(platform: str, library: Any) -> Renames:
    """What `platform` offers; `library` is the C library (an older one lacks the calls)."""
    if platform == "darwin":
        return Renames(getattr(library, "renameatx_np", None), _MACOS_SWAP, _MACOS_EXCLUSIVE)
    if platform == "linux":
        return Renames(getattr(library, "renameat2", None), _LINUX_EXCHANGE, _LINUX_NOREPLACE)
    return Renames(None, 0, 0)


def _library() -> Any:
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    for name in ("renameat2", "renameatx_np"):
        call = getattr(library, name, None)
        if call is not None:
            call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
            call.restype = ctypes.c_int
    return library


RENAMES = renames_of(sys.platform, _library())
