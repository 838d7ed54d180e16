// json-rpc-2.0: a client without a transport, here with one line a message. It counts its ids from 0 or makes them
// itself, gives up on a request without telling the server, and ends by closing stdin.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { PLACE, report, story } from "./story.cjs";

const require = createRequire(pathToFileURL(`${PLACE.packages}/`));
const { JSONRPCClient, JSONRPCErrorException } = require("json-rpc-2.0");
const { version } = require("json-rpc-2.0/package.json");

const child = spawn(PLACE.sidecar, PLACE.arguments, { stdio: ["pipe", "pipe", "ignore"] });
let next = 0;
const write = (message) => void child.stdin.write(JSON.stringify(message) + "\n");
const client = new JSONRPCClient(write, () => next++);
const heard = new Set();
let rest = "";
child.stdout.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.method) heard.add(message.method);
    else client.receive(message);
  }
});
const cancelled = async (method, params) => {
  const id = next++;
  const waiting = client.requestAdvanced({ jsonrpc: "2.0", id, method, params });
  client.notify("$/cancelRequest", { id });
  const reply = await waiting;
  return new JSONRPCErrorException(reply.error.message, reply.error.code, reply.error.data);
};
const facts = await story((method, params) => client.request(method, params), (m, p) => client.notify(m, p), cancelled, heard);
const gone = once(child, "exit");
child.stdin.end();
const [code] = await gone;
report("json-rpc-2.0", version, "lines", { ...facts, exit: code });
