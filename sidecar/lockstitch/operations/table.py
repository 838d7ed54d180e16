"""The table of operations: which function serves which method of the registry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lockstitch.operations.call import PlainForm
from lockstitch_protocol.later import LaterModule

if TYPE_CHECKING:
    from lockstitch.operations import (
        append,
        append_request,
        artifact,
        conversation_import,
        evidence,
        exports,
        file_checkpoint,
        receipt,
        replay,
        replay_case,
        restore,
        rewind,
        search,
        server,
        session,
        storage,
        storage_gc,
        thread,
        thread_import,
        thread_moves,
        thread_reads,
        turn,
        undo,
        worker,
    )
else:
    append = LaterModule("lockstitch.operations.append")
    append_request = LaterModule("lockstitch.operations.append_request")
    artifact = LaterModule("lockstitch.operations.artifact")
    conversation_import = LaterModule("lockstitch.operations.conversation_import")
    evidence = LaterModule("lockstitch.operations.evidence")
    exports = LaterModule("lockstitch.operations.exports")
    file_checkpoint = LaterModule("lockstitch.operations.file_checkpoint")
    receipt = LaterModule("lockstitch.operations.receipt")
    replay = LaterModule("lockstitch.operations.replay")
    replay_case = LaterModule("lockstitch.operations.replay_case")
    restore = LaterModule("lockstitch.operations.restore")
    rewind = LaterModule("lockstitch.operations.rewind")
    search = LaterModule("lockstitch.operations.search")
    server = LaterModule("lockstitch.operations.server")
    session = LaterModule("lockstitch.operations.session")
    storage = LaterModule("lockstitch.operations.storage")
    storage_gc = LaterModule("lockstitch.operations.storage_gc")
    thread = LaterModule("lockstitch.operations.thread")
    thread_import = LaterModule("lockstitch.operations.thread_import")
    thread_moves = LaterModule("lockstitch.operations.thread_moves")
    thread_reads = LaterModule("lockstitch.operations.thread_reads")
    turn = LaterModule("lockstitch.operations.turn")
    undo = LaterModule("lockstitch.operations.undo")
    worker = LaterModule("lockstitch.operations.worker")

PLAIN_FORMS: dict[str, Callable[[], PlainForm]] = {
    "agentSession/runtimeEvents/append": append_request.plain_form,
}

AT_ONCE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "server/status": server.status_at_once,
    "agentSession/runtimeEvents/append": append.append_at_once,
    "agentSession/fileCheckpoint/capture": file_checkpoint.capture_at_once,
}

OPERATIONS: dict[str, Callable[[Any, Any, Any], Awaitable[Any]]] = {
    "server/status": server.status,
    "thread/start": thread.start,
    "thread/read": thread_reads.read,
    "thread/list": thread_reads.list_,
    "thread/turns/list": thread_reads.turns_list,
    "thread/items/list": thread_reads.items_list,
    "thread/events/list": thread_reads.events_list,
    "thread/resume": thread.resume,
    "thread/unsubscribe": thread.unsubscribe,
    "thread/fork": thread_moves.fork,
    "thread/name/set": thread.name_set,
    "thread/metadata/update": thread.metadata_update,
    "thread/archive": thread_moves.archive,
    "thread/unarchive": thread_moves.unarchive,
    "thread/delete": thread_moves.delete,
    "thread/rollback": thread.rollback,
    "thread/search": search.search,
    "thread/replay": replay.replay,
    "thread/export": exports.export,
    "thread/import": thread_import.import_,
    "turn/start": turn.start,
    "turn/interrupt": turn.interrupt,
    "turn/steer": turn.steer,
    "turn/receipt/read": receipt.read,
    "worker/start": worker.start,
    "worker/heartbeat": worker.heartbeat,
    "worker/finish": worker.finish,
    "worker/retry": worker.retry,
    "worker/list": worker.list_,
    "session.create": thread.start,
    "session.list": thread_reads.list_,
    "session.resume": thread.resume,
    "session.rename": thread.name_set,
    "session.fork": thread_moves.fork,
    "session.archive": thread_moves.archive,
    "session.delete": thread_moves.delete,
    "agentSession/start": session.start,
    "agentSession/list": session.list_,
    "agentSession/read": session.read,
    "agentSession/update": session.update,
    "agentSession/delete": session.delete,
    "agentSession/thread/resume": session.resume,
    "agentSession/turn/start": session.turn_start,
    "agentSession/turn/cancel": session.turn_cancel,
    "agentSession/runtimeEvents/append": append.append,
    "agentSession/fileCheckpoint/list": file_checkpoint.list_,
    "agentSession/fileCheckpoint/get": file_checkpoint.get,
    "agentSession/fileCheckpoint/diff": file_checkpoint.diff,
    "agentSession/fileCheckpoint/capture": file_checkpoint.capture,
    "agentSession/fileCheckpoint/restore": restore.restore,
    "agentSession/fileCheckpoint/rewind": rewind.rewind,
    "agentSession/fileCheckpoint/undo": undo.undo,
    "artifact/read": artifact.read,
    "evidence/export": evidence.export,
    "agentSession/replayCase/export": replay_case.export,
    "agentSession/replayCase/verify": replay_case.verify,
    "conversationImport/source/scan": conversation_import.scan,
    "conversationImport/thread/preview": conversation_import.preview,
    "conversationImport/thread/commit": conversation_import.commit,
    "conversationImport/job/read": conversation_import.job_read,
    "conversationImport/job/cancel": conversation_import.job_cancel,
    "storage/report": storage.report,
    "storage/gc": storage_gc.gc,
    "storage/verify": storage.verify,
    "storage/rebuild": storage.rebuild,
}
