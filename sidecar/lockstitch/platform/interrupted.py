"""Ends the process after Ctrl-C so that whoever started it can tell: a shell's loop or script then ends as well."""

from __future__ import annotations

import signal
import sys


def end_as_interrupted() -> None:
    """End the process by the very signal, where the system has that; elsewhere return, and the exit status says it."""
    if sys.platform != "win32":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
