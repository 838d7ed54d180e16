"""Settings of one process, from its arguments, the environment and the platform: decided once, then frozen.

Invariant: nothing else in the product reads the environment, a home directory or the current directory.
Invariant: importing this costs next to nothing (no dataclasses, typing, pathlib or argparse), because it
stands before the first reply.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Final

VARIABLES: Final = ("LOCKSTITCH_DATA_DIR", "APP_SERVER_DATA_DIR", "LOCKSTITCH_RUNTIME_ROOT")
"""Environment variables that name the data root, the first that is not empty wins."""

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
LOCK_SECONDS: Final = 10.0
LOG_LEVELS: Final = ("debug", "info", "warning", "error")

USAGE: Final = """\
usage: lockstitch-sidecar [--data-dir DIR] [--parent-pid PID]
                          [--max-message-bytes N] [--log-level LEVEL]

Speaks JSON-RPC on stdin and stdout until stdin ends.

  --data-dir DIR          where everything is kept (else LOCKSTITCH_DATA_DIR,
                          APP_SERVER_DATA_DIR, LOCKSTITCH_RUNTIME_ROOT, else
                          the platform's own place)
  --parent-pid PID        end when this process ends; --clientProcessId is the
                          same
  --max-message-bytes N   the largest message that is taken (default 67108864)
  --log-level LEVEL       debug, info, warning or error (default info); the log
                          goes to stderr and to log/sidecar.log in the data root
  --stdio                 accepted: stdin and stdout are all there is
  --listen stdio://       accepted, no other address
  --backend X             accepted, without effect
  --app-policy X          accepted, without effect
  --version, --help
"""


class UsageError(Exception):
    """The process cannot start like this; the message is one line that says what to do."""


class RootChoice:
    """Which data root, and which rule gave it. `source` is argument, environment or platform."""

    __slots__ = ("path", "source", "variable")

    def __init__(self, path: str, source: str, variable: str | None = None) -> None:
        self.path = path
        self.source = source
        self.variable = variable


class Settings:
    """What this process was told. Frozen."""

    __slots__ = (
        "accepted",
        "faults",
        "lock_seconds",
        "log_level",
        "max_message_bytes",
        "parent_pid",
        "read_only",
        "root",
    )

    root: RootChoice
    read_only: bool
    """The data root cannot be written: it is served for reading."""
    max_message_bytes: int
    parent_pid: int | None
    log_level: str
    lock_seconds: float
    """How long a change waits for the write lock of the data root."""
    faults: str | None
    """A plan of faults to obey: tests only."""
    accepted: tuple[str, ...]
    """Arguments of hosts that are taken without effect, for the log."""

    def __init__(
        self,
        root: RootChoice,
        *,
        read_only: bool = False,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        parent_pid: int | None = None,
        log_level: str = "info",
        lock_seconds: float = LOCK_SECONDS,
        faults: str | None = None,
        accepted: tuple[str, ...] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "root", root)
        put(self, "read_only", read_only)
        put(self, "max_message_bytes", max_message_bytes)
        put(self, "parent_pid", parent_pid)
        put(self, "log_level", log_level)
        put(self, "lock_seconds", lock_seconds)
        put(self, "faults", faults)
        put(self, "accepted", accepted)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen: {name}")

    @property
    def data_root(self) -> str:
        """The data root, absolute, links not resolved."""
        return self.root.path

    @property
    def session_homes(self) -> dict[str, str]:
        """Where other tools keep their sessions, by the tool's name. Worked out when it is asked for."""
        home = _home()
        return {
            "codex": os.environ.get("CODEX_HOME") or os.path.join(home, ".codex"),
            "claude": os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"),
            "gemini": os.path.join(os.environ.get("GEMINI_CLI_HOME") or home, ".gemini"),
        }


class Arguments:
    """The command line of the sidecar, taken apart."""

    __slots__ = ("accepted", "data_dir", "log_level", "max_message_bytes", "parent_pid", "wants")

    def __init__(self) -> None:
        self.data_dir: str | None = None
        self.parent_pid: int | None = None
        self.max_message_bytes = MAX_MESSAGE_BYTES
        self.log_level = "info"
        self.accepted: list[str] = []
        self.wants: str | None = None
        """`help` or `version`: to print and end."""


def parse_arguments(argv: Sequence[str]) -> Arguments:
    """Take the arguments apart. Raises UsageError. argparse would cost more than the whole first reply."""
    found = Arguments()
    rest = list(argv)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in ("--help", "-h", "--version", "--stdio"):
            if equals:
                raise UsageError(f"{name} takes no value")
            if name == "--stdio":
                found.accepted.append(name)
            else:
                found.wants = found.wants or ("version" if name == "--version" else "help")
            continue
        if name not in _TAKES_VALUE:
            raise UsageError(f"unknown argument {name!r}; --help lists them")
        if not equals:
            if not rest:
                raise UsageError(f"{name} needs a value")
            value = rest.pop(0)
        _take_value(found, name, value)
    return found


_TAKES_VALUE: Final = (
    "--data-dir",
    "--parent-pid",
    "--clientProcessId",
    "--max-message-bytes",
    "--log-level",
    "--listen",
    "--backend",
    "--app-policy",
)


def _take_value(found: Arguments, name: str, value: str) -> None:
    if name == "--data-dir":
        if not value:
            raise UsageError("--data-dir needs a directory; leave it out to use the default one")
        found.data_dir = value
    elif name in ("--parent-pid", "--clientProcessId"):  # COMPAT: vscode-languageclient gives the latter
        found.parent_pid = _positive(name, value)
    elif name == "--max-message-bytes":
        found.max_message_bytes = _positive(name, value)
    elif name == "--log-level":
        if value not in LOG_LEVELS:
            raise UsageError(f"--log-level is one of {', '.join(LOG_LEVELS)}, not {value!r}")
        found.log_level = value
    elif name == "--listen" and value != "stdio://":
        raise UsageError(f"--listen takes only stdio://, not {value!r}")
    else:
        found.accepted.append(f"{name} {value}")


def _positive(name: str, value: str) -> int:
    if value.isascii() and value.isdigit() and len(value) < 19 and int(value) > 0:
        return int(value)
    raise UsageError(f"{name} needs a positive whole number, not {value!r}")


def choose_root(
    argument: str | None,
    environ: Mapping[str, str],
    *,
    platform: str,
    home: str,
    cwd: str,
    local_app_data: str = "",
) -> RootChoice:
    """The rule of which data root, pure: the same answer for the same facts.

    `platform` is as in `sys.platform`; `local_app_data` is what Windows says, and only asked there.
    """
    paths = _paths_of(platform)
    if argument:
        return RootChoice(_absolute(argument, paths, home, cwd), "argument")
    for variable in VARIABLES:
        if value := environ.get(variable, ""):
            return RootChoice(_absolute(value, paths, home, cwd), "environment", variable)
    if platform == "win32":
        # %LOCALAPPDATA%\<app> is where an installer puts the program and may remove it
        place = paths.join(local_app_data, "Lockstitch Data", "app-server")
    elif platform == "darwin":
        # COMPAT: newer platformdirs follow XDG_DATA_HOME here too; a program started from the desktop does
        # not see what a shell exports, so that one user would get two roots
        place = paths.join(home, "Library/Application Support/lockstitch/app-server")
    else:
        given = environ.get("XDG_DATA_HOME", "")
        base = given if paths.isabs(given) else paths.join(home, ".local/share")
        place = paths.join(base, "lockstitch/app-server")
    return RootChoice(_absolute(place, paths, home, cwd), "platform")


def _paths_of(platform: str) -> ModuleType:
    if platform == "win32":
        import ntpath

        return ntpath
    import posixpath

    return posixpath


def _absolute(path: str, paths: ModuleType, home: str, cwd: str) -> str:
    """Absolute, with `~` put in and without `.` and doubled slashes; links are not resolved.

    An inner `..` stays where links could make it mean another directory.
    """
    if path == "~" or path.startswith(("~/", "~" + paths.sep)):
        path = home + path[1:]
    path = paths.join(cwd, path)
    if paths.sep == "\\" or ".." not in path.split("/"):
        return paths.normpath(path)
    base = cwd.rstrip("/")
    rest = path[len(base) :].split("/") if path.startswith(base + "/") else path.split("/")
    base = base if path.startswith(base + "/") else ""
    kept = [part for part in rest if part not in ("", ".")]
    while kept and kept[0] == "..":  # the current directory holds no links, so these can be taken off
        kept.pop(0)
        base = base.rpartition("/")[0]
    return base + "/" + "/".join(kept)


def settings_of_process(arguments: Arguments) -> Settings:
    """The settings of this very process; its data root exists afterwards. Raises UsageError."""
    root = root_of_process(arguments)
    return Settings(
        root,
        read_only=_make_root(root.path),
        max_message_bytes=arguments.max_message_bytes,
        parent_pid=arguments.parent_pid,
        log_level=arguments.log_level,
        lock_seconds=float(os.environ.get("LOCKSTITCH_LOCK_SECONDS") or LOCK_SECONDS),
        faults=os.environ.get("LOCKSTITCH_FAULTS") or None,
        accepted=tuple(arguments.accepted),
    )


def root_of_process(arguments: Arguments) -> RootChoice:
    """The data root of this very process, which need not be there. Raises UsageError."""
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = "/"  # removed underneath us; only a relative path would need it
    root = choose_root(
        arguments.data_dir,
        os.environ,
        platform=sys.platform,
        home=_home(),
        cwd=cwd,
        local_app_data=_local_app_data(),
    )
    if not root.path or "\0" in root.path:
        raise UsageError("the data root's path is not usable; give --data-dir DIR")
    return root


def _home() -> str:
    if sys.platform == "win32":
        return os.path.expanduser("~")
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    return home.rstrip("/") or "/"


def _local_app_data() -> str:
    if sys.platform != "win32":
        return ""
    from platformdirs.windows import Windows  # asks the system, not only the environment

    return Windows().user_data_dir


def _make_root(path: str) -> bool:
    """Create the directory, 0700 whatever the umask, and say whether it can only be read. Raises UsageError."""
    try:
        _make_private(path)
        os.listdir(path)
    except OSError as error:
        reason = error.strerror or "not usable"
        raise UsageError(f"cannot use {path!r} as data root: {reason}; give another one with --data-dir DIR") from None
    return not os.access(path, os.W_OK | os.X_OK)


def _make_private(path: str) -> None:
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent != path:
        _make_private(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(20, "not a directory") from None
        return
    os.chmod(path, 0o700)


def without_plugins() -> None:
    """Keep Pydantic from reading the metadata of every installed package in search of plugins: 15 ms of a start."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
