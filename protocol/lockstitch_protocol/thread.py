"""Threads: conversations with an agent, how they are opened, listed, read and put away."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.events import AgentEvent
from lockstitch_protocol.file_checkpoint import CheckpointSummary
from lockstitch_protocol.items import ThreadItem
from lockstitch_protocol.turn import ItemsView, PageLimit, Turn, Usage
from lockstitch_protocol.wire import Count, JsonObject, NewThreadId, Params, Shape

SortDirection = Literal["asc", "desc"]


class IdleStatus(Shape):
    """No turn is open, or the thread cannot be read."""

    type: Literal["idle", "notLoaded", "systemError"] = Field(description="A readable thread is `idle`.")


class ActiveStatus(Shape):
    """A turn is open."""

    type: Literal["active"] = Field(description="A turn is open.")
    active_flags: list[str] = Field(description="Such as `waitingOnApproval`.")


ThreadStatus = Annotated[IdleStatus | ActiveStatus, Field(discriminator="type", description="What it is doing.")]


class GitInfo(Shape):
    """The state of the workspace's repository, as the host gave it."""

    model_config = ConfigDict(extra="allow")
    sha: str | None = Field(default=None, description="The commit.")
    branch: str | None = Field(default=None, description="The branch.")
    origin_url: str | None = Field(default=None, description="URL of `origin`.")


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


class ThreadStartParams(Params):
    """Params of thread/start. Fields that are not listed are kept in the thread's `extra`."""

    model_config = ConfigDict(extra="allow")
    cwd: str | None = Field(
        default=None, description="The workspace root, absolute. Without one, file contents must come in the events."
    )
    model: str | None = Field(default=None, description="The model that the host uses.")
    model_provider: str | None = Field(default=None, description="The provider of the model.")
    runtime_workspace_roots: list[str] | None = Field(default=None, description="Further roots; recorded only.")
    ephemeral: bool = Field(default=False, description="True: keep it in memory only.")
    thread_source: Any = Field(default=None, description="What started it; returned as given.")
    service_name: str | None = Field(default=None, description="Name of the host's service.")
    name: str | None = Field(default=None, description="A name for people.")
    thread_id: NewThreadId | None = Field(default=None, description="Id for the new thread; one is made if absent.")
    git_info: GitInfo | None = Field(default=None, description="The repository of the workspace.")


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


class ThreadReadParams(Params):
    """Params of thread/read."""

    thread_id: str = Field(description="The thread; archived ones too.")
    include_turns: bool = Field(default=False, description="Whether the turns come with all their items.")


class ThreadListParams(Params):
    """Params of thread/list."""

    cursor: str | None = Field(default=None, description="`nextCursor` or `backwardsCursor` of another page.")
    limit: PageLimit = Field(default=25, description="At most so many threads.")
    sort_key: Literal["created_at", "updated_at", "recency_at"] = Field(
        default="created_at", description="The order, by microseconds, then by creation."
    )
    sort_direction: SortDirection = Field(default="desc", description="Newest or oldest first.")
    model_providers: list[str] | None = Field(default=None, description="Only these providers; empty is all.")
    source_kinds: list[str] | None = Field(default=None, description="Only these sources; empty is all.")
    archived: bool = Field(default=False, description="True: only archived ones; false: only others.")
    cwd: str | list[str] | None = Field(
        default=None, description="Only threads of these workspaces, however the path is spelled."
    )
    search_term: str | None = Field(default=None, description="Only threads whose name or preview contains it.")
    parent_thread_id: str | None = Field(default=None, description="Only children of this thread.")
    ancestor_thread_id: str | None = Field(default=None, description="Only descendants of this thread.")


class ThreadListResult(Shape):
    """Result of thread/list."""

    data: list[Thread] = Field(description="The threads, without turns.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    backwards_cursor: str | None = Field(description="Where the page before begins; null where there is none.")


class ThreadTurnsListParams(Params):
    """Params of thread/turns/list."""

    thread_id: str = Field(description="The thread.")
    cursor: str | None = Field(default=None, description="`nextCursor` or `backwardsCursor` of another page.")
    limit: PageLimit = Field(default=25, description="At most so many turns.")
    sort_direction: SortDirection = Field(default="desc", description="Newest or oldest first.")
    items_view: ItemsView = Field(default="full", description="How much of the items comes along.")


class TurnsPage(Shape):
    """A page of turns."""

    data: list[Turn] = Field(description="The turns.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    backwards_cursor: str | None = Field(description="Where the page before begins; null where there is none.")


class ThreadItemsListParams(Params):
    """Params of thread/items/list."""

    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="Only items of this turn.")
    cursor: str | None = Field(default=None, description="`nextCursor` or `backwardsCursor` of another page.")
    limit: PageLimit = Field(default=100, description="At most so many items.")
    sort_direction: SortDirection = Field(default="asc", description="Oldest or newest first.")


class TurnItem(Shape):
    """An item and the turn that it is in."""

    turn_id: str = Field(description="The turn.")
    item: ThreadItem = Field(description="The item.")


class ThreadItemsListResult(Shape):
    """Result of thread/items/list."""

    data: list[TurnItem] = Field(description="The items.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    backwards_cursor: str | None = Field(description="Where the page before begins; null where there is none.")


class ThreadEventsListParams(Params):
    """Params of thread/events/list."""

    thread_id: str = Field(description="The thread.")
    after_sequence: Count = Field(default=0, description="Only events after this one.")
    limit: int = Field(default=500, ge=1, le=10_000, description="At most so many events.")
    types: list[str] | None = Field(default=None, description="Only events of these types.")


class ThreadEventsListResult(Shape):
    """Result of thread/events/list."""

    data: list[AgentEvent] = Field(description="The events by sequence.")
    last_sequence: Count = Field(description="Sequence of the thread's newest event, of whatever type.")
    has_more: bool = Field(description="Whether more events of these types follow.")


class InitialTurnsPage(Params):
    """Which turns come with thread/resume."""

    limit: PageLimit = Field(default=25, description="At most so many turns.")
    sort_direction: SortDirection = Field(default="desc", description="Newest or oldest first.")
    items_view: ItemsView = Field(default="full", description="How much of the items comes along.")


class ThreadResumeParams(Params):
    """Params of thread/resume: opens a thread and subscribes to it."""

    thread_id: str = Field(description="The thread.")
    exclude_turns: bool = Field(default=False, description="True: `thread.turns` stays empty.")
    initial_turns_page: InitialTurnsPage | None = Field(default=None, description="Asks for a page of turns.")
    after_sequence: Count | None = Field(
        default=None, description="The events after this one follow as notifications, before live ones."
    )


class ThreadResumeResult(ThreadOpened):
    """Result of thread/resume."""

    initial_turns_page: TurnsPage | None = Field(default=None, description="The page that was asked for.")


class ThreadParams(Params):
    """A thread alone."""

    thread_id: str = Field(description="The thread.")


class ThreadForkParams(Params):
    """Params of thread/fork. Without lastTurnId and beforeTurnId the whole thread is forked."""

    thread_id: str = Field(description="The thread to fork; it is not changed.")
    last_turn_id: str | None = Field(default=None, description="The last turn that the fork has.")
    before_turn_id: str | None = Field(default=None, description="The first turn that the fork does not have.")
    exclude_turns: bool = Field(default=False, description="True: `thread.turns` stays empty.")
    name: str | None = Field(default=None, description="A name for the fork.")
    cwd: str | None = Field(default=None, description="Another workspace root.")


class ThreadNameSetParams(Params):
    """Params of thread/name/set."""

    thread_id: str = Field(description="The thread.")
    name: str = Field(description="Its name for people.")


class ThreadMetadataUpdateParams(Params):
    """Params of thread/metadata/update. What is absent stays as it is."""

    thread_id: str = Field(description="The thread.")
    git_info: GitInfo | None = Field(default=None, description="Replaces what it knows of the repository.")
    extra: JsonObject | None = Field(default=None, description="Merged into `extra`; a null inside removes the key.")
    workspace: str | None = Field(default=None, description="Links the thread to this directory, absolute.")


class ThreadRollbackParams(Params):
    """Params of thread/rollback: one of the two is given."""

    thread_id: str = Field(description="The thread; no turn of it may be open.")
    num_turns: int | None = Field(default=None, ge=0, description="How many of the last turns leave the reads.")
    to_turn_id: str | None = Field(default=None, description="The last turn that stays.")
