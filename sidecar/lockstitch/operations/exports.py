"""`thread/export`: a thread as one document, in the reply or as a new file.

Invariant: no file that exists is written over.
"""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.names import is_protected
from lockstitch.artifacts.store import stage
from lockstitch.errors import InvalidError, RefusedError
from lockstitch.exports.bundle import bundle_of
from lockstitch.exports.evidence_pack import events_file
from lockstitch.exports.facts import ThreadFacts
from lockstitch.exports.html import html_of
from lockstitch.exports.markdown import markdown_of
from lockstitch.operations.call import Call
from lockstitch.operations.cancelling import stoppable
from lockstitch.operations.evidence import gathered
from lockstitch.operations.runtime import Runtime
from lockstitch.platform.beneath import open_root
from lockstitch.platform.files import storage_errors
from lockstitch.timeline.reader import View

if TYPE_CHECKING:
    from lockstitch_protocol.thread_export import ThreadExportParams

MOST_IN_A_REPLY = 64 << 20
WARNING = "Secrets were not looked for: the bundle holds everything that the thread holds. Hand it on with care."


@dataclass(frozen=True, slots=True)
class _Document:
    data: bytes
    partial: bool
    redactions: dict[str, int] | None = None
    warning: str | None = None


async def export(runtime: Runtime, call: Call, params: ThreadExportParams) -> dict[str, Any]:
    """Export a thread."""
    target = None if params.path is None else _target(params.path)
    if target is not None:
        runtime.ephemeral.refuse(params.thread_id, "written into a file")
    await call.progress("begin")
    document = await _document(runtime, params)
    value: dict[str, Any] = {}
    if target is None:
        value.update(_content(document.data, is_text=params.format != "bundle"))
    else:
        call.commit_point()  # the file is there or not: a cancel comes too late
        await runtime.slowly(lambda: _write_new(target, document.data))
        value["path"] = str(target)
    await call.progress("end")
    value["bytes"], value["sha256"] = len(document.data), sha256(document.data).hexdigest()
    if document.partial:
        value["partial"] = True
    if document.redactions is not None:
        value["redactions"] = document.redactions
    if document.warning is not None:
        value["warning"] = document.warning
    return value


async def _document(runtime: Runtime, params: ThreadExportParams) -> _Document:
    redact = params.format != "bundle" if params.redact is None else params.redact
    if params.format == "jsonl" and not redact:
        return await runtime.read_thread(params.thread_id, lambda view: _rollout(view, params.thread_id))
    facts = await gathered(runtime, params.thread_id, None, redact=redact)
    if params.format == "bundle":
        return await _bundle(runtime, facts)
    partial = bool(facts.thread.get("partial"))
    if params.format == "jsonl":
        return _Document(events_file(facts), partial, facts.redactions)
    if params.format == "html":
        get = runtime.contents_of(facts.thread_id).sidecar(facts.workspace).get
        page = await stoppable(runtime, lambda pulse: html_of(facts, get, pulse))
        return _Document(page, partial, facts.redactions)
    text = await runtime.slowly(lambda: markdown_of(facts))
    return _Document(text.encode("utf-8", "replace"), partial, facts.redactions)


async def _bundle(runtime: Runtime, facts: ThreadFacts) -> _Document:
    whole = facts.redactions is None
    lines = facts.lines
    if whole and not facts.verbatim:  # damage and all: what is imported is what is here
        raw = await runtime.read_thread(facts.thread_id, lambda view: _rollout(view, facts.thread_id))
        rollout = raw.data
    else:
        rollout = b"".join(line + b"\n" for line in lines)
    get = runtime.contents_of(facts.thread_id).sidecar(facts.workspace).get
    data = await runtime.slowly(lambda: bundle_of(facts, rollout, get))
    partial = bool(facts.thread.get("partial"))
    return _Document(data, partial, facts.redactions, WARNING if whole else None)


def _rollout(view: View, thread_id: str) -> _Document:
    """The rollout as it is, as far as the projection knows it."""
    thread = view.thread(thread_id)
    with view.rollout(thread) as rollout:
        return _Document(rollout.read_bytes(0, thread.size), bool(thread.partial))


def _content(data: bytes, *, is_text: bool) -> dict[str, str]:
    if len(data) > MOST_IN_A_REPLY:
        raise RefusedError(
            f"The document has {len(data)} bytes, too many for a reply; give a path.",
            kind="messageTooLarge",
            bytes=len(data),
            limit=MOST_IN_A_REPLY,
        )
    if not is_text:
        return {"contentBase64": b64encode(data).decode()}
    try:
        return {"content": data.decode()}
    except UnicodeDecodeError:
        raise RefusedError("The rollout holds damaged bytes that are no text; give a path to get them.") from None


def _target(path: str) -> Path:
    """The file to make. Raises InvalidError, RefusedError."""
    target = Path(path)
    if not target.is_absolute() or not target.name or "\0" in path:
        raise InvalidError.at("path", "must be the absolute path of a new file")
    if any(is_protected(part) for part in target.parts):
        raise _refused(path, "protected", "Nothing is exported into .git or .lockstitch")
    return target


def _write_new(target: Path, data: bytes) -> None:
    with storage_errors(target), open_root(target.parent) as folder:
        try:
            folder.status(target.name)
        except FileNotFoundError:
            stage(folder, target.name, data)
            folder.sync()
            return
    raise _refused(os.fspath(target), "exists", "A file of that name exists; choose another one")


def _refused(path: str, reason: str, message: str) -> RefusedError:
    return RefusedError(f"{message}.", kind="pathRefused", path=path, reason=reason)
