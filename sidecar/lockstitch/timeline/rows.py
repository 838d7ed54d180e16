"""The rows of the projection as plain structs: ids, order, status and where the bytes are.

Structs and not dataclasses: making one, and taking its values for the database, costs a third.

Invariant: no row holds a payload. `line_at`/`line_length` name a rollout line (without its LF); `item_at` is
the offset of a value inside that line. Times are integers, microseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar

import msgspec


class TurnStatus(IntEnum):
    """`recovered` is an interruption that recovery wrote: the only end that a host's next append may reopen."""

    in_progress = 0
    completed = 1
    failed = 2
    canceled = 3
    recovered = 4


class ItemStatus(IntEnum):
    """`interrupted` reads as `failed` with `interrupted: true`; `streamed` is text that its turn's end completed."""

    in_progress = 0
    completed = 1
    failed = 2
    declined = 3
    interrupted = 4
    streamed = 5


class WorkerStatus(IntEnum):
    """`interrupted`: its boot is dead or its lease ran out."""

    active = 0
    completed = 1
    failed = 2
    cancelled = 3
    interrupted = 4


class ItemKind(IntEnum):
    """The ThreadItem types of the protocol; `other` is one that we do not know and leave out of item lists."""

    other = 0
    userMessage = 1  # noqa: N815 - the wire's own words
    agentMessage = 2  # noqa: N815
    plan = 3
    reasoning = 4
    commandExecution = 5  # noqa: N815
    fileChange = 6  # noqa: N815
    mcpToolCall = 7  # noqa: N815
    dynamicToolCall = 8  # noqa: N815
    webSearch = 9  # noqa: N815
    imageView = 10  # noqa: N815
    contextCompaction = 11  # noqa: N815


KINDS: dict[str, ItemKind] = {kind.name: kind for kind in ItemKind if kind is not ItemKind.other}
MESSAGES = (int(ItemKind.userMessage), int(ItemKind.agentMessage))
"""A tuple: an enum member hashes by a Python call, and this is asked of every new item."""
TOOLS = frozenset({ItemKind.mcpToolCall, ItemKind.dynamicToolCall, ItemKind.webSearch, ItemKind.imageView})


class Usage(msgspec.Struct):
    """Tokens and cost, added up. `cost` is US dollars, None while no event named one."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    cost: float | None = None
    reported: int = 0
    """How many usage events are in the sums; 0 means that nothing is known."""

    def add(self, other: Usage, sign: int = 1) -> None:
        self.input += sign * other.input
        self.cached += sign * other.cached
        self.output += sign * other.output
        self.reasoning += sign * other.reasoning
        self.reported += sign * other.reported
        if other.cost is not None:
            self.cost = (self.cost or 0.0) + sign * other.cost
        if self.reported == 0:
            self.cost = None


class ThreadRow(msgspec.Struct, gc=False):
    """One thread. `size`, `last_sum` and `last_sequence` say how much of the rollout the projection knows."""

    table: ClassVar[str] = "thread"
    thread_no: int
    thread_id: str
    path: str
    archived: int = 0
    format: int = 1
    size: int = 0
    last_sum: str = ""
    last_sequence: int = 0
    last_at: str = ""
    created_at: int = 0
    updated_at: int = 0
    recency_at: int = 0
    archived_at: int | None = None
    preview: str = ""
    preview_turn: int | None = None
    name: str | None = None
    cwd: str = ""
    workspace_key: str | None = None
    linked: int = 0
    model: str = ""
    provider: str = ""
    source: str = ""
    thread_source: str | None = None
    cli_version: str = ""
    git_sha: str | None = None
    git_branch: str | None = None
    git_origin: str | None = None
    extra_at: int | None = None
    extra_length: int | None = None
    started_length: int = 0
    forked_from: str | None = None
    fork_root: str | None = None
    parent_thread: str | None = None
    turn_count: int = 0
    last_turn_no: int = 0
    open_turn_no: int | None = None
    messages: int = 0
    items: int = 0
    checkpoints: int = 0
    last_checkpoint: int | None = None
    pending: str = ""
    usage_input: int = 0
    usage_cached: int = 0
    usage_output: int = 0
    usage_reasoning: int = 0
    usage_cost: float | None = None
    usage_reported: int = 0
    damage: str | None = None
    partial: int = 0
    stamp: int = 0
    """What the file system said of the rollout (platform.files.stamp_of) when its bytes were last vouched for: when we
    wrote them, or read them all. 0: somebody else has written since, or it was never known."""


class TurnRow(msgspec.Struct, gc=False):
    """One turn. `turn_no` counts 1, 2, 3… in the thread; the `_at`/`_length` pairs name lines. `boot_id` is set
    while the turn is open."""

    table: ClassVar[str] = "turn"
    thread_no: int
    turn_no: int
    turn_id: str
    status: int = TurnStatus.in_progress
    hidden: int = 0
    first_sequence: int = 0
    last_sequence: int = 0
    started_at: int = 0
    completed_at: int | None = None
    boot_id: str | None = None
    model_at: int | None = None
    route_at: int | None = None
    authority_at: int | None = None
    end_at: int | None = None
    items: int = 0
    messages: int = 0
    usage_input: int = 0
    usage_cached: int = 0
    usage_output: int = 0
    usage_reasoning: int = 0
    usage_cost: float | None = None
    usage_reported: int = 0


class ItemRow(msgspec.Struct, gc=False):
    """One item. With `parts` empty, the item is the value at `line_at + item_at`; else it is composed:
    that value (if `line_length` is not 0) and then the streamed segments, whose lines `parts` names."""

    table: ClassVar[str] = "item"
    thread_no: int
    turn_no: int
    sequence: int
    item_id: str
    kind: int = ItemKind.other
    status: int = ItemStatus.in_progress
    outside: int = 0
    line_at: int = 0
    line_length: int = 0
    item_at: int = 0
    item_length: int = 0
    parts: bytes | None = None
    spilled: int | None = None


class CheckpointRow(msgspec.Struct, gc=False):
    """One file checkpoint. `after_sha` is None where no content is known; `absent` says that the file is not there."""

    table: ClassVar[str] = "file_checkpoint"
    thread_no: int
    sequence: int
    turn_no: int
    checkpoint_id: str
    path: str
    version_no: int | None
    op: str
    source: str
    line_at: int
    line_length: int
    before_sha: str | None = None
    after_sha: str | None = None
    absent: int = 0
    confirmed: int = 0


class MarkRow(msgspec.Struct, gc=False):
    """Every 64th sequence: where its line starts."""

    table: ClassVar[str] = "event_mark"
    thread_no: int
    sequence: int
    line_at: int


class ClientEventRow(msgspec.Struct, gc=False):
    """An event id that a client gave, or (with `req:` before it) the digest of a request, and where its line is."""

    table: ClassVar[str] = "client_event"
    thread_no: int
    event_id: str
    sequence: int
    line_at: int
    line_length: int
    digest: bytes


class ImportSourceRow(msgspec.Struct, gc=False):
    """How much of another tool's session file is in this thread; the line, its newest `thread.imported`, says more."""

    table: ClassVar[str] = "import_source"
    thread_no: int
    client: str
    source_thread_id: str
    read_bytes: int
    line_at: int
    line_length: int


class WorkerRow(msgspec.Struct, gc=False):
    """One worker. `boot_id` is the boot that last vouched for it; `lease_until` is when that ceases to count."""

    table: ClassVar[str] = "worker"
    thread_no: int
    worker_id: str
    turn_no: int | None
    kind: str
    status: int = WorkerStatus.active
    attempt: int = 1
    max_attempts: int = 1
    lease_ms: int = 0
    lease_until: int = 0
    boot_id: str | None = None
    started_at: int = 0
    finished_at: int | None = None


class SpilledRow(msgspec.Struct, gc=False):
    """A large output that an event of the thread refers to, and the newest such event; the artifact store has it."""

    table: ClassVar[str] = "spilled_output"
    thread_no: int
    sha256: str
    sequence: int


Row = (
    ThreadRow | TurnRow | ItemRow | CheckpointRow | MarkRow | ClientEventRow | ImportSourceRow | WorkerRow | SpilledRow
)
ROW_TYPES: tuple[type[Any], ...] = (
    ThreadRow,
    TurnRow,
    ItemRow,
    CheckpointRow,
    MarkRow,
    ClientEventRow,
    ImportSourceRow,
    WorkerRow,
    SpilledRow,
)


def columns(row_type: type[Any]) -> tuple[str, ...]:
    """The column names of a row type, in the order of its table."""
    return row_type.__struct_fields__


values_of: Callable[[Any], tuple[Any, ...]] = msgspec.structs.astuple
"""A row's values in the order of its table."""


def usage_of(row: ThreadRow | TurnRow) -> Usage:
    """The usage sums of a row."""
    return Usage(
        row.usage_input, row.usage_cached, row.usage_output, row.usage_reasoning, row.usage_cost, row.usage_reported
    )


def set_usage(row: ThreadRow | TurnRow, usage: Usage) -> None:
    """Put usage sums into a row."""
    row.usage_input, row.usage_cached, row.usage_output = usage.input, usage.cached, usage.output
    row.usage_reasoning, row.usage_cost, row.usage_reported = usage.reasoning, usage.cost, usage.reported
