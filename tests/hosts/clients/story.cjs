// What every JavaScript client does, whatever it speaks through: `ask(method, params)` is its way to send a request,
// `cancelled(method, params)` sends one, cancels it and gives the error. The facts are compared by the test.
const PLACE = JSON.parse(process.env.HOST_PLACE);
const BIG = "Füße ✓ 漢字 🧵 \u2028|".repeat(240_000);

async function story(ask, tell, cancelled, heard) {
  const hello = await ask("initialize", { clientInfo: { name: "host-test", version: "1" } });
  tell("initialized", {});
  const started = await ask("thread/start", { cwd: PLACE.workspace, name: "From another client" });
  const threadId = started.thread.id;
  const input = [{ type: "text", text: "Change the poem" }];
  const { turn } = await ask("turn/start", { threadId, input });
  const snapshot = (content, more) => ({ type: "artifact.snapshot", payload: { path: "poem.txt", content, ...more } });
  const append = (...runtimeEvents) =>
    ask("agentSession/runtimeEvents/append", { sessionId: threadId, turnId: turn.id, runtimeEvents });
  await append(snapshot("Over,\nunder.\n", { beforeAbsent: true }), snapshot("Over,\nunder,\nlocked.\n"));
  await append({ type: "message.created", payload: { role: "assistant", content: BIG } });
  const { checkpoints } = await ask("agentSession/fileCheckpoint/list", { sessionId: threadId });
  const checkpointId = checkpoints[0].checkpointId;
  const got = await ask("agentSession/fileCheckpoint/get", { sessionId: threadId, checkpointId });
  const { diff } = await ask("agentSession/fileCheckpoint/diff", { sessionId: threadId, checkpointId });
  const items = await ask("thread/items/list", { threadId });
  const big = items.data.map(({ item }) => item).find((item) => item.type === "agentMessage");
  const refused = await cancelled("thread/replay", { threadId, speed: 0.0001 });
  const done = await append({ type: "turn.completed", payload: {} });
  while (!heard.has("turn/completed")) await new Promise((resolve) => setTimeout(resolve, 2));
  const { processes } = await ask("server/status", {});
  return {
    server: hello.serverInfo.title,
    versions: checkpoints.map((one) => one.versionNo),
    content: got.content,
    unified: diff.unified,
    bigIsWhole: big.text === BIG,
    bigBytes: Buffer.byteLength(big.text),
    cancelled: refused.code,
    lastSequence: done.events[0].sequence,
    heard: ["thread/started", "turn/started", "item/completed", "turn/completed"].filter((name) => heard.has(name)),
    pid: processes.find((one) => one.bootId === hello.bootId).pid,
  };
}

function report(name, version, framing, facts) {
  process.stdout.write(JSON.stringify({ name, version, framing, facts }) + "\n");
}

module.exports = { PLACE, BIG, story, report };
