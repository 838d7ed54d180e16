// The client on the real process, with kills in the middle. TEST_SIDECAR names the program.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { AbortError, Sidecar, SidecarError, SidecarGoneError, binaryPath, spawnSidecar } from "../dist/index.mjs";

const command = process.env.TEST_SIDECAR ?? "lockstitch-sidecar";
const clientInfo = { name: "client-test", version: "1" };

function place(t) {
  const folder = mkdtempSync(join(tmpdir(), "lockstitch-client-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function spawned(t, options = {}) {
  const dataDir = join(place(t), "data");
  const sidecar = await spawnSidecar({ command, dataDir, clientInfo, backoff: { first: 1, most: 20 }, ...options });
  t.after(() => sidecar.close());
  return sidecar;
}

function until(sidecar, state) {
  return new Promise((resolve) => {
    const stop = sidecar.on("state", (now) => now === state && (stop(), resolve()));
  });
}

const note = (text) => ({ type: "note", payload: { text } });

async function notes(sidecar, threadId) {
  const found = [];
  for (let afterSequence = 0; ; ) {
    const page = await sidecar.request("thread/events/list", { threadId, afterSequence, limit: 500 });
    found.push(...page.data);
    if (!page.hasMore) return found.filter((event) => event.type === "note").map((event) => event.payload.text);
    afterSequence = found[found.length - 1].sequence;
  }
}

test("a host spawns, records, diffs, and closes", async (t) => {
  const workspace = place(t);
  const sidecar = await spawned(t);
  assert.equal(sidecar.hello.serverInfo.title, "Lockstitch");
  const { thread } = await sidecar.request("thread/start", { cwd: workspace });
  const { turn } = await sidecar.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "Go" }] });
  await sidecar.append(thread.id, [
    { type: "artifact.snapshot", payload: { path: "a.txt", content: "one\n", beforeAbsent: true } },
    { type: "artifact.snapshot", payload: { path: "a.txt", content: "one\ntwo\n" } },
    { type: "turn.completed" },
  ], { turnId: turn.id });
  const { checkpoints } = await sidecar.request("agentSession/fileCheckpoint/list", { sessionId: thread.id });
  const checkpointId = checkpoints[0].checkpointId;
  const { diff } = await sidecar.request("agentSession/fileCheckpoint/diff", { sessionId: thread.id, checkpointId });
  assert.match(diff.unified, /\+two\n$/);
  assert.equal(await sidecar.close(), 0);
  await assert.rejects(sidecar.request("server/status"), SidecarGoneError);
});

test("it is the same client through require", () => {
  const required = createRequire(import.meta.url)("../dist/index.js");
  assert.equal(required.Sidecar, Sidecar);
});

test("an error reply says its kind", async (t) => {
  const sidecar = await spawned(t);
  const error = await sidecar.request("thread/read", { threadId: "nobody" }).catch((reason) => reason);
  assert(error instanceof SidecarError);
  assert.deepEqual([error.kind, error.code, error.method], ["threadNotFound", -32010, "thread/read"]);
});

test("a signal cancels, before and while it runs", async (t) => {
  const sidecar = await spawned(t);
  const { thread } = await sidecar.request("thread/start", {});
  await sidecar.append(thread.id, [note("a")]);
  await sidecar.append(thread.id, [note("b")]);
  const controller = new AbortController();
  const running = sidecar.request("thread/replay", { threadId: thread.id, speed: 0.0001 }, { signal: controller.signal });
  controller.abort();
  await assert.rejects(running, AbortError);
  await assert.rejects(sidecar.request("server/status", {}, { signal: controller.signal }), AbortError);
});

test("progress is told to whom asked for it", async (t) => {
  const sidecar = await spawned(t);
  const { thread } = await sidecar.request("thread/start", {});
  const kinds = [];
  await sidecar.request("thread/replay", { threadId: thread.id }, { onProgress: (value) => kinds.push(value.kind) });
  assert.deepEqual([kinds[0], kinds[kinds.length - 1]], ["begin", "end"]);
});

test("kills in the middle lose and repeat nothing", async (t) => {
  const sidecar = await spawned(t);
  const { thread } = await sidecar.request("thread/start", { threadId: "killed" });
  const heard = [];
  sidecar.on("agentSession/event", ({ event }) => heard.push(event));
  const expected = [];
  const appended = [];
  for (let round = 0; round < 4; round++) {
    for (let index = 0; index < 40; index++) {
      const text = `${round}.${index}`;
      expected.push(text);
      appended.push(sidecar.append(thread.id, [note(text)]));
    }
    if (round % 2) await appended[appended.length - 20]; // once in the middle of the answers, once before the first
    const again = until(sidecar, "ready");
    process.kill(sidecar.pid, "SIGKILL");
    await again;
  }
  const answers = await Promise.all(appended);
  assert.deepEqual(answers.map(({ events }) => events[0].payload.text), expected);
  assert.deepEqual(await notes(sidecar, thread.id), expected);
  const { lastSequence } = await sidecar.request("thread/events/list", { threadId: thread.id, limit: 1 });
  await new Promise((resolve) => {
    const look = () => (heard.length && heard[heard.length - 1].sequence === lastSequence ? resolve() : setTimeout(look, 5));
    look();
  });
  assert.deepEqual(heard.filter(({ type }) => type === "note").map(({ payload }) => payload.text), expected);
});

test("what only looks is asked again, what may have happened is said so", async (t) => {
  const sidecar = await spawned(t);
  const { thread } = await sidecar.request("thread/start", {});
  process.kill(sidecar.pid, "SIGSTOP");
  const look = sidecar.request("thread/read", { threadId: thread.id });
  const act = sidecar.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "x" }] });
  process.kill(sidecar.pid, "SIGKILL");
  const error = await act.catch((reason) => reason);
  assert(error instanceof SidecarGoneError);
  assert.equal(error.mayHaveHappened, true);
  assert.equal((await look).thread.id, thread.id);
});

test("a host may ask to be told again", async (t) => {
  const sidecar = await spawned(t);
  const { thread } = await sidecar.request("thread/start", {});
  const heard = [];
  sidecar.on("agentSession/event", ({ event }) => heard.push(event.payload.text));
  await sidecar.append(thread.id, [note("a"), note("b")]);
  const told = (text) => new Promise(function look(resolve) {
    heard.includes(text) ? resolve() : setTimeout(look, 5, resolve);
  });
  await told("b");
  await sidecar.request("thread/unsubscribe", { threadId: thread.id });
  await sidecar.request("thread/resume", { threadId: thread.id, afterSequence: 1 });
  await sidecar.append(thread.id, [note("c")]);
  await told("c");
  assert.deepEqual(heard, ["a", "b", "a", "b", "c"]);
});

test("one that cannot start says why, and is not started again", async (t) => {
  const folder = place(t);
  writeFileSync(join(folder, "file"), "");
  const error = await spawnSidecar({ command, dataDir: join(folder, "file", "x"), clientInfo }).catch((reason) => reason);
  assert(error instanceof SidecarGoneError);
  assert.equal(error.exitCode, 2);
  assert.match(error.stderr, /cannot use .* as data root/);
  const missing = await spawnSidecar({ command: join(folder, "nothing"), clientInfo }).catch((reason) => reason);
  assert.match(missing.message, /ENOENT/);
  const args = ["-e", "console.log('hello'); setInterval(() => 0, 1000)", "--"];
  const other = await spawnSidecar({ command: process.execPath, args, clientInfo }).catch((reason) => reason);
  assert.match(other.message, /is no sidecar: it wrote "hello"/);
});

test("restarts end when they do not help", async (t) => {
  const sidecar = await spawned(t, { maxRestarts: 2 });
  const failed = until(sidecar, "failed");
  for (let round = 0; round < 3; round++) {
    process.kill(sidecar.pid, "SIGKILL");
    if (round < 2) await until(sidecar, "ready");
  }
  await failed;
  await assert.rejects(sidecar.request("server/status"), SidecarGoneError);
});

test("closing answers what was asked before", async (t) => {
  const sidecar = await spawned(t);
  const { thread } = await sidecar.request("thread/start", {});
  const appended = Array.from({ length: 50 }, (_, index) => sidecar.append(thread.id, [note(`${index}`)]));
  assert.equal(await sidecar.close(), 0);
  assert.equal((await Promise.all(appended)).length, 50);
});

test("closing while it waits for the next start ends it", async (t) => {
  const sidecar = await spawned(t, { backoff: { first: 60_000, most: 60_000 } });
  const restarting = until(sidecar, "restarting");
  process.kill(sidecar.pid, "SIGKILL");
  await restarting;
  const waiting = sidecar.request("server/status");
  const refused = assert.rejects(waiting, SidecarGoneError);
  await sidecar.close();
  await refused;
});

test("the program is named by the environment, or its absence explained", () => {
  process.env.LOCKSTITCH_BINARY = "/somewhere/lockstitch";
  assert.equal(binaryPath(), "/somewhere/lockstitch");
  delete process.env.LOCKSTITCH_BINARY;
  assert.throws(binaryPath, /optional dependency/);
});
