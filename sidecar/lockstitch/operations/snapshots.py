"""File events before the queue: paths judged, files read, contents stored, diffs made, documents written after.

Invariant: a path outside the workspace refuses the request; a file that cannot be read is a failed checkpoint.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lockstitch.artifacts.capture import check_target, read_file
from lockstitch.artifacts.content import Content, available, reference
from lockstitch.artifacts.documents import write_versions
from lockstitch.artifacts.paths import path_from_wire, path_to_wire, workspace_path
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.artifacts.store import Packed
from lockstitch.errors import InvalidError, RefusedError, UnavailableError
from lockstitch.operations.call import NOT_NOW
from lockstitch.operations.contents import MAX_FILE_BYTES
from lockstitch.operations.incoming import FILE_EVENTS
from lockstitch.operations.views.checkpoints import Recorded
from lockstitch.rollout.line import Draft
from lockstitch.timeline.checkpoints import ABSENT, NOT_CAPTURED, Snapshot
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.items import version_of
from lockstitch.timeline.jobs import Appended
from lockstitch.timeline.lines import DamagedLineError
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow
from lockstitch_protocol.snapshot import read_snapshot, without_content

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

T = TypeVar("T")

_MOST_UNSTORED = 16 << 20
"""Contents of a request that are read before any of them is stored: the disk takes them together."""

_STORED_FIELDS = {"title": "title", "kind": "kind", "preview": "previewText", "artifactId": "givenArtifactId"}


class Snapshots:
    """The file events of one request on one thread."""

    def __init__(self, runtime: Runtime, thread_id: str) -> None:
        self._runtime, self._thread_id = runtime, thread_id
        self.workspace: str | None = None
        self.sidecar: Sidecar | None = None
        self._last: dict[str, dict[str, Any] | None] = {}
        self._unstored: list[Packed] = []
        self._unstored_bytes = 0
        self._unsettled: list[Snapshot] = []
        """Those of which it is not known yet where their contents go."""

    async def open(self) -> ThreadRow:
        """Find the thread and its workspace. Raises NotFoundError, StorageError if nothing can be stored."""
        self._refuse()
        row = await self._runtime.read_thread(self._thread_id, self._find)
        self._at(row)
        return row

    async def opened(self, work: Callable[[ThreadRow], T]) -> T:
        """`open`, and then `work` in the same worker thread, where it may be slow."""
        self._refuse()
        return await self._runtime.careful.read_and_work(self._thread_id, self._find, self._beginning(work))

    def opened_here(self, work: Callable[[ThreadRow], T]) -> T:
        """The same in the calling thread; NOT_NOW if something has to be seen to first."""
        return self._runtime.careful.try_work(self._thread_id, self._find, self._beginning(work))

    def _find(self, view: View) -> ThreadRow:
        return view.thread(self._thread_id)

    def _beginning(self, work: Callable[[ThreadRow], T]) -> Callable[[ThreadRow], T]:
        def begin(row: ThreadRow) -> T:
            self._at(row)
            return work(row)

        return begin

    def _refuse(self) -> None:
        if self._runtime.refusal is not None and self._thread_id not in self._runtime.ephemeral:
            raise self._runtime.refusal

    def _at(self, row: ThreadRow) -> None:
        self.workspace = row.cwd if row.linked and row.cwd else None
        self._contents = self._runtime.contents_of(row.thread_id)
        self.sidecar = self._contents.of_thread(row.thread_id, self.workspace)

    async def prepare(self, events: list[Incoming]) -> None:
        """Give each file event its snapshot. Raises InvalidError, RefusedError, StorageError."""
        await self.opened(lambda row: self._prepare_all(row, events))

    def prepare_here(self, events: list[Incoming]) -> bool:
        """The same in the calling thread; False if something has to be seen to first."""
        return self.opened_here(lambda row: self._prepare_all(row, events)) is not NOT_NOW

    def _prepare_all(self, row: ThreadRow, events: list[Incoming]) -> None:
        ids = [event.event_id for event in events if event.event_id is not None]
        reader = self._runtime.reader_of(row.thread_id)
        stored = reader.run(
            lambda view: {event_id for event_id in ids if view.rows.client_event(row.thread_no, event_id)}
        )
        for number, event in enumerate(events):
            if event.type not in FILE_EVENTS or event.event_id in stored:
                continue  # a retry is answered with what is stored, whatever became of the file
            try:
                event.snapshot = self._from_event(event.payload)
            except ValueError:  # binascii.Error, or text that is not even ASCII
                raise InvalidError.at(
                    f"runtimeEvents.{number}.payload", "holds base64 that cannot be decoded"
                ) from None
            event.payload = without_content(event.payload)
        self.store()
        reader.run(lambda view: self._make_diffs(view, row, [e.snapshot for e in events if e.snapshot]))

    # -- one event --------------------------------------------------------------------------------------------
    def _from_event(self, payload: dict[str, Any]) -> Snapshot:
        found = read_snapshot(payload)
        path = workspace_path(path_from_wire(found.get("path"), found.get("pathBase64")), self.workspace)
        old_path = None
        if found.get("oldPath") is not None or found.get("oldPathBase64") is not None:
            old_path = workspace_path(path_from_wire(found.get("oldPath"), found.get("oldPathBase64")), self.workspace)
        given = _bytes(found, "content", "contentBase64")
        after, disk, issues = self._after(found, path, given)
        before = self._before(found)
        snapshot = Snapshot(
            path_to_wire(path)["path"],
            "agent",
            after,
            before,
            disk,
            found.get("op"),
            None if old_path is None else path_to_wire(old_path)["path"],
            found.get("checkpointId"),
            issues,
            diff=found.get("diff") if after is NOT_CAPTURED or before is NOT_CAPTURED else None,
        )
        self._fill(snapshot, path, found, old_path)
        self._unsettled.append(snapshot)
        return snapshot

    def _after(
        self, found: dict[str, Any], path: str, given: bytes | None
    ) -> tuple[dict[str, Any], dict[str, Any] | None, list[str]]:
        """The side after the change, what the disk holds if that may be something else, and what went wrong."""
        if found.get("afterNotCaptured"):
            return NOT_CAPTURED, None, []
        if given is None and found.get("op") == "deleted":
            if self.workspace is not None:
                _check_deleted(Path(self.workspace), path)
            return ABSENT, None, []
        live = self._live(path, needed=given is None)
        if given is None:
            if live is None:
                raise UnavailableError(
                    f"Thread {self._thread_id} has no workspace to read the file from; send its content, or link a "
                    "workspace with thread/metadata/update.",
                    kind="workspaceNotLinked",
                    threadId=self._thread_id,
                )
            side = self._side(live)
            return side, None, [live.reason] if live.reason and live.status != "missing" else []
        side = self._side(available(given, mode=found.get("mode") or (live.mode if live is not None else None)))
        disk = None
        if live is not None and live.status == "available" and live.sha256 != side.get("sha256"):
            disk = self._side(live)
        return side, disk, []

    def _before(self, found: dict[str, Any]) -> dict[str, Any] | None:
        given = _bytes(found, "previousContent", "previousContentBase64")
        if given is not None:
            return self._side(available(given))
        if found.get("beforeAbsent"):
            return ABSENT
        return NOT_CAPTURED if found.get("beforeNotCaptured") else None

    def _live(self, path: str, *, needed: bool) -> Content | None:
        """What the disk holds; None without a workspace, or if it is gone and the content came along."""
        try:
            return self._read(path)
        except UnavailableError:
            if needed:
                raise
            return None

    def _read(self, path: str) -> Content | None:
        if self.workspace is None:
            return None
        return read_file(Path(self.workspace), path, max_bytes=MAX_FILE_BYTES)

    def _side(self, content: Content) -> dict[str, Any]:
        """The reference of a content, its bytes stored."""
        if content.status == "missing":
            return ABSENT
        if content.data is not None:
            self._unstored.append(Packed(content.data, content.sha256))
            self._unstored_bytes += len(content.data)
            if self._unstored_bytes > _MOST_UNSTORED:
                self.store()
        return reference(content)

    def store(self) -> None:
        """Store what the snapshots so far refer to, and tell in them where that is. Raises StorageError."""
        assert self.sidecar is not None
        problem = self.sidecar.problem
        if self._unstored:
            problem = self.sidecar.put_packed(self._unstored)
            self._contents.remember(self._unstored)
        for snapshot in self._unsettled:
            snapshot.place = self._contents.place_of(self.sidecar, problem)
            if self.workspace is not None and problem:
                snapshot.issues.append(problem)
        self._unstored, self._unsettled, self._unstored_bytes = [], [], 0

    def place(self) -> str:
        """Where contents go now, as a checkpoint tells it."""
        assert self.sidecar is not None
        return self._contents.place_of(self.sidecar, self.sidecar.problem)

    @staticmethod
    def _fill(snapshot: Snapshot, path: str, found: dict[str, Any], old_path: str | None = None) -> None:
        wire = path_to_wire(path)
        fields = snapshot.fields
        if "pathBase64" in wire:
            fields["pathBase64"] = wire["pathBase64"]
        if old_path is not None and "pathBase64" in (old := path_to_wire(old_path)):
            fields["oldPathBase64"] = old["pathBase64"]
        for name, stored in _STORED_FIELDS.items():
            if found.get(name) is not None:
                fields[stored] = found[name]
        for name in ("metadata", "document", "requestId"):
            if found.get(name) is not None:
                fields[name] = found[name]

    # -- captures ---------------------------------------------------------------------------------------------
    def captured(self, path: str, reason: str | None) -> Snapshot:
        """The file as it is now, to be stored by `store`. Raises RefusedError for a path that may not be read."""
        path = workspace_path(path, self.workspace)
        live = self._read(path)
        if live is None:
            raise UnavailableError(
                f"Thread {self._thread_id} has no workspace; link one with thread/metadata/update.",
                kind="workspaceNotLinked",
                threadId=self._thread_id,
            )
        snapshot = Snapshot(path_to_wire(path)["path"], "capture", self._side(live), only_if_changed=True)
        if live.reason and live.status != "missing":
            snapshot.issues.append(live.reason)
        self._unsettled.append(snapshot)
        self._fill(snapshot, path, {} if reason is None else {"metadata": {"reason": reason}})
        return snapshot

    # -- diffs and documents ----------------------------------------------------------------------------------
    def _make_diffs(self, view: View, row: ThreadRow, snapshots: list[Snapshot]) -> None:
        """Make the diffs that the writer will ask for, as far as they can be foreseen."""
        assert self.sidecar is not None
        for snapshot in snapshots:
            key = snapshot.key
            if key not in self._last:
                self._last[key] = _last_side(view, row, key)
            before = snapshot.before or snapshot.disk or self._last[key] or NOT_CAPTURED
            if snapshot.diff is None:
                self._contents.diff(self.sidecar, key, snapshot.old_key, before, snapshot.after)
            self._last[key] = snapshot.after

    async def write_documents(self, thread: ThreadRow, drafts: Sequence[tuple[int, Draft]]) -> None:
        """Write the version documents of what was stored. For people: a failure costs only them."""
        if self.sidecar is not None and self.workspace is not None:
            await self._runtime.slowly(lambda: self.write_documents_here(thread, drafts))

    def write_documents_here(self, thread: ThreadRow, drafts: Sequence[tuple[int, Draft]]) -> None:
        """The same in the calling thread."""
        if self.sidecar is None or self.workspace is None:
            return
        records = [
            Recorded(thread, self._runtime.root_id, sequence, draft)
            for sequence, draft in drafts
            if draft.type in FILE_EVENTS
        ]
        documents = [record.document() for record in records if record.snapshot_path is not None]
        if documents:
            write_versions(self.sidecar, documents)


def _check_deleted(workspace: Path, path: str) -> None:
    """Refuse links and special files where a file is said to be gone; a folder may have taken its place."""
    try:
        check_target(workspace, path, writing=False)
    except RefusedError as error:
        if error.facts.get("reason") != "directory":
            raise


def stored_events(done: Appended) -> list[tuple[int, Draft]]:
    """What an append stored, with its sequences."""
    return list(enumerate(done.drafts, done.first_sequence))


def _last_side(view: View, row: ThreadRow, key: str) -> dict[str, Any] | None:
    version = view.rows.latest_version(row.thread_no, key)
    if version is None:
        return None
    if version.absent:
        return ABSENT
    try:
        with view.rollout(row) as rollout:
            return version_of(rollout.lines.line(version.line_at, version.line_length))[1]
    except DamagedLineError:
        return None


def _bytes(found: dict[str, Any], text: str, encoded: str) -> bytes | None:
    """A content as bytes; the base64 is the exact one."""
    if found.get(encoded) is not None:
        return base64.b64decode(found[encoded], validate=True)
    if found.get(text) is not None:
        return found[text].encode("utf-8", "surrogatepass")
    return None
