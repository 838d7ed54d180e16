"""A thread that somebody hands over, as lines or as a bundle: opened, and verified to the last byte.

Invariant: nothing is written here, and nothing is given out before all of it was verified.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from lockstitch.codec import ParseError, decode, mapping
from lockstitch.data_root import thread_id_of
from lockstitch.errors import InvalidError
from lockstitch.exports.bundle import MANIFEST, ROLLOUT, SCHEMA
from lockstitch.exports.seal import open_seal
from lockstitch.exports.unzip import BadArchiveError, Unzipped
from lockstitch.platform.files import open_private
from lockstitch.rollout.line import Line
from lockstitch.rollout.scan import Damage, Record, scan
from lockstitch.timeline.hot import FORMAT
from lockstitch.timeline.index import LINKING
from lockstitch.timeline.payloads import read_linked_by
from lockstitch_protocol.ids import is_thread_id

_MOST_MANIFEST_BYTES = 256 << 20
_BLOCK = 1 << 20
_SHA256 = re.compile(rb"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z")


@dataclass(slots=True)
class Told:
    """What the lines of a thread say."""

    thread_id: str | None = None
    created_at: str = ""
    events: int = 0
    last_sequence: int = 0
    last_sum: str = ""
    archived: bool = False
    workspace: tuple[str, str | None] | None = None
    """Path and key of the workspace that the thread is linked to, if it is."""
    linked_by: str | None = None
    """The data root that made the link, if it says so."""


class Handed:
    """A thread that was verified. Its file stays open, and its bytes are hashed again when they are read."""

    def __init__(self, told: Told, size: int, digest: str, blocks: Any, archive: Unzipped | None) -> None:
        self.told, self.size, self.digest = told, size, digest
        self._blocks, self._archive = blocks, archive
        self.contents = sorted(name[6:] for name in archive.names if name.startswith("files/")) if archive else []
        """The sha256 of each content that came along."""

    @property
    def thread_id(self) -> str:
        assert self.told.thread_id is not None
        return self.told.thread_id

    def rollout(self) -> Iterator[bytes]:
        """The lines, in blocks. Raises InvalidError if the file changed since it was verified."""
        yield from _same(self._blocks(), self.digest)

    def content(self, digest: str) -> bytes:
        """A content that came along. Raises InvalidError."""
        assert self._archive is not None
        with _bad_files():
            return b"".join(_same(self._archive.blocks(f"files/{digest}"), digest))


def _same(blocks: Iterable[bytes], digest: str) -> Iterator[bytes]:
    state = sha256()
    for block in blocks:
        state.update(block)
        yield block
    if state.hexdigest() != digest:
        raise _refused("changed while it was read; try again")


@contextmanager
def open_handed(path: Path) -> Generator[Handed]:
    """Open and verify a file. Raises InvalidError that says what is wrong."""
    try:
        fd = open_private(os.path.realpath(path), os.O_RDONLY)
        file = open(fd, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        raise _refused("does not exist") from None
    except OSError as error:
        raise _refused(f"cannot be read: {(error.strerror or type(error).__name__).lower()}") from None
    with file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(4)
        with _bad_files():
            if first == b"PK\3\4":
                yield _open_bundle(file, size)
            elif first[:1] == b"{":
                yield _open_lines(file, size, path.name)
            else:
                raise _refused("is neither a bundle nor the lines of a thread")


@contextmanager
def _bad_files() -> Generator[None]:
    try:
        yield
    except BadArchiveError as error:
        raise _refused(str(error)) from error
    except OSError as error:
        raise _refused(f"cannot be read: {(error.strerror or type(error).__name__).lower()}") from error


def _refused(message: str) -> InvalidError:
    return InvalidError(f"The file cannot be imported: it {message}.", errors=[{"path": "path", "message": message}])


# -- lines --------------------------------------------------------------------------------------------------------
def _open_lines(file: BinaryIO, size: int, name: str) -> Handed:
    told = check_lines(file.fileno(), size)
    named = thread_id_of(name)
    told.thread_id = told.thread_id or named
    _check_told(told, set())
    return Handed(told, size, _digest_of(_read(file, size)), lambda: _read(file, size), None)


def _read(file: BinaryIO, size: int) -> Iterator[bytes]:
    file.seek(0)
    while size > 0 and (block := file.read(min(_BLOCK, size))):
        size -= len(block)
        yield block


def _digest_of(blocks: Iterable[bytes]) -> str:
    state = sha256()
    for block in blocks:
        state.update(block)
    return state.hexdigest()


def check_lines(file: int | BinaryIO, size: int) -> Told:
    """Look at every line: its form, its sum, its place. Raises InvalidError for damage that no line tells of."""
    told = Told()
    damages: list[Damage] = []
    known: set[tuple[int, int]] = set()
    for found in scan(file, 0, size, previous_sum=b"", next_sequence=1, committed_end=0):
        if isinstance(found, Damage):
            damages.append(found)
        else:
            _take(told, found, known)
    for damage in damages:
        if (damage.start, damage.end) not in known:
            raise _refused(f"is damaged ({damage.reason}) at byte {damage.start}")
    if not told.events:
        raise _refused("holds no event of a thread")
    return told


def _take(told: Told, record: Record, known: set[tuple[int, int]]) -> None:
    line = record.line
    if line.originalSum is not None:
        raise _refused("was exported without secrets, so that it is not the thread; export it with redact false")
    told.events += 1
    told.last_sequence, told.last_sum = line.sequence, line.sum
    told.created_at = told.created_at or line.at
    if not line.type.startswith("thread."):
        return
    payload = _payload_of(line)
    if line.type == "thread.started":
        _take_start(told, line, payload)
    elif line.type == "thread.recovered":
        entries: Any = payload.get("damage")
        for entry in entries if isinstance(entries, list) else ():  # pyright: ignore[reportUnknownVariableType]
            known.add((mapping(entry).get("fromOffset", -1), mapping(entry).get("toOffset", -1)))
    elif line.type in ("thread.archived", "thread.unarchived"):
        told.archived = line.type == "thread.archived"
    if line.type in LINKING:
        _take_link(told, line, payload)


def _payload_of(line: Line) -> dict[str, Any]:
    try:
        return mapping(decode(bytes(line.payload)))
    except ParseError:
        raise _refused(f"has a line {line.sequence} that is no event") from None


def _take_start(told: Told, line: Line, payload: dict[str, Any]) -> None:
    format_ = payload.get("format", 1)
    if not isinstance(format_, int) or format_ > FORMAT:
        raise _refused(f"is of format {format_}, and this program knows {FORMAT}; update it")
    told.created_at = line.at
    found = payload.get("threadId") or mapping(payload.get("importedFrom")).get("sourceThreadId")
    told.thread_id = found if isinstance(found, str) else None


def _take_link(told: Told, line: Line, payload: dict[str, Any]) -> None:
    if line.type == "thread.started":
        path, key, linked = payload.get("cwd"), payload.get("workspaceKey"), payload.get("workspaceLinked") is True
    elif "workspace" in payload:
        workspace = mapping(payload["workspace"])
        path, key, linked = workspace.get("cwd"), workspace.get("key"), workspace.get("linked", True) is True
    else:
        return
    told.workspace = (str(path or ""), key if isinstance(key, str) else None) if linked else None
    told.linked_by = read_linked_by(bytes(line.payload))


def _check_told(told: Told, named: set[str]) -> None:
    found = told.thread_id
    if found is None or not is_thread_id(found):
        raise _refused("does not say whose thread it is")
    if any(found.lower() != name.lower() for name in named):
        raise _refused(f"holds thread {found} and names another one")
    if _TIME.fullmatch(told.created_at) is None:
        raise _refused("does not say when the thread began")


# -- bundles ------------------------------------------------------------------------------------------------------
def _open_bundle(file: BinaryIO, size: int) -> Handed:
    archive = Unzipped(file, size)
    if not {MANIFEST, ROLLOUT} <= archive.names:
        raise _refused("is no bundle: it has no manifest.json or no rollout.jsonl")
    manifest = _manifest_of(archive)
    listed = {str(found["path"]): found for found in map(mapping, manifest["files"])}
    if listed.keys() != archive.names - {MANIFEST}:
        raise _refused("does not hold the files that its manifest names")
    for name, found in listed.items():
        if name.startswith("files/") and name != f"files/{found.get('sha256')}":
            raise _refused(f"names a content {name} by another sha256")
        if archive.size_of(name) != found.get("bytes") or _digest_of(archive.blocks(name)) != found.get("sha256"):
            raise _refused(f"holds a {name} that is not as its manifest says")
    data = b"".join(archive.blocks(ROLLOUT))
    told = check_lines(BytesIO(data), len(data))
    told.thread_id = told.thread_id or str(manifest.get("threadId"))
    _check_told(told, {str(manifest.get("threadId"))})
    rollout = mapping(manifest.get("rollout"))
    if (rollout.get("lastSequence"), rollout.get("lastSum")) != (told.last_sequence, told.last_sum):
        raise _refused("has a rollout that does not end as its manifest says")
    named = set(_SHA256.findall(data))
    if any(name[6:].encode() not in named for name in listed if name != ROLLOUT):
        raise _refused("holds a content that no line of its rollout names")
    digest = str(listed[ROLLOUT]["sha256"])
    return Handed(told, archive.size_of(ROLLOUT), digest, lambda: archive.blocks(ROLLOUT), archive)


def _manifest_of(archive: Unzipped) -> dict[str, Any]:
    if archive.size_of(MANIFEST) > _MOST_MANIFEST_BYTES:
        raise _refused("has a manifest that is too large")
    data = b"".join(archive.blocks(MANIFEST))
    manifest = open_seal(data)
    if manifest is None or not isinstance(manifest.get("files"), list):
        raise _refused("has a manifest that was changed")
    if manifest.get("schemaVersion") != SCHEMA:
        raise _refused(f"is a {str(manifest.get('schemaVersion'))[:60]}, and this program knows {SCHEMA}; update it")
    if manifest.get("redacted") is not False:
        raise _refused("was exported without secrets, so that it is not the thread; export it with redact false")
    return manifest
