"""A host as a test writes it: the real process over pipes, and every message held to the protocol's own models.

Invariant: nothing passes unchecked. A reply, error or notification that has a wrong, undocumented or null field
fails the test that caused it, whatever that test looks at. Waiting is for a condition, with a deadline; no sleeps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from lockstitch_protocol.error_data import ErrorData
from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.notifications import NOTIFICATIONS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30.0
"""Seconds after which a message that does not come is a failure."""

LEDGER: set[str] = set()
"""What was exercised in this run: methods, error kinds, event types that were stored, notifications."""

NULLABLE = frozenset({"arguments"})
"""Any JSON value, so that null is one."""

Notice = tuple[str, dict[str, Any]]


class Refused(Exception):  # noqa: N818 - a refusal is what the test asked for
    """An error reply."""

    def __init__(self, method: str, error: dict[str, Any]) -> None:
        super().__init__(f"{method}: {json.dumps(error, ensure_ascii=False)[:1500]}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error["data"]
        self.kind: str = self.data["kind"]


def environment(**extra: str) -> dict[str, str]:
    """The environment without anything that could choose a data root, and with our code on the path."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(("LOCKSTITCH", "APP_SERVER"))}
    found["PYTHONPATH"] = os.pathsep.join(str(ROOT / part) for part in ("sidecar", "protocol"))
    found["PYTHONDEVMODE"] = ""
    return {**found, **extra}


def conform(model: type[BaseModel], value: Any, what: str) -> None:
    """The value is exactly what the model documents: right types, no other fields, no nulls for "absent"."""
    try:
        documented = model.model_validate(value).model_dump(by_alias=True, exclude_unset=True)
    except ValueError as error:
        raise AssertionError(f"{what} is not a {model.__name__}: {error}\n{json.dumps(value)[:1500]}") from None
    odd = difference(value, documented)
    assert odd is None, f"{what} is not what {model.__name__} documents, at {odd}: {json.dumps(value)[:1500]}"


def difference(sent: Any, documented: Any, at: str = "") -> str | None:
    """Where two JSON values differ first."""
    if isinstance(sent, dict) and isinstance(documented, dict):
        for key in sent.keys() | documented.keys():
            if key in NULLABLE and sent.get(key, 0) is None:
                continue
            if (key in sent) != (key in documented):
                return f"{at}.{key}"
            found = difference(sent[key], documented[key], f"{at}.{key}")
            if found:
                return found
        return None
    if isinstance(sent, list) and isinstance(documented, list) and len(sent) == len(documented):
        found = (difference(a, b, f"{at}.{n}") for n, (a, b) in enumerate(zip(sent, documented, strict=True)))
        return next((place for place in found if place), None)
    return None if sent == documented else at or "the top"


class Host:
    """One running process and the messages that came from it."""

    def __init__(self, root: Path, *, args: Sequence[str] = (), greet: bool = True, **capabilities: Any) -> None:
        self.root = root
        command = [sys.executable, "-m", "lockstitch", "serve", "--data-dir", str(root / "data"), *args]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(), cwd=ROOT, bufsize=0
        )
        self._news = threading.Condition()
        self._replies: dict[Any, dict[str, Any]] = {}
        self._nameless: list[dict[str, Any]] = []
        self._notices: list[Notice] = []
        self._methods: dict[Any, str] = {}
        self._faults: list[BaseException] = []
        self._ended = False
        self.log = b""
        self.raw: list[bytes] | None = None
        self._count = 0
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._listen, self._drain_log)]
        for thread in self._threads:
            thread.start()
        self.hello: dict[str, Any] = {}
        if greet:
            self.hello = self.call("initialize", clientInfo={"name": "tests"}, capabilities=capabilities)
            self.signal("initialized")

    # -- life -----------------------------------------------------------------------------------------------------
    def __enter__(self) -> Host:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self.process.poll() is None and kind is None:
            assert self.close() == 0, self.log.decode(errors="replace")[-3000:]
        self.kill()

    def close(self) -> int:
        """Close its stdin and wait: the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self._tidy()
        self._raise_fault()
        return code

    def kill(self) -> None:
        """End it without warning, as a power cut would."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._tidy()

    def _tidy(self) -> None:
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    # -- asking ---------------------------------------------------------------------------------------------------
    def call(self, method: str, /, **params: Any) -> Any:
        """Send a request and wait for its result. Raises Refused."""
        return self.result(self.send(method, params))

    def refused(self, kind: str, method: str, /, **params: Any) -> Refused:
        """Send a request that must fail with that kind."""
        try:
            found = self.call(method, **params)
        except Refused as error:
            assert error.kind == kind, f"expected {kind}: {error}"
            return error
        raise AssertionError(f"{method} was to be refused with {kind}, and gave {json.dumps(found)[:500]}")

    def send(self, method: str, params: Any = None, id_: Any = None) -> Any:
        """Send a request without waiting: its id."""
        if id_ is None:
            self._count += 1
            id_ = self._count
        with self._news:
            self._methods[_key(id_)] = method
        self.write({"id": id_, "method": method, "params": params})
        return id_

    def signal(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        LEDGER.add(method)
        self.write({"method": method} if params is None else {"method": method, "params": params})

    def write(self, message: Any) -> None:
        self.write_bytes(json.dumps(message, ensure_ascii=True).encode() + b"\n")

    def write_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def result(self, id_: Any) -> Any:
        """Wait for the result of a request. Raises Refused."""
        reply = self.reply(id_)
        if "error" in reply:
            raise Refused(self._methods.get(_key(id_), "?"), reply["error"])
        return reply["result"]

    def reply(self, id_: Any) -> dict[str, Any]:
        """Wait for the whole reply to a request; None: the next one that names none."""
        if id_ is None:
            self._wait(lambda: self._nameless, "a reply without id")
            return self._nameless.pop(0)
        self._wait(lambda: _key(id_) in self._replies, f"the reply to {self._methods.get(_key(id_))}")
        return self._replies.pop(_key(id_))

    def any_reply(self, id_: Any) -> dict[str, Any]:
        """The reply to a request whose id the process may not have been able to read."""
        self._wait(lambda: self._nameless or _key(id_) in self._replies, f"a reply to {id_}")
        return self._nameless.pop(0) if self._nameless else self.reply(id_)

    def _wait(self, there: Callable[[], Any], what: str) -> None:
        with self._news:
            self._news.wait_for(lambda: self._faults or self._ended or there(), PATIENCE)
            self._raise_fault()
            if not there():
                why = "the process ended" if self._ended else "it did not come"
                raise AssertionError(f"waited for {what}: {why}\n{self.log.decode(errors='replace')[-3000:]}")

    def _raise_fault(self) -> None:
        """A message that was wrong fails the test that first sees it, and only that one."""
        if self._faults:
            found = self._faults[0]
            self._faults.clear()
            raise AssertionError(str(found)) from found

    # -- being told -----------------------------------------------------------------------------------------------
    def heard(self, method: str, **match: Any) -> dict[str, Any]:
        """Wait for a notification whose params have these values, and take it."""

        def at() -> int | None:
            for number, (name, params) in enumerate(self._notices):
                if name == method and all(params.get(key) == value for key, value in match.items()):
                    return number
            return None

        self._wait(lambda: at() is not None, f"{method} {match}")
        return self._notices.pop(at() or 0)[1]

    def notices(self, thread: str) -> list[Notice]:
        """Everything that was told of a thread and not taken yet, up to now. The connection must watch it.

        An event of the test's own is the mark: what comes before it was caused by what came before it.
        """
        marker = f"mark.{os.urandom(6).hex()}"
        self.append(thread, None, ("tests.mark", {"marker": marker}))
        self._wait(lambda: any(_marks(notice, marker) for notice in self._notices), "the mark")
        with self._news:
            end = next(number for number, notice in enumerate(self._notices) if _marks(notice, marker))
            mine = [notice for notice in self._notices[:end] if thread_of(notice) == thread]
            self._notices = [n for i, n in enumerate(self._notices) if i > end or (i < end and thread_of(n) != thread)]
        return mine

    @property
    def unread(self) -> list[Notice]:
        """What was told so far and not taken."""
        with self._news:
            return list(self._notices)

    def raw_reply(self, method: str, /, **params: Any) -> bytes:
        """The bytes of what comes until the reply to this request, that is of the reply if nothing else happens."""
        self.raw = []
        self.call(method, **params)
        found, self.raw = self.raw, None
        return b"\n".join(found)

    def post(self, method: str, params: bytes) -> Any:
        """Send a request whose params are these very bytes, and wait for its result."""
        self._count += 1
        with self._news:
            self._methods[_key(self._count)] = method
        self.write_bytes(b'{"id":%d,"method":"%s","params":%s}\n' % (self._count, method.encode(), params))
        return self.result(self._count)

    # -- shorthand ------------------------------------------------------------------------------------------------
    def thread(self, **params: Any) -> str:
        """A new thread: its id."""
        return self.call("thread/start", **params)["thread"]["id"]

    def turn(self, thread: str, text: str = "go on", **params: Any) -> str:
        """A new turn: its id."""
        params.setdefault("input", [{"type": "text", "text": text}])
        return self.call("turn/start", threadId=thread, **params)["turn"]["id"]

    def append(self, thread: str, turn: str | None, *events: Any, **params: Any) -> list[dict[str, Any]]:
        """Append events, each a whole one or (type, payload): the stored ones."""
        return self.append_result(thread, turn, *events, **params)["events"]

    def append_result(self, thread: str, turn: str | None, *events: Any, **params: Any) -> dict[str, Any]:
        """Append events: the whole result."""
        if turn is not None:
            params["turnId"] = turn
        params["runtimeEvents"] = sent = [event_of(event) for event in events]
        found = self.call("agentSession/runtimeEvents/append", sessionId=thread, **params)
        assert len(found["events"]) == len(sent)
        return found

    def events(self, thread: str, **params: Any) -> list[dict[str, Any]]:
        """All events of a thread, read in pages."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["sequence"] if found else params.pop("afterSequence", 0)
            page = self.call("thread/events/list", threadId=thread, afterSequence=after, **params)
            found += page["data"]
            if not page["hasMore"]:
                return found

    def items(self, thread: str, **params: Any) -> list[dict[str, Any]]:
        """All items of a thread."""
        return [entry["item"] for entry in self.pages("thread/items/list", "data", threadId=thread, **params)]

    def item(self, thread: str, item_id: str) -> dict[str, Any]:
        """One item as reads show it."""
        found = [item for item in self.items(thread) if item["id"] == item_id]
        assert len(found) == 1, f"{item_id} is there {len(found)} times"
        return found[0]

    def read(self, thread: str, *, turns: bool = False) -> dict[str, Any]:
        """The thread."""
        return self.call("thread/read", threadId=thread, includeTurns=turns)["thread"]

    def pages(self, method: str, name: str, **params: Any) -> list[Any]:
        """All entries of a list, page by page."""
        found: list[Any] = []
        while True:
            page = self.call(method, **params)
            found += page[name]
            if page["nextCursor"] is None:
                return found
            assert page[name], "a page that is not the last holds nothing"
            params["cursor"] = page["nextCursor"]

    def checkpoints(self, thread: str, **params: Any) -> list[dict[str, Any]]:
        """All checkpoints of a thread, newest first."""
        return self.pages("agentSession/fileCheckpoint/list", "checkpoints", sessionId=thread, **params)

    def snapshot(self, thread: str, turn: str | None, payload: dict[str, Any], **event: Any) -> dict[str, Any]:
        """Append one artifact.snapshot: its checkpoint as `fileCheckpoint/list` shows it."""
        stored = self.append(thread, turn, {"type": "artifact.snapshot", "payload": payload, **event})[0]
        sequence = stored["sequence"]
        return next(c for c in self.checkpoints(thread) if c["sequence"] == sequence)

    # -- threads --------------------------------------------------------------------------------------------------
    def _drain_log(self) -> None:
        assert self.process.stderr is not None
        while data := self.process.stderr.read(65536):
            self.log = (self.log + data)[-100_000:]

    def _listen(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        try:
            while data := self.process.stdout.read(1 << 20):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    if self.raw is not None:
                        self.raw.append(line)
                    message = json.loads(line)
                    for part in message if isinstance(message, list) else [message]:
                        try:
                            self._check(part)
                        except AssertionError as fault:
                            self._faults.append(fault)
                        self._take(part)
            assert rest == b"", f"stdout ended with {rest[:200]!r}"
        except BaseException as error:
            self._faults.append(error)
        finally:
            with self._news:
                self._ended = True
                self._news.notify_all()

    def _check(self, message: dict[str, Any]) -> None:
        if "method" in message:
            method, params = message["method"], message["params"]
            assert set(message) == {"method", "params"}, f"a notification with other fields: {message}"
            assert method in NOTIFICATIONS, f"an undocumented notification: {method}"
            LEDGER.add(method)
            conform(NOTIFICATIONS[method], params, method)
            strict(method, params)
            return
        assert set(message) in ({"id", "result"}, {"id", "error"}), f"a reply with other fields: {message}"
        asked = self._methods.get(_key(message["id"]), "")
        if "error" in message:
            check_error(message["error"])
        elif asked in METHODS:
            LEDGER.add(asked)
            note_events(asked, message["result"])
            conform(METHODS[asked].result, message["result"], f"the result of {asked}")

    def _take(self, message: dict[str, Any]) -> None:
        with self._news:
            if "method" in message:
                self._notices.append((message["method"], message["params"]))
            elif message["id"] is None:
                self._nameless.append(message)
            else:
                self._replies[_key(message["id"])] = message
            self._news.notify_all()


def _key(id_: Any) -> tuple[str, Any]:
    return type(id_).__name__, id_


def _marks(notice: Notice, marker: str) -> bool:
    return notice[0] == "agentSession/event" and notice[1]["event"]["payload"].get("marker") == marker


def thread_of(notice: Notice) -> str | None:
    """The thread that a notification is about."""
    params = notice[1]
    if "event" in params:
        return params["event"]["threadId"]
    return params["thread"]["id"] if "thread" in params else params.get("threadId")


def event_of(event: Any) -> dict[str, Any]:
    """An event to append, from (type, payload) or as it is."""
    return event if isinstance(event, dict) else {"type": event[0], "payload": event[1]}


def note_events(method: str, result: dict[str, Any]) -> None:
    """Remember which types of events were stored or listed."""
    events: Iterable[dict[str, Any]] = ()
    if method == "agentSession/runtimeEvents/append":
        events = result["events"]
    elif method == "thread/events/list":
        events = result["data"]
    LEDGER.update(event["type"] for event in events)


def check_error(error: dict[str, Any]) -> None:
    """An error has the code of its kind, a sentence, and documented facts."""
    assert set(error) == {"code", "message", "data"}, error
    kind = error["data"]["kind"]
    LEDGER.add(kind)
    conform(ErrorData, error["data"], "error.data")
    assert ERROR_CODES[kind] == error["code"], error
    assert error["message"][:1].isupper() and error["message"].rstrip().endswith((".", "?")), error
    assert "Traceback" not in json.dumps(error)
    if kind == "invalidParams":
        assert error["data"]["errors"] and all(problem["message"] for problem in error["data"]["errors"]), error


def strict(method: str, params: dict[str, Any]) -> None:
    """What the strictest known clients demand of a notification, beside its shape."""
    if method == "turn/started":
        assert params["turn"]["status"] == "inProgress", params
    elif method == "turn/completed":
        assert params["turn"]["status"] in ("completed", "failed", "interrupted"), params
    elif method == "thread/started":
        assert isinstance(params["thread"]["createdAt"], int) and isinstance(params["thread"]["updatedAt"], int)
    elif method == "item/started":
        assert type(params["startedAtMs"]) is int and params["turnId"], params
    elif method == "item/completed":
        assert type(params["completedAtMs"]) is int and params["turnId"], params
        assert params["item"].get("status") != "inProgress", params


__all__ = ["LEDGER", "Host", "Notice", "Refused", "conform", "event_of", "thread_of"]
