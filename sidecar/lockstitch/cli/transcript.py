"""Turns and items for a person to read, at 80 columns and more.

Invariant: a field that is missing or of an unexpected kind never fails a line: transcripts come from everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from lockstitch.cli.patch import patch_lines
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells, counted, cut, harmless, lasting, moment, one_line, sized, wrapped
from lockstitch.codec import encode

_HEAD, _TAIL = 8, 4
"""How many lines of a long output are shown from its beginning and its end."""
_PATCH_LINES = 16
_THOUGHT_LINES = 6
WHOLE_OUTPUT = "wholeOutput"
"""The field in which `show --full` puts an output that is kept apart from its item."""
_STATUS_COLOURS = {"failed": "red", "interrupted": "yellow", "declined": "yellow", "inProgress": "blue"}


class Transcript:
    """Writes turns to a terminal. `full`: nothing is shortened."""

    def __init__(self, terminal: Terminal, *, full: bool = False) -> None:
        self._terminal = terminal
        self._full = full
        self._width = min(terminal.width, 100)

    def turn(self, number: int, turn: dict[str, Any]) -> Iterator[str]:
        """The lines of one turn."""
        paint = self._terminal.paint
        status = one_line(_text(turn.get("status")))
        facts = [paint(status, _STATUS_COLOURS.get(status, "green"))]
        title = [status]
        for fact in self._turn_facts(turn):
            facts.append(paint(fact, "dim"))
            title.append(fact)
        head = f"turn {number}"
        line = paint("── ", "dim") + paint(head, "bold") + " " + " · ".join(facts)
        length = cells(f"── {head} {' · '.join(title)} ")
        yield line + paint(" " + "─" * max(0, self._width - length), "dim")
        for item in _objects(turn.get("items")):
            yield from self.item(item)
        error = _text(_object(turn.get("error")).get("message"))
        if error:
            yield from self._block(error, "  ! ", "red")
        yield ""

    def _turn_facts(self, turn: dict[str, Any]) -> Iterator[str]:
        if isinstance(turn.get("startedAt"), int):
            yield moment(turn["startedAt"])
        if isinstance(turn.get("durationMs"), int):
            yield lasting(turn["durationMs"])
        usage = _object(turn.get("usage"))
        spent = [usage[name] for name in ("inputTokens", "outputTokens") if isinstance(usage.get(name), int)]
        if spent:
            yield f"{sum(spent):,} tokens"

    def item(self, item: dict[str, Any]) -> Iterator[str]:
        """The lines of one item."""
        writer = _WRITERS.get(_text(item.get("type")))
        if writer is None:
            yield self._headline("?", _text(item.get("type")) or "an item of no known kind", item)
        else:
            yield from writer(self, item)

    # -- kinds of items ---------------------------------------------------------------------------
    def _user_message(self, item: dict[str, Any]) -> Iterator[str]:
        text = "\n".join(_part_text(part) for part in _objects(item.get("content")))
        yield from self._block(text, "› ", "bold")

    def _agent_message(self, item: dict[str, Any]) -> Iterator[str]:
        yield from self._block(_text(item.get("text")), "  ")

    def _plan(self, item: dict[str, Any]) -> Iterator[str]:
        yield from self._block(_text(item.get("text")), "  plan  ", "magenta")

    def _reasoning(self, item: dict[str, Any]) -> Iterator[str]:
        texts = _strings(item.get("summary")) or _strings(item.get("content"))
        text = "\n".join(texts).replace("**", "").strip()
        if text:
            yield from self._block(text, "  ~ ", "dim", most=None if self._full else _THOUGHT_LINES)

    def _command(self, item: dict[str, Any]) -> Iterator[str]:
        facts: list[str] = []
        if isinstance(item.get("exitCode"), int) and item["exitCode"] != 0:
            facts.append(f"exit {item['exitCode']}")
        if isinstance(item.get("durationMs"), int):
            facts.append(lasting(item["durationMs"]))
        yield self._headline("$", _text(item.get("command")), item, facts)
        yield from self._output(_text(item.get("aggregatedOutput")), item)

    def _file_change(self, item: dict[str, Any]) -> Iterator[str]:
        for change in _objects(item.get("changes")):
            kind = _object(change.get("kind"))
            path = _text(change.get("path"))
            if kind.get("move_path"):
                path += f" → {_text(kind['move_path'])}"
            mark = {"add": "+", "delete": "-"}.get(_text(kind.get("type")), "±")
            patch = _text(change.get("diff"))
            facts = [] if patch or mark != "±" else ["recorded"]
            yield self._headline(mark, path, item, facts, colour="cyan")
            most = None if self._full else _PATCH_LINES
            width = None if self._full else self._width - 4
            for line in patch_lines(patch, self._terminal, headers=False, most=most, width=width):
                yield "    " + line

    def _mcp_call(self, item: dict[str, Any]) -> Iterator[str]:
        yield from self._tool(f"{_text(item.get('server'))}.{_text(item.get('tool'))}", item)
        yield from self._output(_texts(_object(item.get("result")).get("content")), item)
        error = item.get("error")
        if error is not None:
            said = _object(error).get("message", error)
            yield from self._output(said if isinstance(said, str) else encode(error).decode())

    def _dynamic_call(self, item: dict[str, Any]) -> Iterator[str]:
        yield from self._tool(_text(item.get("tool")), item)
        yield from self._output(_texts(item.get("contentItems")), item)

    def _tool(self, name: str, item: dict[str, Any]) -> Iterator[str]:
        yield self._headline("*", f"{name} {_arguments_text(item.get('arguments'))}", item)

    def _web_search(self, item: dict[str, Any]) -> Iterator[str]:
        target = _object(item.get("action"))
        yield self._headline("?", f"web: {_text(item.get('query') or target.get('url') or target.get('query'))}", item)

    def _image(self, item: dict[str, Any]) -> Iterator[str]:
        yield self._headline("*", f"looked at {_text(item.get('path'))}", item)

    def _compaction(self, item: dict[str, Any]) -> Iterator[str]:
        del item
        yield self._terminal.paint("  ·· the agent's context was shortened here ··", "dim")

    # -- pieces -----------------------------------------------------------------------------------
    def _headline(
        self, mark: str, text: str, item: dict[str, Any], facts: list[str] | None = None, colour: str = "yellow"
    ) -> str:
        """One line: a mark, a text as far as it fits, and at the right what became of it."""
        status = "interrupted" if item.get("interrupted") else _text(item.get("status"))
        known = [*([status] if status in _STATUS_COLOURS else []), *(facts or [])]
        right = " · ".join(known)
        room = self._width - 4 - (cells(right) + 2 if right else 0)
        left = cut(one_line(text), room)
        line = f"  {self._terminal.paint(mark, colour)} {self._terminal.paint(left, 'bold')}"
        if not right:
            return line
        bad = status in ("failed", "interrupted") or any(fact.startswith("exit") for fact in known)
        return line + " " * (room - cells(left) + 2) + self._terminal.paint(right, "red" if bad else "dim")

    def _block(self, text: str, mark: str, colour: str | None = None, most: int | None = None) -> Iterator[str]:
        """A text that is shown whole, or its first lines, wrapped behind a mark."""
        lines = list(wrapped(harmless(text).strip("\n"), self._width - len(mark)))
        cut_at = len(lines) if most is None or len(lines) <= most + 1 else most
        colours = (colour,) if colour else ()
        for number, line in enumerate(lines[:cut_at]):
            yield (
                self._terminal.paint(mark + line, *colours)
                if number == 0
                else " " * len(mark) + self._terminal.paint(line, *colours)
            ).rstrip()
        if cut_at < len(lines):
            yield " " * len(mark) + self._terminal.paint(f"… {counted(len(lines) - cut_at, 'more line')}", "dim")

    def _output(self, text: str, item: dict[str, Any] | None = None) -> Iterator[str]:
        """An output, or its two ends; of `item` the whole one, if it was fetched, else how long that is."""
        whole = (item or {}).get(WHOLE_OUTPUT)
        yield from self._output_lines(whole if isinstance(whole, str) else text)
        known = _object((item or {}).get("outputRef"))
        if isinstance(known.get("bytes"), int) and not isinstance(whole, str):
            hint = "its content is not to be had" if self._full else "--full shows the whole of it"
            yield "    " + self._terminal.paint(f"… {sized(known['bytes'])} in all; {hint}", "dim")

    def _output_lines(self, text: str) -> Iterator[str]:
        if not text.strip():
            return
        lines = harmless(text).strip("\n").expandtabs(4).split("\n")
        left_out = 0
        if not self._full and len(lines) > _HEAD + _TAIL + 1:
            left_out = len(lines) - _HEAD - _TAIL
            lines = [*lines[:_HEAD], "", *lines[-_TAIL:]]
        for number, line in enumerate(lines):
            if left_out and number == _HEAD:
                yield "    " + self._terminal.paint(f"… {counted(left_out, 'more line')}", "dim")
                continue
            shown = wrapped(line, self._width - 4) if self._full else [cut(line, self._width - 4)]
            for part in shown:
                yield ("    " + self._terminal.paint(part, "dim")).rstrip()


_WRITERS: dict[str, Callable[[Transcript, dict[str, Any]], Iterator[str]]] = {
    "userMessage": Transcript._user_message,  # pyright: ignore[reportPrivateUsage] - the class's own table
    "agentMessage": Transcript._agent_message,  # pyright: ignore[reportPrivateUsage]
    "plan": Transcript._plan,  # pyright: ignore[reportPrivateUsage]
    "reasoning": Transcript._reasoning,  # pyright: ignore[reportPrivateUsage]
    "commandExecution": Transcript._command,  # pyright: ignore[reportPrivateUsage]
    "fileChange": Transcript._file_change,  # pyright: ignore[reportPrivateUsage]
    "mcpToolCall": Transcript._mcp_call,  # pyright: ignore[reportPrivateUsage]
    "dynamicToolCall": Transcript._dynamic_call,  # pyright: ignore[reportPrivateUsage]
    "webSearch": Transcript._web_search,  # pyright: ignore[reportPrivateUsage]
    "imageView": Transcript._image,  # pyright: ignore[reportPrivateUsage]
    "contextCompaction": Transcript._compaction,  # pyright: ignore[reportPrivateUsage]
}


def summary_of(item: dict[str, Any]) -> str:
    """What an item is about, on one line."""
    match item.get("type"):
        case "userMessage":
            said = " ".join(_part_text(part) for part in _objects(item.get("content")))
        case "reasoning":
            said = " ".join(_strings(item.get("summary")) or _strings(item.get("content")))
        case "commandExecution":
            said = _text(item.get("command"))
        case "fileChange":
            said = ", ".join(_text(change.get("path")) for change in _objects(item.get("changes")))
        case "mcpToolCall" | "dynamicToolCall":
            said = f"{_text(item.get('tool'))} {_arguments_text(item.get('arguments'))}"
        case _:
            said = _text(item.get("text") or item.get("query") or item.get("path"))
    return one_line(said)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    found = cast("list[Any]", value) if isinstance(value, list) else []
    return [_object(one) for one in found if isinstance(one, dict)]


def _texts(value: Any) -> str:
    return "\n".join(_text(one.get("text")) for one in _objects(value) if one.get("text"))


def _strings(value: Any) -> list[str]:
    found = cast("list[Any]", value) if isinstance(value, list) else []
    return [one for one in found if isinstance(one, str)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


_TELLING = ("file_path", "path", "command", "cmd", "pattern", "query", "url", "prompt")
"""Arguments that say by themselves what a call of a tool is about."""


def _arguments_text(arguments: Any) -> str:
    known = _object(arguments)
    for name in _TELLING:
        if isinstance(known.get(name), str):
            return known[name]
    return _text(arguments) if isinstance(arguments, str) or arguments is None else encode(arguments).decode()


def _part_text(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind == "text":
        return _text(part.get("text"))
    if kind == "image":
        url = _text(part.get("url"))
        return "[an image]" if url.startswith("data:") else f"[image {url}]"
    return f"[{_text(kind)} {_text(part.get('path') or part.get('name'))}]"
