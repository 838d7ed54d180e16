"""The limit on nesting, and the integer -0, in messages large enough to be looked at closely."""

from __future__ import annotations

import pytest

from lockstitch.codec import MAX_DEPTH, TooDeepError, decode, encode


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("around", ["%s", "[%s" + ",[]" * 300 + "]", '{"x":"' + "[" * 300 + '","y":%s}'])
def test_exactly_the_limit_is_taken(opening: str, closing: str, around: str) -> None:
    """Nesting of MAX_DEPTH is decoded, one more is refused, whatever else the message holds."""
    outer = 0 if around == "%s" else 1
    depth = MAX_DEPTH - outer
    fits = around % (opening * depth + "1" + closing * depth)
    assert encode(decode(fits.encode())) == fits.encode()
    with pytest.raises(TooDeepError):
        decode((around % (opening * (depth + 1) + "1" + closing * (depth + 1))).encode())


def test_brackets_in_a_text_are_no_nesting() -> None:
    """A message that is one text full of brackets is not deep."""
    assert decode(b'"' + b"[" * 1000 + b'"') == "[" * 1000


@pytest.mark.parametrize("text", ["-0", "[-0]", '{"a":-0}', "[1,-0,2]", "-0.0", "-0e1", '"a1b2-0c3d"', '["-0"]'])
def test_minus_zero_comes_back_as_sent(text: str) -> None:
    """The integer -0 keeps its sign; what only looks like it is untouched."""
    assert encode(decode(text.encode())) == text.encode()
