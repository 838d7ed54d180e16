"""Codex response items and display events as our items and file edits.

Invariant: what Codex writes twice, once as a response item and once for display, is one item.
Invariant: a file edit is recorded only where the tool reports that it succeeded.
"""

from __future__ import annotations

from typing import Any

from lockstitch import codec
from lockstitch.imports import codex_calls
from lockstitch.imports.calls import command_call, mcp_call
from lockstitch.imports.codex_calls import CallDetail
from lockstitch.imports.codex_edits import CodexEdits
from lockstitch.imports.codex_head import is_context, message_texts
from lockstitch.imports.composer import Call, Composer
from lockstitch.imports.fields import mapping, sequence, string

_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_call_output"}
)
_CONTEXT_ITEMS = frozenset({"additional_tools"})


class CodexItems:
    """The items of one rollout."""

    def __init__(self, composer: Composer) -> None:
        self.cwd: str | None = None
        """Where the agent works now."""
        self._composer = composer
        self._edits = CodexEdits(composer)
        self._told: set[str] = set()
        """Calls whose item an event completed before their output."""
        self._unanswered: list[tuple[int, dict[str, Any]]] = []
        """Messages of role user whose display event has not come, each with its line's offset."""

    def enter(self, cwd: str | None) -> None:
        """A line names the directory; the first one is the session's."""
        self.cwd = cwd or self.cwd
        self._edits.workspace = self._edits.workspace or cwd

    # ── messages ──

    def prepare_turn(self, turn_id: str) -> None:
        """Before a turn begins: texts that the turn before left without a display event are kept raw."""
        turn = self._composer.turn
        if turn is None or turn.turn_id != self._composer.settle_id(turn_id):
            self.leave_turn()

    def leave_turn(self) -> None:
        """The turn is over: what waited for its later lines waits no more."""
        self.flush_unanswered_texts()
        self._edits.told.clear()
        self._told.clear()

    def flush_unanswered_texts(self) -> None:
        """Messages of role user that no display event answered are not the person's: kept raw."""
        unanswered, self._unanswered = self._unanswered, []
        for offset, payload in unanswered:
            self._composer.keep_opaque("message.user", payload, key=f"line:{offset}:unanswered")

    def count_unanswered_texts(self) -> None:
        """At the end of the file: their display events may be still to come, so they are not told yet."""
        self._composer.account.skipped["message.user.unanswered"] = len(self._unanswered)

    def user_event(self, payload: dict[str, Any]) -> None:
        """`event_msg/user_message`."""
        images = [{"type": "image", "url": url} for url in sequence(payload.get("images")) if isinstance(url, str)]
        images += [
            {"type": "localImage", "path": path}
            for path in sequence(payload.get("local_images"))
            if isinstance(path, str)
        ]
        text = string(payload.get("message"))
        self.user_message([text] if text else [], images, None)

    def user_message(self, texts: list[str], images: list[dict[str, Any]], source_id: str | None) -> None:
        """What the person sent: it begins a turn, or is a further message in a turn that an event began."""
        text = "".join(texts)
        sent = self._answer(text)
        if sent and not any(image["type"] == "image" for image in images):
            # The event names local files; the model's message holds the pictures.
            images = [image for image in images if image["type"] != "localImage"]
            images += [{"type": "image", "url": url} for url in sent]
        turn = self._composer.turn
        if turn is None or turn.end is not None or (turn.asked and not turn.explicit):
            self.leave_turn()
            self._composer.start_turn(None, explicit=False)
        turn = self._composer.need_turn()
        turn.asked = True
        if sent is None:
            turn.texts["user", text] += 1  # the model's message may come after its display event
        content = [{"type": "text", "text": part} for part in texts] + images
        self._composer.add_item({"type": "userMessage", "content": content}, kind="user", source_id=source_id)

    def _answer(self, text: str) -> list[str] | None:
        """The display event of a message came; returns the images of the message, None if there is none."""
        for index, (_, payload) in enumerate(self._unanswered):
            texts = message_texts(payload)
            if "".join(texts) == text or (text and text in texts):
                del self._unanswered[index]
                urls = (string(mapping(part).get("image_url")) for part in sequence(payload.get("content")))
                return [url for url in urls if url is not None]
        return None

    def _message(self, payload: dict[str, Any]) -> None:
        role, texts = payload.get("role"), message_texts(payload)
        if role == "assistant":
            self._agent_message(texts, payload, event=False)
        elif role == "user" and not (texts and is_context(texts[0])):
            turn = self._composer.turn
            if turn is not None and turn.texts["user", "".join(texts)] > 0:
                turn.texts["user", "".join(texts)] -= 1
                self._composer.account.duplicates += 1
            else:
                self._unanswered.append((self._composer.line[0], payload))
        elif role in ("user", "developer", "system"):
            self._composer.account.skipped[f"message.{role}"] += 1
        else:
            self._composer.keep_opaque("message", payload)

    def _agent_message(self, texts: list[str], payload: dict[str, Any], *, event: bool) -> None:
        new = [text for text in texts if self._composer.first_of_two("agent", text, event=event)]
        if not new:
            self._composer.account.duplicates += bool(texts)
            return
        item: dict[str, Any] = {"type": "agentMessage", "text": "".join(new)}
        if phase := string(payload.get("phase")):
            item["phase"] = phase
        self._composer.need_turn().outcome = "completed"
        self._composer.add_item(item, kind="agent", source_id=string(payload.get("id")))

    def _reasoning(self, summary: list[str], content: list[str], source_id: str | None, *, event: bool) -> None:
        new = [text for text in summary if self._composer.first_of_two("reasoning", text, event=event)]
        raw = [text for text in content if self._composer.first_of_two("raw reasoning", text, event=event)]
        if new or raw:
            item = {"type": "reasoning", "summary": new, "content": raw}
            self._composer.add_item(item, kind="reasoning", source_id=source_id)
        else:
            self._composer.account.duplicates += bool(summary or content)

    # ── response items ──

    def response_item(self, payload: dict[str, Any]) -> None:
        """One item of the model's history."""
        kind = str(payload.get("type"))
        if self._unanswered and (kind != "message" or payload.get("role") == "assistant"):
            self.flush_unanswered_texts()  # the model acts: a display event would have come
        if kind == "message":
            self._message(payload)
        elif kind == "reasoning":
            self._composer.account.encrypted += payload.get("encrypted_content") is not None
            content = [*_texts(payload.get("content"))]
            self._reasoning([*_texts(payload.get("summary"))], content, string(payload.get("id")), event=False)
        elif kind in _CALLS:
            self._call(kind, payload)
        elif kind in _OUTPUTS:
            self._output(kind, payload)
        elif kind == "web_search_call":
            self._web_search(payload, event=False)
        elif kind in _CONTEXT_ITEMS:
            self._composer.account.skipped[kind] += 1
        else:
            self._composer.keep_opaque(kind, payload)

    def _call(self, kind: str, payload: dict[str, Any]) -> None:
        name = string(payload.get("name")) or kind.removesuffix("_call")
        arguments = payload.get("arguments", payload.get("input", mapping(payload.get("action"))))
        if name != "apply_patch":
            arguments = codex_calls.decode_arguments(arguments)
        item, detail = codex_calls.describe_call(name, string(payload.get("namespace")), arguments, self.cwd)
        if isinstance(arguments, str) and item["type"] == "dynamicToolCall":
            item["arguments"] = {"input": arguments}
        call_id = string(payload.get("call_id")) or string(payload.get("id"))
        self._composer.open_call(call_id, item, detail)
        self._composer.need_turn().outcome = "open"  # the agent has yet to answer

    def _output(self, kind: str, payload: dict[str, Any]) -> None:
        call_id = string(payload.get("call_id"))
        call = self._composer.close_call(call_id) if call_id is not None else None
        output = codex_calls.read_output(payload.get("output", payload.get("tools")))
        if call is not None:
            self._composer.complete(codex_calls.finish_call(call.item, output))
            if isinstance(call.detail, CallDetail):
                self._edits.patches(call_id, call.detail, output.text)
        elif call_id in self._told:
            self._told.discard(call_id)
            self._composer.account.duplicates += 1
        else:
            self._composer.keep_opaque(kind, payload)

    def compaction(self, payload: dict[str, Any]) -> None:
        """A `compacted` line: its replacement history repeats what came before."""
        self._composer.account.skipped["replacement_history"] += bool(payload.get("replacement_history"))
        if self._composer.first_of_two("compaction", "", event=False):
            self._composer.add_item({"type": "contextCompaction"}, kind="compaction")
        if message := string(payload.get("message")):
            self._composer.keep_opaque("compacted", {"message": message})

    def _web_search(self, payload: dict[str, Any], *, event: bool) -> None:
        action = mapping(payload.get("action"))
        query = string(payload.get("query")) or string(action.get("query"))
        name = codec.canonical([query, action]).decode()
        if self._composer.first_of_two("search", name, event=event):
            item: dict[str, Any] = {"type": "webSearch", "query": query or ""}
            if action:
                item["action"] = {key: value for key, value in action.items() if value is not None}
            if payload.get("results"):
                item["results"] = payload["results"]
            self._composer.add_item(item, kind="search", source_id=string(payload.get("id", payload.get("call_id"))))
        else:
            self._composer.account.duplicates += 1

    # ── display events ──

    def event(self, kind: str, payload: dict[str, Any]) -> None:
        """An event that tells of an item."""
        item = mapping(payload.get("item"))
        if self._unanswered and item.get("type") != "UserMessage":
            self.flush_unanswered_texts()
        if kind == "item_completed":
            self._item_completed(item, payload)
            return
        call_id = string(payload.get("call_id"))
        if kind == "agent_message":
            text = string(payload.get("message"))
            self._agent_message([text] if text else [], payload, event=True)
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            text = string(payload.get("text"))
            texts = [text] if text else []
            raw = kind == "agent_reasoning_raw_content"
            self._reasoning([] if raw else texts, texts if raw else [], None, event=True)
        elif kind == "patch_apply_end":
            done = payload.get("success") is True and payload.get("status", "completed") == "completed"
            self._edits.changes(call_id, mapping(payload.get("changes")), done=done)
        elif kind == "exec_command_end":
            self._command(call_id, payload)
        elif kind == "mcp_tool_call_end":
            invocation = mapping(payload.get("invocation"))
            self._tell(call_id, codex_calls.finish_mcp(_mcp_item(invocation), payload))
        elif kind == "dynamic_tool_call_response":
            self._tell(call_id, _dynamic_item(payload))
        elif kind == "view_image_tool_call" and string(payload.get("path")):
            self._tell(call_id, {"type": "imageView", "path": payload["path"]})
        elif kind == "web_search_end":
            self._web_search(payload, event=True)
        elif kind == "context_compacted":
            if self._composer.first_of_two("compaction", "", event=True):
                self._composer.add_item({"type": "contextCompaction"}, kind="compaction")
        else:
            self._composer.keep_opaque(kind, payload)

    def _item_completed(self, item: dict[str, Any], payload: dict[str, Any]) -> None:
        kind, item_id = str(item.get("type")), string(item.get("id"))
        if kind == "UserMessage":
            self._user_item(item, item_id)
        elif kind == "AgentMessage":
            self._agent_message(message_texts(item), item, event=True)
        elif kind == "Reasoning":
            self._reasoning(_strings(item.get("summary_text")), _strings(item.get("raw_content")), item_id, event=True)
        elif kind == "Plan":
            self._composer.add_item({"type": "plan", "text": str(item.get("text") or "")}, source_id=item_id)
        elif kind == "CommandExecution":
            self._command(item_id, item)
        elif kind == "FileChange":
            self._edits.changes(item_id, mapping(item.get("changes")), done=item.get("status") == "completed")
        elif kind == "McpToolCall":
            self._tell(item_id, codex_calls.finish_mcp(_mcp_item(item), item))
        elif kind == "DynamicToolCall":
            self._tell(item_id, _dynamic_item(item))
        elif kind == "ImageView" and string(item.get("path")):
            self._tell(item_id, {"type": "imageView", "path": item["path"]})
        elif kind in ("WebSearch", "Extension") and ("query" in item or "action" in item):
            self._web_search(item, event=True)
        elif kind == "ContextCompaction":
            if self._composer.first_of_two("compaction", "", event=True):
                self._composer.add_item({"type": "contextCompaction"}, kind="compaction", source_id=item_id)
        else:
            self._composer.keep_opaque(f"item_completed.{kind}", payload)

    def _user_item(self, item: dict[str, Any], item_id: str | None) -> None:
        texts, images = message_texts(item), list[dict[str, Any]]()
        for part in map(mapping, sequence(item.get("content"))):
            if part.get("type") == "text":
                continue
            if url := string(part.get("image_url")) or string(part.get("url")):
                images.append({"type": "image", "url": url})
            elif part.get("type") in ("local_image", "localImage", "skill", "mention") and string(part.get("path")):
                kind = "localImage" if str(part["type"]).startswith("local") else part["type"]
                named = {"name": part["name"]} if string(part.get("name")) else {}
                images.append({"type": kind, **named, "path": part["path"]})
        self.user_message(texts, images, item_id)

    def _tell(self, call_id: str | None, item: dict[str, Any]) -> None:
        """An event tells a call's whole item: the call's if it is open, else an item of its own."""
        call = self._composer.close_call(call_id) if call_id is not None else None
        if call is None:
            self._composer.add_item(item, source_id=call_id)
        else:
            self._composer.complete({"type": item["type"], "id": call.item["id"], **item})
        if call_id is not None:
            self._told.add(call_id)

    def _command(self, call_id: str | None, told: dict[str, Any]) -> None:
        call: Call | None = self._composer.calls.get(call_id) if call_id is not None else None
        if call is not None and call.item["type"] == "commandExecution":
            item = codex_calls.finish_command(call.item, told)
        else:
            cwd = (string(told.get("cwd")) or self.cwd or "").removeprefix("file://")
            command = codex_calls.command_text(told.get("command")) or ""
            item = codex_calls.finish_command(command_call(command, cwd), told)
        item.pop("id", None)
        self._tell(call_id, item)


def _texts(parts: Any) -> list[str]:
    return [text for part in sequence(parts) if (text := string(mapping(part).get("text")))]


def _strings(values: Any) -> list[str]:
    return [value for value in sequence(values) if isinstance(value, str) and value]


def _mcp_item(told: dict[str, Any]) -> dict[str, Any]:
    return mcp_call(str(told.get("server") or ""), str(told.get("tool") or ""), told.get("arguments"))


def _dynamic_item(told: dict[str, Any]) -> dict[str, Any]:
    item = codex_calls.dynamic_item(string(told.get("namespace")), str(told.get("tool") or ""), told.get("arguments"))
    parts = told.get("content_items", told.get("contentItems"))
    succeeded = told.get("success") is not False
    item |= {"status": "completed" if succeeded else "failed", "success": succeeded}
    if parts is not None:
        item["contentItems"] = [codex_calls.content_item(part) for part in sequence(parts)]
    return item
