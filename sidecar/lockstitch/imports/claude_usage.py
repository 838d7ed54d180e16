"""Tokens of a Claude Code transcript, by message.

Invariant: what is written for one message adds up to the largest usage that any of its lines tells.
"""

from __future__ import annotations

from typing import Any

from lockstitch.imports.composer import Composer
from lockstitch.imports.fields import mapping, string, whole


class ClaudeUsage:
    """Tokens by message: written when another message or turn begins, so that the last line of each wins."""

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self._written: dict[str, tuple[int, int, int, int]] = {}
        self._pending: tuple[str, tuple[int, int, int, int], str | None, str | None] | None = None

    def note(self, record: dict[str, Any]) -> None:
        """Take the usage of an assistant line. Input counts what was cached or put into the cache."""
        message = mapping(record.get("message"))
        usage = mapping(message.get("usage"))
        name = string(message.get("id")) or string(record.get("requestId")) or string(record.get("uuid"))
        if name is None or not usage:
            return
        if self._pending is not None and self._pending[0] != name:
            self.flush()
        read = max(whole(usage.get("cache_read_input_tokens")) or 0, 0)
        made = max(whole(usage.get("cache_creation_input_tokens")) or 0, 0)
        fresh = max(whole(usage.get("input_tokens")) or 0, 0)
        output = max(whole(usage.get("output_tokens")) or 0, 0)
        thought = max(whole(mapping(usage.get("output_tokens_details")).get("thinking_tokens")) or 0, 0)
        counts = (fresh + made + read, read, output, thought)
        self._pending = (name, counts, string(message.get("model")), self._composer.at)

    def flush(self) -> None:
        """Write what is pending, less what was written of the same message before."""
        if self._pending is None or self._composer.turn is None:
            return
        message_id, counts, model, at = self._pending
        self._pending = None
        before = self._written.get(message_id)
        if before is not None:
            used = tuple(max(now - then, 0) for now, then in zip(counts, before, strict=True))
            counts = tuple(max(now, then) for now, then in zip(counts, before, strict=True))
        else:
            used = counts
        if not any(used):
            return
        self._written[message_id] = (counts[0], counts[1], counts[2], counts[3])
        named = {
            "inputTokens": used[0],
            "cachedInputTokens": used[1],
            "outputTokens": used[2],
            "reasoningOutputTokens": used[3],
        }
        key = f"usage:{message_id}" if before is None else f"usage:{message_id}:{'-'.join(map(str, counts))}"
        self._composer.add_usage(named, model, key, at=at)

    def closings(self) -> None:
        """Write what is pending as if the file ended here, and go on as if nothing was written."""
        pending, written = self._pending, dict(self._written)
        self.flush()
        self._pending, self._written = pending, written
