"""`storage/*`: what is stored counted, checked against itself, made anew; see storage_gc.py for clearing it.

Invariant: report and verify change nothing but what any read of a thread does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from lockstitch.artifacts.inventory import Kept, kept_in, measure, opener_in, opener_of
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.codec import present
from lockstitch.errors import LockstitchError, NotFoundError, UnavailableError
from lockstitch.operations.call import Call
from lockstitch.operations.file_checkpoint import workspace_of
from lockstitch.operations.runtime import Runtime
from lockstitch.timeline import inventory
from lockstitch.timeline.compare import Compared, compare
from lockstitch.timeline.inventory import Rows
from lockstitch.timeline.reader import View
from lockstitch.timeline.rebuild import Build
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.times import text_of
from lockstitch.timeline.upkeep import replace_projection

if TYPE_CHECKING:
    from lockstitch_protocol import storage as wire

MOST_LISTED = 1000


# -- report ---------------------------------------------------------------------------------------------------
async def report(runtime: Runtime, call: Call, params: wire.StorageReportParams) -> dict[str, Any]:
    """Bytes, files and ages by class and thread; the database's pages; what nothing refers to."""
    del call

    def look(view: View) -> tuple[list[ThreadRow], list[dict[str, Any]], set[str], list[str], inventory.Pages]:
        rows = inventory.all_threads(view)
        shown = [_thread_value(view, row) for row in rows[: params.thread_limit]]
        return rows, shown, inventory.all_contents(view), inventory.workspaces(view), inventory.pages(view)

    rows, shown, referenced, workspaces, pages = await runtime.read(look)
    sidecars = [runtime.contents.sidecar(workspace) for workspace in workspaces]
    return await runtime.slowly(lambda: _report(runtime, len(rows), shown, referenced, sidecars, pages))


def _report(
    runtime: Runtime,
    thread_count: int,
    threads: list[dict[str, Any]],
    referenced: set[str],
    sidecars: list[Sidecar],
    pages: inventory.Pages,
) -> dict[str, Any]:
    root = runtime.root
    places = {
        "sessions": root.sessions,
        "archivedSessions": root.archived_sessions,
        "database": root.sqlite,
        "artifacts": root.artifacts,
        "exports": root.exports,
        "quarantine": root.quarantine,
        "trash": root.trash,
        "journal": root.journal,
        "log": root.log_file.parent,
    }
    classes = [_class_value(name, [path]) for name, path in places.items()]
    ours = [sidecar.workspace / sidecar.root for sidecar in sidecars if sidecar.workspace is not None]
    classes.append(_class_value("workspaces", ours))
    orphans = [kept for kept in _all_kept(root.artifacts, sidecars) if kept.sha256 not in referenced]
    value: dict[str, Any] = {
        "dataRoot": str(root.path),
        "bytes": sum(one["bytes"] for one in classes),
        "files": sum(one["files"] for one in classes),
        "classes": classes,
        "threadCount": thread_count,
        "threads": threads,
        "orphans": {"bytes": sum(kept.bytes for kept in orphans), "files": len(orphans)},
        "safetyCopies": runtime.contents.safety.report(),
    }
    database = root.timeline
    if database.is_file():
        value["database"] = {
            "path": str(database),
            "bytes": _size_of(database),
            "pageBytes": pages.size,
            "pages": pages.count,
            "freePages": pages.free,
            "walBytes": _size_of(Path(f"{database}-wal")),
        }
    return value


def _all_kept(artifacts: Path, sidecars: list[Sidecar]) -> Iterable[Kept]:
    stores = [(opener_of(artifacts), artifacts)]
    for sidecar in sidecars:
        if sidecar.workspace is not None:
            stores.append((opener_in(sidecar), sidecar.workspace / sidecar.root / "artifacts"))
    for opener, where in stores:
        try:
            yield from kept_in(opener, where)
        except OSError:
            continue  # a workspace that is not there now


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _class_value(name: str, places: list[Path]) -> dict[str, Any]:
    files, size, newest, oldest = measure(places)
    value: dict[str, Any] = {"name": name, "bytes": size, "files": files}
    if files:
        value["oldest"], value["newest"] = (
            datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            for moment in (oldest, newest)
        )
    return value


def _thread_value(view: View, row: ThreadRow) -> dict[str, Any]:
    return {
        "threadId": row.thread_id,
        "archived": bool(row.archived),
        "bytes": row.size,
        "events": row.last_sequence,
        "contents": len(inventory.contents_of(view, row.thread_no)),
        "oldest": text_of(row.created_at),
        "newest": text_of(row.updated_at),
    }


# -- verify ---------------------------------------------------------------------------------------------------
class _Findings:
    """What verify found so far."""

    def __init__(self) -> None:
        self.threads = self.events = self.bytes = self.contents = 0
        self.count = self.wrong = 0
        self.listed: list[dict[str, Any]] = []
        self.checked: set[tuple[str | None, str]] = set()

    def add(self, **difference: Any) -> None:
        self.count += 1
        self.wrong += not difference.get("told")
        if len(self.listed) < MOST_LISTED:
            self.listed.append(present(difference))

    def add_compared(self, thread_id: str, compared: Compared) -> None:
        self.events += compared.events
        self.bytes += compared.bytes
        for damage, told in compared.damages:
            offsets = {"fromOffset": damage.start, "toOffset": damage.end}
            self.add(kind="damage", threadId=thread_id, reason=damage.reason, told=told, **offsets)
        for row in compared.rows:
            self.add(kind="projection", threadId=thread_id, reason=row.reason, table=row.table, key=row.key)


async def verify(runtime: Runtime, call: Call, params: wire.StorageVerifyParams) -> dict[str, Any]:
    """Sums, contents, and the projection against the rollouts: what differs."""
    found = _Findings()
    if params.thread_id is not None:
        runtime.ephemeral.refuse(params.thread_id, "verified")
        names = [(await runtime.read_thread(params.thread_id, _row_of(params.thread_id))).thread_id]
    else:
        names = [row.thread_id for row in await runtime.read(inventory.all_threads)]
        on_disk = await runtime.slowly(lambda: {place.thread_id for place in runtime.root.rollouts()})
        listed = {name.lower() for name in names}
        for name in sorted(one for one in on_disk if one.lower() not in listed):
            found.add(kind="rollout", threadId=name, reason="unlisted")
    await call.progress("begin", total=len(names))
    for number, name in enumerate(names, 1):
        await _verify_thread(runtime, name, found)
        await call.progress("report", current=number, total=len(names), percentage=round(100 * number / len(names), 1))
    await call.progress("end")
    return {
        "ok": not found.wrong,
        "threads": found.threads,
        "events": found.events,
        "bytes": found.bytes,
        "contents": found.contents,
        "differences": found.listed,
        "differenceCount": found.count,
    }


def _row_of(thread_id: str) -> Callable[[View], ThreadRow]:
    return lambda view: view.thread(thread_id)


async def _verify_thread(runtime: Runtime, thread_id: str, found: _Findings) -> None:
    def look(view: View) -> tuple[ThreadRow, Rows, list[str]]:
        row = view.thread(thread_id)
        rows = inventory.rows_of(view.connection, row.thread_no)
        return row, rows, inventory.contents_of(view, row.thread_no)

    try:
        row, rows, contents = await runtime.read_thread(thread_id, look)
        compared = await runtime.slowly(lambda: compare(runtime.root, runtime.root_id, runtime.boots, row, rows))
    except NotFoundError:
        return  # deleted meanwhile
    except LockstitchError as error:
        found.add(kind="rollout", threadId=thread_id, reason=error.kind)
        return
    found.threads += 1
    found.add_compared(row.thread_id, compared)
    sidecar = runtime.contents_of(thread_id).sidecar(workspace_of(row))
    for sha256 in contents:
        key = (None if sidecar.workspace is None else str(sidecar.workspace), sha256)
        if key not in found.checked:
            found.checked.add(key)
            await runtime.slowly(lambda sha256=sha256: _verify_content(sidecar, sha256, row.thread_id, found))


def _verify_content(sidecar: Sidecar, sha256: str, thread_id: str, found: _Findings) -> None:
    try:
        sidecar.get(sha256)
    except UnavailableError as error:
        found.add(kind="content", threadId=thread_id, reason=error.facts["contentStatus"], sha256=sha256)
    else:
        found.contents += 1


# -- rebuild --------------------------------------------------------------------------------------------------
async def rebuild(runtime: Runtime, call: Call, params: wire.StorageRebuildParams) -> dict[str, Any]:
    """Make the projection anew beside the one in use, and put it in its place. A cancel keeps what was built."""
    del params
    if runtime.refusal is not None:
        raise runtime.refusal
    build = Build(runtime.writer.place)
    await call.progress("begin")
    try:
        shown = -1
        while await runtime.slowly(build.step):
            percent = 100 * build.done // max(1, build.total)
            if percent > shown:
                shown = percent
                await call.progress("report", current=build.done, total=build.total, percentage=percent)
    finally:
        with anyio.CancelScope(shield=True):
            await runtime.slowly(build.pause)
    call.commit_point()
    count = await runtime.exclusive(lambda writer: replace_projection(writer, build))
    await call.progress("end")
    return {
        "threads": count,
        "resumed": build.resumed,
        "bytes": await runtime.slowly(lambda: _size_of(runtime.root.timeline)),
    }
