// Only compiled: what the types allow, and what they do not.
import { spawnSidecar, types } from "lockstitch";

export async function host(): Promise<types.Turn> {
  const sidecar = await spawnSidecar({ clientInfo: { name: "typed" }, dataDir: "/data" });
  await sidecar.request("server/status");
  const { thread } = await sidecar.request("thread/start", { cwd: "/workspace" });
  const stop = sidecar.on("turn/completed", ({ turn }) => console.log(turn.status.toUpperCase()));
  stop();
  // @ts-expect-error a method that is not there
  await sidecar.request("thread/nothing", {});
  // @ts-expect-error its params are required
  await sidecar.request("thread/read");
  // @ts-expect-error a field of another type
  await sidecar.request("thread/read", { threadId: 7 });
  // @ts-expect-error the result has no such field
  (await sidecar.request("thread/read", { threadId: thread.id })).nothing;
  await sidecar.append(thread.id, [{ type: "message.created", payload: { role: "assistant", content: "hi" } }]);
  const { turn } = await sidecar.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "x" }] });
  const code: number | null = await sidecar.close();
  console.log(code);
  return turn;
}
