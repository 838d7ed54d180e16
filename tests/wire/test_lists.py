"""CONTRACT section 4: lists of threads, turns, items and events; pages, cursors and filters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers
SORT_KEYS = ("created_at", "updated_at", "recency_at")


@pytest.fixture(scope="module")
def many(place: Path) -> Iterator[tuple[Host, list[dict[str, Any]]]]:
    """A process with 11 threads of several kinds, and these threads in order of creation."""
    with Host(place) as host:
        for n in range(11):
            thread = host.thread(
                cwd=str(place / "workspace") if n % 2 else str(place), modelProvider="ab"[n % 2], name=f"name {n}%_"
            )
            if n % 3 == 0:
                turn = host.turn(thread, f"needle {n}")
                host.append(thread, turn, ("turn.completed", {}))
        host.call("thread/archive", threadId=host.thread(name="archived"))
        for n in (4, 2):
            thread = host.pages("thread/list", "data", sortDirection="asc")[n]["id"]
            host.call("thread/name/set", threadId=thread, name="renamed")
        yield host, host.pages("thread/list", "data", sortDirection="asc")


def pages(host: Host, method: str, limit: int, **params: Any) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        page = host.call(method, limit=limit, **params, **({} if cursor is None else {"cursor": cursor}))
        found.append(page)
        cursor = page["nextCursor"]
        if cursor is None:
            return found
        assert len(page["data"]) == limit, "a page is short only at the end"


@covers("thread/list")
@pytest.mark.parametrize("key", SORT_KEYS)
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("limit", [1, 3, 4, 500])
def test_pages_are_the_list_cut_up(many: Any, key: str, direction: str, limit: int) -> None:
    """Every filter is in the query: a page is short only at the end; nextCursor goes on, null at the end."""
    host, threads = many
    whole = host.call("thread/list", limit=500, sortKey=key, sortDirection=direction)["data"]
    cut = pages(host, "thread/list", limit, sortKey=key, sortDirection=direction)
    assert [t for page in cut for t in page["data"]] == whole
    assert {t["id"] for t in whole} == {t["id"] for t in threads} and len(whole) == len(threads)
    names = {"created_at": "createdAt", "updated_at": "updatedAt", "recency_at": "recencyAt"}
    values = [t[names[key]] for t in whole]
    assert values == sorted(values, reverse=direction == "desc")
    assert all(t["turns"] == [] for t in whole)


@pytest.mark.parametrize("key", SORT_KEYS)
def test_backwards(many: Any, key: str) -> None:
    """backwardsCursor goes back from a page, in the other direction; always present, null at the end."""
    host, _ = many
    cut = pages(host, "thread/list", 3, sortKey=key)
    whole = [t["id"] for page in cut for t in page["data"]]
    for number, page in enumerate(cut):
        found: list[str] = []
        cursor = page["backwardsCursor"]
        while cursor is not None:
            back = host.call("thread/list", limit=3, sortKey=key, sortDirection="asc", cursor=cursor)
            found += [t["id"] for t in back["data"]]
            cursor = back["nextCursor"]
        assert found == whole[: 3 * number][::-1]
    empty = host.call("thread/list", searchTerm="nothing of the kind")
    assert empty == {"data": [], "nextCursor": None, "backwardsCursor": None}


def test_updated_and_recency_order(many: Any) -> None:
    """sortKey: updated_at; recency_at (the last turn's start), by microseconds, then creation order."""
    host, threads = many
    ids = [t["id"] for t in threads]
    updated = [t["id"] for t in host.call("thread/list", sortKey="updated_at")["data"]]
    assert updated[:2] == [ids[2], ids[4]]
    recent = [t["id"] for t in host.call("thread/list", sortKey="recency_at")["data"]]
    assert recent == ids[::-1], "renaming is no turn"
    assert [t["id"] for t in host.call("thread/list")["data"]] == ids[::-1]


def test_filters(many: Any, place: Path) -> None:
    """modelProviders, sourceKinds, archived, cwd, searchTerm: each is in the query, alone and together."""
    host, threads = many

    def ids(**params: Any) -> list[str]:
        cut = pages(host, "thread/list", 2, sortDirection="asc", **params)
        return [t["id"] for page in cut for t in page["data"]]

    in_workspace = [t["id"] for t in threads if t["cwd"] == str(place / "workspace")]
    assert len(in_workspace) == 5
    assert ids(cwd=str(place / "workspace")) == in_workspace
    assert ids(cwd=[str(place), str(place / "workspace")]) == [t["id"] for t in threads]
    assert ids(modelProviders=["b"]) == in_workspace and ids(modelProviders=["a", "b"]) == [t["id"] for t in threads]
    assert ids(modelProviders=[]) == [t["id"] for t in threads] and ids(modelProviders=["z"]) == []
    assert ids(sourceKinds=["appServer"]) == [t["id"] for t in threads] and ids(sourceKinds=["cli"]) == []
    assert [t["name"] for t in host.call("thread/list", archived=True)["data"]] == ["archived"]
    assert ids(searchTerm="needle") == [threads[n]["id"] for n in (0, 3, 6, 9)]
    assert ids(searchTerm="NAME 1") == [threads[n]["id"] for n in (1, 10)]
    assert ids(searchTerm="0%_") == [threads[n]["id"] for n in (0, 10)], "% and _ are text"
    assert ids(searchTerm="needle", cwd=str(place / "workspace")) == [threads[n]["id"] for n in (3, 9)]


def test_cwd_matches_whatever_way_it_is_spelled(many: Any, place: Path) -> None:
    """cwd matches whatever way the path is spelled (trailing slash, symlink, dots)."""
    host, _ = many
    link = place / "link"
    link.symlink_to(place / "workspace")
    expected = host.call("thread/list", cwd=str(place / "workspace"))["data"]
    for spelled in (f"{place}/workspace/", str(link), f"{place}/workspace/../workspace", f"{place}//workspace"):
        assert host.call("thread/list", cwd=spelled)["data"] == expected, spelled
    assert host.call("thread/list", cwd=str(place / "works"))["data"] == []


def test_threads_that_come_while_paging(place: Path, tmp_path: Path) -> None:
    """Cursors hold a key: no page fails, none is met twice in creation order, new ones are met going up."""
    with Host(tmp_path.resolve()) as host:
        old = [host.thread() for _ in range(6)]
        up, down = [], []
        up_cursor = down_cursor = None
        new = []
        for step in range(4):
            if step < 2 or down_cursor:
                page = host.call("thread/list", limit=2, **({"cursor": down_cursor} if down_cursor else {}))
                down += [t["id"] for t in page["data"]]
                down_cursor = page["nextCursor"]
            page = host.call(
                "thread/list", limit=2, sortDirection="asc", **({"cursor": up_cursor} if up_cursor else {})
            )
            up += [t["id"] for t in page["data"]]
            up_cursor = page["nextCursor"]
            if step < 2:
                new.append(host.thread())
        assert down == old[::-1]
        assert up == old + new


def test_a_thread_that_moves_while_paging(tmp_path: Path) -> None:
    """A thread that moves while you page by update time may be met twice or missed, and no page fails for it."""
    with Host(tmp_path.resolve()) as host:
        threads = [host.thread() for _ in range(5)]
        page = host.call("thread/list", sortKey="updated_at", limit=2)
        host.call("thread/name/set", threadId=page["data"][-1]["id"], name="moved")
        host.call("thread/delete", threadId=page["data"][0]["id"])
        rest = host.call("thread/list", sortKey="updated_at", cursor=page["nextCursor"])["data"]
        assert [t["id"] for t in rest] == threads[2::-1]


def test_children(many: Any, tmp_path: Path) -> None:
    """parentThreadId?, ancestorThreadId?: children, and all descendants."""
    with Host(tmp_path.resolve()) as host:
        top = host.thread()
        child = host.thread(parentThreadId=top)
        grandchild = host.thread(parentThreadId=child)
        assert host.read(child)["parentThreadId"] == top
        ids = lambda **p: [t["id"] for t in host.pages("thread/list", "data", limit=1, sortDirection="asc", **p)]  # noqa: E731
        assert ids(parentThreadId=top) == [child]
        assert ids(ancestorThreadId=top) == [child, grandchild] and ids(ancestorThreadId=grandchild) == []
        assert ids(ancestorThreadId=top, searchTerm="x") == []
        assert ids(parentThreadId=top.upper()) == [child]


@covers("invalidParams")
@pytest.mark.parametrize(
    "params",
    [
        {"limit": 0},
        {"limit": 501},
        {"limit": 2.0},
        {"limit": "3"},
        {"sortKey": "name"},
        {"sortDirection": "up"},
        {"cursor": "!!"},
        {"cursor": ""},
        {"cursor": "é"},
        {"cursor": 3},
        {"cursor": "bm90anNvbg"},
        {"archived": 1},
        {"cwd": 3},
        {"cwd": [3]},
        {"modelProviders": "a"},
        {"cursor": "W1tbW1tbW1tb"},
        {"searchTerm": 5},
    ],
)
def test_params_of_the_list_that_are_wrong(many: Any, params: dict[str, Any]) -> None:
    """A bad cursor is -32602; data.errors: [{path, message}]."""
    error = many[0].refused("invalidParams", "thread/list", **params)
    assert error.code == -32602
    assert error.data["errors"][0]["path"].split(".")[0] == next(iter(params))


def test_cursors_of_another_list(many: Any) -> None:
    """Cursors are opaque; one of another list, sort or direction is -32602 and never another page."""
    host, threads = many
    thread = threads[0]["id"]
    turns = host.call("thread/turns/list", threadId=thread)["backwardsCursor"]
    items = host.call("thread/items/list", threadId=thread)["backwardsCursor"]
    created = host.call("thread/list", limit=1)["nextCursor"]
    updated = host.call("thread/list", limit=1, sortKey="updated_at")["nextCursor"]
    assert turns and items and created and updated
    for method, params, cursors in (
        ("thread/list", {}, (turns, items, updated)),
        ("thread/list", {"sortDirection": "asc"}, (created,)),
        ("thread/turns/list", {"threadId": thread}, (items, created)),
        ("thread/items/list", {"threadId": thread}, (turns, created)),
        ("agentSession/list", {}, (turns, created)),
        ("agentSession/fileCheckpoint/list", {"sessionId": thread}, (turns, items)),
        ("artifact/read", {"sessionId": thread}, (turns, items)),
    ):
        for cursor in cursors:
            host.refused("invalidParams", method, cursor=cursor, **params)


def test_null_params_are_absent(many: Any) -> None:
    """x? optional (absent or null); unknown fields in params are ignored."""
    host, threads = many
    nulls = dict.fromkeys(("cursor", "limit", "sortKey", "sortDirection", "archived", "cwd", "searchTerm"))
    assert host.call("thread/list", **nulls, unknown={"x": 1}) == host.call("thread/list")
    assert len(host.call("thread/list")["data"]) == len(threads)


@pytest.fixture(scope="module")
def long(many: Any) -> tuple[Host, str, list[str], list[str]]:
    """A thread of 7 turns with 3 items each: (host, thread, turn ids, item ids)."""
    host, _ = many
    thread = host.thread()
    turns, items = [], []
    for n in range(7):
        turns.append(host.turn(thread, f"q{n}"))
        host.append(
            thread,
            turns[-1],
            ("item.completed", {"item": {"type": "commandExecution", "id": f"c{n}", "command": "ls"}}),
            ("item.completed", {"item": {"type": "agentMessage", "id": f"a{n}", "text": f"answer {n}"}}),
            ("turn.completed", {}),
        )
    for entry in host.call("thread/items/list", threadId=thread, limit=500)["data"]:
        items.append(entry["item"]["id"])
    return host, thread, turns, items


@covers("thread/turns/list")
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_turns(long: Any, limit: int) -> None:
    """thread/turns/list {threadId, cursor?, limit?=25, sortDirection?=desc, itemsView?=full}."""
    host, thread, turns, _ = long
    for direction, expected in (("desc", turns[::-1]), ("asc", turns)):
        cut = pages(host, "thread/turns/list", limit, threadId=thread, sortDirection=direction)
        assert [t["id"] for page in cut for t in page["data"]] == expected
        other = "asc" if direction == "desc" else "desc"
        for number, page in enumerate(cut):
            back = host.call("thread/turns/list", threadId=thread, sortDirection=other, cursor=page["backwardsCursor"])
            assert [t["id"] for t in back["data"]] == expected[: number * limit][::-1]
    assert [t["id"] for t in host.call("thread/turns/list", threadId=thread)["data"]] == turns[::-1]


def test_items_views(long: Any) -> None:
    """itemsView: notLoaded | summary | full."""
    host, thread, _, _ = long
    for view, expected in (
        ("notLoaded", []),
        ("summary", ["userMessage", "agentMessage"]),
        ("full", ["userMessage", "commandExecution", "agentMessage"]),
    ):
        for turn in host.call("thread/turns/list", threadId=thread, itemsView=view)["data"]:
            assert turn["itemsView"] == view and [item["type"] for item in turn["items"]] == expected
    host.refused("invalidParams", "thread/turns/list", threadId=thread, itemsView="all")


@covers("thread/items/list", "turnNotFound")
@pytest.mark.parametrize("limit", [1, 2, 5, 21, 22])
def test_items(long: Any, limit: int) -> None:
    """thread/items/list {threadId, turnId?, cursor?, limit?=100, sortDirection?=asc} → {data[{turnId, item}], …}."""
    host, thread, turns, items = long
    assert len(items) == 21
    for direction, expected in (("asc", items), ("desc", items[::-1])):
        cut = pages(host, "thread/items/list", limit, threadId=thread, sortDirection=direction)
        assert [e["item"]["id"] for page in cut for e in page["data"]] == expected
        other = "asc" if direction == "desc" else "desc"
        for number, page in enumerate(cut):
            back = host.call("thread/items/list", threadId=thread, sortDirection=other, cursor=page["backwardsCursor"])
            assert [e["item"]["id"] for e in back["data"]] == expected[: number * limit][::-1]
    for number, turn in enumerate(turns):
        cut = pages(host, "thread/items/list", limit, threadId=thread, turnId=turn)
        assert [e["item"]["id"] for page in cut for e in page["data"]] == items[3 * number : 3 * number + 3]
        assert {e["turnId"] for page in cut for e in page["data"]} == {turn}
    host.refused("turnNotFound", "thread/items/list", threadId=thread, turnId="nope")


@covers("thread/events/list")
@pytest.mark.parametrize("limit", [1, 4, 29, 500])
def test_events(long: Any, limit: int) -> None:
    """thread/events/list {threadId, afterSequence?=0, limit?=500, types?[]} → {data, lastSequence, hasMore}."""
    host, thread, _, _ = long
    whole = host.call("thread/events/list", threadId=thread)
    assert whole["hasMore"] is False and whole["lastSequence"] == len(whole["data"]) == 36
    assert [e["sequence"] for e in whole["data"]] == list(range(1, 37))
    assert {e["sessionId"] for e in whole["data"]} == {e["threadId"] for e in whole["data"]} == {thread}
    assert host.events(thread, limit=limit) == whole["data"]
    types = ["turn.started", "turn.completed"]
    assert host.events(thread, limit=limit, types=types) == [e for e in whole["data"] if e["type"] in types]
    for after in (0, 1, 35, 36, 1000):
        page = host.call("thread/events/list", threadId=thread, afterSequence=after, limit=limit)
        assert page["data"] == whole["data"][after : after + limit]
        assert page["hasMore"] == (after + limit < 36) and page["lastSequence"] == 36
    assert host.call("thread/events/list", threadId=thread, types=[], limit=10_000)["data"] == host.events(thread)
    for wrong in ({"afterSequence": -1}, {"limit": 0}, {"types": "x"}):
        host.refused("invalidParams", "thread/events/list", threadId=thread, **wrong)


def test_every_list_of_an_unknown_thread(many: Any) -> None:
    """threadNotFound: -32010."""
    for method, name in itertools.chain(
        ((m, "threadId") for m in ("thread/turns/list", "thread/items/list", "thread/events/list")),
        ((m, "sessionId") for m in ("agentSession/read", "artifact/read", "agentSession/fileCheckpoint/list")),
    ):
        many[0].refused("threadNotFound", method, **{name: "nope"})


def test_a_search_term_in_any_script(host: Host) -> None:
    """searchTerm: part of the name or of the first message, whatever the case, in any script."""
    named = host.thread(name="Überarbeite die Straße")
    asked = host.thread()
    host.turn(asked, "Перепиши МОДУЛЬ, 你好世界")
    for term, thread in (("überARB", named), ("STRASSE ", None), ("straße", named), ("модуль", asked), ("好世", asked)):
        found = [one["id"] for one in host.call("thread/list", searchTerm=term)["data"]]
        assert found == ([] if thread is None else [thread]), term
