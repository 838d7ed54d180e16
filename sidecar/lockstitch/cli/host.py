"""The smallest host there is: spawns the sidecar, sends one JSON object a line, reads the replies.

Invariant: it knows the wire only, nothing of what is behind it, so that it shows what any host has to do.
"""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from lockstitch.codec import decode, encode
from lockstitch.errors import LockstitchError, StorageError
from lockstitch.platform.program import program

_PATIENCE = 30.0
"""Seconds after which a sidecar that does not answer is given up."""


class HostError(LockstitchError):
    """The sidecar answered with an error. Facts: those of the reply."""


class Host:
    """One sidecar process and the connection to it."""

    def __init__(self, data_dir: Path, log: Path) -> None:
        self.command = [*program(), "serve", "--data-dir", str(data_dir), "--parent-pid", str(os.getpid())]
        with log.open("ab") as stderr:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0
            )
        self._next_id = 0
        self.notifications: list[dict[str, Any]] = []

    @property
    def pid(self) -> int:
        """The sidecar's process id."""
        return self._process.pid

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its reply. Raises HostError, StorageError."""
        self._next_id += 1
        self._send({"id": self._next_id, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                self.notifications.append(message)
            elif message["id"] == self._next_id:
                break
        if "error" in message:
            error = message["error"]
            raise HostError(error["message"], **{**error["data"], "code": error["code"]})
        return message["result"]

    def tell(self, method: str) -> None:
        """Send a notification."""
        self._send({"method": method, "params": {}})

    def kill(self) -> None:
        """End the process at once and without warning, as a crash or a power cut would."""
        self._process.kill()
        self._reap()

    def close(self) -> int:
        """Close its stdin and wait: its exit status."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        watch = self._watch()
        try:
            status = self._process.wait()
        finally:
            watch.cancel()
        self._reap()
        return status

    def _reap(self) -> None:
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        data = encode(message) + b"\n"
        try:
            while data:
                data = data[self._process.stdin.write(data) or 0 :]
        except OSError:
            raise _gone() from None

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        watch = self._watch()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        if not line.endswith(b"\n"):
            raise _gone()
        return decode(line)

    def _watch(self) -> threading.Timer:
        watch = threading.Timer(_PATIENCE, self._process.kill)
        watch.daemon = True
        watch.start()
        return watch


def _gone() -> StorageError:
    return StorageError("The sidecar ended without an answer.", path="", errno=0)
