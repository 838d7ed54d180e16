"""Which paths name a file of the workspace, on every platform, and which are refused."""

from __future__ import annotations

import ntpath
import os
import posixpath
from pathlib import Path
from types import ModuleType

import pytest

from lockstitch.artifacts import paths
from lockstitch.artifacts.names import is_protected
from lockstitch.errors import InvalidError, RefusedError

STYLES = [pytest.param(posixpath, id="posix"), pytest.param(ntpath, id="windows")]

REFUSED = {
    "empty": ["", ".", "./", "./."],
    "nul": ["a\0b", "\0"],
    "outsideWorkspace": ["..", "../x", "a/../../x", "a/..", "a/../b", "..\\x", "a\\..\\..\\x", "/etc/passwd", "\\x"],
    "unc": ["//server/share/x", "\\\\server\\share\\x", "\\\\?\\C:\\x", "//./x"],
    "drive": ["C:\\x", "C:/x", "c:x", "./C:x", "z:"],
    "home": ["~", "~/x", "~root/x", "./~/x"],
    "protected": [
        ".git",
        ".git/config",
        "a/.git/hooks/x",
        ".GIT/config",
        ".Git",
        ".git./x",
        ".git /x",
        ".git. . /x",
        ".git::$INDEX_ALLOCATION/config",
        ".git:stream",
        "git~1/config",
        "GIT~2",
        "GI7EBA~1/x",
        ".g\u200cit/config",
        ".\ufeffgit",
        ".gi\u00adt/x",
        "a\\.git\\config",
        ".lockstitch/artifacts/x",
        ".LockStitch/x",
        ".loc\u212astitch/x",
        ".lockﬆitch/x",
        "LOCKST~1/x",
    ],
    "reservedName": ["CON", "nul", "a/NUL.txt", "aux.c", "COM1", "lpt9.log", "com¹", "prn .txt", "CONIN$", "nul:x"],
    "trailingDotOrSpace": ["a.", "a /b", "a/b...", "...", "a/ "],
    "alternateStream": ["a.txt::$DATA", "dir:$I30/x", "a.txt:s:$DATA"],
    "directory": ["a/", "a/b/", "a/."],
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("reason", "path"), [(r, p) for r, given in REFUSED.items() for p in given])
def test_refused_everywhere(reason: str, path: str, style: ModuleType):
    """The same answer whatever the platform, with and without a workspace."""
    for workspace in (None, "/project/space" if style is posixpath else "D:\\work"):
        with pytest.raises(RefusedError) as caught:
            paths.workspace_path(path, workspace, style=style)
        assert caught.value.kind == "pathRefused"
        if not (style is ntpath and path in ("z:", "C:/x", "C:\\x")):  # absolute there, and outside
            assert caught.value.facts["reason"] == reason, caught.value


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "path",
    [
        "a.txt",
        "src/a.py",
        "-dash.txt",
        "with space.txt",
        "公共 函数 é.txt",
        "e\u0301.txt",
        "\u00e9.txt",
        ".gitignore",
        ".github/workflows/x.yml",
        "git",
        "foo.git/config",
        ".lockstitch.md",
        "console.txt",
        "common/com10.txt",
        "a~1.txt",
        "dir/~tmp",
        "a..b/..c",
        "nulls",
        "😀.txt",
        os.fsdecode(b"caf\xe9.txt"),
    ],
)
def test_legitimate_names_pass_unchanged(path: str, style: ModuleType):
    """Nothing that is a plain file everywhere is refused or changed."""
    assert paths.workspace_path(path, None, style=style) == path


@pytest.mark.parametrize(
    "path", ["new\nline.txt", "12:30.log", "pkg::mod.md", "back\\slash.txt", 'quo"te', "a*b", "tab\t"]
)
def test_names_that_only_windows_forbids(path: str):
    """A colon, a control character or a wildcard is part of a name elsewhere."""
    assert paths.workspace_path(path, None, style=posixpath) == path
    if path != "back\\slash.txt":
        with pytest.raises(RefusedError):
            paths.workspace_path(path, None, style=ntpath)


def test_spelling_is_made_one():
    """`./` and double slashes go; a backslash separates on Windows."""
    assert paths.workspace_path("./a//b/./c.txt", None, style=posixpath) == "a/b/c.txt"
    assert paths.workspace_path(".\\a\\b.txt", None, style=ntpath) == "a/b.txt"


def test_absolute_paths_on_windows():
    """Case and kind of slash do not matter there; a share works if the workspace is on it."""
    assert paths.workspace_path("c:/WORK/Src\\a.txt", "C:\\work", style=ntpath) == "Src/a.txt"
    assert paths.workspace_path("\\\\srv\\share\\ws\\a.txt", "\\\\srv\\share\\ws", style=ntpath) == "a.txt"
    for path in ("C:\\workspace\\a.txt", "D:\\work\\a.txt", "C:\\work\\..\\x", "C:\\work", "C:\\work\\.git\\config"):
        with pytest.raises(RefusedError):
            paths.workspace_path(path, "C:\\work", style=ntpath)


def test_absolute_paths_inside_are_made_relative(tmp_path: Path):
    """Also through a link to the workspace, from either side; what only begins alike is outside."""
    workspace, link, beside = tmp_path / "ws", tmp_path / "link", tmp_path / "ws2"
    (workspace / "src").mkdir(parents=True)
    beside.mkdir()
    link.symlink_to(workspace)
    for root in (workspace, link, f"{workspace}/", f"{tmp_path}/ws2/../ws"):
        for spelled in (workspace, link):
            assert paths.workspace_path(f"{spelled}/src/new.txt", str(root)) == "src/new.txt"
    for path in (beside / "x", tmp_path, workspace, tmp_path / "gone/x", f"{workspace}/../x", f"{workspace}/.git/x"):
        with pytest.raises(RefusedError):
            paths.workspace_path(str(path), str(workspace))


def test_a_link_back_to_the_workspace_is_not_hidden(tmp_path: Path):
    """The first prefix that is the workspace counts: what follows stays to be judged by the disk."""
    (tmp_path / "loop").symlink_to(tmp_path)
    assert paths.workspace_path(f"{tmp_path}/loop/a", str(tmp_path)) == "loop/a"


def test_a_path_can_be_too_long():
    """Longer than any system takes."""
    with pytest.raises(RefusedError) as caught:
        paths.workspace_path("é/" * 1366 + "x", None)
    assert caught.value.facts["reason"] == "tooLong"


def test_what_is_refused_can_be_sent():
    """The facts are valid Unicode even if the path is not."""
    with pytest.raises(RefusedError) as caught:
        paths.workspace_path(os.fsdecode(b"../\xff"), None)
    (caught.value.message + caught.value.facts["path"]).encode()


def test_protected_names():
    """Directly, as restore will ask."""
    assert is_protected(".GIT.")
    assert not is_protected(".gitmodules")


def test_names_that_are_not_unicode_go_over_the_wire():
    """An approximate path with the exact bytes beside it; either comes back."""
    exact = os.fsdecode(b"caf\xe9/\xff.txt")
    wire = paths.path_to_wire(exact)
    assert wire == {"path": "caf\ufffd/\ufffd.txt", "pathBase64": "Y2Fm6S//LnR4dA=="}
    assert paths.path_from_wire(wire["path"], wire["pathBase64"]) == exact
    assert paths.path_to_wire("é") == {"path": "é"}
    assert paths.path_from_wire("é", None) == "é"
    for bad in ("%%%", "YQ"):
        with pytest.raises(InvalidError):
            paths.path_from_wire(None, bad)
    with pytest.raises(InvalidError):
        paths.path_from_wire(None, None)


def test_folder_names():
    """An id is a name only where it is safe as one; hashed names cannot be mistaken for ids."""
    assert paths.folder_name("Thread_1-a") == "Thread_1-a"
    odd = ["a.b", "a:b", "../x", "", "x" * 101, "CON", "nul", "é"]
    hashed = {paths.folder_name(name) for name in odd}
    assert len(hashed) == len(odd)
    assert all(name.startswith("id.") and len(name) == 35 for name in hashed)
    assert paths.folder_name("A.b") == paths.folder_name("a.B")


def test_artifact_ids_are_of_the_exact_bytes():
    """Two spellings of é are two files."""
    ids = {paths.artifact_id(p) for p in ("e\u0301", "\u00e9", os.fsdecode(b"\xe9"))}
    assert len(ids) == 3
    assert all(len(i) == 32 for i in ids)


def test_workspace_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A trailing slash, a link and a detour are one key; different directories never are."""
    (tmp_path / "Ws").mkdir()
    (tmp_path / "l").symlink_to("Ws")
    keys = {paths.workspace_key(str(tmp_path) + end) for end in ("/Ws", "/Ws/", "/l", "/./Ws", "/x/../Ws")}
    assert len(keys) == 1
    assert len({paths.workspace_key(p) for p in ("/a-b/c", "/a/b-c", "/a_b/c")}) == 3
    assert paths.workspace_key("") == ""
    assert paths.workspace_key("/") == "/"
    folding = os.path.exists(str(tmp_path / "wS"))
    assert (paths.workspace_key(str(tmp_path / "wS")) in keys) == folding
    long = "/" + "界" * 240
    assert paths.workspace_key(long) == long

    # A disk that folds case: every spelling finds the same entry.
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: real(str(path).lower().replace(str(tmp_path).lower(), str(tmp_path))))
    (tmp_path / "ws").mkdir()
    one = paths.workspace_key(str(tmp_path / "WS"))
    assert one == paths.workspace_key(str(tmp_path / "ws"))
    assert paths.workspace_key(str(tmp_path / "WS" / "Gone")) == paths.workspace_key(str(tmp_path / "ws" / "gone"))
