"""What of an item is searched: messages, commands, outputs as they read, paths, and what tools were asked for.

Invariant: pure. File contents and diffs are not searched: they are not what was said or done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from lockstitch.codec import mapping

MOST_CHARACTERS = 1 << 20
"""Of each of an item's texts; what stands behind is not searched."""

_MOST_VALUES = 1000

_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
"""What colours a terminal stands in the middle of words."""

Texts = tuple[str, str, str]
"""What was said, what was done, what came out."""


def texts_of(item: dict[str, Any]) -> Texts:
    """The texts of a ThreadItem of any type."""
    said, done, output = _TEXTS.get(str(item.get("type")), _nothing)(item)
    return _plain(said), _plain(done), _plain(output)


def _plain(text: str) -> str:
    text = text[:MOST_CHARACTERS]
    return _STEERING.sub("", text) if "\x1b" in text else text


def _nothing(item: dict[str, Any]) -> Texts:
    del item
    return "", "", ""


def _user_message(item: dict[str, Any]) -> Texts:
    parts = [mapping(part) for part in _list(item.get("content"))]
    said = _lines(part.get("text") for part in parts)
    named = [part.get(name) for part in parts for name in ("name", "path")]
    return said, _lines(named), ""


def _message(item: dict[str, Any]) -> Texts:
    return _lines([item.get("text")]), "", ""


def _reasoning(item: dict[str, Any]) -> Texts:
    return _lines([*_list(item.get("summary")), *_list(item.get("content"))]), "", ""


def _command(item: dict[str, Any]) -> Texts:
    return "", _lines([item.get("command")]), _lines([item.get("aggregatedOutput")])


def _file_change(item: dict[str, Any]) -> Texts:
    changes = [mapping(change) for change in _list(item.get("changes"))]
    paths = [path for change in changes for path in (change.get("path"), mapping(change.get("kind")).get("move_path"))]
    return "", _lines(paths), ""


def _tool_call(item: dict[str, Any]) -> Texts:
    names = [item.get("server"), item.get("namespace"), item.get("tool")]
    error = mapping(item.get("error")).get("message")
    results = [*_strings(item.get("result")), *_strings(item.get("contentItems")), error]
    return "", _lines([*names, *_strings(item.get("arguments"))]), _lines(results)


def _web_search(item: dict[str, Any]) -> Texts:
    return "", _lines([item.get("query"), *_strings(item.get("action"))]), ""


def _image(item: dict[str, Any]) -> Texts:
    return "", _lines([item.get("path")]), ""


_TEXTS = {
    "userMessage": _user_message,
    "agentMessage": _message,
    "plan": _message,
    "reasoning": _reasoning,
    "commandExecution": _command,
    "fileChange": _file_change,
    "mcpToolCall": _tool_call,
    "dynamicToolCall": _tool_call,
    "webSearch": _web_search,
    "imageView": _image,
}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _lines(values: Any) -> str:
    return "\n".join(value for value in values if isinstance(value, str) and value)


def _strings(value: Any) -> list[str]:
    """The strings in a JSON value; not its keys, and not what is only data in Base64."""
    found: list[str] = []
    for one in _walk(value):
        if not one.startswith("data:"):
            found.append(one)
        if len(found) == _MOST_VALUES:
            break
    return found


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _walk(inner)
    elif isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        if entries.get("type") == "image":
            return
        for inner in entries.values():
            yield from _walk(inner)
