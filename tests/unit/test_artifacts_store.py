"""Contents survive, are private, are never given out wrong, and go where they can be trusted."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import stat
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest

from lockstitch.artifacts import sidecar as sidecar_module
from lockstitch.artifacts import store as store_module
from lockstitch.artifacts.documents import MAX_DIFF_BYTES, bounded_diff, snapshot_path, write_version
from lockstitch.artifacts.paths import artifact_id
from lockstitch.artifacts.sidecar import open_sidecar
from lockstitch.artifacts.store import Packed, Store
from lockstitch.diff import diff_files
from lockstitch.errors import StorageError, UnavailableError
from lockstitch.platform import beneath, files


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


SMALL, TEXT, NOISE = b"x" * 4096, b"line\n" * 5000, random.Random(1).randbytes(5000)


@pytest.mark.parametrize("data", [b"", b"a\r\n", SMALL, TEXT, NOISE], ids=["empty", "short", "limit", "text", "noise"])
def test_what_is_put_comes_back(tmp_path: Path, data: bytes):
    """Raw, or compressed above 4 KiB when that is smaller; the name says which."""
    store = Store(tmp_path / "artifacts")
    assert store.put(data) == store.put(data) == sha(data)
    assert store.get(sha(data)) == data
    assert store.has(sha(data))
    name = sha(data) + (".z" if data is TEXT else "")
    path = tmp_path / "artifacts" / name[:2] / name
    assert store.path_of(sha(data)) == path
    assert os.listdir(path.parent) == [name]
    stored = path.read_bytes()
    assert (zlib.decompress(stored) if data is TEXT else stored) == data


def test_modes_whatever_the_umask(tmp_path: Path):
    """0700 and 0600."""
    for umask in (0, 0o777):
        before = os.umask(umask)
        try:
            path = Store(tmp_path / str(umask) / "a").put(b"x") and Store(tmp_path / str(umask) / "a").path_of(
                sha(b"x")
            )
        finally:
            os.umask(before)
        assert path is not None
        modes = [stat.S_IMODE(p.stat().st_mode) for p in (path, path.parent, path.parent.parent, tmp_path / str(umask))]
        assert modes == [0o600, 0o700, 0o700, 0o700]


def spoil(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "flipped":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif how == "short":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        if how == "link":
            path.symlink_to("/etc/passwd")
        elif how == "fifo":
            os.mkfifo(path)


@pytest.mark.parametrize("data", [b"short", TEXT], ids=["raw", "compressed"])
@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("flipped", "corrupt"),
        ("short", "corrupt"),
        ("empty", "corrupt"),
        ("link", "corrupt"),
        ("fifo", "corrupt"),
        ("gone", "missing"),
    ],
)
def test_a_spoiled_blob_is_never_served_and_is_mended_by_the_next_put(
    tmp_path: Path, data: bytes, how: str, status: str
):
    """get says what is wrong; put does not take a name for a content."""
    store = Store(tmp_path)
    store.put(data)
    path = store.path_of(sha(data))
    assert path is not None
    spoil(path, how)
    with pytest.raises(UnavailableError) as caught:
        store.get(sha(data))
    assert caught.value.kind == "contentUnavailable"
    assert caught.value.facts["contentStatus"] == status
    store.put(data)
    assert store.get(sha(data)) == data


def test_a_sound_copy_in_the_other_form_is_served(tmp_path: Path):
    """A rotten raw blob beside a sound compressed one."""
    store = Store(tmp_path)
    store.put(TEXT)
    (tmp_path / sha(TEXT)[:2] / sha(TEXT)).write_bytes(b"rotten")
    assert store.get(sha(TEXT)) == TEXT


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A planted blob that grows without end is corrupt."""
    monkeypatch.setattr(store_module, "MAX_BLOB_BYTES", 1 << 20)
    name = "ab" + "0" * 62
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / f"{name}.z").write_bytes(zlib.compress(b"\0" * (8 << 20)))
    with pytest.raises(UnavailableError) as caught:
        Store(tmp_path).get(name)
    assert caught.value.facts["contentStatus"] == "corrupt"


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_only_a_sha256_is_a_name(tmp_path: Path, name: str):
    """Nothing else reaches the disk."""
    store = Store(tmp_path)
    assert not store.has(name)
    with pytest.raises(UnavailableError):
        store.get(name)


def test_what_put_answers_for_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """File, its directory and the directory's name; also for a blob that was there already."""
    seen = list[str]()
    monkeypatch.setattr(store_module, "sync_file", lambda fd: seen.append("file"))
    real = files.os.fsync
    monkeypatch.setattr(files.os, "fsync", lambda fd: (seen.append(os.readlink(f"/proc/self/fd/{fd}")), real(fd))[1])
    where = tmp_path / "s"
    Store(where).put(b"x")
    folder = str(where / sha(b"x")[:2])
    assert seen.index("file") < seen.index(folder)
    assert {str(tmp_path), str(where), folder} <= set(seen)
    seen.clear()
    Store(where).put(b"x")
    assert "file" not in seen
    assert {str(where), folder} <= set(seen)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, "storageFull"), (errno.EROFS, "storageReadOnly"), (errno.EIO, "storageFailed")],
)
def test_a_disk_that_says_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: str):
    """The error is named, nothing is left, and the next put works."""
    store = Store(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    for name in ("sync_file", "write_all"):
        with monkeypatch.context() as patch:
            patch.setattr(store_module, name, refuse)
            with pytest.raises(StorageError) as caught:
                store.put(TEXT)
        assert (caught.value.kind, caught.value.facts["errno"]) == (kind, number)
        assert os.listdir(tmp_path / sha(TEXT)[:2]) == []
        assert not store.has(sha(TEXT))
    assert store.put(TEXT) == sha(TEXT)


def test_many_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each is whole and synced before it has its name; one that the disk refuses leaves nothing of its batch."""
    contents = [Packed(b"%d" % (number % 90)) for number in range(100)]
    unsynced = set[str]()
    real = store_module.sync_file
    moved = beneath.OpenDirectory.move

    def sync(fd: int) -> None:
        real(fd)
        unsynced.add(os.readlink(f"/proc/self/fd/{fd}"))

    def move(self: beneath.OpenDirectory, source: str, into: beneath.OpenDirectory, target: str) -> None:
        assert f"{self.where}/{source}" in unsynced
        moved(self, source, into, target)

    monkeypatch.setattr(beneath.OpenDirectory, "move", move)
    monkeypatch.setattr(store_module, "sync_file", sync)
    Store(tmp_path).put_packed(contents)
    assert all(Store(tmp_path).get(packed.sha256) == packed.data for packed in contents)

    def refuse(fd: int) -> None:
        if os.fstat(fd).st_size == 7:
            raise OSError(errno.EIO, "")
        real(fd)

    monkeypatch.setattr(store_module, "sync_file", refuse)
    batch = [Packed(b"one"), Packed(b"refused"), Packed(b"two")]
    with pytest.raises(StorageError):
        Store(tmp_path).put_packed(batch)
    assert not [packed for packed in batch if Store(tmp_path).has(packed.sha256)]
    assert not list(tmp_path.rglob(files.TEMPORARY_PREFIX + "*"))


def test_several_processes_and_threads_put_the_same(tmp_path: Path):
    """Every one of them succeeds, and what is there is whole."""
    code = (
        "import sys; from lockstitch.artifacts.store import Store\n"
        "for n in range(40): Store(sys.argv[1]).put(b'%d' % n * 3000)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [subprocess.Popen([sys.executable, "-c", code, tmp_path], env=environment) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda: [Store(tmp_path).put(b"%d" % n * 3000) for n in range(40)]) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.wait() for child in children] == [0, 0]
    for n in range(40):
        assert Store(tmp_path).get(sha(b"%d" % n * 3000)) == b"%d" % n * 3000
    assert not list(tmp_path.rglob(files.TEMPORARY_PREFIX + "*"))


# -- the workspace's part ------------------------------------------------------------


def test_contents_go_to_the_workspace(tmp_path: Path):
    """Private, ignored by git, apart for each data root, and nothing before something is put."""
    workspace = tmp_path / "ws"
    workspace.mkdir()
    sidecar = open_sidecar(workspace, "root_1", tmp_path / "data")
    assert not sidecar.has(sha(b"x"))
    assert os.listdir(workspace) == []
    assert sidecar.put(b"x") == sha(b"x")
    assert sidecar.problem is None
    assert sidecar.root == ".lockstitch/root_1"
    assert (workspace / ".lockstitch/.gitignore").read_bytes() == b"*\n"
    path = workspace / ".lockstitch/root_1/artifacts" / sha(b"x")[:2] / sha(b"x")
    assert sidecar.path_of(sha(b"x")) == path
    assert path.read_bytes() == b"x"
    for folder in (path.parent, *path.parent.parents):
        if folder == workspace:
            break
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not (tmp_path / "data").exists()
    assert sidecar.get(sha(b"x")) == b"x"


def test_without_a_workspace_contents_go_to_the_data_root(tmp_path: Path):
    """That is no problem, only how it is."""
    sidecar = open_sidecar(None, "root_1", tmp_path / "data")
    sidecar.put(b"x")
    assert sidecar.problem is None
    assert Store(tmp_path / "data").get(sha(b"x")) == b"x"
    assert write_version(sidecar, DOCUMENT) is None


PLACES = [".lockstitch", ".lockstitch/r", ".lockstitch/r/artifacts", f".lockstitch/r/artifacts/{sha(b'x')[:2]}"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["link", "dangling", "file", "fifo"])
def test_what_is_planted_is_not_trusted(tmp_path: Path, place: str, kind: str):
    """A link, file or FIFO anywhere on the way: contents go to the data root, and nothing through the link."""
    workspace, elsewhere = tmp_path / "ws", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (workspace / place).parent.mkdir(parents=True)
    if kind == "fifo":
        os.mkfifo(workspace / place)
    elif kind == "file":
        (workspace / place).write_bytes(b"mine")
    else:
        (workspace / place).symlink_to(elsewhere if kind == "link" else tmp_path / "none")
    sidecar = open_sidecar(workspace, "r", tmp_path / "data")
    with pytest.raises(UnavailableError):
        sidecar.get(sha(b"x"))
    assert sidecar.put(b"x") == sha(b"x")
    assert sidecar.problem
    assert sidecar.get(sha(b"x")) == b"x"
    assert Store(tmp_path / "data").has(sha(b"x"))
    assert os.listdir(elsewhere) == []
    assert not (tmp_path / "none").exists()
    if "artifacts" not in place:
        assert write_version(sidecar, DOCUMENT) is None


@pytest.mark.parametrize("kind", ["link", "fifo", "dir"])
def test_a_planted_gitignore(tmp_path: Path, kind: str):
    """It is not written through; a regular one that says something else stays."""
    folder = tmp_path / "ws" / ".lockstitch"
    folder.mkdir(parents=True)
    at = folder / ".gitignore"
    {"link": lambda: at.symlink_to(tmp_path / "none"), "fifo": lambda: os.mkfifo(at), "dir": at.mkdir}[kind]()
    sidecar = open_sidecar(tmp_path / "ws", "r", tmp_path / "data")
    sidecar.put(b"x")
    assert sidecar.problem
    assert not (tmp_path / "none").exists()
    at.rmdir() if kind == "dir" else at.unlink()
    at.write_bytes(b"artifacts\n")
    sidecar.put(b"x")
    assert sidecar.problem is None
    assert at.read_bytes() == b"artifacts\n"


def test_a_folder_of_another_user_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever made it may read and change what is in it."""
    (tmp_path / "ws" / ".lockstitch").mkdir(parents=True)
    monkeypatch.setattr(sidecar_module, "current_user", lambda: os.stat(tmp_path).st_uid + 1)
    sidecar = open_sidecar(tmp_path / "ws", "r", tmp_path / "data")
    sidecar.put(b"x")
    assert sidecar.problem
    assert os.listdir(tmp_path / "ws" / ".lockstitch") == []


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_workspace_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int):
    """Contents go to the data root, the reason is told, and later ones go to the workspace again."""
    (tmp_path / "ws").mkdir()
    sidecar = open_sidecar(tmp_path / "ws", "r", tmp_path / "data")

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(beneath.OpenDirectory, "make_directory", refuse)
        patch.setattr(Store, "_open", lambda self, *, create: beneath.PathDirectory(tmp_path))
        (tmp_path / sha(b"x")[:2]).mkdir()
        sidecar.put(b"x")
        assert sidecar.problem
        assert write_version(sidecar, DOCUMENT) is None
    sidecar.put(b"x")
    assert sidecar.problem is None


def test_a_workspace_that_is_gone(tmp_path: Path):
    """Its contents are missing, new ones go to the data root, and no workspace is made."""
    sidecar = open_sidecar(tmp_path / "gone", "r", tmp_path / "data")
    sidecar.put(b"x")
    assert sidecar.problem
    assert sidecar.get(sha(b"x")) == b"x"
    assert not (tmp_path / "gone").exists()


def test_the_worst_of_several_copies_is_told(tmp_path: Path):
    """Corrupt in the workspace and absent in the data root is corrupt; a sound safety copy is served."""
    (tmp_path / "ws").mkdir()
    sidecar = open_sidecar(tmp_path / "ws", "r", tmp_path / "data")
    sidecar.put(b"x")
    path = sidecar.path_of(sha(b"x"))
    assert path is not None
    spoil(path, "flipped")
    with pytest.raises(UnavailableError) as caught:
        sidecar.get(sha(b"x"))
    assert caught.value.facts["contentStatus"] == "corrupt"
    sidecar.fallback_store.put(b"x")
    assert sidecar.get(sha(b"x")) == b"x"


# -- version documents -----------------------------------------------------------------

DOCUMENT = {
    "threadId": "thread_1",
    "checkpointId": "cp_1",
    "path": "src/a.py",
    "versionNo": 1,
    "versionId": "v_1",
    "op": "created",
    "source": "agent",
    "createdAt": "2026-12-01T02:40:11.123456Z",
    "before": None,
    "after": {"sha256": sha(b"x"), "bytes": 1, "contentStatus": "available"},
    "turnId": None,
    "status": "ready",
    "notOfTheFormat": 1,
}


def test_version_documents(tmp_path: Path):
    """One a version, in the format's order of fields, and the newest with the list of all."""
    sidecar = open_sidecar(tmp_path, "root_1", tmp_path / "data")
    where = write_version(sidecar, DOCUMENT)
    folder = f".lockstitch/root_1/documents/thread_1/{artifact_id('src/a.py')}"
    assert where == f"{folder}/versions/v0001.artifact.json" == snapshot_path(sidecar, "thread_1", "src/a.py", 1)
    document = json.loads((tmp_path / where).read_text())
    assert list(document) == [
        "schemaVersion",
        "artifactId",
        "threadId",
        "checkpointId",
        "path",
        "versionNo",
        "versionId",
        "op",
        "source",
        "createdAt",
        "before",
        "after",
        "status",
    ]
    assert document["schemaVersion"] == "artifact_document.v1"
    write_version(sidecar, {**DOCUMENT, "versionNo": 2, "versionId": "v_2", "previousVersionId": "v_1"})
    write_version(sidecar, DOCUMENT)  # written again after a crash: it does not become the newest
    current = json.loads((tmp_path / folder / "current.artifact.json").read_text())
    assert current["versionNo"] == 2
    assert current["artifactVersions"] == [{"id": "v_1", "versionNo": 1}, {"id": "v_2", "versionNo": 2}]
    assert sorted(os.listdir(tmp_path / folder / "versions")) == ["v0001.artifact.json", "v0002.artifact.json"]
    listed = [{"id": "v_3", "versionNo": 3}, {"id": "v_1", "versionNo": 1}]
    write_version(sidecar, {**DOCUMENT, "versionNo": 12345, "versionId": "v_x"}, listed)
    current = json.loads((tmp_path / folder / "current.artifact.json").read_text())
    assert [entry["versionNo"] for entry in current["artifactVersions"]] == [1, 3, 12345]


def test_another_process_writes_documents_of_the_same_path(tmp_path: Path):
    """What it wrote meanwhile is in the list too, whoever writes next, and a late document is not the newest."""
    (tmp_path / "ws").mkdir()
    ours, theirs = (open_sidecar(tmp_path / "ws", "r", tmp_path / "data") for _ in range(2))
    for number, sidecar in enumerate((ours, ours, theirs, theirs, ours, theirs, ours, ours), 1):
        write_version(sidecar, {**DOCUMENT, "versionNo": number, "versionId": f"v_{number}"})
    write_version(ours, {**DOCUMENT, "versionNo": 3, "versionId": "v_3"})
    write_version(ours, {**DOCUMENT, "versionNo": 9, "versionId": "v_9"})
    (written,) = (tmp_path / "ws/.lockstitch/r/documents/thread_1").glob("*/current.artifact.json")
    current = json.loads(written.read_bytes())
    assert current["artifactVersions"] == [{"id": f"v_{number}", "versionNo": number} for number in range(1, 10)]
    assert current["versionId"] == "v_9"
    assert b'"path":"src/a.py"' in written.read_bytes()


@pytest.mark.parametrize("found", [b"", b"garbage", b"[]", b'{"artifactVersions": 1, "versionNo": "x"}', b"[" * 100000])
def test_a_found_current_document_is_not_trusted(tmp_path: Path, found: bytes):
    """Whatever stands there is replaced."""
    sidecar = open_sidecar(tmp_path, "r", tmp_path / "data")
    where = write_version(sidecar, DOCUMENT)
    assert where is not None
    current = (tmp_path / where).parent.parent / "current.artifact.json"
    current.write_bytes(found)
    write_version(sidecar, DOCUMENT)
    assert json.loads(current.read_bytes())["artifactVersions"] == [{"id": "v_1", "versionNo": 1}]


def test_names_in_documents(tmp_path: Path):
    """A path that is not Unicode is there exactly; ids that are no names are hashed."""
    sidecar = open_sidecar(tmp_path, "r", tmp_path / "data")
    path = os.fsdecode(b"caf\xe9")
    where = write_version(sidecar, {**DOCUMENT, "path": path, "threadId": "../evil"})
    assert where is not None
    assert where.startswith(".lockstitch/r/documents/id.")
    assert where == snapshot_path(sidecar, "../evil", path, 1)
    document = json.loads((tmp_path / where).read_text())
    assert (document["path"], document["pathBase64"]) == ("caf\ufffd", "Y2Fm6Q==")


def test_the_diff_in_a_document_is_bounded(tmp_path: Path):
    """Cut between hunks, so that what is left applies."""
    before = b"".join(b"%d\n" % n for n in range(40000))
    after = before.replace(b"5\n", b"five\n")
    unified = diff_files(before, after, path="a").unified
    cut = bounded_diff(unified)
    assert 0 < len(cut) <= MAX_DIFF_BYTES < len(unified)
    assert unified.startswith(cut + "@@ ")
    assert bounded_diff(unified, 20) == ""
    assert bounded_diff("short") == "short"
    sidecar = open_sidecar(tmp_path, "r", tmp_path / "data")
    where = write_version(sidecar, {**DOCUMENT, "artifactVersionDiff": unified})
    assert where is not None
    assert json.loads((tmp_path / where).read_text())["artifactVersionDiff"] == cut


def test_a_clearing_of_what_dead_processes_left_spares_what_another_thread_is_staging(tmp_path: Path):
    """The first content that a process stores clears; a second thread may be on its way to the same place."""
    root = tmp_path / "artifacts"
    Store(root).put(b"there is a folder")
    (root / f"{files.TEMPORARY_PREFIX}0123456789abcdef").write_bytes(b"of a dead process")
    store, other = Store(root), Store(root)
    store.alone = other.alone = lambda: True
    moved = store_module._Staged.move  # pyright: ignore[reportPrivateUsage]

    def clears_meanwhile(staged: store_module._Staged) -> os.stat_result:  # pyright: ignore[reportPrivateUsage]
        monkeypatch.undo()
        other.put(b"the first content of another thread")
        return moved(staged)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(store_module._Staged, "move", clears_meanwhile)  # pyright: ignore[reportPrivateUsage]
        assert store.get(store.put(b"on its way")) == b"on its way"
    assert not list(root.glob(files.TEMPORARY_PREFIX + "*"))
