"""Stored text as HTML: escaped, with what cannot be seen made visible; Markdown and terminal colours where they help.

Invariant: no text can become an element, an attribute or a link, reorder what stands beside it, or load anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape as _escape

_ANSI = re.compile(r"\x1b(?:\[([0-9;:?<=>]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
# Controls that are not tab and line feed, and characters that reorder text (Unicode, UAX #9) or hide in it.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_INLINE = re.compile(r"(`+)(.+?)\1(?!`)|\*\*(?=\S)(.+?)(?<=\S)\*\*")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_BULLET = re.compile(r"^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$")
_TABLE = re.compile(r"^\s*\|.*$")
_QUOTE = re.compile(r"^\s{0,3}>\s?(.*)$")
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_MOST_MARKED = 200_000
"""A longer message is shown as it is: nobody reads it as a page."""


def escape(text: object) -> str:
    """A text for an element or a quoted attribute. What is unseen is named."""
    return _UNSEEN.sub(_named, _escape(str(text)))


def marked(text: str) -> str:
    """Like `escape`, for elements only: what is unseen is named and set apart."""
    return _UNSEEN.sub(lambda found: f'<span class="u">{_named(found)}</span>', _escape(text))


def _named(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return "^" + chr(code + 0x40)
    return "^?" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: object, most: int = 160) -> str:
    """The beginning of a text on one line, escaped."""
    line = " ".join(str(text).split())
    return escape(line if len(line) <= most else line[: most - 1] + "…")


def terminal(text: str) -> str:
    """What a program printed: its colours are kept, other sequences for the terminal go."""
    if "\x1b" not in text:
        return marked(_overwritten(text))
    parts: list[str] = []
    at, bold, colour = 0, False, ""
    for found in _ANSI.finditer(text):
        parts.append(_painted(text[at : found.start()], bold, colour))
        at = found.end()
        if found[2] == "m":
            bold, colour = _style(found[1], bold, colour)
    parts.append(_painted(text[at:], bold, colour))
    return "".join(parts)


def _overwritten(text: str) -> str:
    return text.replace("\r\n", "\n")


def _painted(text: str, bold: bool, colour: str) -> str:
    if not text:
        return ""
    kinds = " ".join(kind for kind in ("bold" if bold else "", colour and f"t-{colour}") if kind)
    inner = marked(_overwritten(text))
    return f'<span class="{kinds}">{inner}</span>' if kinds else inner


def _style(codes: str, bold: bool, colour: str) -> tuple[bool, str]:
    numbers = [int(code) if code.isdigit() else 0 for code in re.split("[;:]", codes)]
    if 38 in numbers or 48 in numbers:  # of 256 or more colours: shown in the page's own
        return bold, colour
    for number in numbers:
        if number == 0:
            bold, colour = False, ""
        elif number in (1, 22):
            bold = number == 1
        elif 30 <= number <= 37 or 90 <= number <= 97:
            colour = _COLOURS[number % 10]
        elif number == 39:
            colour = ""
    return bold, colour


def prose(text: str) -> str:
    """A message, which most agents write as Markdown: headings, lists, quotes, code. Everything else is text."""
    if len(text) > _MOST_MARKED:
        return f'<p class="plain">{marked(text)}</p>'
    return "".join(_Blocks(text.replace("\r\n", "\n").split("\n")).all())


class _Blocks:
    """The lines of a message, block by block."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self._at = lines, 0
        self._out: list[str] = []

    def all(self) -> list[str]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._at += 1
            elif fence := _FENCE.match(line):
                self._fenced(fence[1], fence[2])
            elif heading := _HEADING.match(line):
                self._at += 1
                self._out.append(f'<p class="h h{len(heading[1])}">{_inline(heading[2])}</p>')
            elif _BULLET.match(line):
                self._list()
            elif _QUOTE.match(line):
                quoted = self._take(_QUOTE.match)
                self._out.append(f"<blockquote>{_lines([found[1] for found in quoted])}</blockquote>")
            elif line.lstrip().startswith("|"):
                rows = self._take(_TABLE.match)
                self._out.append(f'<pre class="rows">{marked(chr(10).join(found.string for found in rows))}</pre>')
            else:
                self._paragraph()
        return self._out

    def _take(self, match: Callable[[str], re.Match[str] | None]) -> list[re.Match[str]]:
        found: list[re.Match[str]] = []
        while self._at < len(self._lines) and (one := match(self._lines[self._at])):
            found.append(one)
            self._at += 1
        return found

    def _fenced(self, fence: str, language: str) -> None:
        self._at += 1
        start = self._at
        while self._at < len(self._lines) and not self._lines[self._at].strip().startswith(fence):
            self._at += 1
        code = "\n".join(self._lines[start : self._at])
        self._at += 1
        label = f' aria-label="{escape(language)}"' if language else ""
        self._out.append(f'<pre class="code" tabindex="0"{label}><code>{marked(code)}</code></pre>')

    def _list(self) -> None:
        first = _BULLET.match(self._lines[self._at])
        assert first is not None
        tag = "ol" if first[2] else "ul"
        start = f' start="{int(first[2])}"' if first[2] and int(first[2]) != 1 else ""
        items: list[str] = []
        depth = len(first[1])
        while self._at < len(self._lines) and (found := _BULLET.match(self._lines[self._at])):
            if bool(found[2]) != bool(first[2]) and len(found[1]) <= depth:
                break
            level = min((len(found[1]) - depth + 1) // 2, 4) if len(found[1]) > depth else 0
            self._at += 1
            text = [found[3]]
            while self._at < len(self._lines) and re.match(r"\s{2,}\S", self._lines[self._at]):
                if _BULLET.match(self._lines[self._at]) or _FENCE.match(self._lines[self._at]):
                    break
                text.append(self._lines[self._at].strip())
                self._at += 1
            items.append(f'<li class="l{level}">{_lines(text)}</li>' if level else f"<li>{_lines(text)}</li>")
        self._out.append(f"<{tag}{start}>{''.join(items)}</{tag}>")

    def _paragraph(self) -> None:
        text: list[str] = []
        while self._at < len(self._lines) and self._lines[self._at].strip():
            line = self._lines[self._at]
            if text and (_FENCE.match(line) or _HEADING.match(line) or _BULLET.match(line) or _QUOTE.match(line)):
                break
            text.append(line)
            self._at += 1
        self._out.append(f"<p>{_lines(text)}</p>")


def _lines(lines: list[str]) -> str:
    return _inline("\n".join(lines)).replace("\n", "<br>")


def _inline(text: str) -> str:
    parts: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        parts.append(marked(text[at : found.start()]))
        code, strong = found[2], found[3]
        parts.append(f"<code>{marked(code.strip())}</code>" if code else f"<strong>{marked(strong)}</strong>")
        at = found.end()
    parts.append(marked(text[at:]))
    return "".join(parts)
