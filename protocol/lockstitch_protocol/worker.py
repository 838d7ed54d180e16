"""Workers: what an agent has running beside itself, each under a lease that its host renews."""

from typing import Annotated, Any, Literal

from pydantic import Field

from lockstitch_protocol.paging import PageLimit
from lockstitch_protocol.wire import Count, NewId, Params, Shape

WorkerStatus = Literal["active", "completed", "failed", "cancelled", "interrupted"]
LeaseMs = Annotated[int, Field(ge=1, le=604_800_000)]
Attempts = Annotated[int, Field(ge=1, le=1000)]


class Worker(Shape):
    """A worker. It is `interrupted` when its process is gone or its lease ran out; what a dead one did is unknown."""

    worker_id: str = Field(description="Unique in its thread.")
    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="The turn that it was started in.")
    kind: str = Field(description="What sort of worker it is, in the host's words.")
    status: WorkerStatus = Field(description="How it is doing, or how it ended.")
    attempt: Count = Field(description="Which attempt this is: 1, 2, 3…")
    max_attempts: Count = Field(description="How many attempts it may have.")
    lease_expires_at: str = Field(description="Until when it counts as alive without a heartbeat; RFC 3339.")
    boot_id: str = Field(description="The process that last vouched for it.")
    started_at: str = Field(description="When its first attempt began; RFC 3339, UTC, microseconds.")
    finished_at: str | None = Field(default=None, description="When worker/finish was told; RFC 3339.")


class WorkerStartParams(Params):
    """Params of worker/start."""

    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="The turn; without it, the one that is open, if one is.")
    worker_id: NewId | None = Field(default=None, description="Id for the new worker; one is made if absent.")
    kind: str = Field(min_length=1, description="What sort of worker it is.")
    lease_ms: LeaseMs = Field(default=30_000, description="How long it counts as alive after a heartbeat.")
    max_attempts: Attempts = Field(default=3, description="How often it may be begun in all.")


class WorkerParams(Params):
    """A worker alone: params of worker/heartbeat and worker/retry."""

    thread_id: str = Field(description="The thread.")
    worker_id: str = Field(description="The worker.")


class WorkerFinishParams(Params):
    """Params of worker/finish. Told twice is told once."""

    thread_id: str = Field(description="The thread.")
    worker_id: str = Field(description="The worker.")
    status: Literal["completed", "failed", "cancelled"] = Field(description="How it ended.")
    result: Any = Field(default=None, description="What came out of it; kept in the event.")
    error: Any = Field(default=None, description="Why it failed; kept in the event.")


class WorkerListParams(Params):
    """Params of worker/list."""

    thread_id: str | None = Field(default=None, description="Only workers of this thread.")
    status: WorkerStatus | None = Field(default=None, description="Only those that are so now.")
    cursor: str | None = Field(default=None, description="`nextCursor` of another page.")
    limit: PageLimit = Field(default=100, description="At most so many workers.")


class WorkerListResult(Shape):
    """Result of worker/list."""

    data: list[Worker] = Field(description="The workers, those that were started last first.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
