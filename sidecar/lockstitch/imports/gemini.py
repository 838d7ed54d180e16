"""Reads a Gemini CLI session, a document or lines, as our events.

Invariant: a message that is written again replaces what it told while its turn is open; the last one wins.
Invariant: a list of messages in a patch line adds and renews, and never takes away: it is what the model was given.
Source of the format: `type` user, gemini, info, warning or error; a call and its result are one object; in lines
`{"$set": …}` changes the head and `{"$rewindTo": id}` takes back that message and all after it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstitch import codec
from lockstitch.imports import gemini_tools
from lockstitch.imports.edits import ABSENT, is_absolute, record_edit
from lockstitch.imports.fields import mapping, sequence, string, timestamp, whole
from lockstitch.imports.gemini_head import AGENT, is_hash_of, is_head, is_persons, parts_of, typed_texts
from lockstitch.imports.jsonl import JsonlReading
from lockstitch.imports.lines import SourceLine
from lockstitch.imports.message_usage import MessageUsage
from lockstitch.imports.source import SourceEvent, SourceThread

_PATHS = ("file_path", "path", "absolute_path", "dir_path", "directory", "cwd")
_CANCELED = ("Request cancelled", "Request canceled")


class GeminiReading(JsonlReading):
    """One session being read."""

    def __init__(self, thread: SourceThread) -> None:
        super().__init__(thread, "gemini")
        self._usage = MessageUsage(self.composer)
        self._workspace = thread.cwd
        self._model = thread.model
        self._met_head = False
        self._seen: dict[str, tuple[bytes, str | None]] = {}
        """Message id → (content digest, turn in which it was read)."""
        self._items: dict[str, bytes] = {}
        """Items of the open turn, by digest: what is written again unchanged is told once."""
        self._begun: list[tuple[str, str]] = []
        """(message id, turn id) of the turns that were not taken back."""
        self._files: dict[str, str] = {}
        """What writes prove to be in a file, by path."""

    def _held_back(self) -> list[SourceEvent]:
        self._usage.closings()
        return self.composer.take() + super()._held_back()

    def read_line(self, line: SourceLine) -> None:
        record = mapping(line.value)
        self.account.mended += line.mended
        at = timestamp(record.get("timestamp", record.get("ts")))
        self.composer.begin_line(line.offset, line.length, at)
        if not record:
            self.composer.keep_opaque("value", line.value)
        elif "$rewindTo" in record:
            self._rewind(string(record["$rewindTo"]))
        elif "$set" in record:
            self._patch(mapping(record["$set"]))
        elif is_head(record):
            self._patch(record)
        else:
            self._message(record)

    def _patch(self, patch: dict[str, Any]) -> None:
        self.account.skipped["head"] += 1
        self.title = string(patch.get("summary")) or self.title
        for message in map(mapping, sequence(patch.get("messages"))):
            if message:
                self._message(message)

    # ── turns ──

    def _begin_turn(self, message_id: str | None) -> None:
        self._usage.flush()
        self._items.clear()
        if message_id is None:
            self.composer.start_turn(None, explicit=False)
        else:
            self.composer.start_turn(message_id)
        if self.composer.turn is not None:
            self._begun.append((message_id or "", self.composer.turn.turn_id))

    def _rewind(self, target: str | None) -> None:
        self._usage.flush()
        names = [name for name, _ in self._begun]
        if target is None or target not in names:
            self.composer.keep_opaque("rewindTo", {"$rewindTo": target})  # the middle of a turn, or never met
            return
        self.composer.finish_turn()
        self._items.clear()
        index = names.index(target)
        gone = [turn_id for _, turn_id in reversed(self._begun[index:])]
        del self._begun[index:]
        self._seen.pop(target, None)
        self.composer.emit(
            "thread.rolledBack",
            {"numTurns": len(gone), "turnIds": gone},
            key=f"rewind:{self.composer.line[0]}",
        )

    # ── messages ──

    def _message(self, record: dict[str, Any]) -> None:
        kind = str(record.get("type", record.get("role")))
        self.composer.at = timestamp(record.get("timestamp", record.get("ts"))) or self.composer.at
        message_id = string(record.get("id"))
        again, digest = False, b""
        if message_id is not None:
            digest = hashlib.blake2b(codec.encode(record), digest_size=12).digest()
            before = self._seen.get(message_id)
            if before is not None:
                self.account.duplicates += 1
                if before[0] == digest:
                    return
                again = True
                if before[1] != self._turn_id():
                    self.composer.keep_opaque("rewritten", record)  # its turn is over: what was told stands
                    return
        if kind == "user":
            self._user(record, message_id, again=again)
        elif kind in AGENT:
            self._agent(record, message_id)
        else:
            text = "".join(typed_texts(record))
            if kind == "info" and text.startswith(_CANCELED) and self.composer.turn is not None:
                self.composer.turn.outcome = "canceled"
            self.composer.keep_opaque(kind if "type" in record or "role" in record else "unknown", record)
        if message_id is not None:
            self._seen[message_id] = (digest, self._turn_id())

    def _turn_id(self) -> str | None:
        return self.composer.turn.turn_id if self.composer.turn is not None else None

    def _user(self, record: dict[str, Any], message_id: str | None, *, again: bool) -> None:
        if not is_persons(record):
            self.composer.keep_opaque("functionResponse", record)
            return
        content: list[dict[str, Any]] = [{"type": "text", "text": text} for text in typed_texts(record)]
        for part in map(mapping, parts_of(record)):
            if url := gemini_tools.inline_image(part):
                content.append({"type": "image", "url": url})
        if not content:
            self.composer.keep_opaque("user", record)
            return
        if not again:
            self._begin_turn(message_id)
        self._put({"type": "userMessage", "content": content}, "user", message_id)

    def _agent(self, record: dict[str, Any], message_id: str | None) -> None:
        turn = self.composer.need_turn()
        self._model = string(record.get("model")) or self._model
        self.composer.select_route("google", self._model)
        thoughts = [text for thought in sequence(record.get("thoughts")) if (text := _thought(mapping(thought)))]
        parts = [mapping(part) for part in parts_of(record)]
        thoughts += [text for part in parts if part.get("thought") is True and (text := string(part.get("text")))]
        if thoughts:
            item: dict[str, Any] = {"type": "reasoning", "summary": thoughts, "content": []}
            self._put(item, "reasoning", None if message_id is None else f"{message_id}:thoughts")
        texts = [text for part in parts if part.get("thought") is not True and (text := string(part.get("text")))]
        if texts:
            self._put({"type": "agentMessage", "text": "".join(texts)}, "agent", message_id)
            turn.outcome = "completed"
        for part in parts:
            if "functionCall" in part:
                self.composer.keep_opaque("functionCall", part)
        calls = [mapping(call) for call in sequence(record.get("toolCalls"))]
        for call in calls:
            if call:
                self._call(call)
        if calls:
            turn.outcome = "open"  # the agent has yet to answer
        self._note_usage(record, message_id)

    def _put(self, item: dict[str, Any], kind: str, source_id: str | None) -> None:
        """An item, or what a message that is written again makes of it."""
        if source_id is not None and source_id in self._items:
            if self._items[source_id] != _digest(item):
                self._items[source_id] = _digest(item)
                self.composer.complete({"type": item["type"], "id": self.composer.settle_id(source_id), **item})
            return
        item_id = self.composer.add_item(item, kind=kind, source_id=source_id)
        if source_id is not None and item_id == self.composer.settle_id(source_id):
            self._items[source_id] = _digest(item)

    def _note_usage(self, record: dict[str, Any], message_id: str | None) -> None:
        tokens = mapping(record.get("tokens"))
        name = message_id or f"line:{self.composer.line[0]}"
        if tokens:
            given = {field: max(whole(tokens.get(field)) or 0, 0) for field in
                     ("input", "output", "cached", "thoughts", "tool")}  # fmt: skip
            counts = (
                given["input"] + given["tool"],
                given["cached"],
                given["output"] + given["thoughts"],
                given["thoughts"],
            )
            self._usage.note(name, counts, self._model)

    # ── tools ──

    def _call(self, call: dict[str, Any]) -> None:
        name, arguments = string(call.get("name")) or "unknown", call.get("args")
        call_id = string(call.get("id"))
        self._find_workspace(mapping(arguments))
        item = gemini_tools.describe_call(name, arguments, self._workspace)
        known = f"call:{call_id}"
        if call_id is None or known not in self._items:
            opened = self.composer.open_call(call_id, item)
            self._items[known] = b""
        elif call_id in self.composer.calls:
            opened = call_id
        else:
            self._renew_call(known, self.composer.settle_id(call_id), item, call)
            return
        if str(call.get("status")) not in gemini_tools.ENDED and not call.get("result"):
            return
        begun = self.composer.close_call(opened)
        if begun is not None:
            done = gemini_tools.finish_call(begun.item, call)
            self._items[known] = _digest({**done, "id": ""})
            self.composer.complete(done)
            self._edit(name, call, str(begun.item["id"]))

    def _renew_call(self, known: str, item_id: str, item: dict[str, Any], call: dict[str, Any]) -> None:
        done = {"type": item["type"], "id": item_id, **gemini_tools.finish_call(item, call)}
        if self._items[known] != _digest({**done, "id": ""}):
            self._items[known] = _digest({**done, "id": ""})
            self.composer.complete(done)

    def _edit(self, name: str, call: dict[str, Any], item_id: str) -> None:
        if name not in gemini_tools.EDITORS or call.get("status") != "success":
            return
        path = next((found for field in _PATHS if (found := string(mapping(call.get("args")).get(field)))), "")
        edit = gemini_tools.read_edit(name, call, self._files.get(path))
        if edit is None:
            return
        record_edit(self.composer, edit, call_id=item_id, base=self._workspace, workspace=self._workspace)
        if edit.after is not None and edit.after != ABSENT:
            self._files[path] = edit.after
        else:
            self._files.pop(path, None)

    def _find_workspace(self, arguments: dict[str, Any]) -> None:
        """The project's directory is the one above a path of a call whose sha256 the session bears."""
        if self._workspace is not None or self.thread.project_hash is None:
            return
        for field in _PATHS:
            path = string(arguments.get(field))
            while path and is_absolute(path):
                if is_hash_of(self.thread.project_hash, path):
                    self._workspace = self.found_cwd = path
                    return
                shorter = path.rstrip("/\\")
                cut = max(shorter.rfind("/"), shorter.rfind("\\"))
                path = shorter[:cut] if cut > 0 else ""


def _thought(thought: dict[str, Any]) -> str:
    subject, description = string(thought.get("subject")), string(thought.get("description"))
    return f"**{subject}** {description}" if subject and description else subject or description or ""


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(codec.encode(value), digest_size=12).digest()
