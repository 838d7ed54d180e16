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


def open_binary_pipes() -> None:
    """Let bytes pass stdin and stdout as they are: one system changes line ends unless it is told not to."""
    if sys.platform == "win32":
        import msvcrt

        for fd in (0, 1):
            msvcrt.setmode(fd, os.O_BINARY)


def be_nice() -> None:
    """Let other processes go first, where the system knows of such a thing."""
    if hasattr(os, "nice"):
        os.nice(5)
