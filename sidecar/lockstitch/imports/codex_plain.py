"""Reads a chat that was kept as bare lines of role and text, with function calls between them.

Invariant: a result belongs to the oldest call of its name that has none.
Source of the format: lines `{created_at, role, message | content, model}`, `{type: function_call, function: {name},
arguments}` and `{type: function_result, name, result}`, as written before rollouts had a head.
"""

from __future__ import annotations

from typing import Any

from lockstitch import codec
from lockstitch.imports import codex_calls
from lockstitch.imports.fields import mapping, string, timestamp
from lockstitch.imports.jsonl import JsonlReading
from lockstitch.imports.lines import SourceLine
from lockstitch.imports.source import SourceThread


class PlainReading(JsonlReading):
    """One such file being read."""

    def __init__(self, thread: SourceThread) -> None:
        super().__init__(thread, "codex")

    def read_line(self, line: SourceLine) -> None:
        record = mapping(line.value)
        self.account.mended += line.mended
        at = timestamp(record.get("created_at", record.get("timestamp")))
        self.composer.begin_line(line.offset, line.length, at)
        kind = string(record.get("type"))
        if not record:
            self.composer.keep_opaque("value", line.value)
        elif kind == "function_call":
            self._call(record)
        elif kind == "function_result":
            self._result(record)
        elif kind in (None, "message") and (text := plain_text(record)) is not None:
            self._message(str(record.get("role")), text, record)
        elif kind == "world_state":
            self.account.skipped[kind] += 1
        else:
            self.composer.keep_opaque(kind or "unknown", record)

    def _message(self, role: str, text: str, record: dict[str, Any]) -> None:
        if role == "user":
            self.composer.start_turn(None, explicit=False)
            content = [{"type": "text", "text": text}]
            self.composer.select_route(None, string(record.get("model")))
            self.composer.add_item({"type": "userMessage", "content": content}, kind="user")
        elif role == "assistant":
            self.composer.need_turn().outcome = "completed"
            self.composer.select_route(None, string(record.get("model")))
            self.composer.add_item({"type": "agentMessage", "text": text}, kind="agent")
        else:
            self.composer.keep_opaque(f"message.{role}", record)

    def _call(self, record: dict[str, Any]) -> None:
        name = _function(record)
        arguments = codex_calls.decode_arguments(record.get("arguments"))
        item = codex_calls.dynamic_item(None, name, arguments)
        self.composer.open_call(string(record.get("call_id")), item)
        self.composer.need_turn().outcome = "open"

    def _result(self, record: dict[str, Any]) -> None:
        name, call_id = _function(record), string(record.get("call_id"))
        calls = self.composer.calls
        if call_id is None:
            call_id = next((known for known, call in calls.items() if call.item["tool"] == name), None)
        call = self.composer.close_call(call_id) if call_id is not None else None
        if call is None:
            self.composer.keep_opaque("function_result", record)
            return
        result = record.get("result", record.get("output"))
        text = result if isinstance(result, str) else codec.encode(result).decode()
        self.composer.complete(codex_calls.finish_call(call.item, codex_calls.read_output(text)))


def plain_text(record: dict[str, Any]) -> str | None:
    """The text of a line that is a message."""
    return string(record.get("message")) or string(record.get("content")) if "role" in record else None


def _function(record: dict[str, Any]) -> str:
    return string(mapping(record.get("function")).get("name")) or string(record.get("name")) or "unknown"
