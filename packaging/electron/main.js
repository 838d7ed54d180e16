// The main process: owns the sidecar and the window. The page can do what `ALLOWED` names, and nothing else.
"use strict";
const { app, BrowserWindow, dialog, ipcMain, Menu, shell } = require("electron");
const path = require("path");
const { spawnSidecar } = require("lockstitch");
const { runAgent } = require("./agent");

const ALLOWED = new Set([
  "thread/list", "thread/start", "thread/resume", "thread/unsubscribe", "thread/turns/list", "thread/search",
  "turn/interrupt", "agentSession/fileCheckpoint/list", "agentSession/fileCheckpoint/diff",
  "agentSession/fileCheckpoint/restore", "agentSession/fileCheckpoint/undo",
]);
const PAGE = path.join(__dirname, "page", "index.html");

let sidecar = null;
let window = null;

// Two windows of one app, or two apps, may use one data root at the same time; this app shows one window.
app.on("ready", () => start().catch(fail));
app.on("window-all-closed", () => app.quit());
app.on("second-instance", () => window && window.focus());
app.on("web-contents-created", (_event, contents) => {
  contents.on("will-navigate", (event) => event.preventDefault());
  contents.on("new-window", (event) => event.preventDefault());
});

// Quitting waits for the sidecar: what it accepted is stored first. That takes milliseconds; a crash needs no care at
// all, since the sidecar then finds its stdin at an end.
let closed = false;
app.on("before-quit", (event) => {
  if (closed || !sidecar) return;
  event.preventDefault();
  sidecar.close().then(() => {
    closed = true;
    app.quit();
  });
});

async function start() {
  window = new BrowserWindow({
    width: 1180,
    height: 760,
    minWidth: 720,
    minHeight: 420,
    show: false,
    title: "Lockstitch sample host",
    webPreferences: {
      preload: path.join(__dirname, "preload.js"),
      contextIsolation: true,
      nodeIntegration: false,
      sandbox: true,
    },
  });
  Menu.setApplicationMenu(menu());
  sidecar = await spawnSidecar({
    clientInfo: { name: "sample-host", title: "Lockstitch sample host", version: app.getVersion() },
    command: process.env.SAMPLE_SIDECAR, // unset: the program of the platform package
    dataDir: process.env.SAMPLE_DATA_DIR, // unset: the platform's own place
  });
  sidecar.on("*", (message) => toPage("notification", message));
  sidecar.on("state", (state) => toPage("state", state));
  await window.loadFile(PAGE);
  window.show();
}

function toPage(channel, value) {
  if (window && !window.isDestroyed()) window.webContents.send(channel, value);
}

function fail(error) {
  dialog.showErrorBox("The history cannot be opened", `${error.message}\n\n${error.stderr || ""}`);
  app.exit(1);
}

// -- what the page may ask: a reply is {result} or {error}, since an Error loses its fields on the way -----------------
function answer(name, act) {
  ipcMain.handle(name, async (event, ...given) => {
    if (!event.senderFrame && event.sender !== window.webContents) return { error: { message: "not from our page" } };
    try {
      return { result: await act(...given) };
    } catch (error) {
      return { error: { message: error.message, kind: error.kind || error.name, data: error.data } };
    }
  });
}

answer("request", (method, params) => {
  if (!ALLOWED.has(method)) throw new Error(`the page may not call ${method}`);
  return sidecar.request(method, params);
});

answer("hello", () => ({ ...sidecar.hello, state: sidecar.state, workspace: workspace() }));

answer("send", async (threadId, text) => {
  const id = threadId || (await sidecar.request("thread/start", { cwd: workspace(), name: text.slice(0, 60) })).thread.id;
  const input = [{ type: "text", text }];
  const { turn } = await sidecar.request("turn/start", { threadId: id, input });
  runAgent(sidecar, { threadId: id, turnId: turn.id, text, workspace: workspace() });
  return { threadId: id };
});

answer("export", async (threadId) => {
  const chosen = process.env.SAMPLE_EXPORT_TO
    ? { filePath: process.env.SAMPLE_EXPORT_TO }
    : await dialog.showSaveDialog(window, { defaultPath: "thread.md", filters: [{ name: "Markdown", extensions: ["md"] }] });
  if (!chosen.filePath) return null;
  return sidecar.request("thread/export", { threadId, format: "markdown", path: chosen.filePath });
});

function workspace() {
  return process.env.SAMPLE_WORKSPACE || app.getPath("documents");
}

function menu() {
  const send = (name) => () => toPage("command", name);
  const file = [
    { label: "New thread", accelerator: "CmdOrCtrl+N", click: send("new") },
    { label: "Export…", accelerator: "CmdOrCtrl+E", click: send("export") },
    { type: "separator" },
    { role: "quit" },
  ];
  const view = [
    { label: "Search", accelerator: "CmdOrCtrl+F", click: send("search") },
    { label: "Restore…", accelerator: "CmdOrCtrl+Shift+R", click: send("restore") },
    { type: "separator" },
    { role: "resetZoom" }, { role: "zoomIn" }, { role: "zoomOut" }, { role: "togglefullscreen" },
  ];
  const help = [{ label: "About the data root", click: () => shell.showItemInFolder(sidecar.hello.dataRoot.path) }];
  return Menu.buildFromTemplate([
    { label: "File", submenu: file }, { role: "editMenu" }, { label: "View", submenu: view }, { label: "Help", submenu: help },
  ]);
}
