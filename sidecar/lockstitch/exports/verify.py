"""Checks a replay case or an evidence pack: files, lines, contents, and what the events come to when reduced again.

Invariant: the folder is somebody else's: nothing in it is trusted, followed, run or written.
Invariant: whatever byte of whatever file differs, something is named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from lockstitch.codec import mapping
from lockstitch.errors import InvalidError, LockstitchError
from lockstitch.exports.facts import Projected
from lockstitch.exports.seal import CASE, FILE_NAME, PACK, SEAL_NAMES, open_seal
from lockstitch.platform.files import open_private
from lockstitch.timeline.reduced import Reduced, reduced

Project = Callable[[Reduced], Projected]
"""What the events come to, read as it is read from a live thread."""

_MOST_MISMATCHES = 1000
_MOST_SEAL_BYTES = 512 << 20
_BLOCK = 1 << 20
_EVENTS = "events.jsonl"


@dataclass(slots=True)
class Verdict:
    """What was found."""

    projection_digest: str = ""
    expected_digest: str = ""
    item_count: int = 0
    mismatches: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def differs(self, kind: str, name: str, expected: object, actual: object) -> None:
        if len(self.mismatches) < _MOST_MISMATCHES:
            found = {"kind": kind, "id": name, "expected": str(expected), "actual": str(actual)}
            if found not in self.mismatches[-8:]:
                self.mismatches.append(found)

    def as_wire(self) -> dict[str, Any]:
        return {
            "ok": not self.mismatches,
            "projectionDigest": self.projection_digest,
            "expectedDigest": self.expected_digest,
            "itemCount": self.item_count,
            "mismatches": self.mismatches,
        }


def verify(path: str, project: Project) -> Verdict:
    """Check a folder. Raises InvalidError where there is no export at all."""
    folder = Path(path)
    schema = _schema_of(folder)
    verdict = Verdict()
    name = SEAL_NAMES[schema]
    sealed = _opened(folder, name, schema, verdict)
    if sealed is None:
        verdict.differs("expectation", name, "a sealed file", "missing or changed")
        sealed = {}
    try:
        if sealed:
            _check_files(folder, name, sealed, verdict)
        _check_events(folder, sealed, project, verdict)
    except LockstitchError as error:
        verdict.differs("event", _EVENTS, "events", error.kind)
    except Exception as error:  # the folder is somebody else's: what it breaks is told, not raised
        verdict.differs("projection", name, "an export that can be read", type(error).__name__)
    return verdict


def _schema_of(folder: Path) -> str:
    if not folder.is_absolute():
        raise InvalidError.at("path", "must be absolute")
    there = set(_names(folder))
    if there & {"expected.json", "input.json", "grader.md"}:
        return CASE
    if there & {"manifest.json", "runtime.json", "timeline.json"}:
        return PACK
    raise InvalidError.at("path", "is not the folder of a replay case or an evidence pack")


def _names(folder: Path) -> list[str]:
    """The files of the folder, and those in its `files`; a folder of another name is named with a slash."""
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "files":
                        found.append(entry.name + "/")
                        continue
                    with os.scandir(entry.path) as inner:
                        found += [f"files/{other.name}" for other in inner]
                else:
                    found.append(entry.name)
    except OSError:
        return []
    return sorted(found)


def _opened(folder: Path, name: str, schema: str, verdict: Verdict) -> dict[str, Any] | None:
    try:
        data = b"".join(_blocks(folder / name, _MOST_SEAL_BYTES))
    except OSError:
        return None
    sealed = open_seal(data)
    if sealed is None or sealed.get("schemaVersion") != schema or not isinstance(sealed.get("files"), list):
        return None
    verdict.expected_digest = str(mapping(sealed.get("digests")).get("projection", ""))
    return sealed


def _blocks(path: Path, most: int | None = None) -> Iterator[bytes]:
    """A regular file's bytes; no link is followed. Raises OSError."""
    fd = open_private(path, os.O_RDONLY)
    try:
        if most is not None and os.fstat(fd).st_size > most:
            raise OSError("too large")
        while block := os.read(fd, _BLOCK):
            yield block
    finally:
        os.close(fd)


def _check_files(folder: Path, seal_name: str, sealed: dict[str, Any], verdict: Verdict) -> None:
    listed: set[str] = {seal_name}
    for found in sealed["files"]:
        name = str(found["path"])
        listed.add(name)
        kind = "content" if name.startswith("files/") else "file"
        if FILE_NAME.fullmatch(name) is None:
            verdict.differs("expectation", name[:200], "the name of a file of an export", "another name")
            continue
        expected = str(found["sha256"])
        if kind == "content" and name != f"files/{expected}":
            verdict.differs(kind, name, expected, "another name")
        actual = _digest(folder / name)
        if actual != expected:
            verdict.differs(kind, name, expected, actual)
    for name in _names(folder):
        if name not in listed:
            verdict.differs("file", name[:200], "no such file", "unexpected")


def _digest(path: Path) -> str:
    state = sha256()
    try:
        for block in _blocks(path):
            state.update(block)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "unreadable"
    return state.hexdigest()


def _check_events(folder: Path, sealed: dict[str, Any], project: Project, verdict: Verdict) -> None:
    thread_id = str(sealed.get("threadId") or "unknown")
    with reduced(folder / _EVENTS, thread_id, interrupted=sealed.get("interrupted") is True) as found:
        _check_sums(sealed, found, verdict)
        if sealed and "digests" not in sealed:
            return  # one turn of a thread: what its events come to depends on those before it
        made = project(found)
    verdict.item_count = len(made.items)
    digests = made.digests()
    verdict.projection_digest = digests["projection"]
    if sealed:
        _compare(sealed["digests"], digests, verdict)


def _check_sums(sealed: dict[str, Any], found: Reduced, verdict: Verdict) -> None:
    wanted: dict[int, str] = dict(mapping(sealed.get("events")).get("sums", ()))
    for sequence, expected in wanted.items():
        actual = found.sums.get(sequence, "damaged or missing")
        if actual != expected:
            verdict.differs("event", str(sequence), expected, actual)
    for sequence in found.sums.keys() - wanted.keys():
        if sealed:
            verdict.differs("event", str(sequence), "no such event", found.sums[sequence])


def _compare(expected: dict[str, Any], actual: dict[str, Any], verdict: Verdict) -> None:
    for name, kind in (("items", "item"), ("turns", "turn"), ("checkpoints", "checkpoint")):
        for key, digest in expected[name].items():
            if actual[name].get(key) != digest:
                verdict.differs(kind, key, digest, actual[name].get(key, "missing"))
        for key in actual[name].keys() - expected[name].keys():
            verdict.differs(kind, key, f"no such {kind}", actual[name][key])
    for name in ("thread", "projection"):
        if expected[name] != actual[name]:
            verdict.differs(name, name, expected[name], actual[name])
