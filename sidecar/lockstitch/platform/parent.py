"""Watches another process until it ends, without asking again and again where the system can tell.

Invariant: one thread that sleeps in the system; it never keeps our process alive.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def watch_parent(pid: int, on_death: Callable[[], None]) -> bool:
    """Call `on_death` once, from another thread, when the process ends. False: there is no such process now."""
    import _thread  # threading would cost more than the first reply may

    if pid == os.getpid():
        return False
    wait = _wait_on_windows(pid) if sys.platform == "win32" else _wait_on_posix(pid)
    if wait is None:
        return False

    def run() -> None:
        wait()
        on_death()

    _thread.start_new_thread(run, ())
    return True


def _wait_on_posix(pid: int) -> Callable[[], None] | None:
    if sys.platform == "win32":
        return None
    if not _exists(pid):
        return None
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return None
        except OSError:  # an old kernel, or a sandbox that forbids the call
            return lambda: _ask_again_and_again(pid)
        return lambda: _wait_for_descriptor(descriptor)
    if sys.platform == "darwin":
        return lambda: _wait_for_kernel_event(pid)
    return lambda: _ask_again_and_again(pid)


def _exists(pid: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # somebody else's
    except (OSError, OverflowError):
        return False
    return True


def _wait_for_descriptor(descriptor: int) -> None:
    if sys.platform == "linux":
        import select

        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while not poll.poll():
            pass
        os.close(descriptor)


def _wait_for_kernel_event(pid: int) -> None:
    if sys.platform == "darwin":
        import select

        try:
            queue = select.kqueue()
            wanted = select.kevent(
                pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD | select.KQ_EV_ONESHOT, select.KQ_NOTE_EXIT
            )
            while not queue.control([wanted], 1):
                pass
        except ProcessLookupError:
            return
        except OSError:
            _ask_again_and_again(pid)


def _ask_again_and_again(pid: int) -> None:
    import time

    while _exists(pid):
        time.sleep(0.5)


def _wait_on_windows(pid: int) -> Callable[[], None] | None:
    if sys.platform != "win32":
        return None
    import ctypes

    synchronize, forever = 0x00100000, 0xFFFFFFFF
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return None
    return lambda: kernel.WaitForSingleObject(ctypes.c_void_p(handle), forever)
