"""Sessions: threads seen by `agentSession/*`, with that family's names for the same facts.

Invariant: a session is a thread, with the same id; nothing here is stored apart from the thread.
"""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.artifact import Artifact
from lockstitch_protocol.file_checkpoint import FileArtifactMetadata
from lockstitch_protocol.items import UserInput
from lockstitch_protocol.thread import ThreadOpened, ThreadResumeResult
from lockstitch_protocol.thread_params import InitialTurnsPage, ThreadStartParams
from lockstitch_protocol.wire import Count, JsonObject, NewId, NewThreadId, Params, Shape

SessionStatus = Literal["idle", "running", "waitingAction", "completed", "failed", "canceled"]
AgentTurnStatus = Literal["accepted", "queued", "running", "waitingAction", "completed", "failed", "canceled"]


class AgentSession(Shape):
    """A thread as a session."""

    session_id: str = Field(description="The thread's id.")
    thread_id: str = Field(description="The same id.")
    app_id: str = Field(description="`agent-chat`, or the app that agentSession/start named.")
    workspace_id: str | None = Field(default=None, description="As agentSession/start gave it.")
    status: SessionStatus = Field(description="What it is doing, or how its last turn ended.")
    created_at: str = Field(description="RFC 3339, UTC, microseconds.")
    updated_at: str = Field(description="RFC 3339, UTC, microseconds.")


class AgentTurn(Shape):
    """A turn of a session."""

    turn_id: str = Field(description="Unique in its thread.")
    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread.")
    status: AgentTurnStatus = Field(description="How far it came; an interrupted turn is `canceled`.")
    started_at: str | None = Field(default=None, description="RFC 3339, UTC, microseconds.")
    completed_at: str | None = Field(default=None, description="RFC 3339, UTC, microseconds.")


class AgentSessionOverview(Shape):
    """A session in a list."""

    session_id: str = Field(description="The thread's id.")
    thread_id: str = Field(description="The same id.")
    title: str | None = Field(default=None, description="The thread's name, or its preview.")
    model: str = Field(description='Its model; "" if it was not given.')
    created_at: str = Field(description="RFC 3339, UTC, microseconds.")
    updated_at: str = Field(description="RFC 3339, UTC, microseconds.")
    archived_at: str | None = Field(default=None, description="When it was archived, RFC 3339.")
    workspace_id: str | None = Field(default=None, description="As agentSession/start gave it.")
    working_dir: str | None = Field(default=None, description="The workspace root.")
    messages_count: Count = Field(description="How many messages of user and agent it has.")
    thread_status: str = Field(description="As `AgentSession.status`.")
    latest_turn_status: str | None = Field(default=None, description="As `AgentTurn.status`.")
    active_turn_id: str | None = Field(default=None, description="The open turn.")
    queued_turn_count: Count = Field(description="Always 0: turns are not queued here.")


class AgentSessionStartParams(ThreadStartParams):
    """Params of agentSession/start: those of thread/start, and what session clients send.

    A session is a thread: `sessionId` is its id, else `threadId`, else one is made. Where both are given
    sessionId wins. Fields that are not listed are kept in the thread's `extra`.
    """

    session_id: NewThreadId | None = Field(default=None, description="Id for the new session; goes before threadId.")
    app_id: str | None = Field(default=None, description="The app that it belongs to. Default `agent-chat`.")
    workspace_id: str | None = Field(default=None, description="The host's own id of the workspace; returned only.")
    title: str | None = Field(default=None, description="As `name`.")


class AgentSessionStartResult(ThreadOpened):
    """Result of agentSession/start: that of thread/start, and the session."""

    session: AgentSession = Field(description="The new session.")


class AgentSessionListParams(Params):
    """Params of agentSession/list."""

    include_archived: bool = Field(default=False, description="True: archived ones too.")
    archived_only: bool = Field(default=False, description="True: only archived ones.")
    cwd: str | list[str] | None = Field(default=None, description="Only sessions of these workspaces.")
    workspace_id: str | None = Field(default=None, description="Only sessions with this workspaceId.")
    limit: int = Field(default=100, ge=1, le=500, description="At most so many sessions.")
    cursor: str | None = Field(default=None, description="`nextCursor` of the page before.")


class AgentSessionListResult(Shape):
    """Result of agentSession/list: the last updated first."""

    sessions: list[AgentSessionOverview] = Field(description="This page.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")


class AgentSessionReadParams(Params):
    """Params of agentSession/read."""

    session_id: str = Field(description="The session.")
    history_limit: int | None = Field(
        default=None, ge=0, le=10_000, description="At most so many items in `detail`, counted from the newest."
    )
    history_offset: Count = Field(default=0, description="How many of the newest items to leave out first.")


class FileArtifactItem(Shape):
    """A file checkpoint among a session's items. Its names are snake_case on the wire."""

    model_config = ConfigDict(alias_generator=None, extra="allow")
    id: str = Field(description="Id of the item.")
    type: Literal["file_artifact"] = Field(description="Tag of the item.")
    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="Its turn.")
    path: str = Field(description="The file, relative to the workspace.")
    source: str = Field(description="How it came to be known.")
    status: str = Field(description="`ready` or `failed`.")
    metadata: FileArtifactMetadata = Field(description="Its version.")
    updated_at: str = Field(description="RFC 3339, UTC, microseconds.")


class SessionItem(Shape):
    """Any other item of a session: a ThreadItem with its place. Its own names are snake_case on the wire."""

    model_config = ConfigDict(alias_generator=None, extra="allow")
    id: str = Field(description="Id of the item.")
    type: str = Field(description="As in ThreadItem.")
    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="Its turn.")


class SessionDetail(Shape):
    """The items of a session. Its names are snake_case on the wire."""

    model_config = ConfigDict(alias_generator=None, extra="allow")
    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread.")
    working_dir: str | None = Field(default=None, description="The workspace root.")
    items: list[FileArtifactItem | SessionItem] = Field(description="The items, oldest first.")
    file_checkpoint_summary: JsonObject = Field(description="As the thread's `fileCheckpointSummary`.")
    recent_artifacts: list[Artifact] = Field(alias="recentArtifacts", description="The newest artifacts.")


class AgentSessionReadResult(Shape):
    """Result of agentSession/read."""

    session: AgentSession = Field(description="The session.")
    turns: list[AgentTurn] = Field(description="Its turns, oldest first.")
    detail: SessionDetail = Field(description="Its items.")


class AgentSessionUpdateParams(Params):
    """Params of agentSession/update. What is absent stays; fields not listed are merged into `extra`."""

    model_config = ConfigDict(extra="allow")
    session_id: str = Field(description="The session.")
    title: str | None = Field(default=None, description="The thread's name.")
    provider_name: str | None = Field(default=None, description="The model's provider.")
    model_name: str | None = Field(default=None, description="The model.")
    archived: bool | None = Field(default=None, description="True archives the thread, false takes it out again.")


class AgentSessionUpdateResult(Shape):
    """Result of agentSession/update."""

    session: AgentSessionOverview = Field(description="The session as it is now.")


class AgentSessionParams(Params):
    """A session alone."""

    session_id: str = Field(description="The session.")


class AgentSessionDeleteResult(Shape):
    """Result of agentSession/delete."""

    session_id: str = Field(description="The session.")
    deleted: bool = Field(description="Always true; deleting again is no error.")


class AgentSessionThreadResumeParams(Params):
    """Params of agentSession/thread/resume: as thread/resume, opens the session and subscribes to it."""

    session_id: str = Field(description="The session.")
    exclude_turns: bool = Field(default=False, description="True: `thread.turns` stays empty.")
    initial_turns_page: InitialTurnsPage | None = Field(default=None, description="Asks for a page of turns.")
    after_sequence: Count | None = Field(
        default=None, description="The events after this one follow as notifications, before live ones."
    )


class AgentSessionThreadResumeResult(ThreadResumeResult):
    """Result of agentSession/thread/resume: that of thread/resume, and the session."""

    session: AgentSession = Field(description="The session.")
    turns: list[AgentTurn] = Field(description="Its turns, oldest first; empty with excludeTurns.")
    resumed: bool = Field(description="Always true.")


class Attachment(Params):
    """Something attached to a message."""

    model_config = ConfigDict(extra="allow")
    kind: str = Field(description="Such as `image` or `file`.")
    uri: str | None = Field(default=None, description="Where it is: a path, URL or `data:` URL.")
    metadata: Any = Field(default=None, description="As the client gave it.")


class AgentInput(Params):
    """A user's message as session clients send it."""

    model_config = ConfigDict(extra="allow")
    text: str = Field(description="The text.")
    attachments: list[Attachment] = Field(default_factory=list[Attachment], description="What is attached.")


class AgentSessionTurnStartParams(Params):
    """Params of agentSession/turn/start: records a turn and the user's message.

    The message is UserInput parts as in turn/start, or `{text, attachments?}`. Of the latter the text becomes a
    text part; an attachment of kind `image` becomes an image part, any other one a mention, with its uri as path.
    """

    model_config = ConfigDict(extra="allow")
    session_id: str = Field(description="The session.")
    input: AgentInput | list[UserInput] = Field(description="What the user says; not empty.")
    turn_id: NewId | None = Field(default=None, description="Id for the new turn; one is made if absent.")
    client_user_message_id: str | None = Field(default=None, description="Kept as `clientId` of the message's item.")
    model: str | None = Field(default=None, description="The model for this turn and the following ones.")
    effort: str | None = Field(default=None, description="Reasoning effort, as the host names it.")
    cwd: str | None = Field(default=None, description="Where the agent works in this turn; recorded only.")
    runtime_options: JsonObject | None = Field(default=None, description="Taken and not used: the host runs the agent.")
    queue_if_busy: bool = Field(default=False, description="Taken and not used: a busy thread is always -32012.")


class AgentSessionTurnStartResult(Shape):
    """Result of agentSession/turn/start."""

    turn: AgentTurn = Field(description="The new turn, running.")


class AgentSessionTurnCancelParams(Params):
    """Params of agentSession/turn/cancel."""

    session_id: str = Field(description="The session.")
    turn_id: str = Field(description="The open turn.")
