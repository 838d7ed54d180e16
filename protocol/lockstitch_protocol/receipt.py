"""Receipts: what a turn did, from durable facts only."""

from typing import Literal

from pydantic import Field

from lockstitch_protocol.artifact import Artifact
from lockstitch_protocol.file_checkpoint import CheckpointOp
from lockstitch_protocol.turn import TurnStatus, Usage
from lockstitch_protocol.wire import Count, JsonObject, Params, Shape
from lockstitch_protocol.worker import WorkerStatus


class ReceiptReadParams(Params):
    """Params of turn/receipt/read."""

    thread_id: str = Field(description="The thread.")
    turn_id: str = Field(description="The turn.")


class ReceiptCounts(Shape):
    """How much there was of each."""

    items: Count = Field(description="Items.")
    tool_calls: Count = Field(description="Tool calls.")
    commands: Count = Field(description="Commands.")
    approvals: Count = Field(description="Questions to the user.")
    file_checkpoints: Count = Field(description="File checkpoints.")
    workers: Count = Field(description="Workers.")


class ChangedFile(Shape):
    """A file that the turn changed, from its state before the turn to its state after it."""

    path: str = Field(description="The file, relative to the workspace.")
    path_base64: str | None = Field(default=None, description="The exact path where its name is not valid Unicode.")
    op: CheckpointOp = Field(description="What happened to it in all.")
    additions: Count | None = Field(default=None, description="Lines added, over all of its changes.")
    deletions: Count | None = Field(default=None, description="Lines removed, over all of its changes.")
    before_sha256: str | None = Field(default=None, description="Content before; absent: none, or not known.")
    after_sha256: str | None = Field(default=None, description="Content after; absent: none, or not known.")


class ReceiptWorker(Shape):
    """A worker, as its events left it."""

    worker_id: str = Field(description="The worker.")
    kind: str = Field(description="What sort of worker it was.")
    status: WorkerStatus = Field(description="How it ended, if it did.")
    attempt: Count = Field(description="Its last attempt.")
    max_attempts: Count = Field(description="How many it might have had.")
    started_at: str = Field(description="RFC 3339, UTC, microseconds.")
    finished_at: str | None = Field(default=None, description="RFC 3339, UTC, microseconds.")


class Gap(Shape):
    """An item that has no end."""

    item_id: str = Field(description="The item.")
    reason: str = Field(description="Why it has none.")


class Interruption(Shape):
    """Why the turn was cut off."""

    reason: str = Field(description="What happened.")
    boot_id: str | None = Field(default=None, description="The process that served the turn.")


class Receipt(Shape):
    """What a turn did. The same bytes after a restart or a rebuild."""

    thread_id: str = Field(description="The thread.")
    turn_id: str = Field(description="The turn.")
    status: TurnStatus = Field(description="How it ended, or that it is open.")
    started_at: str | None = Field(description="RFC 3339, UTC, microseconds.")
    completed_at: str | None = Field(description="RFC 3339, UTC, microseconds; null while it is open.")
    duration_ms: int | None = Field(description="Milliseconds by the sidecar's clock.")
    route: JsonObject | None = Field(default=None, description="Provider, model and wire format.")
    authority: JsonObject | None = Field(default=None, description="What its agent was allowed to do.")
    usage: Usage | None = Field(default=None, description="Tokens.")
    cost: float | Literal["unknown"] = Field(description="US dollars, if every request's cost is known.")
    counts: ReceiptCounts = Field(description="How much there was of each.")
    files_changed: list[ChangedFile] = Field(description="By path.")
    artifacts: list[Artifact] = Field(description="File versions and large outputs, without contents.")
    workers: list[ReceiptWorker] = Field(description="Workers that were started in the turn, in that order.")
    diagnostics: list[str] = Field(description="Warnings that the host reported.")
    gaps: list[Gap] = Field(description="Items without an end.")
    interruption: Interruption | None = Field(default=None, description="Why it was cut off.")
    unavailable: list[str] = Field(description="Fields that no fact proves.")
    sequence_range: list[Count] = Field(description="First and last sequence of the turn's events.")
    rollout_sum: str = Field(description="Sum of the turn's last line.")
