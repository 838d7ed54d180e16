"""Collects what ends the process: signals, the parent's death. The loop takes them over once it runs.

Invariant: while no byte has arrived there is nothing to lose, and the process ends at once; afterwards an end
is only a wish, which the loop serves after all that was read.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final


CLEAN: Final = 0
CLIENT_GONE: Final = 3
INTERNAL: Final = 70
"""Exit statuses; 2, for bad arguments or an unusable data root, is `__main__`'s."""

PARENT_ENDED: Final = "the parent process ended"


class Ends:
    """Call it with the reason for which the process has to end; from any thread, or a signal handler."""

    def __init__(self) -> None:
        self.idle = False
        """Nothing has been read and nothing has been answered: the process may simply stop."""
        self.reason: str | None = None
        self._take: Callable[[str], None] | None = None

    def __call__(self, reason: str) -> None:
        if self.reason is not None:
            return
        if self.idle:
            os._exit(CLEAN)
        self.reason = reason
        if self._take is not None:
            self._take(reason)

    def hand_to(self, take: Callable[[str], None]) -> None:
        """From now on `take` hears of an end, also of one that came before. It has to be safe in any thread."""
        self._take = take
        if self.reason is not None:
            take(self.reason)

    def watch_signals(self) -> None:
        """SIGTERM, SIGINT, SIGHUP (on Windows, SIGBREAK) end the process in order, whatever they did before."""
        signals = _signals()
        names = ("SIGINT", "SIGTERM", "SIGBREAK" if sys.platform == "win32" else "SIGHUP")
        for name in names:
            signals.signal(getattr(signals, name), self._on_signal(name))

    def watch_process(self, pid: int) -> bool:
        """End with that process; False if there is none, which is not an end."""
        if pid <= 0:
            return False
        from lockstitch.platform.parent import watch_parent

        return watch_parent(pid, lambda: self(PARENT_ENDED))

    def _on_signal(self, name: str) -> Callable[[object, object], None]:
        return lambda _number, _frame: self(name)


def _signals() -> Any:
    """The module `signal` without its enums: importing enum costs a third of a bare start of Python."""
    try:
        return __import__("_signal")
    except ImportError:
        import signal

        return signal
