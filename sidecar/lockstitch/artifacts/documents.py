"""Version documents: what a person or another tool reads about the versions of a file.

Invariant: our own answers never come from them, so they are atomic but not forced to the disk, and a
workspace that does not take them costs nothing but them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lockstitch import codec
from lockstitch.artifacts.paths import artifact_id, folder_name, path_from_wire, path_to_wire
from lockstitch.artifacts.sidecar import FOLDER, CurrentDocument, Sidecar
from lockstitch.artifacts.store import stage
from lockstitch.platform.beneath import Directory
from lockstitch.platform.files import storage_error

SCHEMA_VERSION = "artifact_document.v1"
MAX_DIFF_BYTES = 32 * 1024
"""`artifactVersionDiff` is cut at a hunk boundary to stay within this."""

_MAX_DOCUMENT_BYTES = 16 << 20
_CURRENT = "current.artifact.json"
_FIELDS = (
    "schemaVersion",
    "artifactId",
    "threadId",
    "turnId",
    "checkpointId",
    "path",
    "pathBase64",
    "versionNo",
    "versionId",
    "previousVersionId",
    "op",
    "oldPath",
    "oldPathBase64",
    "source",
    "createdAt",
    "before",
    "after",
    "additions",
    "deletions",
    "artifactVersionDiff",
    "title",
    "kind",
    "status",
    "document",
)
_ALWAYS = frozenset({"before", "after"})


def snapshot_path(sidecar: Sidecar, thread_id: str, path: str, version_no: int) -> str:
    """The workspace-relative path of a version document, whether or not it is there."""
    return "/".join((sidecar.root, *_folders(thread_id, path), "versions", _version_name(version_no)))


def document_path(root_id: str, thread_id: str, path: str, version_no: int) -> str:
    """The workspace-relative path of a version document in the sidecar of that data root."""
    folders = _folders(thread_id, path)
    return "/".join((FOLDER, folder_name(root_id), *folders, "versions", _version_name(version_no)))


def thread_folders(sidecar: Sidecar, thread_id: str) -> list[Path]:
    """The directories in the workspace that belong to one thread, whether or not they are there."""
    if sidecar.workspace is None:
        return []
    base = sidecar.workspace / sidecar.root
    return [base / kind / folder_name(thread_id) for kind in ("documents", "exports")]


def holds_documents(workspace: Path, root_id: str, thread_id: str) -> bool:
    """Whether that data root wrote documents of that thread into this directory; links are not followed."""
    place = workspace
    try:
        for part in (FOLDER, folder_name(root_id), "documents", folder_name(thread_id)):
            place = place / part
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                return False
    except (OSError, ValueError):
        return False
    return True


def write_version(
    sidecar: Sidecar, document: Mapping[str, Any], versions: Sequence[Mapping[str, Any]] | None = None
) -> str | None:
    """Write `versions/vNNNN.artifact.json` and, for the newest version, `current.artifact.json`.

    `document` has the fields of the format by their names on disk; `schemaVersion` and `artifactId` are filled
    in, absent optional ones left out, `path` may hold surrogate escapes. `versions` lists all versions of the
    path as `{id, versionNo}`; without it the list of the document before is continued.

    Returns the workspace-relative path of the version document, or None when the workspace did not take it
    (`sidecar.problem` then says why) or there is none.
    """
    return write_versions(sidecar, [document], versions)[0]


def write_versions(
    sidecar: Sidecar, documents: Sequence[Mapping[str, Any]], versions: Sequence[Mapping[str, Any]] | None = None
) -> list[str | None]:
    """As `write_version`, of several documents in one go."""
    written: list[str | None] = []
    if sidecar.workspace is None:
        return [None for _ in documents]
    try:
        with sidecar.writing_documents, sidecar.open_folder((), create=True) as base:
            sidecar.remove_staged(base)
            for document in documents:
                written.append(_write_version(sidecar, base, document, versions))
    except OSError as error:
        named = storage_error(error, sidecar.workspace / sidecar.root)
        sidecar.problem = f"The version document was not written. {named.message}"
        written += [None] * (len(documents) - len(written))
    return written


def _write_version(
    sidecar: Sidecar, base: Directory, document: Mapping[str, Any], versions: Sequence[Mapping[str, Any]] | None
) -> str:
    path = path_from_wire(document.get("path"), document.get("pathBase64"))
    fields = _ordered({**document, **path_to_wire(path)}, path)
    version_no: int = document["versionNo"]
    folders = _folders(document["threadId"], path)
    data = codec.encode(fields)
    with sidecar.open_within(base, folders, create=True) as directory:
        with sidecar.open_within(directory, ("versions",), create=True) as versions_folder:
            stage(versions_folder, _version_name(version_no), data + b"\n", within=base)
        current = None if versions is not None else sidecar.currents.get(folders)
        if current is not None and version_no > current.version_no and _stamp(directory) == current.stamp:
            listed = current.listed + b"," + codec.encode({"id": fields.get("versionId"), "versionNo": version_no})
        else:
            newest, entries = _current(directory, fields, versions)
            data, listed, version_no = codec.encode(newest), codec.encode(entries)[1:-1], newest["versionNo"]
        data = b'%b,"artifactVersions":[%b]}\n' % (data[:-1], listed)
        found = stage(directory, _CURRENT, data, within=base)
    sidecar.remember(folders, CurrentDocument(_stamp_of(found), version_no, listed))
    return snapshot_path(sidecar, document["threadId"], path, fields["versionNo"])


def _stamp(directory: Directory) -> tuple[int, ...] | None:
    try:
        return _stamp_of(directory.status(_CURRENT))
    except OSError:
        return None


def _stamp_of(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_size, found.st_mtime_ns


def bounded_diff(unified: str, limit: int = MAX_DIFF_BYTES) -> str:
    """A unified diff cut before the first hunk that does not fit in `limit` bytes; empty if none does."""
    data = unified.encode("utf-8")
    if len(data) <= limit:
        return unified
    first = data.find(b"\n@@ ") + 1
    end = data.rfind(b"\n@@ ", 0, limit + 1) + 1
    return data[:end].decode("utf-8") if end > first else ""


def _folders(thread_id: str, path: str) -> tuple[str, str, str]:
    return "documents", folder_name(thread_id), artifact_id(path)


def _version_name(version_no: int) -> str:
    return f"v{version_no:04d}.artifact.json"


def _ordered(document: Mapping[str, Any], path: str) -> dict[str, Any]:
    known = {**document, "schemaVersion": SCHEMA_VERSION, "artifactId": artifact_id(path)}
    if isinstance(known.get("artifactVersionDiff"), str):
        known["artifactVersionDiff"] = bounded_diff(known["artifactVersionDiff"])
    return {
        name: known.get(name) for name in _FIELDS if name in _ALWAYS or known.get(name) is not None
    }  # fields that the format does not name are left out


def _current(
    directory: Directory, fields: dict[str, Any], versions: Sequence[Mapping[str, Any]] | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The newest of the documents, and the list of all versions."""
    before = _read_current(directory)
    listed = {entry["versionNo"]: entry["id"] for entry in versions or _versions_of(before)}
    listed[fields["versionNo"]] = fields.get("versionId")
    newest = fields
    if _number(before) > fields["versionNo"]:
        newest = before  # a document that is written again, late, does not become the newest
        newest.pop("artifactVersions", None)
    return newest, [{"id": listed[number], "versionNo": number} for number in sorted(listed)]


def _read_current(directory: Directory) -> dict[str, Any]:
    """The document that is there, or {}: anybody may have written it."""
    try:
        fd = directory.open(_CURRENT, os.O_RDONLY)
        try:
            data = os.read(fd, _MAX_DOCUMENT_BYTES)
        finally:
            os.close(fd)
        document = codec.decode(data)
    except (OSError, codec.ParseError, codec.TooDeepError):
        return {}
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}


def _number(document: Mapping[str, Any]) -> int:
    number = document.get("versionNo")
    return number if isinstance(number, int) and document.get("schemaVersion") == SCHEMA_VERSION else 0


def _versions_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = document.get("artifactVersions")
    if not isinstance(entries, list):
        return []
    return [
        cast("dict[str, Any]", entry)
        for entry in cast("list[Any]", entries)
        if isinstance(entry, dict) and isinstance(entry.get("versionNo"), int) and isinstance(entry.get("id"), str)  # pyright: ignore[reportUnknownMemberType]
    ]
