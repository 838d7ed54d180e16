"""The rule of which data root, for each platform, and the frozen settings."""

from __future__ import annotations

import ntpath
import os
import posixpath
import sys

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from lockstitch.settings import (
    MAX_MESSAGE_BYTES,
    VARIABLES,
    RootChoice,
    Settings,
    UsageError,
    choose_root,
    parse_arguments,
)

LINUX = {"platform": "linux", "home": "/home/ada", "cwd": "/project"}
MAC = {"platform": "darwin", "home": "/Users/ada", "cwd": "/project"}
WINDOWS = {
    "platform": "win32",
    "home": "C:\\Users\\ada",
    "cwd": "D:\\work",
    "local_app_data": "C:\\Users\\ada\\AppData\\Local",
}


def chosen(argument: str | None = None, environ: dict[str, str] | None = None) -> tuple[str, str, str | None]:
    root = choose_root(argument, environ or {}, **LINUX)
    return root.path, root.source, root.variable


def test_the_first_rule_that_says_something_wins() -> None:
    environ = {name: f"/env/{name}" for name in VARIABLES}
    assert chosen("/given", environ) == ("/given", "argument", None)
    for name in ("LOCKSTITCH_DATA_DIR", "APP_SERVER_DATA_DIR", "LOCKSTITCH_RUNTIME_ROOT"):
        assert chosen(None, environ) == (f"/env/{name}", "environment", name)
        environ[name] = ""  # counts as unset
    assert chosen(None, environ) == ("/home/ada/.local/share/lockstitch/app-server", "platform", None)


@pytest.mark.skipif(sys.platform == "win32", reason="platformdirs joins with the running system's separator")
@pytest.mark.parametrize("data_home", ["", "/xdg/data", "/xdg//data/", "relative/data"])
def test_linux_is_what_platformdirs_says(monkeypatch: pytest.MonkeyPatch, data_home: str) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", data_home)
    theirs = Unix("lockstitch", version="app-server").user_data_dir
    assert chosen(None, dict(os.environ, **dict.fromkeys(VARIABLES, "")))[0] == posixpath.normpath(theirs)


@pytest.mark.skipif(sys.platform == "win32", reason="platformdirs joins with the running system's separator")
def test_macos_is_what_platformdirs_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """And stays so when a shell exports XDG_DATA_HOME, which a program started from the desktop does not see."""
    monkeypatch.setenv("HOME", "/Users/ada")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    theirs = MacOS("lockstitch", version="app-server").user_data_dir
    assert theirs == "/Users/ada/Library/Application Support/lockstitch/app-server"
    assert choose_root(None, {}, **MAC).path == theirs
    assert choose_root(None, {"XDG_DATA_HOME": "/xdg"}, **MAC).path == theirs


def test_windows_is_what_platformdirs_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local, never roaming, and not the directory where an installer puts the program."""
    monkeypatch.setattr("platformdirs.windows.get_win_folder", lambda name: {"CSIDL_LOCAL_APPDATA": "L:\\Local"}[name])
    theirs = Windows("app-server", "Lockstitch Data").user_data_dir.replace("/", "\\")
    ours = choose_root(None, {}, **{**WINDOWS, "local_app_data": "L:\\Local"})
    assert (ours.path, ours.source) == (theirs, "platform")
    assert ours.path == "L:\\Local\\Lockstitch Data\\app-server"
    # what the process asks for at run time is the folder itself
    assert Windows().user_data_dir == "L:\\Local"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("data", "/project/data"),
        ("./data/", "/project/data"),
        ("../data", "/data"),
        ("../../../data", "/data"),
        ("/a//b/./c/", "/a/b/c"),
        ("/a/link/../b", "/a/link/../b"),  # a link could make it mean another place
        ("link/../b", "/project/link/../b"),
        ("../a/../b", "/a/../b"),
        ("~/data", "/home/ada/data"),
        ("~", "/home/ada"),
        ("~bob/data", "/project/~bob/data"),
    ],
)
def test_the_path_is_absolute_and_links_are_not_resolved(given: str, path: str) -> None:
    assert chosen(given)[0] == path
    assert chosen(None, {"APP_SERVER_DATA_DIR": given})[0] == path


def test_relative_paths_on_windows() -> None:
    for given, path in (
        ("data", "D:\\work\\data"),
        ("E:/x/../y", "E:\\y"),
        ("~\\data", "C:\\Users\\ada\\data"),
        ("\\\\server\\share\\d", "\\\\server\\share\\d"),
    ):
        root = choose_root(given, {}, **WINDOWS)
        assert root.path == path
        assert ntpath.isabs(root.path)


def test_arguments() -> None:
    found = parse_arguments(["--data-dir=/a", "--data-dir", "/b", "--parent-pid", "7", "--log-level=debug", "--stdio"])
    assert (found.data_dir, found.parent_pid, found.log_level) == ("/b", 7, "debug")
    assert found.max_message_bytes == MAX_MESSAGE_BYTES
    assert parse_arguments(["--stdio", "--clientProcessId=8"]).parent_pid == 8
    assert parse_arguments(["--backend", "--app-policy"]).accepted == ["--backend --app-policy"]
    assert parse_arguments(["--version", "--help"]).wants == "version"
    with pytest.raises(UsageError, match="--nope"):
        parse_arguments(["--nope=1"])
    with pytest.raises(UsageError, match="needs a value"):
        parse_arguments(["--backend"])


def test_settings_are_frozen() -> None:
    settings = Settings(RootChoice("/d", "argument"))
    assert settings.data_root == "/d"
    with pytest.raises(AttributeError):
        settings.log_level = "debug"
