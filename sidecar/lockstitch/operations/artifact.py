"""`artifact/read`: file versions and outputs that were too large for their line."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.content import as_text
from lockstitch.codec import ParseError, decode, mapping, present
from lockstitch.errors import UnavailableError
from lockstitch.operations.call import Call
from lockstitch.operations.file_checkpoint import workspace_of
from lockstitch.operations.pages import fitting
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread_reads import turn_of
from lockstitch.operations.views.checkpoints import Recorded
from lockstitch.rollout.line import parse_line
from lockstitch.timeline import queries
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.lines import Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow

if TYPE_CHECKING:
    from lockstitch_protocol.artifact import ArtifactReadParams

RECENT = 20


async def read(runtime: Runtime, call: Call, params: ArtifactReadParams) -> dict[str, Any]:
    """A page of a thread's artifacts, by sequence."""
    most = call.connection.max_message_bytes
    after = key_of("artifacts", params.cursor, int)

    def look(view: View) -> tuple[ThreadRow, list[tuple[int, dict[str, Any]]], int | None]:
        thread = view.thread(params.session_id)
        turn_no = None if params.turn_id is None else turn_of(view, thread, params.turn_id).turn_no
        start = 0 if after is None else after[0]
        found: list[tuple[int, dict[str, Any]]] = []
        with view.rollout(thread) as rollout:
            while True:
                page = queries.artifacts(
                    view, thread.thread_no, turn_no=turn_no, after=start, limit=params.limit - len(found)
                )
                values = _values_at(view, thread, page.rows, rollout.lines)
                found += [at for at in values if params.artifact_ref in (None, at[1]["artifactRef"])]
                if not page.more or len(found) >= params.limit:
                    return thread, found, page.rows[-1].sequence if page.more else None
                start = page.rows[-1].sequence

    thread, found, last = await runtime.read_thread(params.session_id, look)

    def entries() -> Iterator[dict[str, Any]]:
        for _, value in found:
            if params.include_content:
                _add_content(runtime, thread, value)
            yield value

    def facts(number: int) -> dict[str, Any]:
        place, value = found[number]
        return {"artifactRef": value["artifactRef"], "nextCursor": cursor_of("artifacts", place)}

    # Contents are read one by one, no further than the client's limit lets them through.
    count = await runtime.slowly(lambda: fitting(entries(), most, facts))
    if count < len(found):
        last = found[count - 1][0]
    return {
        "artifacts": [value for _, value in found[:count]],
        "nextCursor": None if last is None else cursor_of("artifacts", last),
    }


def artifact_values(
    view: View, thread: ThreadRow, places: list[queries.ArtifactPlace], lines: Lines
) -> list[dict[str, Any]]:
    """Artifacts as they are listed, without contents."""
    return [value for _, value in _values_at(view, thread, places, lines)]


def _values_at(
    view: View, thread: ThreadRow, places: list[queries.ArtifactPlace], lines: Lines
) -> list[tuple[int, dict[str, Any]]]:
    """The artifacts whose lines can be read, each with its place in the order of pages."""
    wanted = [place.checkpoint or place.item for place in places]
    found: list[tuple[int, dict[str, Any]]] = []
    for place, line in zip(places, lines.many([(r.line_at, r.line_length) for r in wanted if r]), strict=True):
        if line is None:
            continue
        try:
            if place.checkpoint is not None:
                found.append((place.sequence, _version_value(Recorded.of_line(thread, view.root_id, line))))
            elif place.item is not None:
                start = place.item.item_at
                found.append((place.sequence, _output_value(line, line[start : start + place.item.item_length])))
        except ParseError:
            continue
    return found


def _version_value(recorded: Recorded) -> dict[str, Any]:
    record = recorded.record
    side = mapping(record.get("after"))
    value = {
        "artifactRef": f"checkpoint:{record['checkpointId']}",
        "eventId": recorded.event_id,
        "sequence": recorded.sequence,
        "turnId": recorded.turn_id,
        "artifactId": recorded.artifact_id,
        "path": record["path"],
        "title": record.get("title"),
        "kind": record.get("kind") or "file",
        "status": record.get("status"),
        "contentStatus": side.get("contentStatus", "missing"),
        "metadata": record.get("metadata"),
        "sha256": side.get("sha256"),
        "bytes": side.get("bytes"),
    }
    return present(value)


def _output_value(line: bytes, item: bytes) -> dict[str, Any]:
    parsed, known = parse_line(line), decode(item)
    reference = known["outputRef"]
    value = {
        "artifactRef": reference["artifactRef"],
        "eventId": parsed.eventId,
        "sequence": parsed.sequence,
        "turnId": parsed.turnId,
        "itemId": known["id"],
        "kind": "output",
        "contentStatus": "available",
        "sha256": reference["sha256"],
        "bytes": reference["bytes"],
    }
    return present(value)


def _add_content(runtime: Runtime, thread: ThreadRow, value: dict[str, Any]) -> None:
    if value["contentStatus"] != "available":
        return
    sidecar = runtime.contents_of(thread.thread_id).sidecar(workspace_of(thread))
    try:
        data = sidecar.get(value["sha256"])
    except UnavailableError as error:
        value["contentStatus"] = error.facts["contentStatus"]
        return
    text = as_text(data)
    if text is None:
        value["contentBase64"] = base64.b64encode(data).decode()
    else:
        value["content"] = text


def recent_artifacts(view: View, thread: ThreadRow, lines: Lines) -> list[dict[str, Any]]:
    """The newest artifacts, newest first."""
    page = queries.artifacts(view, thread.thread_no, limit=RECENT, newest=True)
    return artifact_values(view, thread, page.rows, lines)
