"""`session.*`: threads by the names that older clients use. Params and results are those of `thread/*`.

COMPAT: `session_id` and `sessionId` are taken where `thread/*` takes `threadId`.
"""

from pydantic import AliasChoices, Field

from lockstitch_protocol.thread_params import (
    ThreadForkParams,
    ThreadListParams,
    ThreadNameSetParams,
    ThreadParams,
    ThreadResumeParams,
    ThreadStartParams,
)
from lockstitch_protocol.wire import NewThreadId

_ID = AliasChoices("threadId", "session_id", "sessionId", "thread_id")


class SessionCreateParams(ThreadStartParams):
    """Params of session.create: those of thread/start."""

    thread_id: NewThreadId | None = Field(
        default=None, validation_alias=_ID, description="Id for the new session; one is made if absent."
    )


class SessionListParams(ThreadListParams):
    """Params of session.list: those of thread/list."""


class SessionResumeParams(ThreadResumeParams):
    """Params of session.resume: those of thread/resume."""

    thread_id: str = Field(validation_alias=_ID, description="The session.")


class SessionRenameParams(ThreadNameSetParams):
    """Params of session.rename: those of thread/name/set."""

    thread_id: str = Field(validation_alias=_ID, description="The session.")


class SessionForkParams(ThreadForkParams):
    """Params of session.fork: those of thread/fork."""

    thread_id: str = Field(validation_alias=_ID, description="The session to fork; it is not changed.")


class SessionParams(ThreadParams):
    """Params of session.archive and session.delete: those of thread/archive and thread/delete."""

    thread_id: str = Field(validation_alias=_ID, description="The session.")
