"""The items of a turn as HTML: what was said, what was run, what was changed.

Invariant: each kind has one function; the words on the page are what a person would call the thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lockstitch.codec import encode, mapping
from lockstitch.exports.html_text import escape, marked, one_line, prose, terminal

_SHORT = 40
"""So many lines are printed; what is longer is printed if it is open."""

_IMAGE_STARTS = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "gif", "webp"))
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
_WORDS = {"inProgress": "in progress", "completed": "done", "failed": "failed", "declined": "declined"}


@dataclass(frozen=True, slots=True)
class Shown:
    """An item on the page."""

    kind: str
    """The class of its element, which says how it looks."""
    label: str
    body: str


def item_of(item: dict[str, Any], element_id: str) -> str:
    """One item; nothing for a kind that has no words here."""
    write = _ITEMS.get(str(item.get("type")))
    if write is None:
        return ""
    shown = write(item)
    if not shown.body:
        return ""
    cut = '<p class="cut">Interrupted: no result was recorded.</p>' if item.get("interrupted") else ""
    return (
        f'<article class="item {shown.kind}" id="{element_id}" aria-label="{escape(shown.label)}">'
        f"{shown.body}{cut}</article>\n"
    )


def duration(milliseconds: float | None) -> str:
    """How long something took, for a person."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{round(milliseconds)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def folded(summary: str, body: str, *, kind: str = "", opened: bool = False, lines: int = 0) -> str:
    """Something that opens; what is short is opened for print too."""
    attributes = (f' class="{kind}"' if kind else "") + (" open" if opened else "")
    attributes += " data-print" if lines <= _SHORT else ""
    return f"<details{attributes}><summary>{summary}</summary>{body}</details>"


def diff_block(unified: str, label: str) -> str:
    """A unified diff, which the page's script colours and sets side by side when it is opened."""
    return f'<pre class="diff" tabindex="0" aria-label="{escape(label)}">{_escape_lines(unified)}</pre>'


def _escape_lines(text: str) -> str:
    return escape(text.removesuffix("\n"))


def counts(additions: int | None, deletions: int | None) -> str:
    """Lines added and removed."""
    if additions is None or deletions is None or not (additions or deletions):
        return ""
    told = f'<span class="vh">{additions} lines added, {deletions} removed</span>'
    return f'<span class="count" aria-hidden="true"><b>+{additions}</b> <i>−{deletions}</i></span>{told}'


def counted(unified: str) -> tuple[int, int]:
    """Lines added and removed of a unified diff."""
    added = removed = 0
    inside = False
    for line in unified.split("\n"):
        if line.startswith("@@"):
            inside = True
        elif line.startswith("diff --git "):
            inside = False
        elif inside:
            added += line.startswith("+")
            removed += line.startswith("-")
    return added, removed


# -- what was said ------------------------------------------------------------------------------------------------
def _user(item: dict[str, Any]) -> Shown:
    parts: list[str] = []
    for part in map(mapping, item.get("content") or ()):
        kind = part.get("type")
        if kind == "text":
            parts.append(prose(str(part.get("text") or "")))
        elif kind == "image" and is_image(str(part.get("url"))):
            parts.append(f'<img src="{escape(part["url"])}" alt="An image of the user" loading="lazy">')
        else:
            what = part.get("name") or part.get("path") or part.get("url") or ""
            parts.append(f'<p class="chip">{escape(kind)}: {one_line(what)}</p>')
    return Shown("user", "The user", f'<p class="who">User</p><div class="prose">{"".join(parts)}</div>')


def is_image(url: str) -> bool:
    """Whether it is a picture that the page can hold: no other address is ever loaded."""
    start = next((start for start in _IMAGE_STARTS if url.startswith(start)), None)
    return start is not None and not set(url[len(start) :]) - _BASE64


def _agent(item: dict[str, Any]) -> Shown:
    text = str(item.get("text") or "")
    phase = f" · {escape(item['phase'])}" if item.get("phase") else ""
    body = f'<p class="who">Agent{phase}</p><div class="prose">{prose(text)}</div>' if text else ""
    return Shown("agent", "The agent", body)


def _plan(item: dict[str, Any]) -> Shown:
    body = f'<p class="who">Plan</p><div class="prose">{prose(str(item.get("text") or ""))}</div>'
    return Shown("plan", "The plan", body)


def _reasoning(item: dict[str, Any]) -> Shown:
    texts = [str(text) for text in (*item.get("summary", ()), *item.get("content", ())) if text]
    if not texts:
        return Shown("quiet", "Reasoning", "")
    gist = one_line(texts[0].replace("**", "").lstrip("# "), 90)
    head = f'<span class="what">Reasoning</span> <span class="dim">{gist}</span>'
    body = f'<div class="prose">{"".join(prose(text) for text in texts)}</div>'
    return Shown("quiet", "Reasoning", folded(head, body, kind="row"))


# -- what was done ------------------------------------------------------------------------------------------------
def _badge(item: dict[str, Any]) -> str:
    status = str(item.get("status") or "")
    code = item.get("exitCode")
    failed = status in ("failed", "declined") or (isinstance(code, int) and code != 0)
    word = f"exit {code}" if code not in (None, 0) else _WORDS.get(status, status)
    if not failed and status == "completed":
        return ""
    return f'<span class="badge {"bad" if failed else "busy"}">{escape(word)}</span>' if word else ""


def _took(item: dict[str, Any]) -> str:
    told = duration(item.get("durationMs"))
    return f'<span class="dim took">{told}</span>' if told else ""


def _elsewhere(item: dict[str, Any]) -> str:
    kept = mapping(item.get("outputRef"))
    if not kept:
        return ""
    size, digest = kept.get("bytes", 0), escape(kept.get("sha256"))
    return (
        f'<p class="note">This is its beginning. The whole output has {size:,} bytes; its SHA-256 is '
        f"<code>{digest}</code>.</p>"
    )


def _command(item: dict[str, Any]) -> Shown:
    command, output = str(item.get("command") or ""), item.get("aggregatedOutput") or ""
    first, _, rest = command.strip().partition("\n")
    head = f'<code class="cmd">{one_line(first + (" …" if rest else ""), 200)}</code> {_badge(item)} {_took(item)}'
    parts = [f'<pre class="shell" tabindex="0" aria-label="Command">{marked(command)}</pre>']
    if item.get("cwd"):
        parts.append(f'<p class="dim">in <code>{escape(item["cwd"])}</code></p>')
    if output:
        parts.append(f'<pre class="out" tabindex="0" aria-label="Output">{terminal(output)}</pre>')
    elif item.get("status") == "completed":
        parts.append('<p class="dim">It printed nothing.</p>')
    parts.append(_elsewhere(item))
    body = folded(head, "".join(parts), kind="row run", lines=output.count("\n"))
    return Shown("command", "Command", body)


def _tool(item: dict[str, Any]) -> Shown:
    name = " / ".join(str(part) for part in (item.get("server") or item.get("namespace"), item.get("tool")) if part)
    arguments = item.get("arguments")
    gist = "" if not arguments else one_line(_gist(arguments), 110)
    head = f'<span class="what">{escape(name)}</span> <code class="cmd">{gist}</code> {_badge(item)} {_took(item)}'
    parts = [_value("Arguments", arguments)] if arguments not in (None, {}, "") else []
    for key, label in (("result", "Result"), ("contentItems", "Result"), ("error", "Error")):
        if item.get(key) is not None:
            parts.append(_value(label, item[key]))
    parts.append(_elsewhere(item))
    body = "".join(parts)
    return Shown("tool", "Tool call", folded(head, body, kind="row run", lines=body.count("\n")))


def _gist(arguments: Any) -> str:
    """What a call is about, in a few words."""
    if isinstance(arguments, dict):
        for value in arguments.values():  # pyright: ignore[reportUnknownVariableType]
            if isinstance(value, str) and value:
                return value
    return arguments if isinstance(arguments, str) else encode(arguments).decode()


def _value(label: str, value: Any) -> str:
    texts = _texts(value)
    if texts is not None:
        shown = terminal("\n".join(texts))
    elif isinstance(value, dict):
        fields: list[str] = []
        for name, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            told = inner if isinstance(inner, str) else encode(inner).decode()
            fields.append(f'<span class="key">{escape(str(name))}</span> {marked(told)}')  # pyright: ignore[reportUnknownArgumentType]
        shown = "\n".join(fields)
    else:
        shown = marked(value if isinstance(value, str) else encode(value).decode())
    return f'<p class="label">{label}</p><pre class="out" tabindex="0" aria-label="{label}">{shown}</pre>'


def _texts(value: Any) -> list[str] | None:
    """The texts of a tool's result, where it is nothing but texts."""
    parts = mapping(value).get("content") if isinstance(value, dict) else value
    if not isinstance(parts, list) or not parts:
        return None
    texts = [mapping(part).get("text") for part in parts]  # pyright: ignore[reportUnknownVariableType]
    return texts if all(isinstance(text, str) for text in texts) else None  # type: ignore[return-value]


def _change(item: dict[str, Any]) -> Shown:
    parts: list[str] = []
    for change in item.get("changes") or ():
        kind = mapping(change.get("kind"))
        path = str(change.get("path"))
        moved = f" → {escape(kind['move_path'])}" if kind.get("move_path") else ""
        diff = str(change.get("diff") or "")
        added, removed = counted(diff)
        word = {"add": "created", "delete": "deleted"}.get(str(kind.get("type")), "changed")
        head = (
            f'<span class="what">{word}</span> <code class="path">{escape(path)}{moved}</code> '
            f"{counts(added, removed) if diff else ''}"
        )
        if item.get("status") not in (None, "completed"):
            head += f" {_badge(item)}"
        body = diff_block(diff, f"Changes of {path}") if diff else '<p class="dim">No text difference is recorded.</p>'
        parts.append(
            f'<div class="file" data-path="{escape(path)}">'
            + folded(head, body, kind="row edit", lines=diff.count("\n"))
            + "</div>"
        )
    return Shown("change", "File change", "".join(parts))


def _search(item: dict[str, Any]) -> Shown:
    return Shown("quiet", "Web search", _row("Web search", item.get("query")))


def _image(item: dict[str, Any]) -> Shown:
    return Shown("quiet", "Image", _row("Image viewed", item.get("path")))


def _row(label: str, text: object) -> str:
    return f'<p class="row flat"><span class="what">{label}</span> <code class="cmd">{one_line(text or "")}</code></p>'


def _compaction(item: dict[str, Any]) -> Shown:
    del item
    return Shown("quiet rule", "Context compacted", "<p>The context was compacted here</p>")


_ITEMS: dict[str, Callable[[dict[str, Any]], Shown]] = {
    "userMessage": _user,
    "agentMessage": _agent,
    "plan": _plan,
    "reasoning": _reasoning,
    "commandExecution": _command,
    "fileChange": _change,
    "mcpToolCall": _tool,
    "dynamicToolCall": _tool,
    "webSearch": _search,
    "imageView": _image,
    "contextCompaction": _compaction,
}
