// vscode-jsonrpc: Content-Length, params by position or by name. Like an extension host it ends without a word and
// leaves its child to notice. By position, a method that needs no params gets [], as `sendRequest(method)` gives none.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { PLACE, report, story } from "./story.cjs";

const require = createRequire(pathToFileURL(`${PLACE.packages}/`));
const rpc = require("vscode-jsonrpc/node");
const { version } = JSON.parse(readFileSync(`${PLACE.packages}/node_modules/vscode-jsonrpc/package.json`, "utf8"));
const [structure] = process.argv.slice(2);

const child = spawn(PLACE.sidecar, PLACE.arguments, { stdio: ["pipe", "pipe", "ignore"] });
const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(child.stdout),
  new rpc.StreamMessageWriter(child.stdin),
);
const heard = new Set();
connection.onUnhandledNotification(({ method }) => heard.add(method));
connection.onError((error) => console.error("connection", error));
connection.listen();

const kind = structure === "positional" ? rpc.ParameterStructures.byPosition : rpc.ParameterStructures.byName;
const send = (method, params, ...rest) =>
  Object.keys(params).length === 0
    ? connection.sendRequest(method, ...rest)
    : connection.sendRequest(method, kind, params, ...rest);
const cancelled = async (method, params) => {
  const source = new rpc.CancellationTokenSource();
  const waiting = send(method, params, source.token);
  source.cancel();
  return waiting.then(() => ({ code: "it was not cancelled" }), (error) => error);
};
const facts = await story(send, (method, params) => void connection.sendNotification(method, kind, params), cancelled, heard);
report(`vscode-jsonrpc (${structure})`, version, "Content-Length", facts);
process.exit(0);
