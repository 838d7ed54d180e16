"""What a folder that is handed on says of its own files: names, sizes, digests, and a digest of that itself.

Invariant: canonical JSON and one LF; any byte that differs is found without knowing what the fields mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lockstitch.codec import ParseError, TooDeepError, canonical, decode
from lockstitch.exports.facts import digest_of

PACK = "evidence-pack-manifest.v1"
CASE = "agent-session-replay-case-expected.v1"
SEAL_NAMES = {PACK: "manifest.json", CASE: "expected.json"}
"""Which file of the folder it is, by schemaVersion."""

FILE_NAME = re.compile(r"[a-z]{1,40}(?:-[a-z]{1,40})?\.(?:json|jsonl|md)|files/[0-9a-f]{64}")
"""What a file of an export may be called."""


@dataclass(frozen=True, slots=True)
class FileSeal:
    """One file: its path within the folder, `/`-separated."""

    path: str
    sha256: str
    bytes: int
    lines: int

    @classmethod
    def of(cls, path: str, data: bytes) -> FileSeal:
        return cls(path, sha256(data).hexdigest(), len(data), data.count(b"\n"))

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "sha256": self.sha256, "bytes": self.bytes, "lines": self.lines}


def seal(fields: dict[str, Any], files: list[FileSeal]) -> bytes:
    """The bytes of a manifest or expectation."""
    value = {**fields, "files": [found.as_json() for found in sorted(files, key=lambda found: found.path)]}
    return canonical({**value, "digest": digest_of(value)}) + b"\n"


def open_seal(data: bytes) -> dict[str, Any] | None:
    """The fields, if not one byte differs from what was sealed."""
    try:
        value = decode(data)
    except (ParseError, TooDeepError):
        return None
    if not isinstance(value, dict) or canonical(value) + b"\n" != data:
        return None
    rest: dict[str, Any] = {name: inner for name, inner in value.items() if name != "digest"}  # pyright: ignore[reportUnknownVariableType]
    return rest if value.get("digest") == digest_of(rest) else None  # pyright: ignore[reportUnknownMemberType]


def event_seal(lines: list[bytes]) -> dict[str, Any]:
    """The events of an export: the sum that each line carries, so that the one that differs can be named."""
    from lockstitch.rollout.line import parse_line

    read = [parse_line(line) for line in lines]
    return {"count": len(read), "sums": [[line.sequence, line.sum] for line in read]}
