"""The search index by itself: where words stand, whatever the script, and whose error it is when something fails."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lockstitch.timeline.database import DamagedDatabaseError
from lockstitch.timeline.search_index import DamagedIndexError, Entry, Portion, SearchIndex
from lockstitch.timeline.search_text import expression, phrases_of, spaced, words_of

PIECES = (
    "abc XYZ.,_-/\n\t09",
    "éüñÅßİĞ",
    "e\u0301a\u0308o\u0327",
    "你好世界",
    "がか\u3099ｶﾞハ",
    "한국\u1112\u1161\u11ab",
    "สวัสดีน้ำ",
    "हिन्दी",
    "مُحَمَّد ـ",
    "שָׁלוֹם",
    "🎉👍🏽👩‍👧❤️→",
    "ﬁ①㈱½Ａ",
    "\u200b\u200d\ufeff\x00\u2028",
    "தமிழ்",
    "မြန်မာ",
    "ខ្មែរ",
)


def test_words_of_a_text_are_those_of_the_index() -> None:
    """Any mixture of scripts: the words as written are the words as indexed, and each stands where it says."""
    chance = random.Random(7)
    with SearchIndex(None).asking() as asking:
        for _ in range(1500):
            text = "".join(chance.choice(chance.choice(PIECES)) for _ in range(chance.randint(1, 12)))
            words = words_of(text, asking.words)
            assert [word for _, _, word in words] == [word for _, _, word in asking.words(spaced(text))], ascii(text)
            for start, end, word in words:
                alone = [one for _, _, one in asking.words(spaced(text[start:end]))]
                assert word in "".join(alone), (ascii(text), ascii(word))


def test_a_portion_counts_only_where_its_thread_stands() -> None:
    """Two who index one thread at once: whoever began it anew last finishes it, the other's rest is dropped."""
    index = SearchIndex(None)
    index.store([Portion("t", None, [Entry(1, 1, "first", "", "")], -1, "one")])
    index.store([Portion("t", None, [Entry(1, 1, "second", "", "")], -1, "two")])
    index.store([Portion("t", "one", [Entry(2, 1, "late", "", "")], 10, "sum")])
    with index.asking() as asking:
        position = asking.position("T")
        assert position is not None and (position.size, position.state) == (-1, "two")
        for word, count in (("first", 0), ("second", 1), ("late", 0)):
            found = asking.hits(expression(phrases_of(word, asking.words), beginnings=False), None)
            assert len(list(found)) == count, word


def test_an_error_is_named_after_what_failed(tmp_path: Path) -> None:
    """The index is made again for its own damage, and not for that of anything else that a search reads."""
    index = SearchIndex(tmp_path / "search.sqlite")
    with pytest.raises(DamagedDatabaseError), index.asking():
        raise DamagedDatabaseError("the projection")
    assert index.is_whole()
    garbage = SearchIndex(tmp_path / "garbage.sqlite")
    (tmp_path / "garbage.sqlite").write_bytes(b"garbage!" * 4096)
    with pytest.raises(DamagedIndexError), garbage.asking() as asking:
        asking.positions()
    assert not garbage.is_whole()
    garbage.discard()
    assert garbage.is_whole()
