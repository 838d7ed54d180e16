"""`agentSession/fileCheckpoint/*`: what was recorded of files: list, get, diff, capture."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.capture import read_file
from lockstitch.artifacts.content import as_text
from lockstitch.artifacts.paths import path_from_wire, path_of_key, path_to_wire, printable
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.codec import ParseError, mapping, present
from lockstitch.diff import diff_files
from lockstitch.errors import InvalidError, LockstitchError, NotFoundError, UnavailableError
from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.operations.contents import MAX_FILE_BYTES
from lockstitch.operations.pages import fitting
from lockstitch.operations.prepared import FEW, write_prepared
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.snapshots import Snapshots, stored_events
from lockstitch.operations.thread_reads import turn_of
from lockstitch.operations.views.checkpoints import Recorded, recorded, summaries_of
from lockstitch.timeline import queries
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.checkpoints import path_key
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.jobs import Appended, AppendJob
from lockstitch.timeline.lines import Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ThreadRow

if TYPE_CHECKING:
    from lockstitch_protocol import file_checkpoint as wire


async def list_(runtime: Runtime, call: Call, params: wire.FileCheckpointListParams) -> dict[str, Any]:
    """Checkpoints, newest first."""
    most = call.connection.max_message_bytes
    after = key_of("checkpoints", params.cursor, int)

    def look(view: View) -> dict[str, Any]:
        thread = view.thread(params.session_id)
        turn_no = None if params.turn_id is None else turn_of(view, thread, params.turn_id).turn_no
        path = params.path
        if path is not None and thread.cwd and path.startswith(thread.cwd.rstrip("/") + "/"):
            path = path[len(thread.cwd.rstrip("/")) + 1 :]
        if params.path_base64 is not None:
            exact = path_to_wire(path_from_wire(None, params.path_base64))
            path = path_key(exact["path"], exact.get("pathBase64"))
        page = queries.checkpoints(
            view,
            thread.thread_no,
            path=path,
            turn_no=turn_no,
            after=None if after is None else after[0],
            limit=params.limit,
        )
        with view.rollout(thread) as rollout:
            found = summaries_of(view, thread, page.rows, rollout.lines)
        _tell_lost(runtime.contents_of(thread.thread_id).sidecar(workspace_of(thread)), found)

        def facts(number: int) -> dict[str, Any]:
            entry = found[number]
            cursor = cursor_of("checkpoints", entry["sequence"])
            return {"itemId": entry["checkpointId"], "checkpointId": entry["checkpointId"], "nextCursor": cursor}

        count = fitting(found, most, facts)
        # A row whose line is damaged has no entry: the page ends at its last row, or at the last entry that fits.
        last = page.rows[-1].sequence if page.more else None
        if count < len(found):
            last = found[count - 1]["sequence"]
        return {
            "sessionId": thread.thread_id,
            "threadId": thread.thread_id,
            "checkpointCount": queries.count_checkpoints(view, thread.thread_no, path, turn_no),
            "checkpoints": found[:count],
            "nextCursor": None if last is None else cursor_of("checkpoints", last),
        }

    return await runtime.read_thread(params.session_id, look)


def _tell_lost(sidecar: Sidecar, summaries: list[dict[str, Any]]) -> None:
    """Say of a content that was recorded and is in no store any more that it is missing."""
    sides = [
        side for summary in summaries for side in (summary["before"], summary["after"]) if side and side.get("sha256")
    ]
    kept = sidecar.among({side["sha256"] for side in sides})
    for side in sides:
        if side["contentStatus"] == "available" and side["sha256"] not in kept:
            side["contentStatus"] = "missing"


class _Found:
    """A checkpoint and what is around it."""

    def __init__(self, runtime: Runtime, view: View, session_id: str, checkpoint_id: str) -> None:
        """Raises NotFoundError, UnavailableError."""
        self.thread = view.thread(session_id)
        row = view.rows.checkpoint(self.thread.thread_no, checkpoint_id)
        if row is None or row.op == "confirmed":
            raise NotFoundError(
                f"Thread {self.thread.thread_id} has no checkpoint {checkpoint_id}; fileCheckpoint/list shows them.",
                kind="checkpointNotFound",
                threadId=self.thread.thread_id,
                checkpointId=checkpoint_id,
            )
        self.row = row
        self.workspace = workspace_of(self.thread)
        self.sidecar: Sidecar = runtime.contents_of(session_id).sidecar(self.workspace)
        with view.rollout(self.thread) as rollout:
            self.recorded = _recorded(view, self.thread, row, rollout.lines)
            self.history = _history(view, self.thread, row.path, rollout.lines)

    @property
    def path(self) -> str:
        """As the disk has it."""
        return self.recorded.exact_path

    @property
    def shown_path(self) -> str:
        """As it can be sent."""
        return self.recorded.record["path"]

    def side(self, name: str) -> dict[str, Any] | None:
        """The recorded reference of a side; None: there is no file on it."""
        return self.recorded.record.get(name)

    def bytes_of(self, side: dict[str, Any] | None) -> bytes | None:
        """The content of a side; None if there is no file on it. Raises UnavailableError."""
        if side is None:
            return None
        if side.get("contentStatus") != "available":
            raise unavailable(side.get("contentStatus") or "missing", self.shown_path)
        return self.sidecar.get(side["sha256"])

    def live(self) -> Any:
        """The file on the disk as it is now; None without a workspace."""
        if self.workspace is None:
            return None
        return read_file(Path(self.workspace), self.path, max_bytes=MAX_FILE_BYTES)


def unavailable(status: str, path: str) -> UnavailableError:
    """The error of a side whose content cannot be had."""
    return UnavailableError(
        f"The content of {path} cannot be had: {status}.", kind="contentUnavailable", contentStatus=status, path=path
    )


def workspace_of(thread: ThreadRow) -> str | None:
    """The directory that the thread is linked to."""
    return thread.cwd if thread.linked and thread.cwd else None


def _recorded(view: View, thread: ThreadRow, row: CheckpointRow, lines: Lines) -> Recorded:
    try:
        return recorded(view, thread, row, lines)
    except ParseError:
        raise unavailable("corrupt", printable(path_of_key(row.path))) from None


def _history(view: View, thread: ThreadRow, path: str, lines: Lines) -> list[dict[str, Any]]:
    rows = queries.versions(view, thread.thread_no, path)
    found: list[dict[str, Any]] = []
    for line in lines.many([(row.line_at, row.line_length) for row in rows]):
        if line is None:
            continue
        version = Recorded.of_line(thread, view.root_id, line)
        after = mapping(version.record.get("after"))
        entry = {
            "id": version.record["versionId"],
            "versionNo": version.version_no,
            "checkpointId": version.record["checkpointId"],
            "sha256": after.get("sha256"),
            "bytes": after.get("bytes"),
            "turnId": version.turn_id,
            "createdAt": version.at,
            "op": version.record["op"],
        }
        found.append(present(entry))
    return found


async def get(runtime: Runtime, call: Call, params: wire.FileCheckpointGetParams) -> dict[str, Any]:
    """One checkpoint with a side's content."""
    del call

    def find(view: View) -> _Found:
        return _Found(runtime, view, params.session_id, params.checkpoint_id)

    found = await runtime.read_thread(params.session_id, find)
    return await runtime.slowly(lambda: _details(found, params))


def _details(found: _Found, params: wire.FileCheckpointGetParams) -> dict[str, Any]:
    record = found.recorded.record
    side_name = params.side or _default_side(record)
    side = found.side(side_name)
    summary = found.recorded.summary()
    issues = list(found.recorded.issues)
    value: dict[str, Any] = {
        "sessionId": found.thread.thread_id,
        "threadId": found.thread.thread_id,
        "checkpoint": summary,
        "side": side_name,
        "livePath": found.shown_path,
    }
    if found.recorded.snapshot_path is not None:
        value["snapshotPath"] = found.recorded.snapshot_path
    if record.get("versionNo") is not None:
        document = present(found.recorded.document())
        value["checkpointDocument"] = {**document, "before": record.get("before"), "after": record.get("after")}
    value["versionHistory"] = found.history
    status, data = "missing", None
    if side is not None:
        try:
            data, status = found.bytes_of(side), "available"
        except UnavailableError as error:
            status = error.facts["contentStatus"]
            issues.append(error.message)
    value["validationIssues"] = issues
    _tell_lost(found.sidecar, [summary])
    if record.get("metadata") is not None:
        value["metadata"] = record["metadata"]
    value["contentStatus"], value["truncated"] = status, False
    if data is not None:
        value["truncated"] = len(data) > params.max_bytes
        _add_content(value, data[: params.max_bytes], params.as_)
    value["liveState"] = _live_state(found, side)
    return value


def _default_side(record: dict[str, Any]) -> str:
    after, before = record.get("after"), record.get("before")
    has_after = after is None or after.get("contentStatus") == "available"
    has_before = before is not None and before.get("contentStatus") == "available"
    if after is None and has_before:
        return "before"
    return "after" if has_after or not has_before else "before"


def _add_content(value: dict[str, Any], data: bytes, wanted: str | None) -> None:
    text = None if wanted == "base64" else as_text(data) if not value["truncated"] else _cut_text(data)
    if text is None:
        value["contentBase64"] = base64.b64encode(data).decode()
    else:
        value["content"] = text


def _cut_text(data: bytes) -> str | None:
    """The beginning of a UTF-8 text, cut between characters."""
    for end in range(len(data), max(-1, len(data) - 4), -1):
        text = as_text(data[:end], "utf-8") if _is_utf8(data[:end]) else None
        if text is not None and "\0" not in text:
            return text
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _live_state(found: _Found, side: dict[str, Any] | None) -> str:
    try:
        live = found.live()
    except LockstitchError:
        return "unreadable"
    if live is None or live.status == "missing":
        return "same" if side is None and live is not None else "missing"
    if live.status not in ("available", "tooLarge"):
        return "unreadable"
    return "same" if side is not None and live.sha256 is not None and live.sha256 == side.get("sha256") else "changed"


async def diff(runtime: Runtime, call: Call, params: wire.FileCheckpointDiffParams) -> dict[str, Any]:
    """What a checkpoint changed, or how it differs from the disk or from another checkpoint."""
    del call

    def find(view: View) -> tuple[_Found, _Found | None]:
        found = _Found(runtime, view, params.session_id, params.checkpoint_id)
        if params.against in (None, "previous", "live"):
            return found, None
        return found, _Found(runtime, view, params.session_id, params.against or "")

    found, other = await runtime.read_thread(params.session_id, find)
    return await runtime.slowly(lambda: _difference(found, other, params))


def _difference(found: _Found, other: _Found | None, params: wire.FileCheckpointDiffParams) -> dict[str, Any]:
    record = found.recorded.record
    after = found.side("after")
    value: dict[str, Any] = {
        "sessionId": found.thread.thread_id,
        "threadId": found.thread.thread_id,
        "checkpoint": found.recorded.summary(),
    }
    if params.against == "live":
        old, old_mode, old_path = found.bytes_of(after), mapping(after).get("mode"), None
        live = found.live()
        if live is None:
            raise unavailable("missing", found.shown_path)
        if live.status not in ("available", "missing"):
            raise unavailable(live.status, found.shown_path)
        new, new_mode = live.data, live.mode
        previous, current = record.get("versionId"), None
    else:
        before = found.side("before") if other is None else other.side("after")
        patch = found.recorded.shown_diff
        if other is None and patch and _is_known_by_patch_only(before, after):
            return {**value, **_versions_of(record), "diff": _recorded_patch(patch)}
        holder = found if other is None else other
        old, old_mode = holder.bytes_of(before), mapping(before).get("mode")
        new, new_mode = found.bytes_of(after), mapping(after).get("mode")
        old_key = found.recorded.old_key if other is None else other.row.path
        old_path = None if old_key is None else path_of_key(old_key)
        current = record.get("versionId")
        previous = record.get("previousVersionId") if other is None else other.recorded.record.get("versionId")
    if current is not None:
        value["currentVersionId"] = current
    if previous is not None:
        value["previousVersionId"] = previous
    made = diff_files(
        old,
        new,
        path=found.path,
        old_path=old_path if old_path != found.path else None,
        context=params.context_lines,
        max_bytes=params.max_bytes,
        before_mode=old_mode,
        after_mode=new_mode,
    )
    value["diff"] = made.as_wire()
    return value


def _versions_of(record: dict[str, Any]) -> dict[str, Any]:
    found = {"currentVersionId": record.get("versionId"), "previousVersionId": record.get("previousVersionId")}
    return present(found)


def _is_known_by_patch_only(before: dict[str, Any] | None, after: dict[str, Any] | None) -> bool:
    return any(side is not None and side.get("contentStatus") == "notCaptured" for side in (before, after))


def _recorded_patch(patch: str) -> dict[str, Any]:
    """A change of which only the agent's own patch is known: shown as it came, not taken apart."""
    lines = patch.split("\n")
    return {
        "format": "unified",
        "unified": patch,
        "hunks": [],
        "additions": sum(line.startswith("+") and not line.startswith("+++") for line in lines),
        "deletions": sum(line.startswith("-") and not line.startswith("---") for line in lines),
        "binary": False,
        "truncated": False,
        "approximate": True,
    }


async def capture(runtime: Runtime, call: Call, params: wire.FileCheckpointCaptureParams) -> dict[str, Any]:
    """Read files now: before an edit it fixes what they were, after one it records what happened."""
    capture = _Capture(runtime, params)
    async with runtime.order.turn(params.session_id):
        capture.take(await capture.snapshots.opened(capture.read))
        done = await runtime.perform(call, capture.job())
    await capture.snapshots.write_documents(done.thread, stored_events(done))
    return capture.reply(done)


def capture_at_once(runtime: Runtime, call: Call, params: wire.FileCheckpointCaptureParams) -> dict[str, Any]:
    """The same for few files, in the calling thread; NOT_NOW if it had to wait for anybody."""
    if not runtime.writes_at_once(params.session_id):
        return NOT_NOW
    capture = _Capture(runtime, params)
    if len(capture.paths) > FEW:
        return NOT_NOW

    def prepare() -> bool:
        found = capture.snapshots.opened_here(capture.read)
        return found is not NOT_NOW and capture.take(found)

    def follow(done: Appended) -> None:
        capture.snapshots.write_documents_here(done.thread, stored_events(done))

    done = write_prepared(runtime, call, capture.job(), prepare, follow)
    return NOT_NOW if done is NOT_NOW else capture.reply(done)


class _Capture:
    """One request to capture."""

    def __init__(self, runtime: Runtime, params: wire.FileCheckpointCaptureParams) -> None:
        """Raises InvalidError."""
        self.paths = [*(params.paths or []), *(path_from_wire(None, one) for one in params.paths_base64 or [])]
        if not self.paths:
            raise InvalidError.at("paths", "must name at least one file")
        if len(set(self.paths)) != len(self.paths):
            raise InvalidError.at("paths", "names a file twice")
        self._runtime, self._params = runtime, params
        self.snapshots = Snapshots(runtime, params.session_id)
        self._events: list[Incoming] = []
        self._failed: list[dict[str, Any]] = []

    def read(self, row: ThreadRow) -> tuple[list[Incoming], list[dict[str, Any]]]:
        """The files as they are now, stored."""
        del row
        return _captured(self.snapshots, self.paths, self._params.reason)

    def take(self, found: tuple[list[Incoming], list[dict[str, Any]]]) -> bool:
        """This is what was read."""
        self._events, self._failed = found
        return True

    def job(self) -> AppendJob:
        """What records it."""

        def build(admission: Admission) -> None:
            turn_id = self._params.turn_id or admission.open_turn_id
            for event in self._events:
                event.turn_id = turn_id
                admission.add(event)

        return self._runtime.job(AppendJob, thread_id=self._params.session_id, build=build)

    def reply(self, done: Appended) -> dict[str, Any]:
        """What became of each file."""
        captured: list[dict[str, Any]] = []
        failed = list(self._failed)
        told: set[str] = set()
        for sequence, draft in stored_events(done):
            if draft.type == "artifact.snapshot":
                made = Recorded(done.thread, self._runtime.root_id, sequence, draft)
                told.add(made.key)
                summary = made.summary()
                if summary.get("status") == "failed":
                    failed.append(_failure(summary))
                else:
                    captured.append(summary)
        unchanged = [each.snapshot.path for each in self._events if each.snapshot and each.snapshot.key not in told]
        return {"captured": captured, "unchanged": unchanged, "failed": failed}


def _captured(
    snapshots: Snapshots, paths: list[str], reason: str | None
) -> tuple[list[Incoming], list[dict[str, Any]]]:
    """Each file as an event; a path that may not be read, or a file that cannot, stops none of the others."""
    events: list[Incoming] = []
    failed: list[dict[str, Any]] = []
    for path in paths:
        try:
            snapshot = snapshots.captured(path, reason)
        except LockstitchError as error:
            if error.kind in ("workspaceNotLinked", "workspaceUnavailable"):
                raise
            failed.append({**path_to_wire(path), "reason": error.message})
            continue
        events.append(Incoming("artifact.snapshot", {}, own=True, snapshot=snapshot))
    snapshots.store()
    return events, failed


def _failure(summary: dict[str, Any]) -> dict[str, Any]:
    status = mapping(summary.get("after")).get("contentStatus", "unreadable")
    told = {name: summary[name] for name in ("path", "pathBase64", "checkpointId") if name in summary}
    return {**told, "reason": status}
