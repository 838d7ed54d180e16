"""Text is a view of the bytes: named, never guessed, never changed."""

from __future__ import annotations

import pytest

from lockstitch.artifacts.content import MISSING, as_text, available, describe, reference


@pytest.mark.parametrize(
    ("data", "encoding", "eol"),
    [
        (b"", "utf-8", "none"),
        (b"x", "utf-8", "none"),
        (b"a\nb\n", "utf-8", "lf"),
        (b"a\r\nb\r\n", "utf-8", "crlf"),
        (b"a\rb\r", "utf-8", "cr"),
        (b"a\r\nb\nc\rd", "utf-8", "mixed"),
        ("é\u2028\u0085".encode(), "utf-8", "none"),
        (b"a\0b\n", "binary", None),
        (b"caf\x99 \xe9\n", "binary", None),
        (b"\xed\xa0\x80", "binary", None),
        ("\ufeffhé\n".encode(), "utf-8-bom", "lf"),
        ("\ufeffhé\r\n".encode("utf-16-le"), "utf-16-le", "crlf"),
        ("\ufeffh\n".encode("utf-16-be"), "utf-16-be", "lf"),
        ("\ufeffh\n".encode("utf-32-le"), "utf-32-le", "lf"),
        ("\ufeffh".encode("utf-32-be"), "utf-32-be", "none"),
        (b"\xff\xfea", "binary", None),
        (b"\xff\xfe\x00\x00", "utf-32-le", "none"),
        (b"\xef\xbb\xbf\xff", "binary", None),
        (b"\xff\xfea\0\0\0", "binary", None),
        (bytes(range(256)), "binary", None),
    ],
)
def test_encoding_and_line_ends_are_described(data: bytes, encoding: str, eol: str | None):
    """Strict UTF-8 without NUL, or what a mark announces and the bytes keep; else binary."""
    assert describe(data) == (encoding, eol)
    text = as_text(data)
    if encoding == "binary":
        assert text is None
    else:
        assert text is not None
        assert text.encode("utf-8" if encoding == "utf-8-bom" else encoding) == data


def test_references_hold_what_is_known():
    """Nothing that is not known, and never the bytes."""
    assert reference(available(b"x\n", mode="0644")) == {
        "sha256": "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac",
        "bytes": 2,
        "encoding": "utf-8",
        "eol": "lf",
        "mode": "0644",
        "contentStatus": "available",
    }
    assert reference(MISSING) == {"contentStatus": "missing"}
    assert reference(available(b""), assumed=True)["assumed"] is True
    assert reference(available(b""))["bytes"] == 0
