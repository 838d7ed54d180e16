"""Named points at which a test makes the disk fail or the process die; nothing at all in production.

Every write, sync, rename, removal and commit of the product stands between two points. A test arms them with the
path of a plan (`LOCKSTITCH_FAULTS`, read by settings.py) and may change that file at any time; its counts begin
anew with each change. A plan has one rule a line:

    <name>[@<part of the path>] <first>[-[<last>]] <action>

`*` is every name. Actions: `kill`, `stop` (SIGSTOP), `fail ERRNO`, `tear BYTES kill`, `tear BYTES fail ERRNO`
(at `write`: so many bytes of it are written, the next write does that), `trace` (`<plan>.trace` gets a line for each).

Invariant: until `arm` is called, `point` does nothing and `whole` returns what it is given.
"""

from __future__ import annotations

import os
import signal
import threading

import msgspec

Path = str | os.PathLike[str] | int


def _no_point(name: str, path: Path = "") -> None:
    """Pass."""


def _no_cut(data: memoryview) -> memoryview:
    return data


point = _no_point
"""Called before and after each step. Raises OSError where a test wants the step to fail."""

whole = _no_cut
"""What of a write is to be written: all of it."""


def arm(plan: str) -> None:
    """Obey the plan in that file from now on."""
    global point, whole
    armed = _Armed(plan)
    point, whole = armed.point, armed.whole


class _Rule(msgspec.Struct):
    name: str
    part: str
    first: int
    last: float
    action: list[str]
    count: int = 0


class _Armed(msgspec.Struct):
    plan: str
    _text: str = ""
    _rules: list[_Rule] = []
    _torn: int | None = None
    _then: list[str] = []
    _lock: threading.RLock = msgspec.field(default_factory=threading.RLock)

    def point(self, name: str, path: Path = "") -> None:
        with self._lock:
            if self._then and name == "write":
                then, self._then = self._then, []
                self._act(then, name, path)
            self._read_plan()
            where = _name_of(path)
            for rule in self._rules:
                if rule.name in ("*", name) and rule.part in where:
                    rule.count += 1
                    if rule.first <= rule.count <= rule.last:
                        self._act(rule.action, name, where)

    def whole(self, data: memoryview) -> memoryview:
        with self._lock:
            torn, self._torn = self._torn, None
            return data if torn is None else data[:torn]

    def _act(self, action: list[str], name: str, path: Path) -> None:
        match action:
            case ["kill"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["stop"]:
                # To this thread: sent to the process, another one may take it while this one goes on for a while.
                signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
            case ["fail", number]:
                raise OSError(int(number), os.strerror(int(number)), _name_of(path))
            case ["tear", size, *then]:
                self._torn, self._then = int(size), then
            case ["trace"]:
                with open(f"{self.plan}.trace", "a", encoding="utf-8") as file:
                    file.write(f"{name} {_name_of(path)}\n")
            case _:
                raise ValueError(f"a plan of faults knows no {' '.join(action)}")

    def _read_plan(self) -> None:
        try:
            with open(self.plan, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        if text != self._text:
            self._text, self._rules = text, [_rule(line.split()) for line in text.splitlines() if line]


def _rule(words: list[str]) -> _Rule:
    name, _, part = words[0].partition("@")
    first, dash, last = words[1].partition("-")
    start = int(first or 1)
    return _Rule(name, part, start, int(last) if last else float("inf") if dash else start, words[2:])


def _name_of(path: Path) -> str:
    """The path; a descriptor is looked up where the system tells."""
    if not isinstance(path, int):
        return os.fspath(path)
    try:
        return os.readlink(f"/proc/self/fd/{path}")
    except OSError:
        return ""
