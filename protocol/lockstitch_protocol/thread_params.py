"""What is asked of threads. Apart from what is answered, so that a request brings in no models of results."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.paging import ItemsView, PageLimit, SortDirection
from lockstitch_protocol.wire import Count, JsonObject, NewThreadId, Params, Shape


class GitInfo(Shape):
    """The state of the workspace's repository, as the host gave it."""

    model_config = ConfigDict(extra="allow")
    sha: str | None = Field(default=None, description="The commit.")
    branch: str | None = Field(default=None, description="The branch.")
    origin_url: str | None = Field(default=None, description="URL of `origin`.")


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


class ThreadTurnsListParams(Params):
    """Params of thread/turns/list."""

    thread_id: str = Field(description="The thread.")
    cursor: str | None = Field(default=None, description="`nextCursor` or `backwardsCursor` of another page.")
    limit: PageLimit = Field(default=25, description="At most so many turns.")
    sort_direction: SortDirection = Field(default="desc", description="Newest or oldest first.")
    items_view: ItemsView = Field(default="full", description="How much of the items comes along.")


class ThreadItemsListParams(Params):
    """Params of thread/items/list."""

    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="Only items of this turn.")
    cursor: str | None = Field(default=None, description="`nextCursor` or `backwardsCursor` of another page.")
    limit: PageLimit = Field(default=100, description="At most so many items.")
    sort_direction: SortDirection = Field(default="asc", description="Oldest or newest first.")


class ThreadEventsListParams(Params):
    """Params of thread/events/list."""

    thread_id: str = Field(description="The thread.")
    after_sequence: Count = Field(default=0, description="Only events after this one.")
    limit: int = Field(default=500, ge=1, le=10_000, description="At most so many events.")
    types: list[str] | None = Field(default=None, description="Only events of these types.")


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
