"""A host on a pipe: spawns a sidecar, writes requests, reads replies, and costs next to nothing itself.

Invariant: the process is ended by its own handle, whatever happens.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
NOTIFICATIONS = (
    "thread/started",
    "thread/archived",
    "thread/unarchived",
    "item/agentMessage/delta",
    "item/reasoning/textDelta",
    "item/commandExecution/outputDelta",
    "agentSession/eventsDropped",
    "turn/started",
    "turn/completed",
    "item/started",
    "item/completed",
    "thread/tokenUsage/updated",
    "agentSession/event",
)
encode = msgspec.json.encode
decode = msgspec.json.decode


class RequestFailedError(Exception):
    """The reply is an error."""

    def __init__(self, method: str, error: dict[str, Any]) -> None:
        super().__init__(f"{method}: {error.get('message')}")
        self.kind: str = (error.get("data") or {}).get("kind", "")


def sidecar_command() -> list[str]:
    """The command as it is installed beside this interpreter, else the module."""
    installed = Path(sys.executable).with_name("lockstitch-sidecar")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "lockstitch", "serve"]


def environment() -> dict[str, str]:
    """This one's environment, with the sources of this very tree first."""
    found = {key: value for key, value in os.environ.items() if not key.startswith(("LOCKSTITCH", "APP_SERVER"))}
    found["PYTHONPATH"] = os.pathsep.join((str(ROOT / "sidecar"), str(ROOT / "protocol")))
    return found


def packaged() -> Path | None:
    """The program that `make binary` builds, if it was built."""
    found = ROOT / "dist" / "lockstitch" / ("lockstitch.exe" if os.name == "nt" else "lockstitch")
    return found if found.exists() else None


class Pipe:
    """A child that answers lines with lines."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment(),
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._from = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._rest = b""
        self._lines: list[bytes] = []

    def environment(self) -> dict[str, str]:
        """What the child sees."""
        return environment()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._to, left) :]

    def line(self) -> bytes:
        """The next line, without its end."""
        if not self._lines:
            parts = [self._rest]
            while True:
                got = os.read(self._from, 1 << 20)
                if not got:
                    raise EOFError("the process has closed its output")
                parts.append(got)
                if b"\n" in got:
                    break
            *lines, self._rest = b"".join(parts).split(b"\n")
            self._lines = lines[::-1]
        return self._lines.pop()

    def trade(self, line: bytes) -> bytes:
        """Write one line and read one."""
        self.write(line)
        return self.line()

    def close(self) -> None:
        """Close its input and wait; kill it if it does not end."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and (stream is self.process.stdin or self.process.poll() is not None):
                stream.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Host(Pipe):
    """A sidecar on a data root."""

    def __init__(
        self,
        data_root: Path,
        *,
        greet: bool = True,
        listen: bool = False,
        command: Sequence[str] | None = None,
        extra: dict[str, str] | None = None,
    ) -> None:
        """`listen`: take notifications of the threads that this host starts; `extra`: more of an environment."""
        self._next = 0
        self._unwanted = () if listen else NOTIFICATIONS
        self._extra = extra or {}
        super().__init__([*(command or sidecar_command()), "--data-dir", str(data_root), "--log-level", "error"])
        if greet:
            self.greet()

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **self._extra}

    def greet(self) -> None:
        """Say `initialize` and wait for the reply."""
        client = {"name": "benchmarks", "version": "1"}
        self.call("initialize", clientInfo=client, capabilities={"optOutNotificationMethods": self._unwanted})

    def request(self, method: str, params: dict[str, Any]) -> bytes:
        """The line of a request."""
        self._next += 1
        return encode({"id": self._next, "method": method, "params": params}) + b"\n"

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request. Raises RequestFailedError."""
        reply = decode(self.reply_to(self.request(method, params)))
        if "error" in reply:
            raise RequestFailedError(method, reply["error"])
        return reply["result"]

    def reply_to(self, line: bytes) -> bytes:
        """The reply to the only request in flight, as it came; notifications are passed over."""
        self.write(line)
        return self.reply()

    def reply(self) -> bytes:
        """The next line that is a reply."""
        while True:
            found = self.line()
            if not found.startswith((b'{"method"', b'{"jsonrpc":"2.0","method"')):
                if b'"error"' in found[:200]:
                    raise RequestFailedError("request", decode(found).get("error") or {})
                return found

    def pipeline(self, lines: Iterable[bytes], window: int) -> int:
        """Keep up to `window` requests in flight until all are answered; how many that were."""
        flying = count = 0
        for line in lines:
            if flying == window:
                self.reply()
                flying -= 1
            self.write(line)
            flying += 1
            count += 1
        for _ in range(flying):
            self.reply()
        return count

    # -- what the process uses --------------------------------------------------------------------------------
    @property
    def resident(self) -> float:
        """Resident memory in bytes (Linux)."""
        return _status(self.process.pid, "VmRSS:") * 1024

    @property
    def peak(self) -> float:
        """The most resident memory so far, in bytes (Linux)."""
        return _status(self.process.pid, "VmHWM:") * 1024

    @property
    def processor_seconds(self) -> float:
        """Processor time so far, user and system (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def switches(self) -> int:
        """How often one of its threads gave up the processor by itself (Linux)."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(_status(f"{self.process.pid}/task/{task.name}", "voluntary_ctxt_switches:") for task in tasks)


def _status(process: int | str, name: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def spawn_until_reply(data_root: Path, *methods: str, command: Sequence[str] | None = None) -> float:
    """Seconds from spawning a sidecar to the reply to the last of the methods; `initialize` comes before them."""
    start = time.perf_counter()
    with Host(data_root, command=command) as host:
        for method in methods:
            host.reply_to(host.request(method, {}))
        took = time.perf_counter() - start
        if not methods:
            host.process.kill()  # it has not opened the root yet; what it would still import is no part of this
        return took
