"""A thread as one page: the conversation, what was run and changed, times, usage, receipts, damage.

Invariant: self-contained: the page loads nothing and its policy forbids it to; all stored text is escaped.
Invariant: without a script it is whole and readable; the script colours differences, searches and filters.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from lockstitch.codec import encode, mapping
from lockstitch.exports.facts import GetContent, ThreadFacts
from lockstitch.exports.html_changes import Differences, FileChange, changes_of
from lockstitch.exports.html_items import duration, item_of
from lockstitch.exports.html_text import escape, marked, one_line
from lockstitch.exports.page_script import SCRIPT
from lockstitch.exports.page_style import STYLE

_STATES = {"inProgress": "in progress", "completed": "completed", "interrupted": "interrupted", "failed": "failed"}
_KINDS = {"completed": "ok", "failed": "bad", "interrupted": "bad"}
_CHUNK = 50


def html_of(facts: ThreadFacts, get: GetContent, pulse: Callable[[], None]) -> bytes:
    """The page. `pulse` is called now and then, and may raise to end it."""
    return _Page(facts, get, pulse).text().encode("utf-8", "replace")


def _hash(text: str) -> str:
    return "'sha256-" + b64encode(sha256(text.encode()).digest()).decode() + "'"


class _Page:
    def __init__(self, facts: ThreadFacts, get: GetContent, pulse: Callable[[], None]) -> None:
        self._facts, self._pulse = facts, pulse
        self._out: list[str] = []
        self._anchors: dict[str, str] = {}
        self._differences = Differences(get, facts.left_out, pulse)
        self._receipts = {receipt["turnId"]: receipt for receipt in facts.receipts}
        oldest_first = list(reversed(facts.checkpoints))
        self._changes = changes_of(oldest_first)
        self._by_turn: dict[str, list[dict[str, Any]]] = {}
        for checkpoint in oldest_first:
            self._by_turn.setdefault(str(checkpoint.get("turnId")), []).append(checkpoint)

    def text(self) -> str:
        facts, add = self._facts, self._out.append
        policy = (
            f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        add('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
        add(f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n')
        add('<meta name="viewport" content="width=device-width, initial-scale=1">\n')
        add('<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n')
        add(f"<title>{one_line(facts.title, 120)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n")
        add('<a class="skip" href="#conversation">Skip to the conversation</a>\n')
        self._head()
        add('<div class="page">\n')
        self._contents()
        add('<main id="conversation" tabindex="-1">\n')
        for number, turn in enumerate(facts.turns, 1):
            self._turn(number, turn)
        if not facts.turns:
            add('<p class="empty">Nothing was said yet.</p>\n')
        add('<p class="empty" id="nothing" hidden>Nothing here holds that text.</p>\n')
        self._files()
        self._timeline()
        self._proof()
        add("</main>\n</div>\n")
        add(f"<script>{SCRIPT}</script>\n</body>\n</html>\n")
        return "".join(self._out)

    # -- the top ----------------------------------------------------------------------------------------------
    def _head(self) -> None:
        facts, add = self._facts, self._out.append
        thread, turns = facts.thread, facts.turns
        add(f'<header class="top">\n<p class="eyebrow">Agent session</p>\n<h1>{one_line(facts.title, 200)}</h1>\n')
        add("<dl>")
        git = mapping(thread.get("gitInfo"))
        started = turns[0].get("startedAt") if turns else thread.get("createdAt")
        ended = turns[-1].get("completedAt") if turns else None
        usage = mapping(thread.get("usage"))
        for label, value in (
            ("Workspace", thread.get("cwd") and f"<code>{escape(thread['cwd'])}</code>"),
            ("Branch", git.get("branch") and f"<code>{escape(git['branch'])}</code>"),
            ("Commit", git.get("sha") and f"<code>{escape(str(git['sha'])[:12])}</code>"),
            ("Model", self._model()),
            ("When", started and _moment(started) + (f" – {_moment(ended, started)}" if ended else "")),
            ("Turns", str(len(turns))),
            ("Files", str(len(self._changes)) if self._changes else None),
            ("Tokens", usage and _tokens(usage)),
            ("Cost", usage.get("costUsd") is not None and f"${usage['costUsd']:.4f}"),
        ):
            if value:
                add(f"<div><dt>{label}</dt><dd>{value}</dd></div>")
        add("</dl>\n")
        self._notices()
        add("</header>\n")

    def _model(self) -> str | None:
        for turn in self._facts.turns:
            route = mapping(turn.get("route"))
            if route.get("model"):
                return escape(route["model"])
        return escape(self._facts.thread["modelProvider"]) if self._facts.thread.get("modelProvider") else None

    def _notices(self) -> None:
        facts, add = self._facts, self._out.append
        if facts.thread.get("partial") or facts.thread.get("damage"):
            add('<section class="notice bad" aria-label="Damage"><p><strong>')
            partial = facts.thread.get("partial")
            add("Events of this thread are lost." if partial else "The record of this thread was damaged.")
            add("</strong></p><ul>")
            for damage in facts.thread.get("damage") or ():
                where = f"bytes {damage['fromOffset']:,} to {damage['toOffset']:,}"
                add(f"<li>{where}: {escape(damage['reason'])}</li>")
            add("</ul></section>\n")
        if facts.redactions:
            told = ", ".join(f"{count} × {escape(kind)}" for kind, count in facts.redactions.items())
            add(f'<p class="notice">Secrets were left out of this page: {told}.</p>\n')
        elif facts.redactions is None:
            add('<p class="notice">Secrets were not looked for: read this page before you hand it on.</p>\n')

    def _contents(self) -> None:
        add = self._out.append
        add('<div class="side">\n<form class="tools" role="search" aria-label="In this page" hidden>\n')
        add('<label for="find" class="vh">Search the conversation</label>')
        add('<input id="find" type="search" placeholder="Search   /" autocomplete="off" spellcheck="false">\n')
        add('<p id="found" role="status" aria-live="polite"></p>\n<div class="buttons">')
        add('<button type="button" id="unfold" aria-pressed="false">Open all</button>')
        add('<button type="button" id="split" aria-pressed="false">Side by side</button>')
        add('<button type="button" id="theme" aria-label="Light or dark">◐</button></div>\n</form>\n')
        add('<details class="toc" open><summary>Contents</summary>\n')
        add('<nav aria-label="Turns"><h2 class="small">Turns</h2><ol>')
        for number, turn in enumerate(self._facts.turns, 1):
            state = "" if turn["status"] == "completed" else f' <span class="dot {_KINDS.get(turn["status"], "busy")}">'
            state += f'<span class="vh">{_STATES.get(turn["status"], "")}</span></span>' if state else ""
            add(f'<li><a href="#turn-{number}">{one_line(_asked(turn) or "Turn", 60)}</a>{state}</li>')
        add("</ol></nav>\n")
        if self._changes:
            add('<nav aria-label="Files"><h2 class="small"><a href="#files">Files</a></h2>')
            add('<label for="filter" class="vh">Only files whose path holds</label>')
            add('<input id="filter" type="search" placeholder="Filter files" autocomplete="off" hidden>\n<ul>')
            for number, change in enumerate(self._changes, 1):
                name = change.path.rpartition("/")
                add(f'<li data-path="{escape(change.path)}"><a href="#file-{number}" title="{escape(change.path)}">')
                add(f"<span>{escape(name[2])}</span> <small>{escape(name[0])}</small></a></li>")
            add("</ul></nav>\n")
        add('<nav aria-label="More"><ul><li><a href="#timeline">Timeline</a></li>')
        add('<li><a href="#proof">Receipts</a></li></ul></nav>\n</details>\n</div>\n')

    # -- turns ------------------------------------------------------------------------------------------------
    def _turn(self, number: int, turn: dict[str, Any]) -> None:
        add, status = self._out.append, str(turn["status"])
        add(f'<section class="turn" id="turn-{number}" aria-labelledby="t{number}">\n<header>')
        add(f'<h2 id="t{number}"><span class="no">{number}</span> {one_line(_asked(turn) or "Turn", 90)}</h2>')
        add(f'<p class="facts"><span class="badge {_KINDS.get(status, "busy")}">{_STATES.get(status, status)}</span>')
        told = [_moment(turn["startedAt"]) if turn.get("startedAt") else "", duration(turn.get("durationMs"))]
        usage = mapping(turn.get("usage"))
        told += [_tokens(usage) if usage else ""]
        add("".join(f" <span>{text}</span>" for text in told if text) + "</p></header>\n")
        items = turn["items"]
        for start in range(0, len(items), _CHUNK):
            # A chunk is laid out when it comes near the window: one item each would cost a look at all of them a frame.
            chunk = items[start : start + _CHUNK]
            add(f'<div class="chunk c{(len(chunk) + 9) // 10}">\n')
            for index, item in enumerate(chunk, start + 1):
                place = f"i{number}-{index}"
                if item.get("checkpointId"):
                    self._anchors[str(item["checkpointId"])] = place
                add(item_of(item, place))
            add("</div>\n")
            self._pulse()
        if turn.get("error"):
            error = mapping(turn["error"])
            details = error.get("additionalDetails")
            message = marked(str(error.get("message")))
            add(f'<div class="notice bad" role="note"><p><strong>Error:</strong> {message}</p>')
            add(f"<pre>{marked(str(details))}</pre></div>\n" if details else "</div>\n")
        changes = changes_of(self._by_turn.get(str(turn["id"]), ()))
        if changes:
            one = len(changes) == 1
            add(f'<section class="changed" aria-label="Files that turn {number} changed"><h3>')
            add(f"{len(changes)} file{'' if one else 's'} changed</h3><ul>")
            self._list(changes)
            add("</ul></section>\n")
        add("</section>\n")

    def _list(self, changes: list[FileChange]) -> None:
        for change in changes:
            self._out.append(self._differences.html(change, self._anchors.get))

    # -- below ------------------------------------------------------------------------------------------------
    def _files(self) -> None:
        if not self._changes:
            return
        self._out.append('<section class="files" id="files" aria-labelledby="hf"><h2 id="hf">Files</h2>')
        self._out.append('<p class="dim">Each from before its first change to after its last.</p><ul>')
        for number, change in enumerate(self._changes, 1):
            text = self._differences.html(change, self._anchors.get)
            self._out.append(text.replace('<li class="file"', f'<li class="file" id="file-{number}"', 1))
        self._out.append("</ul></section>\n")

    def _timeline(self) -> None:
        add, turns = self._out.append, self._facts.turns
        add('<section class="timeline" id="timeline" aria-labelledby="ht"><h2 id="ht">Timeline</h2>')
        longest = max((turn.get("durationMs") or 0 for turn in turns), default=0) or 1
        add('<div class="scroll" tabindex="0" role="region" aria-labelledby="ht"><table><thead><tr>')
        for name in ("Turn", "Began", "Took", "", "Items", "Commands", "Files", "Tokens"):
            add(f'<th scope="col">{name or "<span class=vh>Share of the longest</span>"}</th>')
        add("</tr></thead><tbody>\n")
        for number, turn in enumerate(turns, 1):
            took = turn.get("durationMs") or 0
            width = max(1.0, 100 * took / longest)
            commands = sum(item.get("type") == "commandExecution" for item in turn["items"])
            files = len({checkpoint["path"] for checkpoint in self._by_turn.get(str(turn["id"]), ())})
            usage = mapping(turn.get("usage"))
            bar = '<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
            bar += f'<rect class="{_KINDS.get(turn["status"], "busy")}" width="{width:.1f}" height="6" rx="1"/></svg>'
            add(f'<tr><th scope="row"><a href="#turn-{number}">{number}</a></th>')
            add(f"<td>{_moment(turn['startedAt']) if turn.get('startedAt') else ''}</td><td>{duration(took)}</td>")
            add(f"<td>{bar}</td><td>{len(turn['items'])}</td><td>{commands}</td><td>{files}</td>")
            add(f"<td>{_tokens(usage) if usage else ''}</td></tr>\n")
        add("</tbody></table></div></section>\n")

    def _proof(self) -> None:
        facts, add = self._facts, self._out.append
        add('<section class="proof" id="proof" aria-labelledby="hp"><h2 id="hp">Receipts</h2>')
        add("<p>Made from recorded events. The record can be checked: each event carries a sum of itself and of the ")
        add(f"one before. This page shows it up to event {facts.last_sequence:,}, whose sum is ")
        add(f"<code>{escape(facts.last_sum)}</code>, of thread <code>{escape(facts.thread_id)}</code>.</p>\n")
        if facts.gaps:
            add('<h3>What is not known</h3><ul class="gaps">')
            add("".join(f"<li>{marked(gap)}</li>" for gap in facts.gaps) + "</ul>\n")
        for number, turn in enumerate(facts.turns, 1):
            receipt = self._receipts.get(turn["id"])
            if receipt is None:
                continue
            add(f'<details class="row"><summary><span class="what">Turn {number}</span> {_counted(receipt)}</summary>')
            add(f'<pre class="out" tabindex="0" aria-label="Receipt">{escape(_lines(receipt))}</pre></details>\n')
        add(
            "<footer><p>Written by <strong>Lockstitch</strong>. This page loads nothing and sends nothing.</p></footer>"
        )
        add("</section>\n")


def _asked(turn: dict[str, Any]) -> str:
    """What the user said first in a turn."""
    for item in turn["items"]:
        if item["type"] == "userMessage":
            for part in item.get("content") or ():
                if mapping(part).get("type") == "text" and str(part.get("text") or "").strip():
                    return str(part["text"])
    return ""


def _moment(seconds: int, since: int | None = None) -> str:
    """A time; of the same day as `since`, only the hour."""
    try:
        when = datetime.fromtimestamp(seconds, UTC)
        same = since is not None and datetime.fromtimestamp(since, UTC).date() == when.date()
    except (OverflowError, ValueError, OSError):
        return str(seconds)
    return f'<time datetime="{when.strftime("%Y-%m-%dT%H:%M:%SZ")}">{_spelled(when, same)}</time>'


def _spelled(when: datetime, same: bool) -> str:
    clock = f"{when.hour:02}:{when.minute:02} UTC"
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return clock if same else f"{when.day} {months[when.month - 1]} {when.year}, {clock}"


def _tokens(usage: dict[str, Any]) -> str:
    def short(count: float) -> str:
        for size, letter in ((1_000_000, "M"), (1_000, "k")):
            if count >= size:
                return f"{count / size:.1f}{letter}"
        return str(int(count))

    found = f"{short(usage.get('inputTokens') or 0)} in, {short(usage.get('outputTokens') or 0)} out"
    return found + (f", {short(usage['cachedInputTokens'])} cached" if usage.get("cachedInputTokens") else "")


def _counted(receipt: dict[str, Any]) -> str:
    counts = mapping(receipt.get("counts"))
    names = (("items", "items"), ("commands", "commands"), ("toolCalls", "tool calls"), ("approvals", "approvals"))
    told = [f"{counts[key]} {name}" for key, name in names if counts.get(key)]
    gaps = len(receipt.get("gaps") or ())
    told += [f"{gaps} without a result"] if gaps else []
    return f'<span class="dim">{escape(", ".join(told))}</span>'


def _lines(receipt: dict[str, Any]) -> str:
    """A receipt, one field a line."""
    values = ((name, value if isinstance(value, str) else encode(value).decode()) for name, value in receipt.items())
    return "\n".join(f"{name}: {value}" for name, value in values)
