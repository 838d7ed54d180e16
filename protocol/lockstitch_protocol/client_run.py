"""One run of the sidecar, as its client sees it: JSON lines in and out, the end, and the tail of its stderr."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import anyio
from anyio.abc import Process

_STDERR_KEPT: Final = 64 * 1024


class Run:
    """A process that has been started. Use `start`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._writing = anyio.Lock()
        self._stderr = b""
        self.began = anyio.current_time()

    @classmethod
    async def start(cls, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | None) -> Run:
        """Spawn it. Raises OSError."""
        pipe = subprocess.PIPE
        return cls(await anyio.open_process(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd))

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The last 64 KiB that it wrote to stderr."""
        return self._stderr.decode("utf-8", "replace")

    async def write(self, message: dict[str, Any]) -> None:
        """Send one message; nothing, where it is gone."""
        assert self._process.stdin is not None
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._writing:
            try:
                await self._process.stdin.send(data)
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the reading side finds out what became of it

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """What it says, until it says no more. Lines end at LF only."""
        assert self._process.stdout is not None
        parts: list[bytes] = []
        try:
            async for chunk in self._process.stdout:
                first, *more = chunk.split(b"\n")
                parts.append(first)
                for rest in more:
                    line = b"".join(parts)
                    parts = [rest]
                    if line.strip():
                        yield json.loads(line)
        except ValueError:
            self._stderr += b"\n(what it wrote to stdout is no message)\n"
            self.kill()
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    async def keep_stderr(self) -> None:
        """Read stderr to its end, so that it never fills up."""
        assert self._process.stderr is not None
        try:
            async for chunk in self._process.stderr:
                self._stderr = (self._stderr + chunk)[-_STDERR_KEPT:]
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    async def close_input(self) -> None:
        """End its stdin, which ends it."""
        assert self._process.stdin is not None
        async with self._writing:
            try:
                await self._process.stdin.aclose()
            except OSError:
                return

    async def wait(self) -> int:
        """Its exit status, once it is gone."""
        return await self._process.wait()

    async def end_within(self, grace: float) -> int:
        """Wait; after `grace` seconds terminate it, after as many again kill it."""
        for stop in (self._process.terminate, self._process.kill):
            with anyio.move_on_after(grace):
                return await self.wait()
            stop()
        return await self.wait()

    def kill(self) -> None:
        """End it at once."""
        try:
            self._process.kill()
        except ProcessLookupError:
            return

    async def release(self) -> None:
        """Close what is left of its pipes."""
        await self._process.aclose()
