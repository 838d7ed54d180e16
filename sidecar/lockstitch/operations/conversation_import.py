"""`conversationImport/*`: finding, previewing and taking over sessions that other tools wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstitch.errors import InvalidError, LockstitchError, NotFoundError
from lockstitch.imports.detect import describe
from lockstitch.imports.preview import preview as preview_source
from lockstitch.imports.scan import CLIENTS, scan_sources
from lockstitch.imports.source import SourceThread
from lockstitch.operations.call import Call
from lockstitch.operations.import_jobs import held_by, jobs_of
from lockstitch.operations.runtime import Runtime
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.imported import imported_threads

if TYPE_CHECKING:
    from lockstitch_protocol import conversation_import as wire


async def scan(runtime: Runtime, call: Call, params: wire.SourceScanParams) -> dict[str, Any]:
    """The sessions of a tool, the last updated first, a page at a time."""
    del call
    roots = _roots(runtime, params.source_client, params.source_root)
    found = await runtime.slowly(lambda: _scan(roots, params))
    source: dict[str, Any] = {"status": "missing" if found is None else "ready"}
    if params.source_client is not None:
        source["sourceClient"] = params.source_client
    if len(roots) == 1:
        source["sourceRoot"] = str(roots[0][1])
    after = key_of("imports", params.cursor, str, str, str)
    threads = found or []
    if after is not None:
        threads = [thread for thread in threads if _key(thread) < tuple(after)]
    page = threads[: params.limit]
    imported = await runtime.read(imported_threads) if page else {}
    entries: list[dict[str, Any]] = []
    for thread in page:
        entry = thread.as_wire()
        thread_id = imported.get((thread.client, thread.source_thread_id.lower()))
        if thread_id is not None:
            entry["importedThreadId"] = thread_id
        entries.append(entry)
    more = len(threads) > len(page)
    return {
        "source": source,
        "threads": entries,
        "nextCursor": cursor_of("imports", *_key(page[-1])) if more and page else None,
    }


def _scan(roots: list[tuple[str | None, Path]], params: wire.SourceScanParams) -> list[SourceThread] | None:
    """Every session that fits, newest first; None if none of the directories exists."""
    found: list[SourceThread] = []
    missing = True
    for client, root in roots:
        try:
            found += scan_sources(
                client,
                root,
                project_path=params.project_path,
                query=params.query,
                include_archived=params.include_archived,
            )
            missing = False
        except NotFoundError:
            continue
    return None if missing else sorted(found, key=_key, reverse=True)


def _key(thread: SourceThread) -> tuple[str, str, str]:
    return thread.updated_at or "", thread.client, thread.source_thread_id


def _roots(runtime: Runtime, client: str | None, root: str | None) -> list[tuple[str | None, Path]]:
    """Where to look, and for whose sessions. Raises InvalidError."""
    if root is not None:
        return [(client, _absolute(root, "sourceRoot"))]
    homes = runtime.settings.session_homes
    return [(name, Path(homes[name])) for name in ([client] if client is not None else CLIENTS)]


def _absolute(text: str, field: str) -> Path:
    if not os.path.isabs(text) or "\0" in text:
        raise InvalidError.at(field, "must be an absolute path")
    return Path(text)


async def preview(runtime: Runtime, call: Call, params: wire.ImportPreviewParams) -> dict[str, Any]:
    """What an import of a file would bring. Writes nothing."""
    del call
    path = _absolute(params.source_path, "sourcePath")
    found = await runtime.slowly(lambda: preview_source(path, limit=params.limit))
    return {"source": {"sourceClient": found["thread"]["sourceClient"], "status": "ready"}, **found}


async def commit(runtime: Runtime, call: Call, params: wire.ImportCommitParams) -> dict[str, Any]:
    """Start an import, and answer before it has begun."""
    if not params.confirmed:
        raise InvalidError.at("confirmed", "must be true: an import writes a thread")
    source = await runtime.slowly(lambda: _find(runtime, params))
    await held_by(runtime, source)  # a thread of that id that is something else is told at once
    return {"job": jobs_of(runtime).offer(call, source, replace=params.replace_existing).as_wire()}


def _find(runtime: Runtime, params: wire.ImportCommitParams) -> SourceThread:
    """The session that is meant. Raises InvalidError, NotFoundError."""
    if params.source_path is not None:
        source = describe(_absolute(params.source_path, "sourcePath"))
        wanted = params.source_thread_id
        if wanted is not None and wanted.lower() != source.source_thread_id.lower():
            raise InvalidError.at("sourceThreadId", "is not the id of the session in sourcePath")
        return source
    if params.source_thread_id is None:
        raise InvalidError.at("sourcePath", "one of sourcePath and sourceThreadId is required")
    for client, root in _roots(runtime, params.source_client, params.source_root):
        try:
            for source in scan_sources(client, root, query=params.source_thread_id, include_archived=True):
                if source.source_thread_id.lower() == params.source_thread_id.lower():
                    return describe(source.path)
        except LockstitchError:
            continue
    raise NotFoundError(
        f"There is no session {params.source_thread_id} where sessions were looked for; give its sourcePath.",
        kind="threadNotFound",
        threadId=params.source_thread_id,
    )


async def job_cancel(runtime: Runtime, call: Call, params: wire.ImportJobCancelParams) -> dict[str, Any]:
    """Stop an import behind the append that it is at; it ends as failed, with the kind requestCancelled."""
    del call
    job = jobs_of(runtime).find(params.job_id)
    if job is None:
        raise InvalidError.at("jobId", "names no import of this process")
    job.cancelled = True
    return {"job": job.as_wire()}


async def job_read(runtime: Runtime, call: Call, params: wire.ImportJobReadParams) -> dict[str, Any]:
    """How far an import is."""
    del call
    job = jobs_of(runtime).find(params.job_id)
    if job is None:
        raise InvalidError.at("jobId", "names no import of this process")
    return {"job": job.as_wire()}
