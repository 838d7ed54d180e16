"""Reads a Codex rollout, of any generation, as our events.

Invariant: the person speaks in `event_msg/user_message` and `item_completed/UserMessage` (in bare files, which have
neither, in user messages that are not context); never in other items of role `user`.
Invariant: usage is the growth of the totals, or the records of single requests where a file has them; never both.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstitch import codec
from lockstitch.imports import codex_head
from lockstitch.imports.chain import open_lines
from lockstitch.imports.codex_items import CodexItems
from lockstitch.imports.fields import mapping, string, timestamp, whole
from lockstitch.imports.jsonl import JsonlReading
from lockstitch.imports.lines import SourceLine, read_lines
from lockstitch.imports.source import SourceEvent, SourceThread

_STATE = frozenset({"turn_context", "world_state"})
_STATE_EVENTS = frozenset(
    {"thread_settings_applied", "agent_reasoning_section_break", "session_configured", "shutdown_complete"}
)
_COUNTERS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")


class CodexReading(JsonlReading):
    """One rollout file being read."""

    def __init__(self, thread: SourceThread, *, bare: bool) -> None:
        super().__init__(thread, "codex")
        self._bare = bare
        self._items = CodexItems(self.composer)
        self._provider = thread.model_provider
        self._model: str | None = None
        self._authority: dict[str, Any] = {}
        self._totals: dict[str, int] = {}
        self._records = False
        self._counted: set[str] = set()
        """Requests whose tokens a record told."""
        self._met_head = False
        self._earlier: set[bytes] | None = None
        """The lines so far, by digest, once another head is met."""
        self._begun: list[tuple[int, str]] = []
        """The turns that were not taken back, each with the ordinal of the line that began it."""

    def _held_back(self) -> list[SourceEvent]:
        self._items.count_unanswered_texts()
        return super()._held_back()

    def read_line(self, line: SourceLine) -> None:
        record, composer = mapping(line.value), self.composer
        self.account.mended += line.mended
        turn, kind = composer.turn, record.get("type")
        composer.begin_line(line.offset, line.length, timestamp(record.get("timestamp")))
        if (self._earlier is not None or kind == "session_meta") and self._is_copy(record):
            self.account.duplicates += 1
            return
        if not record:
            composer.keep_opaque("value", line.value)
        elif self._bare:
            self._read_bare(record)
        else:
            self._read_record(str(kind), record)
        if composer.turn is not turn and composer.turn is not None:
            self._begun.append((whole(record.get("ordinal")) or 0, composer.turn.turn_id))

    def _is_copy(self, record: dict[str, Any]) -> bool:
        """Whether a line behind another head was there before: a session that went on may begin with what it had."""
        if not self._met_head or self._bare:
            return False
        if record.get("type") == "session_meta" and self._earlier is None:
            self._earlier = set()
            with open_lines(self.thread) as file:
                for line in read_lines(file, end=self.composer.line[0]):
                    if isinstance(line, SourceLine):
                        self._earlier.add(_digest(line.value))
            return False
        if self._earlier is None or record.get("type") == "session_meta" or "timestamp" not in record:
            return False
        digest = _digest(record)
        if digest in self._earlier:
            return True
        self._earlier.add(digest)
        return False

    def _read_bare(self, record: dict[str, Any]) -> None:
        if record.get("record_type") == "state":
            self.account.skipped["state"] += 1
        elif not self._met_head:
            self._met_head = True
            self._items.enter(string(record.get("cwd")))
        elif record.get("type") == "message" and record.get("role") == "user":
            text = codex_head.message_text(record)
            if codex_head.is_context(text):
                self._items.enter(codex_head.told_directory(text))
                self.account.skipped["message.user"] += 1
            else:
                self._items.user_message(codex_head.message_texts(record), [], string(record.get("id")))
        else:
            self._items.response_item(record)

    def _read_record(self, kind: str, record: dict[str, Any]) -> None:
        payload = mapping(record.get("payload"))
        if kind == "response_item":
            self._items.response_item(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "turn_context":
            self._turn_context(payload)
        elif kind == "token_usage_record":
            self._usage_record(payload)
        elif kind == "compacted":
            self._items.compaction(payload)
        elif kind == "session_meta" and not self._met_head:
            self._met_head = True
            self._items.enter(string(payload.get("cwd")))
            self.account.skipped[kind] += 1
        elif kind == "session_meta" and mapping(payload.get("history_base")):
            self._revert(whole(mapping(payload.get("history_base")).get("end_ordinal_exclusive")))
        elif kind in _STATE:
            self.account.skipped[kind] += 1
        else:
            self.composer.keep_opaque(kind if "type" in record else "unknown", record)

    # ── turns ──

    def _revert(self, end: int | None) -> None:
        """A file that goes on from another one: what that one told from ordinal `end` on was taken back."""
        self.account.skipped["session_meta"] += 1
        self._items.leave_turn()
        self.composer.finish_turn()
        gone: list[str] = []
        while end is not None and self._begun and self._begun[-1][0] >= end:
            gone.append(self._begun.pop()[1])
        if gone:
            payload = {"numTurns": len(gone), "turnIds": gone}
            self.composer.emit("thread.rolledBack", payload, key=f"revert:{self.composer.line[0]}")

    def _turn_context(self, payload: dict[str, Any]) -> None:
        self.account.skipped["turn_context"] += 1
        self._items.enter(string(payload.get("cwd")))
        self._model = string(payload.get("model")) or self._model
        sandbox = payload.get("sandbox_policy")
        policy = mapping(sandbox)
        authority = {
            "mode": string(payload.get("approval_policy")),
            "sandbox": string(policy.get("type")) or string(policy.get("mode")) or string(sandbox),
        }
        self._authority = {name: value for name, value in authority.items() if value is not None}
        if (turn_id := string(payload.get("turn_id"))) is not None:
            self._start_turn(turn_id)
        self._tell_route()

    def _start_turn(self, turn_id: str) -> None:
        turn = self.composer.turn
        if turn is not None and turn.turn_id == turn_id:
            return  # nearly every time
        self._items.prepare_turn(turn_id)
        self.composer.start_turn(turn_id)

    def _tell_route(self) -> None:
        if self.composer.turn is not None:
            self.composer.select_route(self._provider, self._model)
            self.composer.set_authority(self._authority)

    def _event(self, payload: dict[str, Any]) -> None:
        kind = str(payload.get("type"))
        turn_id = string(payload.get("turn_id"))
        if kind == "item_completed":
            if turn_id is not None:
                self._start_turn(turn_id)
                self._tell_route()
            self._items.event(kind, payload)
        elif kind == "task_started":
            if turn_id is not None:
                self._start_turn(turn_id)
            else:
                self.account.skipped[kind] += 1
        elif kind == "user_message":
            self._items.user_event(payload)
            turn = self.composer.turn
            if turn is not None and turn.explicit:  # else a turn_context follows, maybe with another model
                self._tell_route()
        elif kind in ("task_complete", "turn_aborted"):
            self._end_turn(kind, payload)
        elif kind == "token_count":
            self._token_count(payload)
        elif kind in _STATE_EVENTS:
            self.account.skipped[kind] += 1
        elif kind == "thread_name_updated":
            self.title = string(payload.get("thread_name")) or self.title
            self.account.skipped[kind] += 1
        else:
            self._items.event(kind, payload)

    def _end_turn(self, kind: str, payload: dict[str, Any]) -> None:
        if self.composer.turn is None:
            self.account.skipped[kind] += 1
            return
        end: dict[str, Any] = {}
        if (duration := whole(payload.get("duration_ms"))) is not None:
            end["durationMs"] = duration
        if kind == "turn_aborted":
            reason = string(payload.get("reason"))
            self.composer.end_turn("canceled", {**end, "reason": reason} if reason else end)
        elif error := mapping(payload.get("error")):
            self.composer.end_turn("failed", {**end, "error": {"message": str(error.get("message"))}})
        else:
            self.composer.end_turn("completed", end)

    # ── usage ──

    def _usage_record(self, payload: dict[str, Any]) -> None:
        self._records = True
        usage = _usage(mapping(payload.get("usage")))
        response_id = string(payload.get("response_id"))
        if response_id is not None and response_id in self._counted:
            self.account.duplicates += 1  # a line that was copied: its tokens were spent once
        elif any(usage.values()):
            self._counted.add(response_id or "")
            self.composer.add_usage(_named(usage), self._model, f"usage:{response_id or self.composer.line[0]}")

    def _token_count(self, payload: dict[str, Any]) -> None:
        info = mapping(payload.get("info"))
        total, last = mapping(info.get("total_token_usage")), mapping(info.get("last_token_usage"))
        if self._records or not total:
            self.account.skipped["token_count"] += 1
            return
        now, before = _usage(total), self._totals
        everything = whole(total.get("total_tokens")) or now["input_tokens"] + now["output_tokens"]
        grown = everything - before.get("total_tokens", 0)
        self._totals = {**now, "total_tokens": everything}
        used = {name: now[name] - before.get(name, 0) for name in _COUNTERS}
        if grown < 0 or any(amount < 0 for amount in used.values()) or (grown and not any(used.values())):
            used = _usage(last)  # the totals began anew: only the last request is known
        if grown == 0 or not any(used.values()):
            self.account.skipped["token_count"] += 1
        elif self.composer.turn is None:
            self.composer.keep_opaque("token_count", payload)
        else:
            self.composer.add_usage(_named(used), self._model, f"usage:{self.composer.line[0]}")


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(codec.canonical(value), digest_size=12).digest()


def _usage(counts: dict[str, Any]) -> dict[str, int]:
    return {name: max(whole(counts.get(name)) or 0, 0) for name in _COUNTERS}


def _named(usage: dict[str, int]) -> dict[str, int]:
    return {
        "inputTokens": usage["input_tokens"],
        "cachedInputTokens": usage["cached_input_tokens"],
        "outputTokens": usage["output_tokens"],
        "reasoningOutputTokens": usage["reasoning_output_tokens"],
    }
