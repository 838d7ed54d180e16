"""Contents that are nowhere on the disk.

Invariant: `Store`'s promises but one: nothing survives the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.artifacts.store import Packed, Store, unavailable


class MemoryStore(Store):
    """Contents by sha256 in a dict."""

    def __init__(self) -> None:
        super().__init__("")
        self._contents: dict[str, bytes] = {}

    def put_packed(self, contents: Sequence[Packed]) -> None:
        for packed in contents:
            self._contents.setdefault(packed.sha256, packed.data)

    def get(self, sha256: str) -> bytes:
        found = self._contents.get(sha256)
        if found is None:
            raise unavailable(sha256, "missing")
        return found

    def has(self, sha256: str) -> bool:
        return sha256 in self._contents

    def among(self, contents: Iterable[str]) -> set[str]:
        return {sha256 for sha256 in contents if self.has(sha256)}

    def path_of(self, sha256: str) -> Path | None:
        """No content has a path."""
        return None


class MemorySidecar(Sidecar):
    """A sidecar without a workspace: it takes no version documents, and its contents are in memory."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(None, "memory", Path())
        self.fallback_store = store

    def has(self, sha256: str) -> bool:
        return self.fallback_store.has(sha256)
