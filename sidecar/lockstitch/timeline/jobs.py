"""What the writer is asked to do: one job for each change of a thread, answered after its commit.

Invariant: a job's `build` runs in the writer thread with the thread's state in hand and changes nothing; it
adds events to the admission or raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from lockstitch.errors import ConflictError
from lockstitch.rollout.line import Draft
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.incoming import Answer
from lockstitch.timeline.rows import ThreadRow

if TYPE_CHECKING:
    from lockstitch.timeline.writer import Writer

T = TypeVar("T")


class Job(msgspec.Struct, Generic[T]):
    """Something for the writer. Exactly one of `done` and `failed` is called, on the event loop."""

    done: Callable[[T], None]
    failed: Callable[[BaseException], None]
    cancelled: bool = False
    """Set by who asked, before the job has its place in a group; it is then dropped unanswered."""


class Appended(msgspec.Struct, frozen=True):
    """What an append made. `events` are AgentEvents as a JSON array, as many as came in."""

    thread_id: str
    events: bytes
    duplicates: int
    thread: ThreadRow
    """The thread's row after it, for replies; not to be changed."""
    turn_id: str | None
    first_sequence: int
    drafts: list[Draft]


class AppendJob(Job[Appended]):
    """Add events to a thread that exists."""

    thread_id: str = ""
    build: Callable[[Admission], None] = lambda admission: None
    req: str | None = None
    """Digest of request id and params, if that id looks globally unique."""
    count: int = 0
    """How many events the request named; 0 where a resent one is not recognised."""
    deltas: bool = False
    """Streamed text only, which may wait in its segment."""
    wait_for_reply: bool = True
    """The notifications that it causes wait until its reply is written."""
    allow_archived: bool = False


class CreateJob(Job[Appended]):
    """Start a thread: a new rollout whose first events are `drafts`."""

    thread_id: str = ""
    created_at: str = ""
    drafts: list[Draft] = []
    ephemeral: bool = False


def thread_exists(thread_id: str) -> ConflictError:
    """The error of a new thread whose id is taken."""
    return ConflictError(
        f"There is a thread {thread_id} already; give a new one its own id.", kind="threadExists", threadId=thread_id
    )


class ExclusiveJob(Job[Any]):
    """Something that needs the write lock for itself: archive, delete, recovery, rebuild."""

    run: Callable[[Writer], Any] = lambda writer: None
    thread_id: str = ""
    """The thread that it changes, if it is one."""
    wait_for_reply: bool = False
    """As for an append: what it causes is announced after the reply of the request that it serves."""


class Committed(msgspec.Struct, frozen=True):
    """Events that are durable, for those who watch the thread. `hold` is the job whose reply goes first."""

    thread_id: str
    first_sequence: int
    drafts: list[Draft]
    hold: Job[Any] | None = None


class Streamed(msgspec.Struct, frozen=True):
    """Streamed text that is accepted; its segment will be durable later."""

    thread_id: str
    answers: list[Answer]
    hold: Job[Any] | None = None


class Removed(msgspec.Struct, frozen=True):
    """The thread was deleted."""

    thread_id: str
    hold: Job[Any] | None = None


Happening = Committed | Streamed | Removed
