// Parts of the page. Everything that came from outside is set as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);

/** An element with a class, text, and children. */
function el(tag, className, text, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  made.append(...children);
  return made;
}

/** A list of which one entry is chosen, by mouse, arrows, Home, End. `onChoose` gets the entry's key. */
class Listbox {
  constructor(root, onChoose) {
    this.root = root;
    this.onChoose = onChoose;
    this.keys = [];
    this.chosen = null;
    root.addEventListener("click", (event) => {
      const row = event.target.closest("li");
      if (row) this.choose(row.dataset.key);
    });
    root.addEventListener("keydown", (event) => {
      const at = this.keys.indexOf(this.chosen);
      const last = this.keys.length - 1;
      const to = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
      if (to === undefined || last < 0) return;
      event.preventDefault();
      this.choose(this.keys[to]);
    });
  }

  /** Entries are `{key, title, detail}`. */
  show(entries, emptyText) {
    this.keys = entries.map(({ key }) => key);
    this.root.replaceChildren
      ? this.root.replaceChildren()
      : (this.root.textContent = "");
    for (const { key, title, detail } of entries) {
      const row = el("li", "", title, el("small", "", detail));
      row.dataset.key = key;
      row.id = `${this.root.id}-${key}`;
      row.setAttribute("role", "option");
      this.root.append(row);
    }
    if (!entries.length) this.root.append(el("div", "empty", emptyText));
    this.mark();
  }

  choose(key) {
    this.chosen = key;
    this.mark();
    this.onChoose(key);
  }

  mark() {
    this.root.removeAttribute("aria-activedescendant");
    for (const row of this.root.querySelectorAll("li")) {
      const here = row.dataset.key === this.chosen;
      row.setAttribute("aria-selected", String(here));
      if (here) {
        this.root.setAttribute("aria-activedescendant", row.id);
        row.scrollIntoView({ block: "nearest" });
      }
    }
  }
}

const WORDS = { userMessage: "You", agentMessage: "Agent", reasoning: "Reasoning", plan: "Plan", fileChange: "File" };

/** One item of the timeline. */
function itemElement(item) {
  const made = el("article", item.type, undefined, el("b", "", WORDS[item.type] || item.type), el("span", "", itemText(item)));
  made.dataset.item = item.id;
  return made;
}

function itemText(item) {
  if (item.type === "userMessage") return item.content.map((part) => part.text || `[${part.type}]`).join("\n");
  if (item.type === "agentMessage" || item.type === "plan") return item.text;
  if (item.type === "reasoning") return [...item.summary, ...item.content].join("\n");
  if (item.type === "commandExecution") return `$ ${item.command}\n${item.aggregatedOutput || ""}`;
  if (item.type === "fileChange") return item.changes.map(({ path, kind }) => `${kind.type} ${path}`).join("\n");
  return item.status ? `${item.tool || item.type}: ${item.status}` : "";
}

/** A difference as rows: old line number, new line number, text. */
function diffElement(diff) {
  if (diff.binary) return el("div", "empty", "A binary file: its bytes are kept, its lines cannot be shown.");
  if (!diff.hunks.length) return el("div", "empty", "No line differs.");
  const code = el("div", "code");
  for (const hunk of diff.hunks) {
    for (const { kind, value, oldNo, newNo } of hunk.lines) {
      const sign = { add: "+", remove: "-", context: " " }[kind];
      const cells = [el("span", "no", oldNo), el("span", "no", newNo), el("span", "", `${sign} ${value.replace(/\r?\n$/, "")}`)];
      code.append(el("div", kind, undefined, ...cells));
    }
  }
  return code;
}
