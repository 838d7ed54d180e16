"""A sidecar whose operations are fakes: the real process, wire and all, without threads and turns behind it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import warnings
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lockstitch.rpc.application import Application


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow", defer_build=True)


class Typed(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)
    threadId: str  # noqa: N815
    limit: int = 25


class ClientInfo(BaseModel):
    name: str


class Initialize(BaseModel):
    clientInfo: ClientInfo = Field()  # noqa: N815


class Entry(NamedTuple):
    params: type[BaseModel]


class FakeRuntime:
    def __init__(self, settings: Any, boot_id: str) -> None:
        if os.environ.get("FAKE_START") == "cannot be made":
            raise ValueError("secret-word")
        self.boot_id = boot_id
        self.gate = asyncio.Event()
        self.order: list[Any] = []
        self.path = os.path.join(settings.data_root, "fake.txt")
        self.pending: list[str] = []

    async def start(self) -> None:
        if os.environ.get("FAKE_START") == "fails":
            from lockstitch.errors import StorageError

            raise StorageError("The disk said no.", path="/x", errno=5)

    async def drain(self) -> bool:
        if os.environ.get("FAKE_DRAIN") == "fails":
            return False
        self._write(self.pending)
        self.pending.clear()
        return True

    async def close(self) -> None:
        self._write(["closed"])

    def _write(self, lines: list[str]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)


async def ping(_runtime: Any, _call: Any, _params: Any) -> Any:
    return {}


async def echo(_runtime: Any, call: Any, _params: Any) -> Any:
    from lockstitch.codec import Raw

    return {"params": Raw(call.params_bytes), "id": call.request_id}


async def store(runtime: Any, call: Any, _params: Any) -> Any:
    runtime.pending.append(str(call.params.get("text")))
    return {}


async def slow(_runtime: Any, call: Any, _params: Any) -> Any:
    if call.params.get("commit"):
        call.commit_point()
    await call.connection.notify("fake/started", b"{}")
    await asyncio.sleep(call.params.get("seconds", 60))
    return {"slept": True}


async def wait(runtime: Any, _call: Any, _params: Any) -> Any:
    await runtime.gate.wait()
    return {"waited": True}


async def open_gate(runtime: Any, _call: Any, _params: Any) -> Any:
    runtime.gate.set()
    return {}


async def order(runtime: Any, call: Any, _params: Any) -> Any:
    runtime.order.append(call.params["n"])
    await asyncio.sleep(0)
    return {"order": list(runtime.order) if call.params.get("tell") else []}


async def big(_runtime: Any, call: Any, _params: Any) -> Any:
    return {"text": "x" * call.params["bytes"]}


async def flood(_runtime: Any, call: Any, _params: Any) -> Any:
    body = b'{"text":"%b"}' % (b"y" * call.params["bytes"])
    for _ in range(call.params["count"]):
        await call.connection.notify("fake/flood", body)
    return {}


async def fail(_runtime: Any, call: Any, _params: Any) -> Any:
    from lockstitch import errors

    how = call.params["how"]
    if how == "known":
        raise errors.ConflictError("That turn is busy.", kind="turnActive", turnId="t1")
    if how == "exit":
        sys.exit("secret-word")
    if how == "json":
        return {"x": object()}
    raise ValueError("secret-word")


async def typed(_runtime: Any, _call: Any, params: Typed) -> Any:
    return {"limit": params.limit}


async def prints(_runtime: Any, _call: Any, _params: Any) -> Any:
    print("a stray print")
    sys.stdout.flush()
    os.write(1, b"a stray write\n")
    warnings.warn("a stray warning", stacklevel=1)
    child = "import sys; print('child prints'); sys.stderr.write('child errs'); sys.exit(len(sys.stdin.read()))"
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", child], check=False)
    return {"child": done.returncode}


async def chatter(_runtime: Any, call: Any, _params: Any) -> Any:
    import logging

    for _ in range(call.params["lines"]):
        print("z" * 100)
        logging.getLogger("lockstitch.fake").info("z" * 100)
    return {}


async def notifies(_runtime: Any, call: Any, _params: Any) -> Any:
    def later() -> None:
        _tasks.append(asyncio.ensure_future(call.connection.notify("fake/after", b'{"n":1}')))

    call.after_reply.append(later)
    await call.progress("begin", total=2)
    await call.progress("report", current=1)
    await call.progress("end", message="done")
    return {}


_tasks: list[Any] = []

OPERATIONS: dict[str, Any] = {
    "test/ping": ping,
    "test/echo": echo,
    "test/store": store,
    "test/slow": slow,
    "test/longRead": slow,
    "test/wait": wait,
    "test/open": open_gate,
    "test/order": order,
    "test/big": big,
    "test/flood": flood,
    "test/fail": fail,
    "test/typed": typed,
    "test/print": prints,
    "test/chatter": chatter,
    "test/notify": notifies,
}


def application() -> Application:
    from lockstitch.rpc.application import Application

    methods = {name: Entry(Typed if name == "test/typed" else Anything) for name in OPERATIONS}
    methods["initialize"] = Entry(Initialize)
    return Application(methods, OPERATIONS, FakeRuntime, frozenset({"test/longRead"}))


def main() -> None:
    from lockstitch.rpc.serve import serve
    from lockstitch.settings import parse_arguments, settings_of_process

    os._exit(serve(settings_of_process(parse_arguments(sys.argv[1:])), application))


if __name__ == "__main__":
    main()
