"""What every Python client does, whatever it speaks through; story.cjs says what each part is."""

import asyncio
import json
import os

PLACE = json.loads(os.environ["HOST_PLACE"])
BIG = "Füße ✓ 漢字 🧵 \u2028|" * 240_000
NOTICES = ("thread/started", "turn/started", "item/completed", "turn/completed")


async def story(ask, tell, cancelled, heard):
    hello = await ask("initialize", {"clientInfo": {"name": "host-test", "version": "1"}})
    tell("initialized", {})
    thread = (await ask("thread/start", {"cwd": PLACE["workspace"]}))["thread"]["id"]
    words = [{"type": "text", "text": "Change the poem"}]
    turn = (await ask("turn/start", {"threadId": thread, "input": words}))["turn"]["id"]

    async def append(*events):
        params = {"sessionId": thread, "turnId": turn, "runtimeEvents": list(events)}
        return await ask("agentSession/runtimeEvents/append", params)

    def snapshot(content, **more):
        return {"type": "artifact.snapshot", "payload": {"path": "poem.txt", "content": content, **more}}

    await append(snapshot("Over,\nunder.\n", beforeAbsent=True), snapshot("Over,\nunder,\nlocked.\n"))
    await append({"type": "message.created", "payload": {"role": "assistant", "content": BIG}})
    checkpoints = (await ask("agentSession/fileCheckpoint/list", {"sessionId": thread}))["checkpoints"]
    which = {"sessionId": thread, "checkpointId": checkpoints[0]["checkpointId"]}
    got = await ask("agentSession/fileCheckpoint/get", which)
    diff = (await ask("agentSession/fileCheckpoint/diff", which))["diff"]
    items = [row["item"] for row in (await ask("thread/items/list", {"threadId": thread}))["data"]]
    said = next(item["text"] for item in items if item["type"] == "agentMessage")
    refused = await cancelled("thread/replay", {"threadId": thread, "speed": 0.0001})
    done = await append({"type": "turn.completed", "payload": {}})
    async with asyncio.timeout(30):
        while "turn/completed" not in heard:  # noqa: ASYNC110 - a set that each library fills in its own thread
            await asyncio.sleep(0.002)
    status = await ask("server/status", None)
    return {
        "server": hello["serverInfo"]["title"],
        "versions": [one["versionNo"] for one in checkpoints],
        "content": got["content"],
        "unified": diff["unified"],
        "bigIsWhole": said == BIG,
        "bigBytes": len(said.encode()),
        "cancelled": refused,
        "lastSequence": done["events"][0]["sequence"],
        "heard": [name for name in NOTICES if name in heard],
        "pid": next(one["pid"] for one in status["processes"] if one["bootId"] == hello["bootId"]),
    }


def report(name, version, framing, facts):
    print(json.dumps({"name": name, "version": version, "framing": framing, "facts": facts}))
