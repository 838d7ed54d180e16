"""What one side of a checkpoint holds: bytes, and what can be said of them without changing them.

Invariant: nothing is decoded on the way in or out. Text is a view: strict UTF-8 without NUL, or what a
byte-order mark announces and the bytes keep; everything else is binary. Nothing is guessed.
"""

from __future__ import annotations

import codecs
import hashlib
from typing import Any

import msgspec

BINARY = "binary"

# The mark of UTF-32-LE begins with that of UTF-16-LE, so it is tried first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-bom", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
_CODECS = {"utf-8": "utf-8"} | {encoding: codec for _, encoding, codec in _MARKS}


class Content(msgspec.Struct, frozen=True):
    """One side of a checkpoint: `data` is there when `status` is `available` and the bytes are in memory.

    `status` is a contentStatus of the contract; `reason` says in words why a side is not available; `mode` is
    four octal digits of permission bits; `eol` is lf, crlf, cr, mixed or none, and absent for binary content.
    """

    status: str
    data: bytes | None = None
    sha256: str | None = None
    size: int | None = None
    encoding: str | None = None
    eol: str | None = None
    mode: str | None = None
    reason: str | None = None

    def without_data(self) -> Content:
        """The same, said of bytes that are not held any more."""
        return Content(self.status, None, self.sha256, self.size, self.encoding, self.eol, self.mode, self.reason)


def available(data: bytes, *, mode: str | None = None) -> Content:
    """The content reference of bytes that we hold."""
    encoding, eol = describe(data)
    return Content("available", data, hashlib.sha256(data).hexdigest(), len(data), encoding, eol, mode)


MISSING = Content("missing")
"""No file on that side, or recorded bytes that are gone."""

NOT_CAPTURED = Content("notCaptured")
"""Nobody knows what was there."""


def reference(content: Content, *, assumed: bool = False) -> dict[str, Any]:
    """The contract's content reference: what is known, without the bytes."""
    fields = {
        "sha256": content.sha256,
        "bytes": content.size,
        "encoding": content.encoding,
        "eol": content.eol,
        "mode": content.mode,
        "assumed": assumed or None,
        "contentStatus": content.status,
    }
    return {name: value for name, value in fields.items() if value is not None}


def describe(data: bytes) -> tuple[str, str | None]:
    """Encoding and line ends: (`utf-8`, `utf-8-bom`, `utf-16-le`, … or `binary`; the eol, None for binary)."""
    for mark, encoding, codec in _MARKS:
        if data.startswith(mark):
            try:
                text = data.decode(codec)
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                return encoding, _line_ends(text.encode("utf-8", "surrogatepass"))
    if b"\0" in data or not _is_utf8(data):
        return BINARY, None
    return "utf-8", _line_ends(data)


def as_text(data: bytes, encoding: str | None = None) -> str | None:
    """The exact decoding, a byte-order mark included as U+FEFF; None for binary content.

    Encoding the text again by the same codec gives the bytes back.
    """
    codec = _CODECS.get(encoding or describe(data)[0])
    return data.decode(codec) if codec is not None else None


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _line_ends(data: bytes) -> str:
    pairs = data.count(b"\r\n")
    found = [
        name
        for name, count in (
            ("crlf", pairs),
            ("lf", data.count(b"\n") - pairs),
            ("cr", data.count(b"\r") - pairs),
        )
        if count
    ]
    return found[0] if len(found) == 1 else "mixed" if found else "none"
