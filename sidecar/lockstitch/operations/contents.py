"""Contents by sha256 for whoever needs them: file versions in the workspace, large outputs in the data root.

Invariant: what is named in a line is stored durably before the line is written.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lockstitch.artifacts.documents import bounded_diff, thread_folders, write_version
from lockstitch.artifacts.paths import artifact_id, folder_name, path_of_key
from lockstitch.artifacts.safety import SafetyCopies
from lockstitch.artifacts.sidecar import Sidecar, open_sidecar
from lockstitch.artifacts.store import Packed, Store
from lockstitch.codec import encode
from lockstitch.diff import diff_files
from lockstitch.errors import LockstitchError
from lockstitch.operations.message_images import large_images, with_images_elsewhere
from lockstitch.operations.views.checkpoints import Recorded
from lockstitch.timeline.checkpoints import ABSENT, DiffOf, DiffText
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow

SPILL_BYTES = 64 << 10
PREVIEW_BYTES = 2 << 10
MAX_FILE_BYTES = 64 << 20
"""A larger file is recorded as `tooLarge`, without its content."""

_MAX_DIFFED = 8 << 20
_REMEMBERED = 256
_MOST_AT_HAND = 4 << 20


class Contents:
    """The stores of one data root. Safe for several threads."""

    def __init__(self, artifacts: Path, exports: Path, root_id: str, alone: Callable[[], bool] = lambda: False) -> None:
        """`alone` tells whether no other process works on the data root."""
        self._artifacts, self._exports, self._root_id = artifacts, exports, root_id
        self.outputs = Store(artifacts)
        self.outputs.alone = self._alone = alone
        self.safety = SafetyCopies(self.outputs)
        self._sidecars: dict[str | None, Sidecar] = {}
        self._of_thread: dict[str, Sidecar] = {}
        self._diffs: OrderedDict[tuple[Any, ...], DiffText] = OrderedDict()
        self._at_hand: OrderedDict[str, bytes] = OrderedDict()
        self._bytes_at_hand = 0
        self._lock = threading.Lock()

    def sidecar(self, workspace: str | None) -> Sidecar:
        """The artifact sidecar of a workspace; of none, the data root alone."""
        with self._lock:
            found = self._sidecars.get(workspace)
            if found is None:
                path = None if workspace is None else Path(workspace)
                found = self._sidecars[workspace] = self._open_sidecar(path)
            return found

    def _open_sidecar(self, workspace: Path | None) -> Sidecar:
        return open_sidecar(workspace, self._root_id, self._artifacts, self.safety, self._alone)

    def of_thread(self, thread_id: str, workspace: str | None) -> Sidecar:
        """The sidecar of a thread's workspace, remembered for the writer."""
        found = self._of_thread[thread_id.lower()] = self.sidecar(workspace)
        return found

    def place_of(self, sidecar: Sidecar, problem: str | None) -> str:
        """Where the sidecar has contents of which it told that problem, as a checkpoint says it."""
        return "dataRoot" if sidecar.workspace is None or problem else "workspace"

    def remember(self, contents: Sequence[Packed]) -> None:
        """Keep what is stored at hand: a diff that is made soon need not read it back."""
        with self._lock:
            for packed in contents:
                if len(packed.data) <= _MOST_AT_HAND // 4 and packed.sha256 not in self._at_hand:
                    self._at_hand[packed.sha256] = packed.data
                    self._bytes_at_hand += len(packed.data)
            while self._bytes_at_hand > _MOST_AT_HAND:
                self._bytes_at_hand -= len(self._at_hand.popitem(last=False)[1])

    def _side_bytes(self, sidecar: Sidecar, side: dict[str, Any]) -> bytes | None:
        with self._lock:
            found = self._at_hand.get(side.get("sha256") or "")
        return side_bytes(sidecar, side) if found is None else found

    @staticmethod
    def artifact_of(key: str) -> str:
        """The id of the version documents of a path, by what rows call it."""
        return artifact_id(path_of_key(key))

    def owned(self, row: ThreadRow, only: Sequence[str]) -> list[Path]:
        """What goes with a deleted thread: its documents and exports, and contents that no other refers to."""
        sidecar = self.sidecar(row.cwd if row.linked and row.cwd else None)
        found = [*thread_folders(sidecar, row.thread_id), self._exports / folder_name(row.thread_id)]
        for sha256 in only:
            found += sidecar.paths_of(sha256)
        return found

    # -- diffs ------------------------------------------------------------------------------------------------
    def diff_of_thread(self, thread_id: str) -> DiffOf:
        """How the writer makes a diff: from what was prepared, else from the contents."""

        def diff_of(key: str, old_key: str | None, before: dict[str, Any], after: dict[str, Any]) -> DiffText:
            sidecar = self._of_thread.get(thread_id.lower()) or self.sidecar(None)
            return self.diff(sidecar, key, old_key, before, after)

        return diff_of

    def diff(
        self, sidecar: Sidecar, key: str, old_key: str | None, before: dict[str, Any], after: dict[str, Any]
    ) -> DiffText:
        """The bounded unified diff between two sides; empty where one of them is not known."""
        asked = (key, old_key, *_identity(before), *_identity(after))
        with self._lock:
            known = self._diffs.get(asked)
        if known is not None:
            return known
        old_path = None if old_key is None else path_of_key(old_key)
        made = self._make_diff(sidecar, path_of_key(key), old_path, before, after)
        with self._lock:
            self._diffs[asked] = made
            while len(self._diffs) > _REMEMBERED:
                self._diffs.popitem(last=False)
        return made

    def _make_diff(
        self, sidecar: Sidecar, path: str, old_path: str | None, before: dict[str, Any], after: dict[str, Any]
    ) -> DiffText:
        try:
            old, new = self._side_bytes(sidecar, before), self._side_bytes(sidecar, after)
        except LockstitchError:
            return DiffText("", None, None)
        if old is None and new is None:
            return DiffText("", 0, 0)
        if len(old or b"") + len(new or b"") > _MAX_DIFFED:
            return DiffText("", None, None)
        made = diff_files(
            old, new, path=path, old_path=old_path, before_mode=before.get("mode"), after_mode=after.get("mode")
        )
        return DiffText(bounded_diff(made.unified), made.additions, made.deletions)

    # -- large outputs ----------------------------------------------------------------------------------------
    def spill_of_thread(self, thread_id: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
        """How the writer moves large outputs away: all threads share the data root's store."""
        del thread_id
        return self.spill

    def spill(self, item: dict[str, Any]) -> dict[str, Any]:
        """The item with an output over 64 KiB moved into the store, and its preview in its place."""
        data = large_output(item)
        if data is None:
            return item
        if item["type"] == "userMessage":
            return with_images_elsewhere(item, self.outputs.put(data), len(data))
        name = _OUTPUT[item["type"]]
        sha256 = self.outputs.put(data)
        preview = preview_of(data)
        shown: Any = preview
        if name == "result":
            shown = {"content": [{"type": "text", "text": preview}]}
        elif name == "contentItems":
            shown = [{"type": "inputText", "text": preview}]
        reference = {"artifactRef": f"sha256:{sha256}", "sha256": sha256, "bytes": len(data)}
        return {**item, name: shown, "outputRef": reference}


_OUTPUT = {"commandExecution": "aggregatedOutput", "mcpToolCall": "result", "dynamicToolCall": "contentItems"}


def large_output(item: dict[str, Any]) -> bytes | None:
    """The output of an item, or a message's images, too large for a line; None if there is none."""
    if item["type"] == "userMessage":
        return large_images(item.get("content"))
    name = _OUTPUT.get(item["type"])
    value = None if name is None else item.get(name)
    if value is None or (isinstance(value, str) and len(value) <= SPILL_BYTES // 4):
        return None
    data = value.encode() if isinstance(value, str) else encode(value)
    return data if len(data) > SPILL_BYTES else None


def preview_of(data: bytes) -> str:
    """The beginning of a text, at most 2 KiB, cut between characters."""
    return data[:PREVIEW_BYTES].decode("utf-8", "ignore")


def side_bytes(sidecar: Sidecar, side: dict[str, Any]) -> bytes | None:
    """The bytes of one side of a checkpoint; None if there is no file on it. Raises UnavailableError."""
    if side is ABSENT or side.get("contentStatus") == "absent":
        return None
    return sidecar.get(side.get("sha256") or "")


def _identity(side: dict[str, Any]) -> tuple[Any, ...]:
    return side.get("sha256"), side.get("contentStatus"), side.get("mode")


def write_all_documents(contents: Contents, view: View, thread_id: str) -> None:
    """Write every version document of a thread, for a fork whose versions came with it."""
    thread = view.thread(thread_id)
    if not thread.linked or not thread.cwd or not thread.checkpoints:
        return
    sidecar = contents.of_thread(thread_id, thread.cwd)
    rows = view.rows.all(CheckpointRow, "thread_no=? AND version_no IS NOT NULL ORDER BY sequence", thread.thread_no)
    with view.rollout(thread) as rollout:
        for line in rollout.lines.many([(row.line_at, row.line_length) for row in rows]):
            if line is not None:
                found = Recorded.of_line(thread, view.root_id, line)
                if found.snapshot_path is not None:
                    write_version(sidecar, found.document())
