"""Contents of ephemeral threads, which are kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.artifacts.memory import MemorySidecar, MemoryStore
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.operations.contents import Contents

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime


class MemoryContents(Contents):
    """The file versions and large outputs of one ephemeral thread."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime.root.artifacts, runtime.root.exports, runtime.root_id)
        self.outputs = store = MemoryStore()
        self._sidecar = MemorySidecar(store)

    def sidecar(self, workspace: str | None) -> Sidecar:
        return self._sidecar

    def place_of(self, sidecar: Sidecar, problem: str | None) -> str:
        return "memory"
