"""Which file a path names, and which paths are refused, by name alone.

Invariant: a path that passes is workspace-relative, separated by `/`, without `.` or empty components, and
names nothing outside the workspace on any platform. Links and special files are the disk's to show:
`capture` refuses those.
Invariant: inside, a name that is not valid Unicode is held with surrogate escapes, exactly; on the wire it
is an approximate `path` with the exact `pathBase64` beside it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import unicodedata
from functools import lru_cache
from types import ModuleType
from typing import Any, NoReturn

from lockstitch.artifacts.names import has_drive, refusal_of_name
from lockstitch.errors import InvalidError, RefusedError

MAX_PATH_BYTES = 4096

_FOLDER_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_BOTH_SEPARATORS = re.compile(r"[/\\]")
_SENTENCES = {
    "empty": "The path is empty",
    "nul": "The path holds a NUL character",
    "outsideWorkspace": "The path leads out of the workspace",
    "protected": "The path is under a .git or .lockstitch, which belong to other programs",
    "reservedName": "The path holds a name that is reserved on Windows",
    "trailingDotOrSpace": "A name in the path ends with a dot or a space, which Windows drops",
    "alternateStream": "The path names an alternate data stream",
    "home": "The path begins with ~, which a shell would expand",
    "drive": "The path begins with a drive letter",
    "unc": "The path names a network share or a device",
    "directory": "The path names a directory, not a file",
    "tooLong": f"The path is longer than {MAX_PATH_BYTES} bytes",
    "symlink": "The path is, or leads through, a symbolic link",
    "hardLink": "The file has other names (hard links), which would change with it",
    "specialFile": "The path names something that is not a regular file",
    "notADirectory": "A file stands where the path has a folder",
    "mountPoint": "The path leads onto another disk that is mounted inside the workspace",
    "twin": "The disk has this path in another spelling (case or Unicode form)",
}


def refuse(reason: str, path: str, *, in_the_way: str | None = None) -> NoReturn:
    """Raise the RefusedError of a path; `reason` is a stable word.

    `in_the_way`: what stands where a file is to be put back, so that it is not the path that is wrong.
    """
    shown = printable(path)
    message = f"{_SENTENCES[reason]}: {shown!r}. Give a path of a regular file inside the workspace."
    if in_the_way is not None:
        message = (
            f"{in_the_way}: {shown!r} cannot be put back. Nothing was changed; rewind what is in the way first, or "
            "move it, or leave this path out with `paths`."
        )
    raise RefusedError(
        message,
        kind="pathRefused",
        reason=reason,
        path=shown,
    )


def workspace_path(path: str, workspace: str | None, *, style: ModuleType = os.path) -> str:
    """The workspace-relative form of a path that a host gave. Raises RefusedError(pathRefused).

    An absolute path is made relative when it is inside the workspace, also if either is spelled through a
    link (this looks at the disk; a relative path does not). `style` is `posixpath` or `ntpath`.
    """
    windows = style.sep == "\\"
    if not path:
        refuse("empty", path)
    if "\0" in path:
        refuse("nul", path)
    inside = path.replace("\\", "/") if windows else path
    share = inside.startswith("//")
    if workspace and style.isabs(inside) and (not share or (windows and workspace[:2] in ("//", "\\\\"))):
        if ".." in _BOTH_SEPARATORS.split(inside):
            refuse("outsideWorkspace", path)
        inside = _beneath(inside, workspace, style)
        if inside is None:
            refuse("outsideWorkspace", path)
    if inside.startswith(("//", "\\\\", "/\\", "\\/")):
        refuse("unc", path)
    if inside.startswith(("/", "\\")):
        refuse("outsideWorkspace", path)
    parts = [part for part in inside.split("/") if part not in ("", ".")]
    if not parts:
        refuse("empty", path)
    if has_drive(parts[0]):
        refuse("drive", path)
    if parts[0].startswith("~"):
        refuse("home", path)
    if inside.endswith(("/", "/.")):
        refuse("directory", path)
    # A backslash is an ordinary character here and a separator there: what it separates is judged too.
    for part in _BOTH_SEPARATORS.split("/".join(parts)):
        reason = refusal_of_name(part, windows=windows)
        if reason is not None:
            refuse(reason, path)
    relative = "/".join(parts)
    if len(exact_bytes(relative)) > MAX_PATH_BYTES:
        refuse("tooLong", path)
    return relative


def _beneath(path: str, workspace: str, style: ModuleType) -> str | None:
    """What is left of an absolute path below the workspace, or None when it is not inside."""
    ours = _components(workspace, style)
    parts = _components(path, style)
    fold: Any = style.normcase
    if ".." not in ours and [fold(part) for part in parts[: len(ours)]] == [fold(part) for part in ours]:
        return "/".join(parts[len(ours) :])
    # The prefix may be spelled otherwise (a link, another case): the first one that is the same directory.
    try:
        there = os.stat(workspace)
        drive = style.splitdrive(path)[0]
        at = drive + "/"
        parts = _components(path[len(drive) :], style)
        for index, part in enumerate(parts):
            at = style.join(at, part)
            here = os.stat(at)
            if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino):
                return "/".join(parts[index + 1 :])
    except OSError:
        return None
    return None


def _components(path: str, style: ModuleType) -> list[str]:
    drive, rest = style.splitdrive(path)
    rest = rest.replace("\\", "/") if style.sep == "\\" else rest
    return ([drive] if drive else []) + [part for part in rest.split("/") if part not in ("", ".")]


@lru_cache(maxsize=1024)
def artifact_id(path: str) -> str:
    """The id of a path's documents: the first 32 hex digits of sha256 over its exact bytes."""
    return hashlib.sha256(exact_bytes(path)).hexdigest()[:32]


@lru_cache(maxsize=1024)
def folder_name(identifier: str) -> str:
    """The name of an id's folder: the id itself where it is safe as a name, else its hash.

    Hashed names hold a dot, which no id that is used as it is does; ids that differ only in case are one.
    """
    if _FOLDER_NAME.fullmatch(identifier) and refusal_of_name(identifier, windows=True) is None:
        return identifier
    return "id." + hashlib.sha256(exact_bytes(identifier.casefold())).hexdigest()[:32]


def workspace_key(path: str) -> str:
    """One spelling for all ways to write a directory: links resolved, no trailing slash, case as the disk sees it.

    For comparison only. Where the disk folds case or Unicode forms the key is folded, else it is as spelled; a
    directory that is gone is folded as its nearest parent is.
    """
    if not path:
        return ""
    drive, rest = os.path.splitdrive(os.path.realpath(path))
    key = os.path.normcase(drive)
    at = drive + os.sep
    folds = False
    for part in rest.split(os.sep):
        if not part:
            continue
        here = os.path.join(at, part)
        folded = unicodedata.normalize("NFC", part).casefold()
        folds = _same_entry(here, os.path.join(at, part.swapcase()), part != part.swapcase(), folds)
        key += "/" + (folded if folds else part)
        at = here
    return key or "/"


def _same_entry(one: str, other: str, differ: bool, otherwise: bool) -> bool:
    """Whether two spellings are one entry on the disk; `otherwise` where that cannot be asked."""
    if not differ:
        return otherwise
    try:
        first = os.lstat(one)
    except OSError:
        return otherwise
    try:
        second = os.lstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def exact_bytes(path: str) -> bytes:
    """The bytes of a path as it is held inside."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # COMPAT: Windows names may hold any lone surrogate
        return path.encode("utf-8", "surrogatepass")


def printable(path: str) -> str:
    """The path as text that can be sent: what is not Unicode becomes U+FFFD."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return exact_bytes(path).decode("utf-8", "replace")
    return path


def path_to_wire(path: str) -> dict[str, str]:
    """`{path}`, and `pathBase64` with the exact bytes beside it where the name is not valid Unicode."""
    shown = printable(path)
    if shown == path:
        return {"path": path}
    return {"path": shown, "pathBase64": base64.b64encode(exact_bytes(path)).decode("ascii")}


def path_of_key(key: str) -> str:
    """The path as it is held inside, from what rows call it (`timeline.checkpoints.path_key`)."""
    path, exact, path_base64 = key.partition("//")
    return path_from_wire(path, path_base64) if exact else path


def path_from_wire(path: str | None, path_base64: str | None) -> str:
    """The path as it is held inside, from either field; the exact one wins. Raises InvalidError."""
    if path_base64 is None:
        if path is None:
            raise InvalidError.at("path", "a path or a pathBase64 is needed")
        return path
    try:
        data = base64.b64decode(path_base64, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidError.at("pathBase64", "not base64") from None
    return data.decode("utf-8", "surrogateescape" if os.sep == "/" else "surrogatepass")
