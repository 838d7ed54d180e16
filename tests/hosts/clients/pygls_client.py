"""pygls' client: Content-Length, string ids; it never reads stderr, and after `exit` waits for the child to end."""

import asyncio
import importlib.metadata
import os
import sys

from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from story import PLACE, report, story

client = JsonRPCClient()
heard = set()
for name in ("thread/started", "turn/started", "item/completed", "turn/completed"):
    client.feature(name)(lambda _params, name=name: heard.add(name))


def plain(value):
    """What came, as dicts and lists: pygls makes named tuples of what it has no type for."""
    if hasattr(value, "_asdict"):
        return {key: plain(one) for key, one in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


async def ask(method, params):
    return plain(await client.protocol.send_request_async(method, params))


async def cancelled(method, params):
    waiting = asyncio.ensure_future(client.protocol.send_request_async(method, params, msg_id="to-be-cancelled"))
    await asyncio.sleep(0)
    client.protocol.notify("$/cancelRequest", {"id": "to-be-cancelled"})
    try:
        await waiting
    except JsonRpcException as error:
        return error.code
    return "it was not cancelled"


async def main():
    await client.start_io(PLACE["sidecar"], *PLACE["arguments"])
    facts = await story(ask, client.protocol.notify, cancelled, heard)
    await ask("shutdown", None)
    client.protocol.notify("exit", None)
    await client._server.wait()
    facts["exit"] = client._server.returncode
    await client.stop()
    report("pygls client", importlib.metadata.version("pygls"), "Content-Length", facts)


asyncio.run(main())
