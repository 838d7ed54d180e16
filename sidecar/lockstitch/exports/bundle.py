"""The bundle: a thread in one zip file, its rollout and every content that it names, to be taken in elsewhere.

Invariant: the same thread gives the same bytes: no time, no owner, one order of entries; `manifest.json` comes last
and has the SHA-256 of all others.
Invariant: whoever reads bundles refuses an entry that grows more than RATIO times; none is written that does.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from io import BytesIO
from typing import Any

from lockstitch.exports.evidence_pack import content_files
from lockstitch.exports.facts import GetContent, ThreadFacts
from lockstitch.exports.seal import FileSeal, seal

SCHEMA = "thread-bundle.v1"
ROLLOUT = "rollout.jsonl"
MANIFEST = "manifest.json"
ENTRY = re.compile(r"manifest\.json|rollout\.jsonl|files/[0-9a-f]{64}")
"""What an entry may be called."""

RATIO = 100
_LEVEL = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)


def bundle_of(facts: ThreadFacts, rollout: bytes, get: GetContent) -> bytes:
    """The zip file. `rollout`: the thread's lines byte for byte, or without secrets and summed again."""
    out, gaps, seals = BytesIO(), list(facts.gaps), [FileSeal.of(ROLLOUT, rollout)]
    with zipfile.ZipFile(out, "w") as archive:
        _add(archive, ROLLOUT, rollout)
        for name, data in content_files(facts, get, gaps):
            seals.append(FileSeal.of(name, data))
            _add(archive, name, data)
        _add(archive, MANIFEST, seal(_fields(facts, rollout, gaps), seals))
    return out.getvalue()


def _fields(facts: ThreadFacts, rollout: bytes, gaps: list[str]) -> dict[str, Any]:
    return {
        "schemaVersion": SCHEMA,
        "threadId": facts.thread_id,
        "redacted": facts.redactions is not None,
        "redactions": facts.redactions or {},
        "partial": bool(facts.thread.get("partial")),
        "complete": not gaps,
        "knownGaps": gaps,
        "rollout": {"lastSum": rollout[-19:-3].decode("ascii", "replace"), "lastSequence": facts.last_sequence},
    }


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system, entry.external_attr = 3, 0o100600 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED if _packs(data) else zipfile.ZIP_STORED
    archive.writestr(entry, data, compresslevel=_LEVEL)


def _packs(data: bytes) -> bool:
    """Whether the data is smaller when packed, and not suspiciously so."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15)
    size = sum(len(packer.compress(data[at : at + (1 << 20)])) for at in range(0, len(data), 1 << 20))
    size += len(packer.flush())
    return len(data) // (RATIO - 1) < size < len(data)
