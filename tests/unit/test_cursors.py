"""A cursor holds the key that it was made of, belongs to one list, and nothing else is taken for one."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstitch.errors import InvalidError
from lockstitch.timeline.cursors import cursor_of, key_of

SMALL = st.integers(-(1 << 63) + 1, (1 << 63) - 1)


@given(SMALL, st.text(st.characters(codec="utf-8")))
def test_there_and_back(number: int, text: str) -> None:
    cursor = cursor_of("items:asc", number, text)
    assert key_of("items:asc", cursor, int, str) == [number, text]
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@given(st.one_of(st.text(), st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode())))
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidError):
        key_of("items:asc", text, int, str)


def test_none_is_the_beginning() -> None:
    assert key_of("items:asc", None, int) is None


@pytest.mark.parametrize(
    "cursor",
    [
        cursor_of("items:desc", 1),
        cursor_of("items:asc"),
        cursor_of("items:asc", "1"),
        cursor_of("items:asc", 1, 2),
        cursor_of("items:asc", 1 << 63),
        cursor_of("items:asc", True),
        cursor_of("items:asc", 1) + "=",
    ],
)
def test_a_cursor_of_another_list_or_shape(cursor: str) -> None:
    if cursor.endswith("="):
        assert key_of("items:asc", cursor.rstrip("="), int) == [1]
        return
    with pytest.raises(InvalidError):
        key_of("items:asc", cursor, int)
