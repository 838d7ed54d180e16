"""How this very program is started again, from source, from an installed package or as the packaged binary."""

from __future__ import annotations

import os
import subprocess
import sys


def program() -> list[str]:
    """The command that runs `lockstitch`. `-P`: not from what lies in the current directory."""
    if getattr(sys, "frozen", False):
        return [sys.executable]
    return [sys.executable, "-P", "-m", "lockstitch"]


def start_quietly(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start this program with pipes for stdin and stdout, without a window of its own. Raises OSError."""
    return subprocess.Popen(
        [*program(), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def be_nice() -> None:
    """Let other processes go first, where the system knows of such a thing."""
    if hasattr(os, "nice"):
        os.nice(5)
