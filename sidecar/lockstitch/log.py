"""The log: stderr, while somebody reads it, and one bounded file in the data root. Errors get an id here.

Invariant: logging never blocks and never raises, whatever becomes of stderr or the disk; what cannot be written
in time is counted and dropped.
Invariant: no transcript and no secrets: of an exception its type and where it happened are logged, not its text.
"""

from __future__ import annotations

import io
import logging
import os
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

FILE_LIMIT = 1024 * 1024
"""Size at which the log file becomes `sidecar.log.1`; the one before that is removed."""

_QUEUE_LIMIT = 512 * 1024


class _Sink:
    """A bounded queue in front of something that may block, with a thread of its own."""

    def __init__(self, name: str, write: Callable[[bytes], None]) -> None:
        self._name = name
        self._write = write
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0
        self._busy = False
        self._started = False
        self._changed = threading.Condition(threading.RLock())

    def put(self, line: bytes) -> None:
        with self._changed:
            if self._size + len(line) > _QUEUE_LIMIT:
                self._dropped += 1
                return
            self._queue.append(line)
            self._size += len(line)
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            self._changed.notify_all()

    def flush(self, timeout: float) -> None:
        """Wait until everything is written, at most so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queue and not self._busy, timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not self._queue:
                    self._changed.wait()
                lines = list(self._queue)
                self._queue.clear()
                self._size = 0
                self._busy = True
                if self._dropped:
                    lines.append(b"(%d lines were dropped here)\n" % self._dropped)
                    self._dropped = 0
            try:
                self._write(b"".join(lines))
            except OSError:
                continue


class _File:
    """The log file, shared by all processes of a data root: whole lines are appended; who finds it full renames it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def write(self, data: bytes) -> None:
        self._follow()
        os.write(self._descriptor, data)

    def _follow(self) -> None:
        """Be on the file that has the name now; move it away first if it is full."""
        if self._descriptor >= 0:
            ours = os.fstat(self._descriptor)
            try:
                named = os.stat(self._path)
            except FileNotFoundError:
                named = None
            if named is not None and (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino):
                if ours.st_size < FILE_LIMIT:
                    return
                os.replace(self._path, f"{self._path}.1")
            os.close(self._descriptor)
            self._descriptor = -1
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(self._path, flags, 0o600)
        if stat.S_IMODE(os.fstat(self._descriptor).st_mode) != 0o600 and hasattr(os, "fchmod"):
            os.fchmod(self._descriptor, 0o600)


class _Stream(io.TextIOBase):
    """Stands in for sys.stdout and sys.stderr: what is printed goes to stderr and never blocks the caller."""

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - read-only here
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._sink.put(text.encode("utf-8", "backslashreplace"))
        return len(text)

    def fileno(self) -> int:
        return 2


class _Handler(logging.Handler):
    def __init__(self, sinks: list[_Sink]) -> None:
        super().__init__()
        self._sinks = sinks

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = _line(record)
        except Exception:  # a bad format string of ours must not end anything
            line = b"a log record could not be written\n"
        for sink in self._sinks:
            sink.put(line)


def _line(record: logging.LogRecord) -> bytes:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    origin = f"{record.levelname.lower()} {record.name}[{os.getpid()}]"
    text = f"{moment}.{int(record.msecs):03d}Z {origin} {record.getMessage()}"
    if record.exc_info and record.exc_info[0]:
        text += f": {where(record.exc_info[0], record.exc_info[2])}"
    return text.replace("\r", "\\r").replace("\n", "\\n").encode("utf-8", "backslashreplace") + b"\n"


def where(kind: type[BaseException], trace: TracebackType | None) -> str:
    """An exception without its text: its type and the places that it came through, innermost first."""
    places: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{'/'.join(Path(code.co_filename).parts[-3:])}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return f"{kind.__module__}.{kind.__qualname__} at " + " < ".join(reversed(places[-30:]))


def _write_stderr(data: bytes) -> None:
    while data:
        data = data[os.write(2, data) :]


class Log:
    """The process's log, once started."""

    def __init__(self, sinks: list[_Sink]) -> None:
        self._sinks = sinks

    def flush(self, timeout: float = 0.3) -> None:
        """Give what was logged a moment to be written."""
        deadline = time.monotonic() + timeout
        for sink in self._sinks:
            sink.flush(max(0.0, deadline - time.monotonic()))


def start_log(file: Path | None, level: str) -> Log:
    """Send logging, warnings and prints where they belong. `file` None: stderr only."""
    stderr = _Sink("log to stderr", _write_stderr)
    sinks = [stderr] if file is None else [_Sink("log to file", _File(file).write), stderr]
    root = logging.getLogger()
    root.handlers[:] = [_Handler(sinks)]
    root.setLevel(logging.WARNING)
    logging.getLogger("lockstitch").setLevel(level.upper())
    logging.raiseExceptions = False
    sys.stdout = sys.stderr = _Stream(stderr)
    return Log(sinks)
