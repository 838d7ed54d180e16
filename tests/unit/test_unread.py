"""Threads that the projection only names: which pages are answered before they are read, what their ends prove."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lockstitch.codec import encode
from lockstitch.data_root import DataRoot, RolloutPlace, session_place
from lockstitch.rollout.line import Draft, encode_line
from lockstitch.timeline import unread
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.database import Database
from lockstitch.timeline.place import Place
from lockstitch.timeline.queries import Page, ThreadFilter, threads
from lockstitch.timeline.read_up import WriterRows, prepare, put_in
from lockstitch.timeline.reader import View
from lockstitch.timeline.rebuild import Build, rebuild, unique
from lockstitch.timeline.rows import ThreadRow, values_of
from lockstitch.timeline.times import microseconds_of, text_of
from lockstitch.timeline.unread import UnreadError, ends_of

BEGIN = microseconds_of("2026-12-01T00:00:00.000000Z")


def a_root(path: Path) -> tuple[DataRoot, Place]:
    root = DataRoot(path)
    for directory in root.private_directories():
        directory.mkdir(parents=True, exist_ok=True)
    nothing = cast(Any, None)
    return root, Place(root, Boots(root, "boot_test"), 1, nothing, nothing, nothing, nothing)


def write(root: DataRoot, thread_id: str, created: int, *events: tuple[str, int, dict[str, Any]]) -> Path:
    """A rollout whose events come in appends of their own."""
    path = root.resolve(session_place(text_of(created), thread_id))
    path.parent.mkdir(parents=True, exist_ok=True)
    started: dict[str, Any] = {"format": 1, "threadId": thread_id, "source": "appServer"}
    data, previous = b"", b""
    for number, (type_, at, payload) in enumerate((("thread.started", created, started), *events), 1):
        turn_id = payload.pop("turnId", None)
        draft = Draft(type_, encode(payload), f"evt_{number}", text_of(at), turn_id)
        line = encode_line(number, draft, previous)
        data, previous = data + line.data, line.sum
    path.write_bytes(data)
    return path


def fill(root: DataRoot, chance: random.Random) -> None:
    """Threads that begin, go on, are named and linked at any time."""
    for number in range(20):
        created = at = BEGIN + chance.randrange(6) * 997_000_000
        events: list[tuple[str, int, dict[str, Any]]] = []
        for turn in range(chance.randrange(4)):
            at += chance.randrange(1, 3_000) * 1_000_000
            events.append(("turn.started", at, {"turnId": f"turn-{turn}"}))
            at += 1_000_000
            if chance.random() < 0.3:
                named = {"name": chance.choice(["red", "blue"]), "modelProvider": chance.choice(["a", "b"])}
                events.append(("thread.updated", at, named))
            text = {"type": "userMessage", "id": f"item-{turn}", "content": [{"type": "text", "text": f"say {number}"}]}
            events.append(("item.completed", at, {"turnId": f"turn-{turn}", "item": text}))
            if chance.random() < 0.7:
                at += chance.randrange(3) * 997_000_000
                events.append(("turn.completed", at + 5, {"turnId": f"turn-{turn}"}))
        path = write(root, f"thread-{number:03}", created, *events)
        if number % 8 == 7:  # one in which not everything is as it was written
            lines = path.read_bytes().split(b"\n")
            lines[0 if number % 2 else -2] = b"{}"
            path.write_bytes(b"\n".join(lines))
        if number % 7 == 6:
            path.rename(root.archived_sessions / path.name)


class Answering:
    """What a process does about a page: look, read what it lacks, look again."""

    def __init__(self, root: DataRoot, place: Place) -> None:
        self.root, self.place, self.read = root, place, 0
        self.database = Database(root.timeline)

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    @property
    def rows(self) -> WriterRows:
        return WriterRows(cast(Any, self))

    def page(self, *question: Any) -> Page[ThreadRow]:
        while True:
            try:
                return threads(View(self.root, "", self.database.connection), *question)
            except UnreadError as error:
                self.read_these(error.thread_ids and error.thread_ids[: error.at_first])

    def read_these(self, thread_ids: list[str] | None) -> None:
        found = unread.newest(self.database.connection, thread_ids)
        assert found
        self.read += len(found)
        made = [(one.thread_id, prepare(self.root, frozenset(), number, one)) for number, one, _ in found]
        put_in(cast(Any, SimpleNamespace(database=self.database, place=self.place, rows=self.rows)), made)


def questions() -> Iterator[tuple[ThreadFilter, str, bool]]:
    for sort in ("created_at", "updated_at", "recency_at"):
        for descending in (True, False):
            for filter_ in (
                ThreadFilter(),
                ThreadFilter(archived=None),
                ThreadFilter(archived=True),
                ThreadFilter(term="red"),
                ThreadFilter(providers=["b"]),
                ThreadFilter(term="in no title"),
            ):
                yield filter_, sort, descending


def test_every_page_is_as_if_everything_had_been_read(tmp_path: Path) -> None:
    """All pages of all orders and filters, each beginning from a projection that has read nothing."""
    root, place = a_root(tmp_path)
    fill(root, random.Random(3))
    rebuild(place)
    right: list[list[list[tuple[Any, ...]]]] = []
    with Answering(root, place) as whole:
        for filter_, sort, descending in questions():
            right.append(list(pages(whole, filter_, sort, descending)))
        assert whole.read == 0
    for (filter_, sort, descending), expected in zip(questions(), right, strict=True):
        Build(place).begin_anew(list(unique(root.rollouts())))
        with Answering(root, place) as answering:
            anew = filter_ == ThreadFilter()
            assert list(pages(answering, filter_, sort, descending, anew)) == expected, (filter_, sort, descending)


def pages(
    of: Answering, filter_: ThreadFilter, sort: str, descending: bool, anew: bool = False
) -> Iterator[list[tuple[Any, ...]]]:
    """`anew`: each page, too, begins from nothing."""
    after: list[Any] | None = None
    while True:
        if anew:
            of.database.close()
            Build(of.place).begin_anew(list(unique(of.root.rollouts())))
            of.database = Database(of.root.timeline)
        page = of.page(filter_, sort, descending, after, 5)
        yield [(*values_of(row)[1:-1], page.more) for row in page.rows]  # but for its number and the file's stamp
        if not page.more:
            return
        last = page.rows[-1]
        after = [getattr(last, sort), last.created_at, last.thread_id]


@pytest.mark.parametrize("sort", ["created_at", "updated_at", "recency_at"])
def test_a_first_page_reads_little_more_than_is_on_it(tmp_path: Path, sort: str) -> None:
    root, place = a_root(tmp_path)
    for number in range(100):
        at = BEGIN + number * 60_000_000
        write(root, f"thread-{number:03}", at, ("turn.started", at + 1, {"turnId": "t"}))
    Build(place).begin_anew(list(unique(root.rollouts())))
    with Answering(root, place) as answering:
        page = answering.page(ThreadFilter(), sort, True, None, 7)
        assert [row.thread_id for row in page.rows] == [f"thread-{number:03}" for number in range(99, 92, -1)]
        assert answering.read <= 9


def test_the_ends_prove_times_or_nothing(tmp_path: Path) -> None:
    root, _ = a_root(tmp_path)
    second = 1_000_000

    def ends(*events: tuple[str, int, dict[str, Any]]) -> tuple[int | None, int | None]:
        path = write(root, "thread", BEGIN, *events)
        return known(path)

    def known(path: Path) -> tuple[int | None, int | None]:
        found = ends_of(root, RolloutPlace("thread", path.relative_to(root.path).as_posix(), False))
        assert found.size == path.stat().st_size
        return found.created_at, found.updated_at

    assert ends() == (BEGIN, BEGIN)
    assert ends(("host.note", BEGIN + second, {"text": "x" * 100_000})) == (BEGIN, BEGIN + second)
    assert ends(("host.note", BEGIN + second, {"text": "x" * 300_000})) == (BEGIN, None), "too long to look at"
    recovered = ("thread.recovered", BEGIN + 2 * second, {"partial": False})
    assert ends(("host.note", BEGIN + second, {}), recovered) == (BEGIN, BEGIN + second), "recovery is no use"
    claimed = {"$receivedAt": text_of(BEGIN + 3 * second)}
    assert ends(("host.note", BEGIN - second, claimed)) == (BEGIN, BEGIN + 3 * second), "our clock, not a host's"
    path = write(root, "thread", BEGIN, ("host.note", BEGIN + second, {}), ("host.note", BEGIN + second, {}))
    whole = path.read_bytes()
    for broken, expected in (
        (whole[:-1], (BEGIN, None)),
        (whole + b"{", (BEGIN, None)),
        (whole[:-5] + b"0" + whole[-4:], (BEGIN, None)),
        (b"x" + whole[1:], (None, None)),
        (b"", (None, None)),
        (b"\n" * 40_000, (None, None)),
    ):
        path.write_bytes(broken)
        assert known(path) == expected


def test_a_rollout_that_changed_since_it_was_read_is_read_again(tmp_path: Path) -> None:
    root, place = a_root(tmp_path)
    path = write(root, "thread", BEGIN)
    Build(place).begin_anew(list(unique(root.rollouts())))
    with Answering(root, place) as answering:
        connection = answering.database.connection
        ((number, found, _),) = unread.newest(connection)
        made = prepare(root, frozenset(), number, found)
        assert made is not None
        write(root, "thread", BEGIN, ("turn.started", BEGIN + 5, {"turnId": "later"}))
        put_in(cast(Any, answering), [("thread", made)])
        assert connection.execute("SELECT turn_count, size FROM thread").fetchall() == [(1, path.stat().st_size)]
        assert not unread.is_any(connection)
        put_in(cast(Any, answering), [("thread", made)])
        assert connection.execute("SELECT turn_count FROM thread").fetchall() == [(1,)], "somebody was quicker"


def test_a_number_that_an_older_program_gave_away_is_not_taken_from_it(tmp_path: Path) -> None:
    """It knows nothing of threads that are only named, and numbers those that it reads from one on."""
    root, place = a_root(tmp_path)
    for name in ("thread-a", "thread-b"):
        write(root, name, BEGIN)
    Build(place).begin_anew(list(unique(root.rollouts())))
    with Answering(root, place) as answering:
        connection = answering.database.connection
        made = [
            (one.thread_id, prepare(root, frozenset(), number, one)) for number, one, _ in unread.newest(connection)
        ]
        answering.rows.thread("thread-b")
        connection.execute("UPDATE thread SET thread_no=1")
        put_in(cast(Any, answering), made)
        assert sorted(connection.execute("SELECT thread_id FROM thread")) == [("thread-a",), ("thread-b",)]
