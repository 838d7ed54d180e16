// The only bridge: the page gets these functions, and neither Node nor Electron.
"use strict";
const { contextBridge, ipcRenderer } = require("electron");

async function ask(name, ...given) {
  const { result, error } = await ipcRenderer.invoke(name, ...given);
  if (error) throw Object.assign(new Error(error.message), error);
  return result;
}

contextBridge.exposeInMainWorld("host", {
  // An Error thrown here would lose its kind on the way into the page, so that a reply is {result} or {error}.
  request: (method, params) => ipcRenderer.invoke("request", method, params),
  hello: () => ask("hello"),
  send: (threadId, text) => ask("send", threadId, text),
  export: (threadId) => ask("export", threadId),
  on: (channel, listener) => {
    if (["notification", "state", "command"].includes(channel)) ipcRenderer.on(channel, (_event, value) => listener(value));
  },
});
