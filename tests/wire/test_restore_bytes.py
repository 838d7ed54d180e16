"""Bytes, names, links: sections G and H of the field reports, and what is never touched or followed."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.wire.host import Host
from tests.wire.test_restore import CHECKPOINT, Scene, actions, sha, tree

covers = pytest.mark.covers

SAMPLES = {
    "cp1252.txt": b"caf\x99 \xe9\n" * 3,
    "gbk.txt": "中文 公共函数\n".encode("gbk"),
    "utf16.txt": "\ufeffhé\r\n".encode("utf-16-le"),
    "cr.txt": b"a\rb\rc",
    "mixed.txt": b"a\r\nb\nc\rd",
    "noeol.txt": b"no end",
    "all.bin": bytes(range(256)) * 64,
    "empty": b"",
}
NAMES = [
    "公共函数.cpp",
    unicodedata.normalize("NFC", "é.txt"),
    unicodedata.normalize("NFD", "é.txt"),
    "🪡 thread.txt",
    "two  spaces .txt",
    "-dash.txt",
    "new\nline.txt",
    'quo"te\\back.txt',
    "Case.txt",
    "case.txt",
    "%41.txt",
    "a" * 240,
]


@pytest.fixture
def scene(host: Host, workspace: Path) -> Scene:
    return Scene(host, workspace)


def test_b74_every_name_comes_back(scene: Scene) -> None:
    """B74: non-ASCII, NFC beside NFD, emoji, spaces, a leading dash, a newline, names that differ only in case."""
    scene.turn()
    for name in NAMES:
        scene.agent(name, f"one {name}\n".encode(), 0o640, beforeAbsent=True)
    scene.end()
    scene.turn()
    for name in NAMES:
        scene.agent(name, b"two\n", 0o644)
    scene.end()
    done = scene.rewind(scene.turns[0])
    assert actions(done) == dict.fromkeys(NAMES, "write")
    for name in NAMES:
        assert scene.data(name) == f"one {name}\n".encode(), name
        assert (scene.workspace / name).stat().st_mode & 0o777 == 0o640, name
    scene.undo(rewindId=done["rewindId"])
    assert {scene.data(name) for name in NAMES} == {b"two\n"}
    assert sorted(os.listdir(scene.workspace)) == sorted([*NAMES, ".lockstitch"])


def test_a_name_that_is_not_unicode(scene: Scene) -> None:
    """The exact bytes of the name are kept beside its printable form and used on the disk."""
    name = os.fsdecode(b"caf\xe9.txt")
    encoded = base64.b64encode(b"caf\xe9.txt").decode()
    scene.turn()
    scene.write(name, b"1")
    made = scene.host.snapshot(scene.thread, scene.turns[0], {"pathBase64": encoded, "beforeAbsent": True})
    scene.write(name, b"2")
    scene.host.snapshot(scene.thread, scene.turns[0], {"pathBase64": encoded})
    done = scene.restore(made)
    assert done["plan"][0]["pathBase64"] == encoded
    assert scene.data(name) == b"1" and set(os.listdir(scene.workspace)) == {name, ".lockstitch"}
    scene.rewind(scene.turns[0], position="before")
    assert os.listdir(scene.workspace) == [".lockstitch"]


def test_names_that_print_alike_are_two_files(scene: Scene) -> None:
    """`caf\\xe9` and `caf\\xe8` both print with U+FFFD: each has its own versions, diffs, documents and way back."""
    names = [b"caf\xe9.txt", b"caf\xe8.txt"]
    encoded = [base64.b64encode(name).decode() for name in names]
    shown = "caf\ufffd.txt"
    scene.turn()
    for name, code in zip(names, encoded, strict=True):
        scene.write(os.fsdecode(name), code.encode())
        scene.host.snapshot(scene.thread, scene.turns[0], {"pathBase64": code, "beforeAbsent": True})
    scene.end()
    later = scene.turn()
    for number, (name, code) in enumerate(zip(names, encoded, strict=True)):
        scene.write(os.fsdecode(name), b"user\n")  # recorded as external, with the exact name as well
        scene.host.snapshot(scene.thread, later, {"pathBase64": code, "content": f"{number}\n"})
        scene.write(os.fsdecode(name), f"{number}\n".encode())
    for number, code in enumerate(encoded):
        found = scene.host.call(f"{CHECKPOINT}/list", sessionId=scene.thread, pathBase64=code)["checkpoints"]
        assert [(c["pathBase64"], c["versionNo"], c["source"]) for c in found] == [
            (code, 3, "agent"),
            (code, 2, "external"),
            (code, 1, "agent"),
        ]
        got = scene.host.call(f"{CHECKPOINT}/get", sessionId=scene.thread, checkpointId=found[0]["checkpointId"])
        assert got["content"] == f"{number}\n" and len(got["versionHistory"]) == 3
        assert (got["livePath"], got["liveState"]) == (shown, "same")
        assert (scene.workspace / found[0]["snapshotPath"]).is_file()
        shown_diff = scene.host.call(
            f"{CHECKPOINT}/diff", sessionId=scene.thread, checkpointId=found[0]["checkpointId"]
        )
        assert f"caf\\35{1 - number}.txt" in shown_diff["diff"]["unified"]
    assert len(scene.host.checkpoints(scene.thread, path=shown)) == 6
    done = scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, pathsBase64=encoded)
    assert done["unchanged"] == [shown, shown] and not done["captured"]
    rewound = scene.rewind(scene.turns[0], pathsBase64=[encoded[1]])
    assert [step["pathBase64"] for step in rewound["plan"]] == [encoded[1]]
    assert scene.data(os.fsdecode(names[0])) == b"0\n"
    assert scene.data(os.fsdecode(names[1])) == encoded[1].encode()
    scene.undo(rewindId=rewound["rewindId"])
    assert scene.data(os.fsdecode(names[1])) == b"1\n"
    assert len(scene.rewind(scene.turns[0], paths=[shown])["plan"]) == 2
    assert [scene.data(os.fsdecode(name)) for name in names] == [code.encode() for code in encoded]


def test_versions_outlive_git_clean_and_the_workspace(scene: Scene) -> None:
    """`git clean -fdx` takes `.lockstitch` too; the data root has the versions still, also for a new workspace."""
    subprocess.run(["git", "init", "-q", str(scene.workspace)], check=True)
    scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    newest = scene.agent("a.txt", b"2\n" * 9000)
    subprocess.run(["git", "-C", str(scene.workspace), "clean", "-qffdx"], check=True)
    assert os.listdir(scene.workspace) == [".git"]
    for checkpoint, data in ((made, b"1\n"), (newest, b"2\n" * 9000)):
        got = scene.host.call(f"{CHECKPOINT}/get", sessionId=scene.thread, checkpointId=checkpoint["checkpointId"])
        assert (got["contentStatus"], got["content"].encode()) == ("available", data)
        scene.restore(checkpoint)
        assert scene.data("a.txt") == data
    shutil.rmtree(scene.workspace)
    scene.workspace.mkdir()
    scene.restore(made)
    assert scene.data("a.txt") == b"1\n"


def test_b75_bytes_are_never_decoded(scene: Scene) -> None:
    """B75: whatever the encoding or line ends: get and restore give the very bytes back, diffs say what they are."""
    scene.turn()
    made = {name: scene.agent(name, data, beforeAbsent=True) for name, data in SAMPLES.items()}
    for name, checkpoint in made.items():
        scene.agent(name, b"went on\n")
        got = scene.host.call(
            f"{CHECKPOINT}/get", sessionId=scene.thread, checkpointId=checkpoint["checkpointId"], **{"as": "base64"}
        )
        assert base64.b64decode(got["contentBase64"]) == SAMPLES[name]
        scene.restore(checkpoint)
        assert scene.data(name) == SAMPLES[name], name
    diff = scene.host.call(
        f"{CHECKPOINT}/diff",
        sessionId=scene.thread,
        checkpointId=scene.host.checkpoints(scene.thread, path="cp1252.txt")[0]["checkpointId"],
    )["diff"]
    assert diff["binary"] is True and diff["encodingChanged"] is True


def test_git_settings_convert_nothing(scene: Scene) -> None:
    """Independent of attributes and of core.autocrlf, in a repository too."""
    git(scene.workspace, "init", "-q")
    git(scene.workspace, "config", "core.autocrlf", "true")
    scene.write(".gitattributes", b"* text eol=crlf\n*.txt filter=upper\n")
    scene.turn()
    made = scene.agent("a.txt", b"a\nb\r\n", beforeAbsent=True)
    scene.agent("a.txt", b"x\r\n")
    scene.restore(made)
    assert scene.data("a.txt") == b"a\nb\r\n"


def git(where: Path, *args: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always", *args],
        cwd=where,
        check=True,
        capture_output=True,
    )


def test_b78_nothing_under_any_git_changes(scene: Scene) -> None:
    """B78: a repository with a nested one, a submodule and a worktree: restores move no byte and no mtime of it."""
    outer, nested = scene.workspace, scene.workspace / "nested"
    source = scene.workspace.parent / "source"
    for repository in (source, outer, nested):
        repository.mkdir(exist_ok=True)
        git(repository, "init", "-q")
        (repository / "tracked.txt").write_bytes(b"tracked\n")
        git(repository, "add", "tracked.txt")
        git(repository, "commit", "-qm", "one")
    git(outer, "submodule", "--quiet", "add", str(source), "module")
    git(nested, "worktree", "add", "-q", str(outer / "tree"))
    scene.turn()
    paths = ["tracked.txt", "nested/tracked.txt", "module/tracked.txt", "tree/tracked.txt"]
    scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, turnId=scene.turns[0], paths=paths)
    scene.end()
    scene.turn()
    for path in paths:
        scene.agent(path, b"agent\n")
    scene.end()
    before = {name: value for name, value in tree(outer).items() if ".git" in name.split("/")}
    assert len(before) > 50
    done = scene.rewind(scene.turns[0])
    assert {scene.data(path) for path in paths} == {b"tracked\n"}
    scene.undo(rewindId=done["rewindId"])
    assert {name: value for name, value in tree(outer).items() if ".git" in name.split("/")} == before


def test_b79_one_unreadable_file_costs_only_itself(scene: Scene) -> None:
    """B79: of 100 files one cannot be read: 99 are captured, one is reported; those can be restored."""
    scene.turn()
    for number in range(100):
        scene.write(f"f{number:02}.txt", f"{number}\n".encode())
    (scene.workspace / "f50.txt").unlink()
    (scene.workspace / "f50.txt").mkdir()  # as root nothing is unreadable by its mode
    paths = [f"f{number:02}.txt" for number in range(100)]
    found = scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, paths=paths)
    assert len(found["captured"]) == 99 and [entry["path"] for entry in found["failed"]] == ["f50.txt"]
    scene.end()
    scene.turn()
    scene.agent("f49.txt", b"agent\n")
    scene.end()
    scene.rewind(scene.turns[0])
    assert scene.data("f49.txt") == b"49\n"


def test_modes_and_owners(scene: Scene) -> None:
    """Mode comes back as recorded, never with setuid; owner and attributes of the file stay."""
    scene.turn()
    made = scene.agent("key", b"1", 0o600, beforeAbsent=True)
    scene.agent("key", b"2", 0o600)
    if os.geteuid() == 0:
        os.chown(scene.workspace / "key", 12345, 12346)
    os.setxattr(scene.workspace / "key", "user.note", b"kept")
    os.chmod(scene.workspace / "key", 0o4600)
    scene.restore(made)
    status = (scene.workspace / "key").stat()
    assert status.st_mode & 0o7777 == 0o600
    assert os.getxattr(scene.workspace / "key", "user.note") == b"kept"
    if os.geteuid() == 0:
        assert (status.st_uid, status.st_gid) == (12345, 12346)


def test_a_version_without_a_mode_keeps_the_files_own(scene: Scene) -> None:
    """Content that came in the event has no mode: the file keeps what it has; a new one gets the user's default."""
    scene.turn()
    made = scene.host.snapshot(scene.thread, scene.turns[0], {"path": "a", "content": "1", "beforeAbsent": True})
    assert "mode" not in made["after"]
    scene.agent("a", b"2", 0o711)
    scene.restore(made)
    assert scene.data("a") == b"1" and (scene.workspace / "a").stat().st_mode & 0o777 == 0o711
    loose = scene.host.snapshot(scene.thread, scene.turns[0], {"path": "b", "content": "1", "beforeAbsent": True})
    scene.restore(loose)
    usual = scene.workspace / "usual"
    usual.touch()
    assert (scene.workspace / "b").stat().st_mode == usual.stat().st_mode


# -- planted things -----------------------------------------------------------------------------------------------
def _link(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(outside / "victim")


def _linked_folder(path: Path, outside: Path) -> None:
    path.parent.rename(path.parent.with_name("was"))
    path.parent.symlink_to(outside)


def _hard_link(path: Path, outside: Path) -> None:
    path.unlink()
    os.link(outside / "victim", path)


def _fifo(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _socket(path: Path, outside: Path) -> None:
    path.unlink()
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _folder(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()


def _file_for_folder(path: Path, outside: Path) -> None:
    path.parent.rename(path.parent.with_name("was"))
    path.parent.write_bytes(b"file")


PLANTS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "symlink": (_link, "symlink"),
    "symlink parent": (_linked_folder, "symlink"),
    "hard link": (_hard_link, "hardLink"),
    "fifo": (_fifo, "specialFile"),
    "socket": (_socket, "specialFile"),
    "directory": (_folder, "directory"),
    "file for folder": (_file_for_folder, "notADirectory"),
}


@covers("pathRefused")
@pytest.mark.parametrize("plant", PLANTS)
def test_what_is_planted_after_capture_is_not_followed(scene: Scene, plant: str) -> None:
    """Links, special files and folders in the way: refused with a reason, in the plan too; nothing else moves."""
    outside = scene.workspace.parent / "outside"
    outside.mkdir()
    (outside / "victim").write_bytes(b"secret")
    (outside / "a.txt").write_bytes(b"secret")
    scene.turn()
    scene.end()
    scene.turn()
    made = scene.agent("sub/a.txt", b"1\n", beforeAbsent=True)
    scene.agent("sub/a.txt", b"2\n")
    scene.agent("b.txt", b"b\n", beforeAbsent=True)
    scene.end()
    act, reason = PLANTS[plant]
    act(scene.workspace / "sub" / "a.txt", outside)
    secrets = tree(outside)
    for backup in ("refuse", "backup"):
        data = scene.refused("pathRefused", "restore", checkpointId=made["checkpointId"], onConflict=backup)
        assert data["reason"] == reason
        assert scene.refused("pathRefused", "rewind", toTurnId=scene.turns[0], onConflict=backup)["reason"] == reason
    plan = scene.rewind(scene.turns[0], dryRun=True)["plan"]
    assert [(step["path"], step["action"], step.get("reason")) for step in plan] == [
        ("b.txt", "delete", None),
        ("sub/a.txt", "unavailable", reason),
    ]
    assert tree(outside) == secrets


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_mount_inside_the_workspace_is_not_entered(scene: Scene, kind: str) -> None:
    """A folder or a file bound in from elsewhere, on the same disk too, is refused."""
    outside = scene.workspace.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_bytes(b"2\n")
    scene.turn()
    made = scene.agent("sub/a.txt", b"1\n", beforeAbsent=True)
    scene.agent("sub/a.txt", b"2\n")
    at = scene.workspace / "sub" / ("" if kind == "folder" else "a.txt")
    source = outside if kind == "folder" else outside / "a.txt"
    if subprocess.run(["mount", "--bind", str(source), str(at)], capture_output=True, check=False).returncode:
        pytest.skip("no mount here")
    try:
        data = scene.host.refused(
            "pathRefused",
            f"{CHECKPOINT}/restore",
            sessionId=scene.thread,
            checkpointId=made["checkpointId"],
            confirmRestore=True,
        ).data
        assert data["reason"] == "mountPoint"
        assert (outside / "a.txt").read_bytes() == b"2\n"
    finally:
        subprocess.run(["umount", str(at)], check=True)


def test_b73_a_planted_store_is_not_believed(scene: Scene) -> None:
    """B73: contents are verified, version documents never read back; a planted one changes no answer."""
    scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.agent("a.txt", b"2\n")
    (blob,) = scene.workspace.rglob(sha(b"1\n"))
    blob.chmod(0o600)
    blob.write_bytes(b"evil\n")
    for copy in (scene.host.root / "data").rglob(sha(b"1\n")):
        copy.write_bytes(b"evil\n")
    data = scene.refused("contentUnavailable", "restore", checkpointId=made["checkpointId"])
    assert data["contentStatus"] == "corrupt"
    document = scene.workspace / made["snapshotPath"]
    planted = document.read_text().replace('"a.txt"', '"../evil"')
    document.with_name("v9999.artifact.json").write_text(planted)
    document.write_text(planted)
    assert [c["path"] for c in scene.host.checkpoints(scene.thread)] == ["a.txt", "a.txt"]
    newest = scene.host.checkpoints(scene.thread)[0]
    assert actions(scene.restore(newest)) == {"a.txt": "keep"}
    assert not (scene.workspace.parent / "evil").exists()


def test_a_planted_sidecar_folder_is_not_followed(scene: Scene) -> None:
    """`.lockstitch` replaced by a link after capture: contents are then missing, and nothing goes through it."""
    scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.agent("a.txt", b"2\n")
    ours, outside = scene.workspace / ".lockstitch", scene.workspace.parent / "outside"
    ours.rename(outside)
    ours.symlink_to(outside)
    before = tree(outside)
    for copy in (scene.host.root / "data").rglob(sha(b"1\n")):
        copy.unlink()
    assert scene.refused("contentUnavailable", "restore", checkpointId=made["checkpointId"])["contentStatus"]
    newest = scene.host.checkpoints(scene.thread)[0]
    scene.write("a.txt", b"mine\n")
    scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, paths=["a.txt"])
    assert newest and tree(outside) == before


# -- section H ----------------------------------------------------------------------------------------------------
def test_b83_similar_workspaces_share_nothing(host: Host, tmp_path: Path) -> None:
    """B83: /a-b/c, /a/b-c and /a_b/c are three stores."""
    scenes = [Scene(host, (tmp_path / name).resolve()) for name in ("a-b/c", "a/b-c", "a_b/c")]
    for number, scene in enumerate(scenes):
        scene.workspace.mkdir(parents=True)
        scene.turn()
        scene.agent("x.txt", f"{number}\n".encode(), beforeAbsent=True)
        scene.agent("x.txt", b"later\n")
    for number, scene in enumerate(scenes):
        assert len(list(scene.workspace.glob(".lockstitch/*/artifacts/*/*"))) == 2
        scene.restore(scene.host.checkpoints(scene.thread)[1])
        assert scene.data("x.txt") == f"{number}\n".encode()


def test_b84_a_moved_workspace_is_linked_again(scene: Scene, tmp_path: Path) -> None:
    """B84: after a move the thread is whole, says where it was, and goes on once it is linked to the new place."""
    scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.agent("a.txt", b"2\n")
    moved = tmp_path.resolve() / "moved"
    scene.workspace.rename(moved)
    assert len(scene.host.checkpoints(scene.thread)) == 2
    error = scene.host.refused(
        "workspaceUnavailable",
        f"{CHECKPOINT}/restore",
        sessionId=scene.thread,
        checkpointId=made["checkpointId"],
        confirmRestore=True,
    )
    assert error.data["path"] == str(scene.workspace) and "ink the thread" in error.message
    scene.host.call("thread/metadata/update", threadId=scene.thread, workspace=str(moved))
    scene.restore(made)
    assert (moved / "a.txt").read_bytes() == b"1\n" and not scene.workspace.exists()


def test_b86_a_path_of_240_cjk_characters(host: Host, tmp_path: Path) -> None:
    """B86: long names and deep folders of three bytes a character work, staged names and documents too."""
    deep = tmp_path.resolve() / ("漢" * 80) / ("字" * 80) / ("符" * 80)
    deep.mkdir(parents=True)
    scene = Scene(host, deep)
    scene.turn()
    path = "/".join(["文" * 47, "件" * 47, "名" * 47])  # 141 bytes each: eCryptfs stops at 143
    made = scene.agent(path, b"1\n", beforeAbsent=True)
    scene.agent(path, b"2\n")
    scene.restore(made)
    assert scene.data(path) == b"1\n" and (deep / made["snapshotPath"]).is_file()
