"""Text for a terminal: made harmless, measured in cells, wrapped and cut.

Invariant: what `harmless` returns holds no character that moves a cursor, changes a colour, or reorders text.
Invariant: what `for_terminal` returns holds no control sequence but the colours that `painted` put there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufdd0-\ufdef\ud800-\udfff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_PLAIN = 0xFDD0
_COLOURS = ("bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan")
_CODES = {chr(_PLAIN + n): code for n, code in enumerate(("0", "1", "2", "31", "32", "33", "34", "35", "36"))}
"""While text is put together, colours are noncharacters, which no text may hold; the last step makes them escape
sequences. So a sequence that a transcript holds is never taken for one of ours."""
_PAINT = re.compile("[\ufdd0-\ufdd8]+")
_PRESENTED = "\ufe0f"
"""Behind a character it asks for its emoji, which is two columns wide."""
_JOINERS = "\u200c\u200d"
"""They belong to Persian, Indian scripts and emoji, and move nothing."""
_TAB = 4


def harmless(text: str) -> str:
    """The text with control and reordering characters made visible; line feeds and tabs stay."""
    return _HARMFUL.sub(_shown, text.replace("\r\n", "\n"))


def painted(text: str, *colours: str) -> str:
    """The text in these colours, once it has passed `for_terminal`; the marks take no columns."""
    begin = "".join(chr(_PLAIN + 1 + _COLOURS.index(colour)) for colour in colours)
    return f"{begin}{text}{chr(_PLAIN)}"


def for_terminal(text: str) -> str:
    """What a terminal gets of a text: whatever is still harmful in it made visible, its paint as colours."""
    parts: list[str] = []
    at = 0
    for match in _PAINT.finditer(text):
        parts += [harmless(text[at : match.start()]), f"\x1b[{';'.join(_CODES[mark] for mark in match[0])}m"]
        at = match.end()
    return "".join([*parts, harmless(text[at:])])


def escaped(json: str) -> str:
    """The same JSON, with what is harmful in it escaped; what lies below U+0020 is so in any JSON."""
    return _HARMFUL.sub(_escape, json)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def one_line(text: str) -> str:
    """The text on one line, runs of whitespace as one space."""
    return " ".join(harmless(text).split())


def cells(text: str) -> int:
    """How many columns a harmless text takes; of an emoji, which terminals disagree about, as many as any gives it."""
    if text.isascii():
        return len(text)
    return sum(size for _, size in _measured(text))


def _measured(text: str) -> Iterator[tuple[str, int]]:
    """Each character and how many columns it takes where it stands."""
    before = 0
    for character in text:
        size = 1 if character == _PRESENTED and before == 1 else _cells_of(character)
        yield character, size
        before = size


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me") or character in _JOINERS or "\u1160" <= character <= "\u11ff":
        return 0  # marks, joiners, and the vowels and finals of Hangul written in parts
    if "\ufdd0" <= character <= "\ufdef":
        return 0  # paint
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The text, shortened to that many columns with an ellipsis."""
    if cells(text) <= width:
        return text
    kept: list[str] = []
    room = width - 1
    for character, size in _measured(text):
        room -= size
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip(_JOINERS) + "…"


def padded(text: str, width: int) -> str:
    """The text, cut or filled to exactly that many columns."""
    text = cut(text, width)
    return text + " " * (width - cells(text))


def wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of a harmless text, each at most that wide; broken at spaces where there are any."""
    for line in text.expandtabs(_TAB).split("\n"):
        if cells(line) <= width:
            yield line.rstrip()
            continue
        indent = line[: min(len(line) - len(line.lstrip()), width // 2)]
        current = indent
        for word in line.split():
            joined = current + (" " if current.strip() else "") + word
            if cells(joined) <= width:
                current = joined
                continue
            if current.strip():
                yield current
            *whole, current = _pieces(indent + word, width)
            yield from whole
        yield current


def wrapped_exactly(text: str, width: int) -> list[str]:
    """A line in pieces of at most that width, with every space where it is; at least one piece."""
    return [text] if cells(text) <= width else _pieces(text, width)


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces of at most that width; the last one may be shorter."""
    found = [""]
    room = width
    for character, size in _measured(word):
        if size > room:
            found.append("")
            room = width
        found[-1] += character
        room -= size
    return found


def moment(seconds: float) -> str:
    """A time of the wire, in unix seconds, as the clock on the wall shows it."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "?"


def moment_of(timestamp: str) -> str:
    """A time of the wire, RFC 3339, as the clock on the wall shows it."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return one_line(timestamp)


def time_of(timestamp: str) -> str:
    """The time of day of a time of the wire, RFC 3339, to the millisecond, as the clock on the wall shows it."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%H:%M:%S.%f")[:12]
    except (OverflowError, ValueError, OSError):
        return one_line(timestamp)


def lasting(milliseconds: float) -> str:
    """A duration for people."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"


def sized(count: int) -> str:
    """A number of bytes for people."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def counted(count: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def short_ids(ids: list[str], least: int = 8) -> dict[str, str]:
    """For each id the shortest beginning, at least so long, that no other of them shares (whatever the case)."""
    ordered = sorted(set(ids), key=str.lower)
    found: dict[str, str] = {}
    for number, one in enumerate(ordered):
        shared = max(
            (_shared(one, ordered[other]) for other in (number - 1, number + 1) if 0 <= other < len(ordered)), default=0
        )
        length = max(least, shared + 1)
        while length < len(one) and not one[length - 1].isalnum():
            length += 1
        found[one] = one[:length]
    return found


def _shared(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.lower(), other.lower(), strict=False):
        if a != b:
            break
        count += 1
    return count
