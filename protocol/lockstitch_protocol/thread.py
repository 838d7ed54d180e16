"""Threads: conversations with an agent, how they are opened, listed, read and put away."""

from typing import Annotated, Any, Literal

from pydantic import Field

from lockstitch_protocol.events import AgentEvent
from lockstitch_protocol.file_checkpoint import CheckpointSummary
from lockstitch_protocol.items import ThreadItem
from lockstitch_protocol.thread_params import GitInfo
from lockstitch_protocol.turn import Turn, Usage
from lockstitch_protocol.wire import Count, JsonObject, Shape


class IdleStatus(Shape):
    """No turn is open, or the thread cannot be read."""

    type: Literal["idle", "notLoaded", "systemError"] = Field(description="A readable thread is `idle`.")


class ActiveStatus(Shape):
    """A turn is open."""

    type: Literal["active"] = Field(description="A turn is open.")
    active_flags: list[str] = Field(description="Such as `waitingOnApproval`.")


ThreadStatus = Annotated[IdleStatus | ActiveStatus, Field(discriminator="type", description="What it is doing.")]


class DamagedRange(Shape):
    """Bytes of the rollout that could not be read."""

    from_offset: Count = Field(description="First byte.")
    to_offset: Count = Field(description="The byte after the last one.")
    reason: str = Field(description="What is wrong with them.")
    quarantine_path: str | None = Field(default=None, description="Where they were set aside.")


class FileCheckpointCount(Shape):
    """The thread's file checkpoints in short."""

    count: Count = Field(description="How many there are.")
    latest_checkpoint: CheckpointSummary | None = Field(default=None, description="The newest.")


class Thread(Shape):
    """A thread as reads, lists and notifications return it."""

    id: str = Field(description="Unique in the data root.")
    session_id: str = Field(description="The thread's own id.")
    preview: str = Field(description="The beginning of the first user message.")
    ephemeral: bool = Field(description="True: it lives in memory only.")
    history_mode: Literal["paginated"] = Field(description="Turns and items are read in pages.")
    model_provider: str = Field(description="The provider of its model.")
    created_at: int = Field(description="Unix seconds.")
    updated_at: int = Field(description="Unix seconds.")
    recency_at: int | None = Field(default=None, description="When the last turn started, unix seconds.")
    status: ThreadStatus = Field(description="What it is doing.")
    path: str | None = Field(default=None, description="Its rollout file.")
    cwd: str = Field(description='The workspace root; "" where there is none.')
    cli_version: str = Field(description="Version of the program that created it.")
    source: Any = Field(description="What created it: a word, or an object for a sub-agent.")
    thread_source: Any = Field(default=None, description="As thread/start gave it.")
    name: str | None = Field(default=None, description="The name that it was given.")
    forked_from_id: str | None = Field(default=None, description="The thread that it is a fork of.")
    parent_thread_id: str | None = Field(default=None, description="The thread whose agent started it.")
    git_info: GitInfo | None = Field(default=None, description="The repository, as the host gave it.")
    extra: JsonObject | None = Field(default=None, description="What thread/start and metadata/update gave besides.")
    turns: list[Turn] = Field(description="Its turns, where they were asked for, else empty.")
    archived: bool = Field(description="Whether it is archived.")
    last_sequence: Count = Field(description="Sequence of its newest event.")
    turn_count: Count = Field(description="How many turns it has.")
    fork_root_id: str | None = Field(default=None, description="The thread at the root of the tree of forks.")
    workspace_linked: bool = Field(description="Whether files can be read from and restored into a workspace.")
    usage: Usage | None = Field(default=None, description="What all its turns used.")
    partial: bool | None = Field(default=None, description="True: bytes that were committed are lost.")
    damage: list[DamagedRange] | None = Field(default=None, description="What was set aside or cannot be read.")
    file_checkpoint_summary: FileCheckpointCount = Field(description="Its file checkpoints in short.")


class ThreadOpened(Shape):
    """What thread/start, thread/resume and thread/fork return."""

    thread: Thread = Field(description="The thread.")
    model: str = Field(description='The model; "" if it was not given.')
    model_provider: str = Field(description='Its provider; "" if it was not given.')
    cwd: str = Field(description='The workspace root; "" where there is none.')
    runtime_workspace_roots: list[str] = Field(description="As given.")
    instruction_sources: list[str] = Field(description="Always empty: the host reads instructions.")
    approval_policy: Any = Field(description="As given, else null.")
    approvals_reviewer: Any = Field(description="As given, else null.")
    sandbox: Any = Field(description="As given, else null.")


class ThreadResult(Shape):
    """A thread alone."""

    thread: Thread = Field(description="The thread.")


class ThreadListResult(Shape):
    """Result of thread/list."""

    data: list[Thread] = Field(description="The threads, without turns.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    backwards_cursor: str | None = Field(description="Where the page before begins; null where there is none.")


class TurnsPage(Shape):
    """A page of turns."""

    data: list[Turn] = Field(description="The turns.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    backwards_cursor: str | None = Field(description="Where the page before begins; null where there is none.")


class TurnItem(Shape):
    """An item and the turn that it is in."""

    turn_id: str = Field(description="The turn.")
    item: ThreadItem = Field(description="The item.")


class ThreadItemsListResult(Shape):
    """Result of thread/items/list."""

    data: list[TurnItem] = Field(description="The items.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    backwards_cursor: str | None = Field(description="Where the page before begins; null where there is none.")


class ThreadEventsListResult(Shape):
    """Result of thread/events/list."""

    data: list[AgentEvent] = Field(description="The events by sequence.")
    last_sequence: Count = Field(description="Sequence of the thread's newest event, of whatever type.")
    has_more: bool = Field(description="Whether more events of these types follow.")


class ThreadResumeResult(ThreadOpened):
    """Result of thread/resume."""

    initial_turns_page: TurnsPage | None = Field(default=None, description="The page that was asked for.")
