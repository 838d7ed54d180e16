// The agent of this sample: it has no model, and does what every agent does: it streams a message and changes a file.
// Put yours here. What it reports is all that the sidecar knows.
"use strict";
const fs = require("fs").promises;
const path = require("path");

const FILE = "poem.txt";

async function runAgent(sidecar, { threadId, turnId, text, workspace }) {
  const append = (...events) => sidecar.append(threadId, events, { turnId });
  const say = (delta) => append({ type: "message.delta", payload: { itemId: `answer-${turnId}`, delta } });
  try {
    const file = path.join(workspace, FILE);
    const before = await fs.readFile(file, "utf8").catch(() => "");
    // before an edit: what the file is now, so that it can be put back whatever happens
    await sidecar.request("agentSession/fileCheckpoint/capture", { sessionId: threadId, turnId, paths: [FILE] });
    const words = `I add a line to ${FILE} for “${text}”.`;
    for (const word of words.split(/(?<= )/)) await say(word);
    await fs.writeFile(file, `${before}${text}\n`);
    const answer = { id: `answer-${turnId}`, type: "agentMessage", text: words };
    await append(
      { type: "file.changed", payload: { path: FILE } },
      { type: "item.completed", payload: { item: answer } },
      { type: "turn.completed" },
    );
  } catch (error) {
    await append({ type: "turn.failed", payload: { error: { message: String(error.message) } } }).catch(() => undefined);
  }
}

module.exports = { runAgent };
