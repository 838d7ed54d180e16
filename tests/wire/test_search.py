"""CONTRACT section 4: thread/search finds what was said and done, in any script, and nothing that is gone."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers


def found(host: Host, query: str, **params: Any) -> list[dict[str, Any]]:
    """All hits, once the index is complete."""
    while True:
        page = host.call("thread/search", query=query, **params)
        if "indexing" not in page:
            break
        assert 0 <= page["indexing"]["done"] < page["indexing"]["total"]
    hits = page["data"]
    while page["nextCursor"] is not None:
        page = host.call("thread/search", query=query, cursor=page["nextCursor"], **params)
        hits += page["data"]
    return hits


def items(hits: list[dict[str, Any]]) -> list[str | None]:
    return [hit.get("itemId") for hit in hits]


def marked(hit: dict[str, Any]) -> list[str]:
    """The parts of a snippet that its ranges name."""
    units = hit["snippet"].encode("utf-16-le")
    return [units[2 * start : 2 * end].decode("utf-16-le") for start, end in hit["ranges"]]


def said(host: Host, *texts: str, **params: Any) -> tuple[str, str, list[str]]:
    """A thread whose agent says these things: thread, turn, items."""
    thread = host.thread(**params)
    turn = host.turn(thread, "begin")
    ids = [f"said{number}" for number in range(len(texts))]
    events = [
        ("item.completed", {"item": {"type": "agentMessage", "id": id_, "text": text}})
        for id_, text in zip(ids, texts, strict=True)
    ]
    host.append(thread, turn, *events)
    return thread, turn, ids


@covers("thread/search", "threadNotFound", "invalidParams")
def test_everything_that_is_searched(host: Host, workspace: Path) -> None:
    """Messages, commands, outputs, file paths, tools and titles; a hit names thread, turn and item."""
    thread = host.thread(cwd=str(workspace), name="The xylotitle of it")
    turn = host.turn(thread, "please xyloask")
    item = {"type": "mcpToolCall", "id": "tool", "server": "s", "tool": "t", "arguments": {"a": ["xyloargument"]}}
    host.append(
        thread,
        turn,
        ("item.completed", {"item": {"type": "agentMessage", "id": "answer", "text": "I xyloanswer"}}),
        ("command.started", {"itemId": "command", "command": "xylocommand --all"}),
        ("command.exited", {"itemId": "command", "exitCode": 0, "aggregatedOutput": "one\nxylooutput here\n"}),
        ("item.completed", {"item": {**item, "result": {"content": [{"type": "text", "text": "xyloresult"}]}}}),
        ("message.delta", {"itemId": "streamed", "delta": "it is xylo"}),
        ("message.delta", {"itemId": "streamed", "delta": "streamed"}),
        ("artifact.snapshot", {"path": "src/xylopath/main.py", "content": "xylocontent\n", "checkpointId": "file"}),
    )
    for word, expected in (
        ("xyloanswer", "answer"),
        ("xylocommand", "command"),
        ("xylooutput", "command"),
        ("xyloargument", "tool"),
        ("xyloresult", "tool"),
        ("xylostreamed", "streamed"),
        ("xylopath/main.py", "file"),
    ):
        (hit,) = found(host, word)
        assert (hit["threadId"], hit["turnId"], hit["itemId"]) == (thread, turn, expected)
        assert marked(hit) == [word] and hit["score"] > 0
    (asked,) = found(host, "xyloask")
    assert host.item(thread, asked["itemId"])["type"] == "userMessage"
    (title,) = found(host, "XYLOTITLE")
    assert "itemId" not in title and "turnId" not in title and marked(title) == ["xylotitle"]
    assert found(host, "xylocontent") == [], "what is in a file was not said"
    assert items(found(host, "xyloanswer", threadId=thread)) == ["answer"]
    host.refused("threadNotFound", "thread/search", query="a", threadId="none")
    host.refused("invalidParams", "thread/search", query="a", cursor="none")
    host.refused("invalidParams", "thread/search", query="a", limit=0)
    host.refused("invalidParams", "thread/search")


QUERIES = {
    "naive cafe": ["naïve", "café"],
    "CAFÉ": ["café"],
    "世界": ["世界"],
    "がぎ": ["か\u3099き\u3099"],
    "한국": ["한국"],
    "สวัสดี": ["สวัสดี"],
    "हिन्दी": ["हिन्दी"],
    "محمد": ["مُحَمَّد"],
    "שלום": ["שָׁלוֹם"],
    "привет": ["Привет"],
    "🎉": ["🎉"],
    "file": ["\ufb01le"],
    "C": ["c"],
    "x": ["x"],
}


def test_all_scripts(host: Host) -> None:
    """Case, accents, vowel points and compatibility forms do not count; ranges are in UTF-16 units."""
    text = "😀 naïve café 你好世界吗 か\u3099き\u3099く 한국어는 สวัสดีครับ हिन्दी में مُحَمَّد שָׁלוֹם Привет 🎉 \ufb01le c x 😀"
    thread, _, (item,) = said(host, text)
    for query, words in QUERIES.items():
        hits = found(host, query, threadId=thread)
        assert items(hits) == [item], query
        assert marked(hits[0]) == words, query


@pytest.mark.parametrize(
    "query",
    ['"', '""', "'", "*", "a*", "-a", "+a", "^a", "a AND", "OR", "NOT", "NEAR(a b)", "said:a", "(", "a OR b)", "{a}",
     "a:b", "\\", "\0", "a\0b", "", " ", "\t\n", "🏴‍☠️", "\u200b", "a" * 5000, "b " * 3000, "%_", "--", ";",
     "\ud800", "/*", '"a" "b', "a^2", "1", "é"],
)  # fmt: skip
def test_no_query_is_a_syntax_error(host: Host, query: str) -> None:
    """Quotes, operators, punctuation, emoji, nothing at all: an answer, at every limit."""
    page = host.call("thread/search", query=query, limit=1)
    assert len(page["data"]) <= 1


def test_phrases_words_and_beginnings(host: Host) -> None:
    """All words must be there; what is quoted stands together; beginnings count where no whole word is found."""
    thread, _, _ = said(host, "the quick brown fox", "the brown quick foxes", "operators like AND or NOT are words")
    look = {"threadId": thread}
    assert set(items(found(host, "quick brown", **look))) == {"said0", "said1"}
    assert items(found(host, '"quick brown"', **look)) == ["said0"]
    assert items(found(host, "fox", **look)) == ["said0"], "a whole word goes before beginnings"
    assert set(items(found(host, "qui bro", **look))) == {"said0", "said1"}
    assert marked(found(host, "foxe", **look)[0]) == ["foxes"]
    assert items(found(host, "AND NOT", **look)) == ["said2"]
    assert found(host, "quick zebra", **look) == []


def test_what_is_gone_is_not_found(host: Host, tmp_path: Path) -> None:
    """Rolled back, deleted, said otherwise since, or of a thread that came anew under the same id."""
    thread, turn, _ = said(host, "zorkone stays")
    host.append(thread, turn, ("turn.completed", {}))
    later = host.turn(thread, "zorktwo goes")
    host.append(thread, later, ("turn.completed", {}))
    assert len(found(host, "zorktwo")) == 1
    fork = host.call("thread/fork", threadId=thread)["thread"]["id"]
    assert {hit["threadId"] for hit in found(host, "zorktwo")} == {thread, fork}
    host.call("thread/rollback", threadId=thread, numTurns=1)
    assert [hit["threadId"] for hit in found(host, "zorktwo")] == [fork]
    host.call("thread/delete", threadId=fork)
    assert found(host, "zorktwo") == [] and len(found(host, "zorkone")) == 1
    host.call("thread/delete", threadId=thread)
    assert found(host, "zorkone") == []
    old, turn, _ = said(host, "zorkold", threadId="again", name="zorkname")
    assert len(found(host, "zorkold")) == 1 and len(found(host, "zorkname")) == 1
    host.append(old, turn, ("item.updated", {"item": {"type": "agentMessage", "id": "said0", "text": "zorknew"}}))
    assert found(host, "zorkold") == [] and items(found(host, "zorknew")) == ["said0"]
    host.call("thread/name/set", threadId=old, name="other")
    assert found(host, "zorkname") == []
    host.call("thread/delete", threadId=old)
    said(host, "zorkthird", threadId="again")
    assert found(host, "zorknew") == [] and items(found(host, "zorkthird")) == ["said0"]


def test_limits_of_a_search(host: Host, tmp_path: Path) -> None:
    """archived as in thread/list, unless one thread is asked for; cwd however it is spelled; ephemeral ones by id."""
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
    one, two = said(host, "blat here", cwd=str(first))[0], said(host, "blat there", cwd=str(second))[0]
    assert {hit["threadId"] for hit in found(host, "blat")} == {one, two}
    assert [hit["threadId"] for hit in found(host, "blat", cwd=f"{second}/../two/")] == [two]
    host.call("thread/archive", threadId=one)
    assert [hit["threadId"] for hit in found(host, "blat")] == [two]
    assert [hit["threadId"] for hit in found(host, "blat", archived=True)] == [one]
    assert [hit["threadId"] for hit in found(host, "blat", threadId=one)] == [one]
    assert found(host, "blat", threadId=one, archived=False) == []
    fleeting = said(host, "blat in memory", ephemeral=True)[0]
    assert [hit["threadId"] for hit in found(host, "blat", threadId=fleeting)] == [fleeting]
    assert [hit["threadId"] for hit in found(host, "blat")] == [two]
    host.call("thread/delete", threadId=fleeting)
    host.refused("threadNotFound", "thread/search", query="blat", threadId=fleeting)


def test_pages_are_the_list_cut_up_and_ranked(host: Host) -> None:
    """The best first; pages by key; every hit once."""
    texts = ["glimp " * (n % 7 + 1) + "filler word " * (n % 5) for n in range(40)]
    thread, _, ids = said(host, *texts)
    whole = host.call("thread/search", query="glimp", threadId=thread, limit=500)
    assert whole["nextCursor"] is None and sorted(map(str, items(whole["data"]))) == sorted(ids)
    scores = [hit["score"] for hit in whole["data"]]
    best = texts[ids.index(whole["data"][0]["itemId"])]
    assert scores == sorted(scores, reverse=True) and best.count("glimp") > 4
    for limit in (1, 7, 39, 40):
        assert found(host, "glimp", threadId=thread, limit=limit) == whole["data"]
    assert items(found(host, "gli", threadId=thread, limit=7)) == items(
        host.call("thread/search", query="gli", threadId=thread, limit=500)["data"]
    ), "beginnings are paged too"


def test_a_long_text_is_shown_where_it_was_found(host: Host) -> None:
    """The snippet is on one line, no longer than a few words, and shows as much as it can of what was asked for."""
    text = "filler\n" * 3000 + "before \x1b[31mneedle\x1b[0;1m and\tthread\x07 behind " + "filler " * 3000 + "needle"
    thread, _, _ = said(host, text)
    (hit,) = found(host, "thread needle", threadId=thread)
    assert marked(hit) == ["needle", "thread"] and len(hit["snippet"]) < 260
    assert hit["snippet"].startswith("…") and hit["snippet"].endswith("…") and hit["snippet"].isprintable()


def test_the_index_is_its_own_and_made_again(tmp_path: Path) -> None:
    """No work before the first question; no copy of a text; missing, damaged or of another make: made again."""
    secret = "plugh" + "xyzzy " * 3
    with Host(tmp_path) as host:
        thread, _, _ = said(host, secret, "the end")
        index = next((tmp_path / "data" / "sqlite").glob("timeline-*")).with_name("search-v1.sqlite")
        assert not index.exists(), "an append does nothing for a search"
        assert items(found(host, "xyzzy")) == ["said0"] and index.stat().st_mode & 0o777 == 0o600
        assert secret.encode() not in b"".join(path.read_bytes() for path in index.parent.glob("search-*"))
        for spoil in (_remove, _empty, _scribble, _of_another_make, _swap_for_another, _truncate):
            spoil(index)
            assert items(found(host, "xyzzy")) == ["said0"], spoil.__name__
    with Host(tmp_path) as host, Host(tmp_path) as other:
        assert items(found(host, "xyzzy")) == items(found(other, "xyzzy")) == ["said0"]
        _scribble(index)
        assert items(found(host, "xyzzy")) == items(found(other, "xyzzy")) == ["said0"]
        turn = host.read(thread, turns=True)["turns"][0]["id"]
        host.append(thread, turn, ("plan.final", {"text": "xyzzy again"}))
        assert len(found(other, "xyzzy")) == len(found(host, "xyzzy")) == 2


def _remove(index: Path) -> None:
    for path in index.parent.glob("search-*"):
        path.unlink()


def _empty(index: Path) -> None:
    index.write_bytes(b"")


def _scribble(index: Path) -> None:
    size = index.stat().st_size
    index.write_bytes(b"garbage!" * (size // 8 + 1))


def _truncate(index: Path) -> None:
    with index.open("r+b") as file:
        file.truncate(8192)


def _of_another_make(index: Path) -> None:
    _remove(index)
    connection = sqlite3.connect(index)
    connection.executescript("CREATE TABLE a(b); PRAGMA user_version=7;")
    connection.close()


def _swap_for_another(index: Path) -> None:
    """A whole index, but of nothing."""
    with Host(index.parent / "other") as host:
        host.call("thread/search", query="a")
    _remove(index)
    next((index.parent / "other").rglob("search-*.sqlite")).rename(index)


def test_how_far_it_is(tmp_path: Path) -> None:
    """While somebody else keeps the index from growing, the answer says how far it is; then it comes to its end."""
    with Host(tmp_path) as host:
        said(host, "first blorp")
        assert len(found(host, "blorp")) == 1
        said(host, "second blorp")
        other = sqlite3.connect(next((tmp_path / "data" / "sqlite").glob("search-*.sqlite")), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        page = host.call("thread/search", query="blorp")
        assert page["indexing"] == {"done": 1, "total": 2} and len(page["data"]) == 1
        other.execute("ROLLBACK")
        other.close()
        assert len(found(host, "blorp")) == 2


def test_a_client_that_takes_little(tmp_path: Path) -> None:
    """maxMessageBytes makes pages shorter."""
    with Host(tmp_path) as host:
        thread, _, ids = said(host, *("glop " + "x" * 150 for _ in range(20)))
    with Host(tmp_path, maxMessageBytes=2000) as host:
        assert 0 < len(host.call("thread/search", query="glop", threadId=thread)["data"]) < 10
        assert sorted(map(str, items(found(host, "glop", threadId=thread)))) == sorted(ids)
