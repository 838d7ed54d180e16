"""Cursors: opaque base64url of the key of the row that a page ended at.

Invariant: a cursor holds a key, never an offset, and says which list it belongs to.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

from lockstitch.codec import ParseError, TooDeepError, decode, encode
from lockstitch.errors import InvalidError


def cursor_of(kind: str, *key: str | int) -> str:
    """The cursor behind the row with that key."""
    return base64.urlsafe_b64encode(encode([kind, *key])).decode().rstrip("=")


def key_of(kind: str, cursor: str | None, *types: type) -> list[Any] | None:
    """The key in a cursor of that list; None for none. Raises InvalidError."""
    if cursor is None:
        return None
    try:
        data = cursor.encode("ascii")
        found = decode(base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, ParseError, TooDeepError):
        found = None
    if isinstance(found, list):
        values = cast(list[Any], found)
        right = [type(value) for value in values[1:]] == list(types)
        if values[:1] == [kind] and right and all(abs(v) < 1 << 63 for v in values[1:] if isinstance(v, int)):
            return values[1:]
    raise InvalidError.at("cursor", "is not a cursor of this list; leave it out to begin anew")
