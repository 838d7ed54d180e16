// What the page does: threads on the left, the timeline of one in the middle, its file checkpoints on the right.
"use strict";

let thread = null; // the id of the one that is shown
let checkpoint = null;
let undoable = null; // the last restore
let hello = null;

const threads = new Listbox($("threads"), (id) => open(id).catch(report));
const checkpoints = new Listbox($("checkpoints"), (id) => showDiff(id).catch(report));

async function request(method, params) {
  const { result, error } = await host.request(method, params);
  if (error) throw Object.assign(new Error(error.message), error);
  return result;
}

function say(text) {
  $("status").textContent = text;
}

function report(error) {
  say(error.message);
}

// -- threads ------------------------------------------------------------------------------------------------------------
async function listThreads() {
  const query = $("search").value.trim();
  const params = { limit: 100, sortKey: "updated_at", sortDirection: "desc", ...(query ? { searchTerm: query } : {}) };
  const { data } = await request("thread/list", params);
  const entries = data.map(({ id, name, preview, turnCount, status }) => ({
    key: id,
    title: name || preview || "Untitled",
    detail: status.type === "active" ? "working…" : `${turnCount} turn${turnCount === 1 ? "" : "s"}`,
  }));
  const named = new Set(entries.map(({ key }) => key));
  const more = query ? (await said(query)).filter(({ key }) => !named.has(key)) : [];
  if (query === $("search").value.trim()) threads.show([...entries, ...more], query ? "Nothing found" : "No threads yet");
}

// What was said, not only what a thread is called: the best place of each thread, to which opening it then scrolls.
const foundItems = new Map();
async function said(query) {
  foundItems.clear();
  if (!hello.capabilities.threadSearch) return [];
  const { data, indexing } = await request("thread/search", { query, limit: 50 });
  if (indexing) listThreadsSoon(); // the index is being built: look again
  for (const hit of data) if (!foundItems.has(hit.threadId)) foundItems.set(hit.threadId, hit);
  return [...foundItems].map(([key, { snippet }]) => ({ key, title: snippet, detail: "in a message" }));
}

let listing = null; // one look for however many notifications came meanwhile
function listThreadsSoon() {
  listing = listing || setTimeout(() => {
    listing = null;
    listThreads().catch(report);
  }, 50);
}

async function open(id) {
  if (thread && thread !== id) request("thread/unsubscribe", { threadId: thread }).catch(report);
  thread = id;
  const page = { limit: 50, sortDirection: "desc", itemsView: "full" };
  const opened = await request("thread/resume", { threadId: id, excludeTurns: true, initialTurnsPage: page });
  if (thread !== id) return; // another one was chosen meanwhile
  $("title").textContent = opened.thread.name || opened.thread.preview || "Untitled";
  $("export").disabled = false;
  $("timeline").textContent = "";
  for (const turn of opened.initialTurnsPage.data.reverse()) {
    for (const item of turn.items) showItem(item);
    showTurn(turn);
  }
  const found = foundItems.has(id) && $("timeline").querySelector(`[data-item="${CSS.escape(foundItems.get(id).itemId)}"]`);
  if (found) found.scrollIntoView();
  undoable = null;
  await listCheckpoints();
}

// -- the timeline -------------------------------------------------------------------------------------------------------
function showItem(item) {
  const timeline = $("timeline");
  const known = timeline.querySelector(`[data-item="${CSS.escape(item.id)}"]`);
  const made = itemElement(item);
  if (known) known.replaceWith(made);
  else timeline.append(made);
  timeline.scrollTop = timeline.scrollHeight;
}

function showTurn(turn) {
  if (turn.status === "inProgress") return;
  const took = turn.durationMs ? `, ${(turn.durationMs / 1000).toFixed(1)} s` : "";
  $("timeline").append(el("div", "turn", `${turn.status}${took}`));
  $("timeline").scrollTop = $("timeline").scrollHeight;
}

const SHOWN = {
  "item/started": ({ item }) => showItem(item),
  "item/completed": ({ item }) => {
    showItem(item);
    if (item.type === "fileChange") listCheckpoints().catch(report);
  },
  "item/agentMessage/delta": ({ itemId, delta }) => {
    const known = $("timeline").querySelector(`[data-item="${CSS.escape(itemId)}"] span`);
    if (known) known.textContent += delta;
    else showItem({ id: itemId, type: "agentMessage", text: delta });
  },
  "turn/completed": ({ turn }) => {
    showTurn(turn);
    say(`The turn is ${turn.status}.`);
  },
  // too much came at once for one connection: what is shown is read again
  "agentSession/eventsDropped": ({ threadId }) => open(threadId).catch(report),
};

host.on("notification", ({ method, params }) => {
  if (/^(thread|turn)\//.test(method)) listThreadsSoon();
  if (params.threadId === thread && SHOWN[method]) SHOWN[method](params);
});
host.on("state", (state) => say(state === "ready" ? "Connected" : `The sidecar is ${state}…`));

// -- checkpoints --------------------------------------------------------------------------------------------------------
async function listCheckpoints() {
  const { checkpoints: found } = await request("agentSession/fileCheckpoint/list", { sessionId: thread, limit: 200 });
  checkpoints.show(
    found.map((one) => ({
      key: one.checkpointId,
      title: one.path,
      detail: `${one.op}, v${one.versionNo || "–"}, +${one.additions || 0} −${one.deletions || 0}`,
    })),
    "No file was changed",
  );
  $("undo").disabled = !undoable;
  if (!found.length) {
    checkpoint = null;
    $("restore").disabled = true;
    $("diff").textContent = "";
  } else if (!found.some((one) => one.checkpointId === checkpoint)) {
    checkpoints.choose(found[0].checkpointId);
  }
}

async function showDiff(id) {
  checkpoint = id;
  const { diff } = await request("agentSession/fileCheckpoint/diff", { sessionId: thread, checkpointId: id });
  if (checkpoint !== id) return;
  $("diff").textContent = "";
  $("diff").append(diffElement(diff));
  $("restore").disabled = false;
}

// Restoring shows its plan first. What the timeline does not know is a conflict: refused, unless it is kept as a version.
const DOES = {
  write: "will be written", delete: "will be deleted", keep: "is like that already",
  conflict: "was changed since by somebody else", unavailable: "cannot be put back",
};

async function restore() {
  if (!checkpoint) return;
  const which = { sessionId: thread, checkpointId: checkpoint };
  const { plan } = await request("agentSession/fileCheckpoint/restore", { ...which, dryRun: true });
  $("plan-body").textContent = "";
  for (const step of plan) {
    $("plan-body").append(el("p", "", `${step.path} ${DOES[step.action]}${step.reason ? `: ${step.reason}` : ""}.`));
  }
  const conflict = plan.some(({ action }) => action === "conflict");
  $("backup").checked = false;
  $("plan-backup").hidden = !conflict;
  $("plan-act").disabled = conflict || plan.some(({ action }) => action === "unavailable");
  $("backup").onchange = () => ($("plan-act").disabled = !$("backup").checked);
  $("plan").showModal();
  const agreed = await new Promise((resolve) => {
    $("plan-act").onclick = () => resolve(true);
    $("plan-cancel").onclick = () => resolve(false);
    $("plan").oncancel = () => resolve(false); // Escape
  });
  if (!agreed) return;
  const onConflict = $("backup").checked ? "backup" : "refuse";
  const done = await request("agentSession/fileCheckpoint/restore", { ...which, confirmRestore: true, onConflict });
  undoable = done.restoreCheckpointId;
  say(`${done.checkpoint.path} is restored.`);
  await listCheckpoints();
}

async function undo() {
  const which = { sessionId: thread, restoreCheckpointId: undoable };
  await request("agentSession/fileCheckpoint/undo", { ...which, confirmRestore: true });
  undoable = null;
  say("The restore is undone.");
  await listCheckpoints();
}

// -- what a person does ---------------------------------------------------------------------------------------------------
async function exportThread() {
  const done = thread && (await host.export(thread));
  if (done) say(`Exported: ${done.path}`);
}

async function send(text) {
  const { threadId } = await host.send(thread, text);
  await listThreads();
  if (threadId !== thread) threads.choose(threadId);
}

function newThread() {
  if (thread) request("thread/unsubscribe", { threadId: thread }).catch(report);
  thread = checkpoint = undoable = null;
  threads.chosen = null;
  threads.mark();
  $("title").textContent = "New thread";
  $("timeline").textContent = $("diff").textContent = "";
  checkpoints.show([], "No file was changed");
  for (const id of ["export", "restore", "undo"]) $(id).disabled = true;
  $("prompt").focus();
}

const COMMANDS = {
  new: newThread,
  search: () => $("search").select(),
  export: () => exportThread().catch(report),
  restore: () => restore().catch(report),
};
host.on("command", (name) => COMMANDS[name]());
$("new").onclick = newThread;
$("export").onclick = COMMANDS.export;
$("restore").onclick = COMMANDS.restore;
$("undo").onclick = () => undo().catch(report);
$("search").oninput = listThreadsSoon;
$("search").onkeydown = (event) => {
  if (event.key === "ArrowDown" || event.key === "Enter") $("threads").focus();
  if (event.key === "Escape") {
    $("search").value = "";
    listThreadsSoon();
  }
};
$("composer").onsubmit = (event) => {
  event.preventDefault();
  const text = $("prompt").value.trim();
  if (!text) return;
  $("prompt").value = "";
  send(text).catch(report);
};

(async () => {
  hello = await host.hello();
  $("place").textContent = `${hello.serverInfo.title} ${hello.serverInfo.version} · ${hello.dataRoot.path}`;
  say(hello.state === "ready" ? "Connected" : hello.state);
  newThread();
  await listThreads();
  if (threads.keys.length) threads.choose(threads.keys[0]);
})().catch(report);
