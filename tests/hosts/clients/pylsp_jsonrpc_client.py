"""python-lsp-jsonrpc: Content-Length followed by a Content-Type header, UUIDs as ids; ends by closing stdin."""

import asyncio
import importlib.metadata
import os
import subprocess
import sys
import threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from story import PLACE, report, story

child = subprocess.Popen([PLACE["sidecar"], *PLACE["arguments"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
writer = JsonRpcStreamWriter(child.stdin)
heard = set()
asked = []


class Methods(dict):
    def __missing__(self, name):
        heard.add(name)
        raise KeyError(name)


def write(message):
    asked.append(message.get("id", asked[-1] if asked else None))
    writer.write(message)


endpoint = Endpoint(Methods(), write, max_workers=1)


threading.Thread(target=JsonRpcStreamReader(child.stdout).listen, args=(endpoint.consume,), daemon=True).start()


async def ask(method, params):
    return await asyncio.to_thread(lambda: endpoint.request(method, params).result(60))


async def cancelled(method, params):
    future = endpoint.request(method, params)
    endpoint.notify("$/cancelRequest", {"id": asked[-1]})  # its own way, cancelling the future, trips over itself
    try:
        await asyncio.to_thread(future.result, 30)
    except JsonRpcException as error:
        return error.code
    return "it was not cancelled"


async def main():
    facts = await story(ask, endpoint.notify, cancelled, heard)
    endpoint.shutdown()
    writer.close()
    facts["exit"] = child.wait(30)
    report("python-lsp-jsonrpc", importlib.metadata.version("python-lsp-jsonrpc"), "Content-Length", facts)


asyncio.run(main())
