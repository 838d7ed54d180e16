"""The preview of a thread: the beginning of what its user said first. Pure."""

from __future__ import annotations

PREVIEW_CHARACTERS = 200


def preview_of(content: list[dict[str, object]]) -> str:
    """The first text of a user's message, on one line, at most 200 characters."""
    for entry in content:
        text = entry.get("text")
        if isinstance(text, str) and text.strip():
            return " ".join(text[: 4 * PREVIEW_CHARACTERS].split())[:PREVIEW_CHARACTERS]
    return ""
