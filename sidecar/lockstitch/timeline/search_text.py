"""How text is cut into words for the search index, and where a word of it stands in what was written.

Invariant: the index and a question are cut by the same functions, so that what is asked for in the words of a text
finds it, whatever its script.
Invariant: pure; any string is taken, and no sign in it means anything to the index.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

TOKENIZER = "unicode61"
TOKENIZER_ARGUMENTS = ("remove_diacritics", "2", "categories", "L* N* Co Mn Mc")
"""Letters, numbers and the marks on them are words; case and the accents of Latin, Greek and Cyrillic do not count.
Co, private use, is what `spaced` makes of emoji."""

MOST_PHRASES = 64
"""A longer question is cut there: FTS5 bounds how deep an expression may be."""

_MOST_ASKED = 4096
_SHORTEST_BEGINNING = 2
"""Of a single letter, nearly every word is a longer one."""

_UNSPACED = (
    "\u0e01-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u303c\u3041-\u30ff\u3105-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff"
    "\U00016f00-\U0001b2ff\U00020000-\U0003ffff"
)
"""Scripts that write no space between words, and Hangul, whose endings stick to its words: each sign is a word."""

_SIGNS = "\u2190-\u2bff\U0001f000-\U0001fbff"
"""Arrows, symbols and emoji."""

_MARKS = (
    "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f90-\u0fbc"
    "\u102b-\u103e\u1056-\u109d\u17b4-\u17d3\u3099\u309a"
)
_UNHEARD = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e8\u06ea-\u06ed\ufe0f"
)
"""Vowel points, which most people do not write, and what only says how an emoji is drawn."""

_APART = re.compile(f"[{_UNSPACED}][{_MARKS}]*|[{_SIGNS}]|[{_UNHEARD}]")
_JOINS = re.compile(f"[{_UNHEARD}{_MARKS}\u0e33\u0eb3\u1161-\u11ff\uff9e\uff9f]")
_RUNS = re.compile("[\u0900-\u0dff\u1100-\u11ff]")
_UNHEARD_SIGN = re.compile(f"[{_UNHEARD}]")
_PIECES = re.compile("[\\x00-\\x7f]+|.", re.DOTALL)
_PRIVATE = 0x100000
_QUOTED_OR_WORD = re.compile(r'"([^"]*)"|(\S+)')

Words = list[tuple[int, int, str]]
"""Words of a text: where each begins and ends in it, in characters, and what it is to the index."""

Tokenize = Callable[[str], Words]
"""What SQLite's own tokenizer makes of a text; begin and end are in bytes of UTF-8."""


def spaced(text: str) -> str:
    """The text as it is handed to the index: compatibility forms made one, signs without spaces set apart."""
    if text.isascii():
        return text
    return _APART.sub(_apart, unicodedata.normalize("NFKC", text))


def _apart(found: re.Match[str]) -> str:
    sign = found[0]
    first = ord(sign[0])
    if 0x2190 <= first <= 0x2BFF or 0x1F000 <= first <= 0x1FBFF:
        return f" {chr(_PRIVATE | (first & 0xFFFF))} "
    return "" if _UNHEARD_SIGN.match(sign) else f" {sign} "


def words_of(text: str, tokenize: Tokenize) -> Words:
    """The words of a text as it was written."""
    if text.isascii():
        return tokenize(text)
    made, starts, ends = _placed(text)
    if made != spaced(text):  # marks that nobody writes in that order: its words are known, their places are not
        return [(0, 0, word) for _, _, word in tokenize(spaced(text))]
    found: Words = []
    data = made.encode()
    at_byte = at = 0
    for start, end, word in tokenize(made):
        at += len(data[at_byte:start].decode())
        last = at + len(data[start:end].decode())
        found.append((starts[at], ends[last - 1], word))
        at_byte, at = end, last
    return found


def _placed(text: str) -> tuple[str, list[int], list[int]]:
    """`spaced(text)`, and where in the text each of its characters begins and ends."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for cluster in _clusters(text):
        length = len(cluster)
        made = cluster if cluster.isascii() else _spaced_cluster(cluster)
        parts.append(made)
        if made is cluster:
            starts.extend(range(at, at + length))
            ends.extend(range(at + 1, at + length + 1))
        else:
            starts.extend([at] * len(made))
            ends.extend([at + length] * len(made))
        at += length
    return "".join(parts), starts, ends


@lru_cache(maxsize=8192)
def _spaced_cluster(cluster: str) -> str:
    return spaced(cluster)


def _clusters(text: str) -> list[str]:
    """Runs of ASCII, and other characters, each with what becomes one with it when compatibility forms are made one."""
    found: list[str] = []
    for piece in _PIECES.findall(text):
        joins = unicodedata.combining(piece[0]) or _JOINS.match(piece)
        if found and (joins or (_RUNS.match(piece) and _RUNS.match(found[-1]))):
            if len(found[-1]) > 1 and found[-1].isascii():
                found[-1:] = [found[-1][:-1], found[-1][-1]]
            found[-1] += piece
        else:
            found.append(piece)
    return found


Phrases = list[list[str]]
"""What was asked for: each phrase is words that must stand directly behind each other; all phrases must be there."""


def phrases_of(question: str, tokenize: Tokenize) -> Phrases:
    """The phrases of a question: what is in double quotes, and every other word by itself."""
    found: Phrases = []
    for match in _QUOTED_OR_WORD.finditer(_sound(question[:_MOST_ASKED])):
        words = [word for _, _, word in tokenize(spaced(match[1] if match[1] is not None else match[2]))]
        if words and words not in found:
            found.append(words)
    return found[:MOST_PHRASES]


def _sound(text: str) -> str:
    return text.replace("\0", " ").encode(errors="replace").decode()


def expression(phrases: Phrases, *, beginnings: bool) -> str:
    """The phrases as an FTS5 expression. `beginnings`: the last word of each may be the beginning of a longer one."""
    return " ".join(f'"{" ".join(words)}"{"*" if _is_beginning(words, beginnings) else ""}' for words in phrases)


def _is_beginning(phrase: list[str], beginnings: bool) -> bool:
    return beginnings and len(phrase[-1]) >= _SHORTEST_BEGINNING


def matches(words: Words, phrases: Phrases, *, beginnings: bool) -> list[list[tuple[int, int]]]:
    """For each phrase, from where to where it stands in a text of these words."""
    return [_places(words, phrase, _is_beginning(phrase, beginnings)) for phrase in phrases]


def _places(words: Words, phrase: list[str], beginnings: bool) -> list[tuple[int, int]]:
    *before, last = phrase
    more = len(before)
    found: list[tuple[int, int]] = []
    for number in range(more, len(words)):
        there = words[number][2]
        if there != last and not (beginnings and there.startswith(last)):
            continue
        first = number - more
        if all(words[first + offset][2] == word for offset, word in enumerate(before)):
            found.append((words[first][0], words[number][1]))
    return found
