"""What the exported page does by itself: colour differences, set them side by side, search, filter, open and close.

Invariant: it reads the page and nothing else. Text becomes text nodes; no markup is ever made from it.
"""

from __future__ import annotations

SCRIPT = r"""
"use strict";
(() => {
const $ = (s, at = document) => at.querySelector(s), $$ = (s, at = document) => [...at.querySelectorAll(s)];
const make = (tag, kind, text) => {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
};

// ---- differences ----
const parse = text => {
  const hunks = [];
  let hunk = null, oldNo = 0, newNo = 0;
  for (const line of text.split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(line);
    if (head) {
      oldNo = +head[1]; newNo = +head[2];
      hunk = {title: line, lines: []}; hunks.push(hunk);
    } else if (line.startsWith("diff --git ")) hunk = null;
    else if (hunk) {
      const kind = line[0], value = line.slice(1);
      if (kind === "+") hunk.lines.push({kind: "a", value, newNo: newNo++});
      else if (kind === "-") hunk.lines.push({kind: "r", value, oldNo: oldNo++});
      else if (kind === "\\") hunk.lines.push({kind: "n", value: line});
      else hunk.lines.push({kind: "c", value, oldNo: oldNo++, newNo: newNo++});
    }
  }
  return hunks;
};
const split = lines => {  // runs of removed and added lines stand beside each other
  const rows = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at].kind === "c" || lines[at].kind === "n") { rows.push([lines[at], lines[at]]); at++; continue; }
    const gone = [], come = [];
    for (; at < lines.length && "arn".includes(lines[at].kind); at++)
      if (lines[at].kind !== "n") (lines[at].kind === "r" ? gone : come).push(lines[at]);
    for (let n = 0; n < Math.max(gone.length, come.length); n++) {
      if (gone[n] && come[n]) { gone[n].other = come[n].value; come[n].other = gone[n].value; }
      rows.push([gone[n], come[n]]);
    }
  }
  return rows;
};
const cell = line => {
  const found = make("td", line ? line.kind : "e");
  if (!line) return found;
  const text = line.value, other = line.other;
  if (other === undefined || text.length > 2000) { found.textContent = text; return found; }
  let start = 0, end = 0;
  const most = Math.min(text.length, other.length);
  while (start < most && text[start] === other[start]) start++;
  while (end < most - start && text[text.length - 1 - end] === other[other.length - 1 - end]) end++;
  const middle = text.slice(start, text.length - end);
  if (start + end < text.length / 3 || !middle) { found.textContent = text; return found; }
  found.append(text.slice(0, start), make("mark", "", middle), text.slice(text.length - end));
  return found;
};
const draw = (pre, beside) => {
  const hunks = pre.hunks || (pre.hunks = parse(pre.textContent));
  if (!hunks.length) return;
  const table = make("table", "d");
  const caption = make("caption", "vh", pre.getAttribute("aria-label"));
  const columns = make("colgroup");
  for (const kind of beside ? ["n", "", "n", ""] : ["n", "n", ""]) columns.append(make("col", kind));
  table.append(caption, columns);
  for (const hunk of hunks) {
    const head = make("tr", "g"), title = make("td", "", hunk.title);
    title.colSpan = beside ? 4 : 3; head.append(title); table.append(head);
    const rows = hunk.rows || (hunk.rows = split(hunk.lines));
    if (beside) for (const [left, right] of rows) {
      const row = make("tr");
      row.append(make("td", "n", left && left.oldNo), cell(left), make("td", "n", right && right.newNo), cell(right));
      table.append(row);
    }
    else for (const line of hunk.lines) {
      const row = make("tr");
      row.append(make("td", "n", line.oldNo), make("td", "n", line.newNo), cell(line));
      table.append(row);
    }
  }
  const holder = make("div", "holder");
  holder.tabIndex = 0;
  holder.setAttribute("role", "region");
  holder.setAttribute("aria-label", pre.getAttribute("aria-label"));
  holder.append(table);
  if (pre.drawn) pre.drawn.remove();
  pre.drawn = holder; pre.hidden = true; pre.after(holder);
};
let beside = false;
const show = details => {
  for (const same of $$(".same:empty", details)) {
    const from = $(`#${same.dataset.from} pre.diff`);
    if (!from) continue;
    const copy = make("pre", "diff", from.textContent);
    copy.setAttribute("aria-label", from.getAttribute("aria-label"));
    same.append(copy);
  }
  for (const pre of $$("pre.diff", details)) if (pre.besides !== beside) {
    pre.besides = beside; draw(pre, beside); }
};
document.addEventListener("toggle", event => { if (event.target.open && event.target.matches(".edit"))
  show(event.target); }, true);
const narrow = matchMedia("(max-width:60rem)");
if (narrow.matches) $(".toc").open = false;

// ---- the tools ----
$(".tools").hidden = false;
const filter = $("#filter");
if (filter) filter.hidden = false;
$(".tools").addEventListener("submit", event => { event.preventDefault(); step(1); });
$("#split").addEventListener("click", event => {
  beside = !beside;
  event.currentTarget.setAttribute("aria-pressed", beside);
  for (const details of $$("details.edit[open]")) show(details);
});
$("#unfold").addEventListener("click", event => {
  const open = event.currentTarget.getAttribute("aria-pressed") !== "true";
  event.currentTarget.setAttribute("aria-pressed", open);
  event.currentTarget.textContent = open ? "Close all" : "Open all";
  for (const details of $$("main details.row")) details.open = open;
});
$("#theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme:dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
});
if (filter) filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const file of $$("[data-path]")) file.hidden = !file.dataset.path.toLowerCase().includes(wanted);
});

// ---- search: items that hold the text stay, each place is marked ----
const items = $$("main .item"), turns = $$("main .turn");
const texts = new Map();
let found = [], current = -1, waiting = 0;
const textOf = item => {
  if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
  return texts.get(item);
};
const search = () => {
  const wanted = $("#find").value.trim().toLowerCase();
  found = []; current = -1;
  for (const item of items) {
    const here = !wanted || textOf(item).includes(wanted);
    item.hidden = !here;
    if (here && wanted) found.push(item);
  }
  for (const turn of turns) turn.hidden = !!wanted && !$$(".item", turn).some(item => !item.hidden);
  $("#nothing").hidden = !wanted || found.length > 0;
  $("#found").textContent = wanted ? `${found.length} of ${items.length} items` : "";
  mark(wanted);
};
const mark = wanted => {
  if (!window.Highlight || !CSS.highlights) return;
  const ranges = [];
  for (const item of wanted ? found.slice(0, 300) : []) {
    const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()) && ranges.length < 2000;) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at); range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
};
const step = by => {
  if (!found.length) return;
  current = (current + by + found.length) % found.length;
  for (const details of $$("details", found[current])) details.open = true;
  found[current].scrollIntoView({block: "center"});
  $("#found").textContent = `${current + 1} of ${found.length} items`;
};
$("#find").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
$("#find").addEventListener("keydown", event => { if (event.key === "Escape") { event.target.value = ""; search(); } });
document.addEventListener("keydown", event => {
  if (event.key === "/" && !event.target.closest("input")) { event.preventDefault(); $("#find").focus(); }
});

// ---- a link opens what it leads to; paper gets what is short ----
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (const details of $$(":scope > details, :scope > .file > details", target)) details.open = true;
};
addEventListener("hashchange", reveal);
reveal();
let closed = [];
addEventListener("beforeprint", () => {
  closed = $$("main details[data-print]:not([open])");
  for (const details of closed) { details.open = true; show(details); }
});
addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
})();
"""
