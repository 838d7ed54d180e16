"""What the C library's allocator keeps: less of it, and given back to the system.

Sources: malloc_trim(3) and mallopt(3) of glibc; malloc_zone_pressure_relief of macOS. Elsewhere the allocator does it
by itself, or cannot be asked.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

_M_ARENA_MAX = -8


def few_arenas() -> None:
    """Let the threads that allocate from now on share two pools, not have one each: each keeps what its thread once
    needed, and of threads under one lock hardly two allocate at once."""
    with suppress(OSError, AttributeError):
        if sys.platform == "linux":
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def give_back() -> None:
    """Ask the allocator for what it keeps in case it is needed again. From a thread that nobody waits for."""
    with suppress(OSError, AttributeError):
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(ctypes.c_size_t(0))
        elif sys.platform == "darwin":
            ctypes.CDLL(None).malloc_zone_pressure_relief(None, ctypes.c_size_t(0))
