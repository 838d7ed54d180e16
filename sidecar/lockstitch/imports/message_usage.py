"""Tokens by message, where a tool writes a message's usage on each of its lines.

Invariant: what is written for one message adds up to the largest usage that any of its lines tells.
"""

from __future__ import annotations

from lockstitch.imports.composer import Composer

Counts = tuple[int, int, int, int]
"""Input (with what was cached), cached input, output (with reasoning), reasoning."""


class MessageUsage:
    """Written when another message or turn begins, so that the last line of each message wins."""

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self._written: dict[str, Counts] = {}
        self._pending: tuple[str, Counts, str | None, str | None] | None = None

    def note(self, name: str, counts: Counts, model: str | None) -> None:
        """Take the usage that a line tells of a message."""
        if self._pending is not None and self._pending[0] != name:
            self.flush()
        self._pending = (name, counts, model, self._composer.at)

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
