"""A process that has everything imported and forks sidecars on demand: a start costs milliseconds, so that thousands
of kills are affordable. What a fork runs is `lockstitch.__main__.sidecar`, with its own descriptors and environment.

    python -m tests.crash.zygote FD     serves requests on that socket; single-threaded, so that forks are safe
"""

from __future__ import annotations

import array
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]


class Process:
    """A forked sidecar: as much of `subprocess.Popen` as the tests use."""

    _lock = threading.Lock()
    _server: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def __init__(self, argv: list[str], env: dict[str, str], user: int | None = None) -> None:
        ends = [os.pipe() for _ in range(3)]
        theirs = [ends[0][0], ends[1][1], ends[2][1]]
        request = json.dumps({"argv": argv, "env": env, "user": user}).encode()
        with self._lock:
            server = self._serve()
            socket.send_fds(server, [len(request).to_bytes(4, "big") + request], theirs)
            self.pid = int.from_bytes(server.recv(4), "big")
        for fd in theirs:
            os.close(fd)
        self.stdin: IO[bytes] = os.fdopen(ends[0][1], "wb", buffering=0)
        self.stdout: IO[bytes] = os.fdopen(ends[1][0], "rb")
        self.stderr: IO[bytes] = os.fdopen(ends[2][0], "rb")
        self._pidfd = os.pidfd_open(self.pid)
        self.returncode: int | None = None

    @classmethod
    def _serve(cls) -> socket.socket:
        if cls._server is None or cls._server[0].poll() is not None:
            ours, theirs = socket.socketpair()
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _PATHS))}
            server = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.zygote", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=environment,
                cwd=ROOT,
            )
            theirs.close()
            cls._server = server, ours
        return cls._server[1]

    @classmethod
    def end_server(cls) -> None:
        if cls._server is not None:
            cls._server[1].close()
            cls._server[0].wait(10)
            cls._server = None

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            signal.pidfd_send_signal(self._pidfd, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        if self.returncode is None and not select.select([self._pidfd], [], [], 0)[0]:
            return None
        return self._status()

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._pidfd], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("sidecar", timeout or 0)
        return self._status()

    def _status(self) -> int:
        if self.returncode is None:
            request = json.dumps({"wait": self.pid}).encode()
            with self._lock:
                server = self._serve()
                server.sendall(len(request).to_bytes(4, "big") + request)
                self.returncode = int.from_bytes(server.recv(4), "big", signed=True)
            os.close(self._pidfd)
        return self.returncode


_PATHS = (ROOT / "sidecar", ROOT / "protocol", ROOT)


def main() -> None:
    server = socket.socket(fileno=int(sys.argv[1]))
    _import_everything()
    while True:
        data, fds, _, _ = socket.recv_fds(server, 65536, 3)
        if not data:
            return
        length = int.from_bytes(data[:4], "big")
        while len(data) < 4 + length:
            data += server.recv(65536)
        request: dict[str, Any] = json.loads(data[4 : 4 + length])
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            server.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
            continue
        pid = os.fork()
        if pid == 0:
            server.close()
            _become(request, array.array("i", fds))
        for fd in fds:
            os.close(fd)
        server.sendall(pid.to_bytes(4, "big"))


def _import_everything() -> None:
    # the library's too: another user may not be able to read where it is
    import concurrent.futures.thread
    import ctypes
    import shutil

    import lockstitch.artifacts.restore_journal
    import lockstitch.operations.contents
    import lockstitch.operations.memory_contents
    import lockstitch.operations.notices
    import lockstitch.operations.recovery
    import lockstitch.operations.runtime
    import lockstitch.operations.table
    import lockstitch.rpc.application
    import lockstitch.rpc.dispatch
    import lockstitch.rpc.general
    import lockstitch.rpc.life
    import lockstitch.rpc.serve
    import lockstitch.timeline.ephemeral
    import lockstitch.timeline.frozen
    import lockstitch.timeline.group
    from lockstitch_protocol.methods import METHODS

    del concurrent, ctypes, shutil, lockstitch
    for method in METHODS.values():
        method.params.model_rebuild()


def _become(request: dict[str, Any], fds: array.array[int]) -> None:
    try:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        for fd in fds:
            if fd > 2:
                os.close(fd)
        if request["user"] is not None:
            os.setgroups([])
            os.setgid(request["user"])
            os.setuid(request["user"])
        os.environ.clear()
        os.environ.update(request["env"])
        from lockstitch.__main__ import sidecar
        from lockstitch_protocol import ids

        # A fork goes on where the counter of its parent stood: every one of them would make the same ids.
        ids._counter = itertools.count(int.from_bytes(os.urandom(10), "big"), ids._counter.__reduce__()[1][1])

        sidecar(request["argv"])
    finally:
        os._exit(99)


if __name__ == "__main__":
    main()
