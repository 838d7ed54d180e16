"""The engine below the operations: disks without an exchange, journals that lie, disks that fold names, Windows."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path

import pytest

from lockstitch.artifacts import restore_act, restore_rollback, restore_target
from lockstitch.artifacts.restore_journal import (
    Entry,
    Journal,
    Journals,
    State,
    decode_journal,
    encode_journal,
    tree_state,
)
from lockstitch.artifacts.restore_rollback import roll_back
from lockstitch.artifacts.restore_target import open_target
from lockstitch.codec import ParseError
from lockstitch.errors import ConflictError, RefusedError, UnavailableError
from lockstitch.platform import beneath
from lockstitch.platform.exchange import RENAMES, Renames, renames_of


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Kept(dict[str, bytes]):
    """A store in memory."""

    def put(self, data: bytes) -> str:
        self[sha(data)] = data
        return sha(data)


def entry(path: str, was: bytes | None, to: bytes | None) -> Entry:
    states = [State() if data is None else State(sha(data), 0o644) for data in (was, to)]
    return Entry(path, states[0], states[1], "0" * 16)


def act(workspace: Path, one: Entry, kept: Kept, contents: bytes = b"") -> restore_act.CameOut:
    journal = Journal("r", "t", str(workspace), [one])
    restore_act.stage(workspace, journal, lambda wanted: contents)
    return restore_act.exchange(workspace, journal, kept.put)[one.path]


DISKS = [
    pytest.param(RENAMES, id="exchange"),
    pytest.param(Renames(None, 0, 0), id="hard links"),
]


@pytest.fixture(params=DISKS)
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Renames:
    """A disk that can exchange, and one that can only link."""
    for module in (restore_act, restore_rollback):
        monkeypatch.setattr(module, "RENAMES", request.param)
    return request.param


@pytest.mark.parametrize("was", [b"old\n", None])
@pytest.mark.parametrize("to", [b"new\n", None])
def test_every_change_goes_and_comes_back(tmp_path: Path, disk: Renames, was: bytes | None, to: bytes | None) -> None:
    """Write, create and delete, then all of it rolled back from the disk alone; nothing is left beside."""
    if was is None and to is None:
        return
    file = tmp_path / "a"
    if was is not None:
        file.write_bytes(was)
    one, kept = entry("a", was, to), Kept()
    out = act(tmp_path, one, kept, to or b"")
    assert out.foreseen and (out.content is None) is (was is None)
    assert (file.read_bytes() if file.exists() else None) == to
    done = roll_back(tmp_path, Journal("r", "t", str(tmp_path), [entry("a", was, to)]), kept.put)
    assert done.complete and not done.rescued
    assert (file.read_bytes() if file.exists() else None) == was
    assert os.listdir(tmp_path) == ([] if was is None else ["a"])


def test_what_nobody_foresaw_is_kept(tmp_path: Path, disk: Renames) -> None:
    """The file changed between plan and exchange: what came out is in the store, and retired only then."""
    (tmp_path / "a").write_bytes(b"changed\n")
    one, kept = entry("a", b"old\n", b"new\n"), Kept()
    out = act(tmp_path, one, kept, b"new\n")
    assert not out.foreseen and kept == {sha(b"changed\n"): b"changed\n"}
    assert restore_act.retire(tmp_path, Journal("r", "t", str(tmp_path), [one]), kept.put) == []
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"new\n"


def test_a_file_that_appears_where_none_was(tmp_path: Path, disk: Renames) -> None:
    """Not overwritten: it comes out and is kept."""
    one, kept = entry("a", None, b"new\n"), Kept()
    journal = Journal("r", "t", str(tmp_path), [one])
    restore_act.stage(tmp_path, journal, lambda wanted: b"new\n")
    (tmp_path / "a").write_bytes(b"appeared\n")
    out = restore_act.exchange(tmp_path, journal, kept.put)["a"]
    assert not out.foreseen and kept[sha(b"appeared\n")] == b"appeared\n"
    assert roll_back(tmp_path, Journal("r", "t", str(tmp_path), [entry("a", None, b"new\n")]), kept.put).complete
    assert (tmp_path / "a").read_bytes() == b"appeared\n" and os.listdir(tmp_path) == ["a"]


def test_bytes_saved_since_stay_and_what_was_set_aside_is_kept(tmp_path: Path, disk: Renames) -> None:
    """Rolled back after the user saved: his file stays; foreign bytes that were set aside are rescued."""
    (tmp_path / "a").write_bytes(b"raced\n")
    kept = Kept()
    act(tmp_path, entry("a", b"old\n", b"new\n"), kept, b"new\n")
    (tmp_path / "a").write_bytes(b"saved since\n")
    kept.clear()
    done = roll_back(tmp_path, Journal("r", "t", str(tmp_path), [entry("a", b"old\n", b"new\n")]), kept.put)
    assert [content.data for _, content in done.rescued] == [b"raced\n"] and kept
    assert (tmp_path / "a").read_bytes() == b"saved since\n" and os.listdir(tmp_path) == ["a"]


def test_a_half_staged_content_never_gets_in_place(tmp_path: Path) -> None:
    """Killed while staging: the part goes, whatever it holds."""
    (tmp_path / "a").write_bytes(b"new\n")  # the user wrote just what was to be restored
    one = entry("a", b"old\n", b"new\n")
    (tmp_path / one.part).write_bytes(b"ne")
    assert roll_back(tmp_path, Journal("r", "t", str(tmp_path), [one]), Kept().put).complete
    assert (tmp_path / "a").read_bytes() == b"new\n" and os.listdir(tmp_path) == ["a"]


def test_a_content_that_the_disk_garbles_is_not_used(tmp_path: Path) -> None:
    """Verified on the disk before the first exchange."""
    one = entry("a", None, b"new\n")
    with pytest.raises(Exception, match="other bytes"):
        restore_act.stage(tmp_path, Journal("r", "t", str(tmp_path), [one]), lambda wanted: b"garbled\n")
    roll_back(tmp_path, Journal("r", "t", str(tmp_path), [one]), Kept().put)
    assert os.listdir(tmp_path) == []


def test_journals_come_back_and_are_taken_over_once(tmp_path: Path) -> None:
    """Every field survives; only a dead boot's journal is taken; one that cannot be read is kept for a person."""
    name = os.fsdecode(b"caf\xe9/a")
    journal = Journal("rewind_1", "t", "/w", [entry(name, None, b"x")], ["caf", name], ["gone"])
    assert decode_journal(encode_journal(journal)) == journal
    dead, heir = Journals(tmp_path, "boot_dead"), Journals(tmp_path, "boot_heir")
    dead.write(journal)
    (tmp_path / "boot_dead.rewind_2.new").write_bytes(b"{")
    (tmp_path / "boot_dead.rewind_3.json").write_bytes(b"{")
    assert heir.take_over(lambda boot: True) == []
    ((path, found),) = heir.take_over(lambda boot: boot == "boot_heir")
    assert found == journal and path.name == "boot_heir.rewind_1.json"
    assert heir.take_over(lambda boot: boot == "boot_heir") == []
    heir.remove(path)
    assert os.listdir(tmp_path) == ["boot_heir.rewind_3.json.damaged"]


def test_a_journal_that_lies_touches_nothing_outside(tmp_path: Path) -> None:
    """Paths and tokens are judged again; what they name is not followed out of the workspace."""
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "a").write_bytes(b"new\n")
    (workspace / "link").symlink_to(outside)
    entries = [entry(path, None, b"new\n") for path in ("../outside/a", "link/a", ".git/a", str(outside / "a"))]
    assert roll_back(workspace, Journal("r", "t", str(workspace), entries), Kept().put).complete
    assert (outside / "a").read_bytes() == b"new\n"
    planted = encode_journal(Journal("r", "t", "/w", [Entry("a", State(), State(), "../../x")]))
    with pytest.raises(ParseError):
        decode_journal(planted)


def test_a_workspace_that_is_away_keeps_its_journal(tmp_path: Path) -> None:
    """An unmounted workspace is no reason to forget what is to be put back there."""
    journal = Journal("r", "t", str(tmp_path / "away"), [entry("a", b"old\n", b"new\n")])
    assert not roll_back(tmp_path / "away", journal, Kept().put).complete


def test_a_file_that_never_stands_still_is_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It appears and vanishes at every attempt: given up, and untouched."""

    class Restless(Renames):
        def exchange(self, directory: int, one: str, other: str) -> bool:
            raise FileNotFoundError

        def move_new(self, directory: int, source: str, target: str) -> None:
            raise FileExistsError

    one = entry("a", None, b"new\n")
    restore_act.stage(tmp_path, Journal("r", "t", str(tmp_path), [one]), lambda wanted: b"new\n")
    monkeypatch.setattr(restore_act, "RENAMES", Restless(None, 0, 0))
    with pytest.raises(ConflictError, match="faster"):
        restore_act.exchange(tmp_path, Journal("r", "t", str(tmp_path), [one]), Kept().put)


# -- a file and a folder that change places ------------------------------------------------------------------------
FILES = {"y": b"y\n", "sub/z": b"z\n"}
WANTED = {sha(data): data for data in (*FILES.values(), b"file\n")}


def swap(*, makes_folder: bool) -> Entry:
    """`a` is a file and becomes a folder, or the other way round."""
    tree = {path: State(sha(data), 0o644) for path, data in FILES.items()}
    folder, file = tree_state(tree), State(sha(b"file\n"), 0o644)
    return Entry("a", file if makes_folder else folder, folder if makes_folder else file, "0" * 16, tree)


def found(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def stand(root: Path, *, folder: bool) -> dict[str, bytes]:
    if folder:
        (root / "a/sub").mkdir(parents=True)
        for path, data in FILES.items():
            (root / "a" / path).write_bytes(data)
    else:
        (root / "a").write_bytes(b"file\n")
    return found(root)


@pytest.mark.parametrize("makes_folder", [False, True])
def test_a_file_and_a_folder_change_places_and_back(tmp_path: Path, *, makes_folder: bool) -> None:
    """As a whole and in one step; rolled back from a journal that was read again, or finished, nothing is left."""
    for finished in (False, True):
        root = tmp_path / str(finished)
        root.mkdir()
        before = stand(root, folder=not makes_folder)
        journal, kept = Journal("r", "t", str(root), [swap(makes_folder=makes_folder)]), Kept()
        restore_act.stage(root, journal, WANTED.__getitem__)
        assert {name: data for name, data in found(root).items() if "lockstitch" not in name} == before
        out = restore_act.exchange(root, journal, kept.put)
        assert {path for path, each in out.items() if each.content is not None} == set(before)
        assert all(each.foreseen for each in out.values()) and set(out) == {"a", "a/y", "a/sub/z"}
        after = {name: data for name, data in found(root).items() if "lockstitch" not in name}
        assert after == ({f"a/{path}": data for path, data in FILES.items()} if makes_folder else {"a": b"file\n"})
        if finished:
            assert restore_act.retire(root, journal, kept.put) == []
            assert found(root) == after
        else:
            assert roll_back(root, decode_journal(encode_journal(journal)), kept.put).complete
            assert found(root) == before
        assert os.listdir(root) == ["a"] and not kept


def test_a_folder_that_somebody_writes_to_is_not_taken_away(tmp_path: Path) -> None:
    """Before the exchange: a conflict, and it is back. After it: what he writes is kept, whichever way it ends."""
    stand(tmp_path, folder=True)
    journal, kept = Journal("r", "t", str(tmp_path), [swap(makes_folder=False)]), Kept()
    restore_act.stage(tmp_path, journal, WANTED.__getitem__)
    (tmp_path / "a/mine").write_bytes(b"mine\n")
    with pytest.raises(ConflictError):
        restore_act.exchange(tmp_path, journal, kept.put)
    assert (tmp_path / "a/mine").read_bytes() == b"mine\n"
    (tmp_path / "a/mine").unlink()
    restore_act.exchange(tmp_path, journal, kept.put)
    held = tmp_path / journal.entries[0].staged
    (held / "sub/z").write_bytes(b"through an open file\n")
    (held / "new").write_bytes(b"new\n")
    late = restore_act.retire(tmp_path, journal, kept.put)
    assert {(path, content.data) for path, content in late} == {
        ("a/sub/z", b"through an open file\n"),
        ("a/new", b"new\n"),
    }
    assert set(kept.values()) == {b"through an open file\n", b"new\n"} and os.listdir(tmp_path) == ["a"]


def test_a_new_folder_that_somebody_writes_to_stays(tmp_path: Path) -> None:
    """Rolled back after the user saved into it: his file stays where it is."""
    stand(tmp_path, folder=False)
    journal, kept = Journal("r", "t", str(tmp_path), [swap(makes_folder=True)]), Kept()
    restore_act.stage(tmp_path, journal, WANTED.__getitem__)
    restore_act.exchange(tmp_path, journal, kept.put)
    (tmp_path / "a/mine").write_bytes(b"mine\n")
    assert roll_back(tmp_path, journal, kept.put).complete
    assert found(tmp_path) == {"a/mine": b"mine\n", **{f"a/{path}": data for path, data in FILES.items()}}


def test_what_is_no_file_in_a_folder_that_went_is_left(tmp_path: Path) -> None:
    """A link in it is not followed, and stays with its folder until somebody looks."""
    stand(tmp_path, folder=True)
    (tmp_path / "outside").write_bytes(b"outside\n")
    journal = Journal("r", "t", str(tmp_path), [swap(makes_folder=False)])
    restore_act.stage(tmp_path, journal, WANTED.__getitem__)
    restore_act.exchange(tmp_path, journal, Kept().put)
    held = tmp_path / journal.entries[0].staged
    (held / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="not empty"):
        restore_act.retire(tmp_path, journal, Kept().put)
    assert os.listdir(held) == ["link"] and (tmp_path / "outside").read_bytes() == b"outside\n"


def test_where_handles_are_missing_everything_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: the reason says that it is the system."""
    monkeypatch.setattr(restore_target, "open_root", beneath.PathDirectory)
    with pytest.raises(UnavailableError) as refused:
        open_target(tmp_path, "a")
    assert refused.value.facts["reason"] == "platform"
    assert renames_of("win32", None).exchange(0, "a", "b") is False


class Folding(beneath.OpenDirectory):
    """A directory of a disk that takes names for equal whatever their case and Unicode form."""

    def _stored(self, name: str) -> str:
        found = [other for other in os.listdir(self.where) if _folded(other) == _folded(name)]
        return found[0] if found else name

    def status(self, name: str) -> os.stat_result:
        return super().status(self._stored(name))

    def enter(self, name: str) -> beneath.OpenDirectory:
        stored = self._stored(name)
        return Folding(os.dup(super().enter(stored).fileno()), os.path.join(self.where, stored))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


@pytest.fixture
def folding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def open_folding(path: Path) -> beneath.OpenDirectory:
        return Folding(os.open(path, os.O_RDONLY), os.fspath(path))

    monkeypatch.setattr(restore_target, "open_root", open_folding)
    return tmp_path


def test_twins_of_a_folding_disk_are_refused(folding: Path) -> None:
    """A path in another case or Unicode form than the disk has it is another file's name; its own form is fine."""
    (folding / "Src").mkdir()
    (folding / "Src" / "é.txt").write_bytes(b"x")
    open_target(folding, "Src/é.txt").directory.close()
    open_target(folding, "Src/new.txt").directory.close()
    for path in ("src/é.txt", "Src/É.txt", "Src/e\u0301.txt"):
        with pytest.raises(RefusedError) as refused:
            open_target(folding, path).directory.close()
        assert refused.value.facts["reason"] == "twin", path
