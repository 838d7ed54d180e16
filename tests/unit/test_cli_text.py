"""Text on its way to a terminal: harmless, measured, wrapped, cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstitch.cli.ids import chosen
from lockstitch.cli.outcome import BadArgumentsError
from lockstitch.cli.text import (
    cells,
    counted,
    cut,
    escaped,
    for_terminal,
    harmless,
    lasting,
    one_line,
    padded,
    painted,
    short_ids,
    sized,
    wrapped,
)


def test_an_escape_sequence_becomes_visible() -> None:
    assert harmless("a\x1b[2Jb\x07") == "a␛[2Jb␇"
    assert harmless("\x9b31mred") == "<U+009B>31mred"
    assert harmless("safe\u202eevil") == "safe<U+202E>evil"
    assert harmless("a\r\nb\rc\td") == "a\nb␍c\td"


@given(st.text())
def test_no_control_or_reordering_character_is_left(text: str) -> None:
    left = set(harmless(text)) - {"\n", "\t"}
    assert not [c for c in left if ord(c) < 32 or 0x7F <= ord(c) <= 0x9F or 0x202A <= ord(c) <= 0x202E]


@given(st.text(), st.integers(min_value=4, max_value=60))
def test_no_line_is_wider_than_asked(text: str, width: int) -> None:
    assert all(cells(line) <= width for line in wrapped(harmless(text), width))
    assert cells(cut(one_line(text), width)) <= width
    assert cells(padded(one_line(text), width)) == width


@given(st.text(alphabet="abc 漢é", max_size=80))
def test_wrapping_loses_no_word(text: str) -> None:
    assert "".join("".join(wrapped(text, 12)).split()) == "".join(text.split())


def test_wide_characters_take_two_columns() -> None:
    assert cells("漢字") == 4
    assert cut("漢字漢字", 5) == "漢字…"
    assert cells("e\u0301") == 1
    assert cells("\u1112\u1161\u11ab") == 2, "Hangul in parts"
    assert cells("می\u200cخواهم") == 7, "a joiner takes no column"


def test_emoji_take_no_fewer_columns_than_a_terminal_gives_them() -> None:
    assert cells("\u2764\ufe0f") == 2, "a heart that is asked for as an emoji"
    assert cells("1\ufe0f\u20e3") == 2
    assert cells("漢\ufe0f") == 2
    assert cut("\U0001f469\u200d\U0001f467 and more", 4) == "\U0001f469…", "no joiner is left without its second half"


@given(st.text(min_size=1), st.sampled_from(["red", "bold", "dim"]))
def test_only_paint_becomes_a_colour(text: str, colour: str) -> None:
    codes = {"red": "31", "bold": "1", "dim": "2"}
    shown = for_terminal(painted(harmless(text), colour))
    assert shown == f"\x1b[{codes[colour]}m{harmless(text)}\x1b[0m"
    assert "\x1b" not in for_terminal(harmless(text))
    assert cells(painted(text, colour)) == cells(text)


def test_a_sequence_that_is_not_ours_is_made_visible_at_the_last_step() -> None:
    assert for_terminal("a\x1b[31mb\x9b2J\u202ec") == "a␛[31mb<U+009B>2J<U+202E>c"
    assert harmless("\ufdd0\ufdd5") == "<U+FDD0><U+FDD5>"


@given(st.text())
def test_escaped_json_says_the_same(text: str) -> None:
    once = json.dumps(text, ensure_ascii=False)
    assert json.loads(escaped(once)) == text
    assert harmless(escaped(once)) == escaped(once)


def test_indentation_survives_wrapping() -> None:
    assert list(wrapped("    one two three four", 14)) == ["    one two", "    three four"]


def test_short_ids_are_unique_and_no_shorter_than_asked() -> None:
    ids = ["019ad2c4-7f3b-7a00", "019ad2c4-7f3b-7b11", "demo", "019bd2c4-0000"]
    short = short_ids(ids)
    assert short == {ids[0]: "019ad2c4-7f3b-7a", ids[1]: "019ad2c4-7f3b-7b", "demo": "demo", ids[3]: "019bd2c4"}
    assert all(chosen(value, ids, "thread") == key for key, value in short.items())


def test_an_id_is_found_by_its_beginning() -> None:
    ids = ["abc", "abcd", "xyz"]
    assert chosen("ABC", ids, "thread") == "abc"
    assert chosen("x", ids, "thread") == "xyz"
    assert chosen("q", ids, "thread") is None
    assert chosen("", ids, "thread") is None
    with pytest.raises(BadArgumentsError, match="2 threads begin with 'ab'"):
        chosen("ab", ids, "thread")


def test_numbers_for_people() -> None:
    assert [sized(n) for n in (0, 999, 1000, 1_500_000)] == ["0 B", "999 B", "1.0 kB", "1.5 MB"]
    assert [sized(n) for n in (999_949, 999_950)] == ["999.9 kB", "1.0 MB"]
    assert [lasting(n) for n in (0, 999, 999.7, 1500, 99_960, 125_000, 7_260_000)] == [
        "0 ms",
        "999 ms",
        "1.0 s",
        "1.5 s",
        "1 min 40 s",
        "2 min 05 s",
        "2 h 01 min",
    ]
    assert [counted(n, "turn") for n in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]
