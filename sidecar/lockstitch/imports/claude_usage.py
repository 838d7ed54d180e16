"""Tokens of a Claude Code transcript, by message.

Invariant: input counts what was cached or put into the cache.
"""

from __future__ import annotations

from typing import Any

from lockstitch.imports.fields import mapping, string, whole
from lockstitch.imports.message_usage import MessageUsage


class ClaudeUsage(MessageUsage):
    """Tokens by `message.id`; each line of a message repeats them."""

    def note_line(self, record: dict[str, Any]) -> None:
        """Take the usage of an assistant line."""
        message = mapping(record.get("message"))
        usage = mapping(message.get("usage"))
        name = string(message.get("id")) or string(record.get("requestId")) or string(record.get("uuid"))
        if name is None or not usage:
            return
        read = max(whole(usage.get("cache_read_input_tokens")) or 0, 0)
        made = max(whole(usage.get("cache_creation_input_tokens")) or 0, 0)
        fresh = max(whole(usage.get("input_tokens")) or 0, 0)
        output = max(whole(usage.get("output_tokens")) or 0, 0)
        thought = max(whole(mapping(usage.get("output_tokens_details")).get("thinking_tokens")) or 0, 0)
        self.note(name, (fresh + made + read, read, output, thought), string(message.get("model")))
