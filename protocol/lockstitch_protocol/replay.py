"""Replay of recorded events: as notifications, and as cases on the disk that anybody can check."""

from typing import Annotated, Literal

from pydantic import Field

from lockstitch_protocol.events import AgentEvent
from lockstitch_protocol.wire import Count, Params, Shape


class ThreadReplayParams(Params):
    """Params of thread/replay. What is sent are the events that are stored when the request begins."""

    thread_id: str = Field(description="The thread.")
    after_sequence: Count = Field(default=0, description="Only events after this one.")
    until_sequence: Count | None = Field(default=None, description="Only events up to this one, itself too.")
    speed: Annotated[float, Field(gt=0, allow_inf_nan=False)] | Literal["max"] = Field(
        default="max",
        description="1 keeps the recorded gaps, 2 halves them; no gap is longer than 2 s. `max`: no gaps.",
    )


class ThreadReplayEvent(Shape):
    """A recorded event of a replay. Nothing is done again: it tells what was done."""

    replay_id: str = Field(description="The replay, as in its result.")
    event: AgentEvent = Field(description="The event as thread/events/list returns it.")


class ThreadReplayResult(Shape):
    """Result of thread/replay, after the last event."""

    replay_id: str = Field(description="The replay.")
    event_count: Count = Field(description="How many events were sent.")
    first_sequence: Count | None = Field(default=None, description="Sequence of the first event sent.")
    last_sequence: Count | None = Field(default=None, description="Sequence of the last event sent.")
    digest: str = Field(description="SHA-256 of the events sent: of the bytes of each `event`, with an LF after it.")


class ReplayCaseExportParams(Params):
    """Params of agentSession/replayCase/export."""

    session_id: str = Field(description="The session (the thread's id).")
    locale: str | None = Field(default=None, description="Kept in the case for whoever replays it.")
    redact: bool = Field(default=True, description="False: secrets that are recognised stay in.")


class ReplayCaseFile(Shape):
    """A file of a replay case."""

    kind: Literal["input", "expected", "grader", "evidence_links", "events", "content"] = Field(
        description="What it holds."
    )
    title: str = Field(description="Its name for a person.")
    relative_path: str = Field(description="Relative to the workspace; without one, to the data root.")
    absolute_path: str = Field(description="Where it is.")
    bytes: Count = Field(description="Its size.")


class ReplayCaseExportResult(Shape):
    """Result of agentSession/replayCase/export. The folder is self-contained and can be moved."""

    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread: the same id.")
    workspace_id: str | None = Field(default=None, description="As agentSession/start gave it.")
    workspace_root: str = Field(description='The workspace; "" if there is none.')
    replay_relative_root: str = Field(description="The case's folder, relative to workspace or data root.")
    replay_absolute_root: str = Field(description="The case's folder.")
    handoff_bundle_relative_root: str = Field(description="The folder to hand on: the case's own.")
    evidence_pack_relative_root: str = Field(description="Where evidence packs of the thread are, if there are any.")
    exported_at: str = Field(description="RFC 3339, UTC, microseconds.")
    thread_status: str = Field(description="As `AgentSession.status`.")
    latest_turn_status: str | None = Field(default=None, description="As `AgentTurn.status`.")
    pending_request_count: Count = Field(description="Questions to the user without an answer.")
    queued_turn_count: Count = Field(description="Always 0.")
    linked_handoff_artifact_count: Count = Field(description="Always 0: nothing but the case is handed on.")
    linked_evidence_artifact_count: Count = Field(description="How many artifacts evidence-links.json names.")
    recent_artifact_count: Count = Field(description="Length of `recentArtifacts` in input.json.")
    redactions: dict[str, int] | None = Field(
        default=None, description="How many different secrets of each kind were left out; absent with redact false."
    )
    artifacts: list[ReplayCaseFile] = Field(description="The files of the case.")


class ReplayCaseVerifyParams(Params):
    """Params of agentSession/replayCase/verify."""

    path: str = Field(min_length=1, description="The folder of a replay case or of an evidence pack, absolute.")


class Mismatch(Shape):
    """Something that is not what it was when the export was made."""

    kind: Literal["file", "expectation", "event", "item", "turn", "checkpoint", "thread", "content", "projection"] = (
        Field(description="What differs.")
    )
    id: str = Field(description="Which: a file's name, a sequence, an id, or a sha256.")
    expected: str = Field(description="What was recorded: a digest, a sum, or a word.")
    actual: str = Field(description="What is there now.")


class ReplayCaseVerifyResult(Shape):
    """Result of agentSession/replayCase/verify."""

    ok: bool = Field(description="Whether everything is as it was.")
    projection_digest: str = Field(description='Digest of what the events give when reduced again; "" if they do not.')
    expected_digest: str = Field(description='The digest that was recorded; "" if it cannot be read.')
    item_count: Count = Field(description="How many items the events give.")
    mismatches: list[Mismatch] = Field(description="What differs; at most 1,000 of them.")
