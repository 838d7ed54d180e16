"""Images in a user's message that are too large for a line: where they go, and what stands in their place.

Invariant: the texts of a message stay whole in its line, whatever its images are.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from lockstitch.codec import encode, mapping

LARGE_BYTES = 64 << 10


def large_images(content: Any) -> bytes | None:
    """What is stored of a message's large `data:` images; None if it has none.

    Of one image its own bytes; of several, a JSON array of their parts as they were.
    """
    found = _large(content)
    if not found:
        return None
    if len(found) > 1:
        return encode(found)
    head, _, body = found[0]["url"].partition(",")
    if head.endswith(";base64"):
        try:
            return base64.b64decode(body, validate=True)
        except binascii.Error:
            pass
    return found[0]["url"].encode()


def with_images_elsewhere(item: dict[str, Any], sha256: str, size: int) -> dict[str, Any]:
    """The message with a reference in place of each large image."""
    reference = {"artifactRef": f"sha256:{sha256}", "sha256": sha256, "bytes": size}
    large = {id(part) for part in _large(item["content"])}
    content = [
        {**part, "url": f"artifact:{reference['artifactRef']}", **reference, **_media_type(part["url"])}
        if id(part) in large
        else part
        for part in item["content"]
    ]
    return {**item, "content": content, "outputRef": reference}


def _large(content: Any) -> list[dict[str, Any]]:
    if not isinstance(content, list):
        return []
    parts = map(mapping, content)  # pyright: ignore[reportUnknownArgumentType] - checked by mapping
    return [part for part in parts if part.get("type") == "image" and _is_large(part.get("url"))]


def _is_large(url: Any) -> bool:
    return isinstance(url, str) and len(url) > LARGE_BYTES and url[:5].lower() == "data:"


def _media_type(url: str) -> dict[str, str]:
    kind = url[5:].split(",", 1)[0].split(";", 1)[0]
    return {"mediaType": kind} if kind else {}
