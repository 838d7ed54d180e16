"""Takes secrets out of what leaves: of texts as a whole, of values leaf by leaf. What is stored never changes.

Invariant: the same redactor gives the same text for the same text, wherever it stands, so that a redacted line and
a redacted answer agree. Ids are left alone. Secrets are counted once each, and not kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from lockstitch.artifacts.content import as_text
from lockstitch.exports.patterns import Secret, mark_of, may_hold, secrets_in

_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_LINE_OF_A_KEY = re.compile(r"[A-Za-z0-9+/=]{32,}")


class Redactor:
    """One export's redaction. Whole texts are learned first; then lines and values are redacted."""

    def __init__(self, untouched: frozenset[str] = frozenset()) -> None:
        """`untouched` are the ids of the thread: a value that is one of them stays."""
        self._untouched = untouched
        self._cut: dict[str, str] = {}
        self._key_lines: set[str] = set()
        self._seen: dict[str, set[bytes]] = {}
        self._harmless: set[str] = set()

    @property
    def counts(self) -> dict[str, int]:
        """How many different secrets of each kind were found."""
        return {kind: len(found) for kind, found in sorted(self._seen.items())}

    @property
    def has_learned(self) -> bool:
        """Whether a text that looks harmless may have to change, because of a whole text that it is part of."""
        return bool(self._cut or self._key_lines)

    # -- whole texts ------------------------------------------------------------------------------------------
    def learn(self, data: bytes, preview: str | None = None) -> bool:
        """Take note of a whole content; True if it holds a secret.

        `preview` is its beginning as lines show it: where that cuts a secret in two, it is redacted as the whole is.
        The lines of a private key are known from then on, also where a diff shows only some of them.
        """
        self._harmless.clear()
        if not may_hold(data) and data[:2] not in (b"\xff\xfe", b"\xfe\xff", b"\x00\x00"):
            return False
        text = as_text(data)
        text = data.decode("latin-1") if text is None else text
        found = self._note(text)
        for secret in found:
            if secret.kind == "privateKey":
                self._key_lines.update(_LINE_OF_A_KEY.findall(text, secret.start, secret.end))
        if preview and any(secret.start < len(preview) < secret.end for secret in found):
            self._cut[preview] = _without(text, found, 0, len(preview))
        return bool(found)

    def pieces(self, texts: Sequence[str]) -> list[str] | None:
        """Parts of one text, redacted as the whole is: what is in two parts goes from both. None: nothing changes."""
        whole = "".join(texts)
        found = self._found(whole)
        if not found:
            return None
        pieces: list[str] = []
        at = 0
        for text in texts:
            pieces.append(_without(whole, found, at, at + len(text)))
            at += len(text)
        return pieces

    def text(self, text: str) -> str:
        """A whole text without its secrets."""
        if text in self._untouched:
            return text
        cut = self._cut.get(text)
        if cut is not None:
            return cut
        if text in self._harmless:  # the same text is in a line, its item and the turn: looked at once
            return text
        found = self._found(text)
        if found:
            return _without(text, found, 0, len(text))
        self._harmless.add(text)
        return text

    def value(self, value: Any) -> Any:
        """A decoded JSON value without secrets; the same object where nothing changes."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            known = cast("dict[str, Any]", value)
            changed = {self.text(key): self.value(inner) for key, inner in known.items()}
            same = changed.keys() == known.keys() and all(changed[key] is inner for key, inner in known.items())
            return known if same else changed
        if isinstance(value, list):
            entries = cast("list[Any]", value)
            others = [self.value(inner) for inner in entries]
            return entries if all(a is b for a, b in zip(entries, others, strict=True)) else others
        return value

    # -- inside -----------------------------------------------------------------------------------------------
    def _found(self, text: str) -> list[Secret]:
        if len(text) < 8:
            return []
        found = self._note(text)
        if not self._key_lines:
            return found
        lines = [
            Secret(match.start(), match.end(), "privateKey")
            for match in _LINE_OF_A_KEY.finditer(text)
            if match[0] in self._key_lines
        ]
        found = sorted([*found, *lines], key=lambda secret: (secret.start, -secret.end))
        return [s for n, s in enumerate(found) if not any(s.start < other.end for other in found[:n])]

    def _note(self, text: str) -> list[Secret]:
        found = secrets_in(text)
        for secret in found:
            told = text[secret.start : secret.end]
            if secret.kind == "privateKey":
                # A diff shows parts of a key, with signs before its lines: its first line says which key it is.
                told = next(iter(_LINE.findall(told)), told).lstrip("+")
            self._seen.setdefault(secret.kind, set()).add(sha256(told.encode("utf-8", "replace")).digest())
        return found


def _without(text: str, found: Sequence[Secret], start: int, end: int) -> str:
    """`text[start:end]` without the secrets; a mark stands where a secret begins."""
    parts: list[str] = []
    at = start
    for secret in found:
        if secret.end <= start or secret.start >= end:
            continue
        parts.append(text[at : max(at, secret.start)])
        if secret.start >= start:
            parts.append(mark_of(secret.kind))
        at = min(end, secret.end)
    parts.append(text[at:end])
    return "".join(parts)
