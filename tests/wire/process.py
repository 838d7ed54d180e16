"""The real process over pipes, for tests: send bytes, read whole messages, never wait without a deadline."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HELLO: dict[str, Any] = {"clientInfo": {"name": "test", "version": "1"}}


def environment(**extra: str) -> dict[str, str]:
    """A clean environment in which the process finds our code and no data root."""
    found = {k: v for k, v in os.environ.items() if not k.startswith(("LOCKSTITCH", "APP_SERVER", "XDG", "FAKE"))}
    found["PYTHONPATH"] = os.pathsep.join(str(ROOT / part) for part in ("sidecar", "protocol", "."))
    return {**found, **extra}


class Sidecar:
    """One running process, by default the one with the fake operations."""

    def __init__(
        self,
        data_dir: Path | None,
        *args: str,
        command: list[str] | None = None,
        env: dict[str, str] | None = None,
        framed: bool = False,
        jsonrpc: bool = True,
        **popen: Any,
    ) -> None:
        argv = [*(command or [sys.executable, "-m", "tests.wire.fake_app"]), *args]
        if data_dir is not None:
            argv += ["--data-dir", str(data_dir)]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        self.process = subprocess.Popen(argv, env={**environment(), **(env or {})}, cwd=ROOT, bufsize=0, **streams)
        self.framed, self.jsonrpc = framed, jsonrpc
        self._buffer = b""
        self._next = 0

    def __enter__(self) -> Sidecar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    # -- writing ----------------------------------------------------------------------------------
    def raw(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def frame(self, message: Any) -> bytes:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return b"Content-Length: %d\r\n\r\n" % len(body) + body if self.framed else body + b"\n"

    def message(self, method: str, params: Any = ..., **rest: Any) -> dict[str, Any]:
        found: dict[str, Any] = {"jsonrpc": "2.0"} if self.jsonrpc else {}
        found |= {**rest, "method": method}
        return found if params is ... else {**found, "params": params}

    def send(self, method: str, params: Any = ..., **rest: Any) -> Any:
        """Send a request (with a new id unless one is given); its id."""
        if "id" not in rest:
            self._next += 1
            rest["id"] = self._next
        self.raw(self.frame(self.message(method, params, **rest)))
        return rest["id"]

    def notify(self, method: str, params: Any = ...) -> None:
        self.raw(self.frame(self.message(method, params)))

    # -- reading ----------------------------------------------------------------------------------
    def read_bytes(self, deadline: float) -> bytes:
        out = self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError(f"nothing to read; have {self._buffer[:300]!r}")
        return os.read(out.fileno(), 1 << 18)

    def take(self, timeout: float = 20.0) -> Any:
        """The next message."""
        return json.loads(self.take_raw(timeout))

    def take_raw(self, timeout: float = 20.0) -> bytes:
        """The next message's bytes. EOFError at the end of stdout."""
        deadline = time.monotonic() + timeout
        parts = [self._buffer]
        while True:
            if self.framed:
                buffer = b"".join(parts)
                parts = [buffer]
                head, blank, body = buffer.partition(b"\r\n\r\n")
                if blank:
                    assert head.startswith(b"Content-Length: "), head
                    length = int(head[16:])
                    if len(body) >= length:
                        self._buffer = body[length:]
                        return body[:length]
            elif b"\n" in parts[-1]:
                line, _, self._buffer = b"".join(parts).partition(b"\n")
                return line
            data = self.read_bytes(deadline)
            if not data:
                raise EOFError(b"".join(parts)[:300])
            parts.append(data)

    def call(self, method: str, params: Any = ..., **rest: Any) -> Any:
        """Send a request and take the next message, which has to be its reply: the result."""
        key = self.send(method, params, **rest)
        reply = self.take()
        assert reply.get("id") == key, reply
        assert "result" in reply, reply
        return reply["result"]

    def error(self, method: str, params: Any = ..., **rest: Any) -> Any:
        """As `call`, for a request that is refused: the error."""
        key = self.send(method, params, **rest)
        reply = self.take()
        assert reply.get("id") == key, reply
        return reply["error"]

    def initialize(self, **params: Any) -> Any:
        result = self.call("initialize", {**HELLO, **params})
        self.notify("initialized", {})
        return result

    # -- ends -------------------------------------------------------------------------------------
    def close(self, timeout: float = 10.0) -> int:
        """Close stdin; the exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout)

    def rest(self) -> list[Any]:
        """Every further message up to the end of stdout."""
        found: list[Any] = []
        while True:
            try:
                found.append(self.take())
            except EOFError as end:
                if end.args[0]:
                    raise
                return found

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(10)
