"""Reads a Claude Code transcript, main or subagent, as our events.

Invariant: the order is that of the file; a turn begins at each message of the person and nowhere else.
Invariant: tokens are counted once per `message.id`, the last line of it wins; a message that grows after it was
counted adds the difference.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstitch import codec
from lockstitch.imports import claude_head, claude_tools
from lockstitch.imports.claude_backups import ClaudeBackups, with_backup
from lockstitch.imports.claude_edits import EDITORS, read_edit
from lockstitch.imports.claude_usage import ClaudeUsage
from lockstitch.imports.edits import record_edit
from lockstitch.imports.fields import mapping, string, timestamp
from lockstitch.imports.jsonl import JsonlReading
from lockstitch.imports.lines import SourceLine
from lockstitch.imports.source import SourceEvent, SourceThread

_STATE = frozenset(
    {
        "progress",
        "file-history-snapshot",
        "permission-mode",
        "mode",
        "last-prompt",
        "agent-name",
        "bridge-session",
        "atis-latch",
        "queue-operation",
        "started",
    }
)
_STATE_SYSTEM = frozenset({"stop_hook_summary", "session_start", "microcompact_boundary", "turn_duration"})
_TITLES = {"custom-title": ("customTitle", 3), "ai-title": ("aiTitle", 2)}


class ClaudeReading(JsonlReading):
    """One transcript file being read."""

    def __init__(self, thread: SourceThread, *, sidechain: bool) -> None:
        super().__init__(thread, "claude")
        self._title_rank = 3 if thread.title else 0
        self._sidechain = sidechain
        """All of the file is a subagent's: its prompts begin turns."""
        self._usage = ClaudeUsage(self.composer)
        self._seen: dict[bytes, tuple[bytes, str | None]] = {}
        """uuid digest → (content digest, turn in which it was read)."""
        self._copies: set[bytes] = set()
        self._summaries: dict[str, str] = {}
        self._backups = ClaudeBackups(thread)
        self._workspace: str | None = None
        """The first directory that a line names; later ones are where the agent went."""

    def _held_back(self) -> list[SourceEvent]:
        self._usage.closings()
        return self.composer.take() + super()._held_back()

    def read_line(self, line: SourceLine) -> None:
        record = mapping(line.value)
        self.account.mended += line.mended
        self.composer.begin_line(line.offset, line.length, timestamp(record.get("timestamp")))
        if not record:
            self.composer.keep_opaque("value", line.value)
            return
        self._workspace = self._workspace or string(record.get("cwd"))
        kind = record.get("type")
        if uuid := string(record.get("uuid")):
            self._resolve_summary(uuid)
        if kind in ("user", "assistant"):
            self._message(str(kind), record, uuid)
        elif kind == "tool_use":
            self._tool_use(record, record)
        elif kind == "tool_result":
            self._tool_result(record, record)
        elif kind == "system":
            self._system(record)
        elif kind == "attachment":
            self._attachment(record)
        else:
            self._other(str(kind), record)

    # ── lines that are no messages ──

    def _other(self, kind: str, record: dict[str, Any]) -> None:
        if kind in _TITLES:
            field, rank = _TITLES[kind]
            self._set_title(string(record.get(field)), rank)
            self.account.skipped[kind] += 1
        elif kind == "summary":
            leaf, summary = string(record.get("leafUuid")), string(record.get("summary"))
            if leaf is not None and summary is not None:
                # A summary may belong to another file: it is a title only once its leaf is met in this one.
                self._summaries[leaf] = summary
                if _digest(leaf) in self._seen:
                    self._resolve_summary(leaf)
            self.account.skipped[kind] += 1
        elif kind in _STATE:
            if kind == "file-history-snapshot":
                self._backups.note(record)
            self.account.skipped[kind] += 1
        else:
            self.composer.keep_opaque(kind if "type" in record else "unknown", record)

    def _set_title(self, title: str | None, rank: int) -> None:
        if title is not None and rank >= self._title_rank:
            self.title, self._title_rank = title, rank

    def _resolve_summary(self, uuid: str) -> None:
        if uuid in self._summaries:
            self._set_title(self._summaries.pop(uuid), 1)

    def _system(self, record: dict[str, Any]) -> None:
        kind = str(record.get("subtype"))
        uuid = string(record.get("uuid"))
        if kind == "compact_boundary" and self._is_copy(record):
            self.account.duplicates += 1
        elif kind == "compact_boundary":
            self.composer.add_item({"type": "contextCompaction"}, source_id=uuid)
        elif kind in _STATE_SYSTEM:
            self.account.skipped[f"system.{kind}"] += 1
        else:
            self.composer.keep_opaque(f"system.{kind}", record)

    def _attachment(self, record: dict[str, Any]) -> None:
        attachment = mapping(record.get("attachment"))
        kind = str(attachment.get("type"))
        prompt = attachment.get("prompt")
        if kind != "queued_command" or attachment.get("commandMode") != "prompt" or not prompt:
            self.account.skipped[f"attachment.{kind}"] += 1
            return
        # What the person sent while the agent worked stands nowhere else.
        blocks = claude_head.content_blocks({"message": {"content": prompt}})
        content, uuid = _user_content([mapping(block) for block in blocks]), string(record.get("uuid"))
        if self._is_copy(record):
            self.account.duplicates += 1
        elif content:
            self.composer.add_item({"type": "userMessage", "content": content}, source_id=uuid)

    def _is_copy(self, record: dict[str, Any]) -> bool:
        """Whether a line that is no message was there before, word for word."""
        digest = _digest(codec.encode(record))
        known = digest in self._copies
        self._copies.add(digest)
        return known

    # ── messages ──

    def _message(self, kind: str, record: dict[str, Any], uuid: str | None) -> None:
        if uuid is None:
            self._read_message(kind, record, None, again=False)
            return
        message = record.get("message")
        content = mapping(message).get("content") if kind == "assistant" else message
        digest = _digest(codec.encode([content, record.get("toolUseResult")]))
        before, again = self._seen.get(_digest(uuid)), False
        if before is not None:
            self.account.duplicates += 1
            if kind == "assistant":
                self._usage.note_line(record)
            if before[0] == digest:
                return
            again = self.composer.has_id(uuid) or self.composer.has_id(f"{uuid}:1")
            if again and before[1] != self._turn_id():
                self.composer.keep_opaque("rewritten", record)  # its turn is over: what was told stands
                return
        self._read_message(kind, record, uuid, again=again)
        self._seen[_digest(uuid)] = (digest, self._turn_id())

    def _turn_id(self) -> str | None:
        return self.composer.turn.turn_id if self.composer.turn is not None else None

    def _read_message(self, kind: str, record: dict[str, Any], uuid: str | None, *, again: bool) -> None:
        if kind == "assistant":
            self._assistant(record, uuid, again=again)
        else:
            self._user(record, uuid, again=again)

    def _is_sidechain(self, record: dict[str, Any]) -> bool:
        return record.get("isSidechain") is True and not self._sidechain

    def _user(self, record: dict[str, Any], uuid: str | None, *, again: bool) -> None:
        blocks = [mapping(block) for block in claude_head.content_blocks(record)]
        if record.get("isCompactSummary") is True:
            self.composer.keep_opaque("compactSummary", {"summary": blocks})
            return
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            if not again:
                self._tool_result(block, record)
        typed = claude_head.typed_blocks(record)
        if typed and self._is_sidechain(record):
            self.account.skipped["user.sidechain"] += 1  # the prompt is in the arguments of the call
        elif typed:
            self._prompt(record, typed, uuid, again=again)
        else:
            self._tools_own(record, blocks, mixed=bool(results))

    def _prompt(self, record: dict[str, Any], typed: list[dict[str, Any]], uuid: str | None, *, again: bool) -> None:
        item = {"type": "userMessage", "content": _user_content(typed)}
        if again and uuid is not None and self.composer.has_id(uuid):
            self.composer.complete({"type": "userMessage", "id": self.composer.settle_id(uuid), **item})
            return
        self._usage.flush()
        if uuid is None:
            self.composer.start_turn(None, explicit=False)
        else:
            self.composer.start_turn(uuid)
        if mode := string(record.get("permissionMode")):
            self.composer.set_authority({"mode": mode})
        self.composer.add_item(item, kind="user", source_id=uuid)

    def _tools_own(self, record: dict[str, Any], blocks: list[dict[str, Any]], *, mixed: bool) -> None:
        """Texts of role user that begin no turn."""
        turn = self.composer.turn
        for block in blocks:
            text = string(block.get("text")) if block.get("type") == "text" else None
            if text is not None and claude_head.is_interruption(text):
                if turn is not None and not self._is_sidechain(record):
                    turn.outcome = "canceled"
                self.account.skipped["user.interrupted"] += 1
            elif record.get("isMeta") is True:
                if text is not None:
                    self.account.skipped["user.meta"] += 1
            elif text is not None and text.lstrip().startswith(("<local-command-std", "<bash-std")):
                self.composer.keep_opaque("localCommandOutput", {"text": text})
                if turn is not None and turn.outcome == "open" and not self.composer.calls:
                    turn.outcome = "completed"  # a local command is over with its output
            elif text is not None and mixed and not claude_head.is_tools_own(text):
                self.composer.add_item({"type": "userMessage", "content": _user_content([block])}, kind="user")
            elif text is not None:
                self.account.skipped["user.tool"] += 1
            elif block.get("type") not in ("tool_result", "image"):
                self.composer.keep_opaque("user.block", block)
        if not blocks:
            self.composer.keep_opaque("user", record)

    def _assistant(self, record: dict[str, Any], uuid: str | None, *, again: bool) -> None:
        message = mapping(record.get("message"))
        model = string(message.get("model"))
        sidechain = self._is_sidechain(record)
        if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
            self.composer.keep_opaque("apiError", record)
            return
        turn = self.composer.need_turn()
        if not sidechain:
            self.composer.select_route("anthropic", model)
            turn.outcome = "completed"
        self._usage.note_line(record)
        blocks = [mapping(block) for block in claude_head.content_blocks(record)]
        for index, block in enumerate(blocks):
            block_id = uuid if uuid is None or len(blocks) == 1 else f"{uuid}:{index + 1}"
            self._block(block, record, block_id, again=again)

    def _block(self, block: dict[str, Any], record: dict[str, Any], block_id: str | None, *, again: bool) -> None:
        kind = str(block.get("type"))
        if kind == "text":
            if text := string(block.get("text")):
                item: dict[str, Any] = {"type": "agentMessage", "text": text}
                if self._is_sidechain(record):
                    item["phase"] = "commentary"  # a subagent speaks to the agent, not to the person
                self._put(item, "agent", block_id, again=again)
        elif kind in ("thinking", "redacted_thinking"):
            if thinking := string(block.get("thinking")):
                self._put(
                    {"type": "reasoning", "summary": [], "content": [thinking]}, "reasoning", block_id, again=again
                )
            else:
                self.account.encrypted += 1
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if not again:
                self._tool_use(block, record)
        elif kind.endswith("tool_result"):
            if not again:
                self._tool_result(block, record)
        else:
            self.composer.keep_opaque(f"block.{kind}", block)

    def _put(self, item: dict[str, Any], kind: str, source_id: str | None, *, again: bool) -> None:
        if again and source_id is not None and self.composer.has_id(source_id):
            self.composer.complete({"type": item["type"], "id": self.composer.settle_id(source_id), **item})
        else:
            self.composer.add_item(item, kind=kind, source_id=source_id)

    # ── tools ──

    def _tool_use(self, block: dict[str, Any], record: dict[str, Any]) -> None:
        name, arguments = str(block.get("name") or "unknown"), block.get("input")
        if name == "ExitPlanMode" and (plan := string(mapping(arguments).get("plan"))):
            self.composer.add_item({"type": "plan", "text": plan}, kind="plan")
        cwd = string(record.get("cwd")) or self._workspace
        item = claude_tools.describe_call(name, arguments, cwd)
        self.composer.open_call(string(block.get("id")), item, (name, arguments, cwd))

    def _tool_result(self, block: dict[str, Any], record: dict[str, Any]) -> None:
        call_id = string(block.get("tool_use_id"))
        call = self.composer.close_call(call_id)
        if call is None:
            self.composer.keep_opaque("tool_result", {**block, "toolUseResult": record.get("toolUseResult")})
            return
        turn = self.composer.turn
        if turn is not None and turn.outcome == "completed":
            turn.outcome = "open"  # the agent has yet to answer
        result = record.get("toolUseResult")
        self.composer.complete(claude_tools.finish_call(call.item, block, result))
        name, arguments, cwd = call.detail
        if name not in EDITORS or claude_tools.result_status(block, result) != "completed":
            return
        edit = read_edit(name, arguments, result, claude_tools.result_text(block))
        if edit is not None:
            edit = with_backup(edit, self._backups.edited(edit.path, self._workspace), arguments, result)
            item_id = str(call.item["id"])
            record_edit(self.composer, edit, call_id=item_id, base=cwd, workspace=self._workspace)


def _user_content(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for block in blocks:
        if block.get("type") == "image":
            if url := claude_tools.image_url(block):
                content.append({"type": "image", "url": url})
        elif text := string(block.get("text")):
            content.append({"type": "text", "text": claude_head.plain_command(text)})
    return content


def _digest(value: str | bytes) -> bytes:
    encoded = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return hashlib.blake2b(encoded, digest_size=12).digest()
