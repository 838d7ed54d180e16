// The main process of Electron: a window, and the sidecar as its child. `quit` ends as a user does, by closing the
// last window; `crash` waits to be killed. Either way the child finds its stdin at an end.
const { app, BrowserWindow } = require("electron");
const { spawn } = require("child_process");
const { PLACE, report, story } = require("../story.cjs");

app.disableHardwareAcceleration();
app.whenReady().then(async () => {
  const window = new BrowserWindow({ width: 320, height: 200, webPreferences: { contextIsolation: true, sandbox: true } });
  await window.loadURL("data:text/html,<title>host</title><p>A host");
  const child = spawn(PLACE.sidecar, PLACE.arguments, { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  const heard = new Set();
  let rest = "";
  let last = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method) heard.add(message.method);
      else if (message.error) waiting.get(message.id).reject(message.error);
      else waiting.get(message.id).resolve(message.result);
    }
  });
  const write = (message) => child.stdin.write(JSON.stringify(message) + "\n");
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(last, { resolve, reject });
      write({ id: last++, method, params });
    });
  const cancelled = async (method, params) => {
    const answer = ask(method, params).then(() => ({ code: "it was not cancelled" }), (error) => error);
    write({ method: "$/cancelRequest", params: { id: last - 1 } });
    return answer;
  };
  const facts = await story(ask, (method, params) => write({ method, params }), cancelled, heard);
  report(`Electron (${process.env.HOST_WAY})`, `Electron ${process.versions.electron}`, "lines", facts);
  if (process.env.HOST_WAY === "quit") window.close();
}).catch((error) => {
  console.error(error);
  app.exit(1);
});
app.on("window-all-closed", () => app.quit());
