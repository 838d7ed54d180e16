"""What the sidecar sends unasked, by method.

Invariant: every notification that can be sent stands in NOTIFICATIONS.
"""

from typing import Final, Literal

from pydantic import BaseModel, Field

from lockstitch_protocol.events import AgentEvent
from lockstitch_protocol.items import ThreadItem
from lockstitch_protocol.replay import ThreadReplayEvent
from lockstitch_protocol.thread import Thread
from lockstitch_protocol.turn import Turn, Usage
from lockstitch_protocol.wire import Count, Shape


class ThreadStarted(Shape):
    """A thread was created, by start, fork or import."""

    thread: Thread = Field(description="The thread.")
    sequence: Count = Field(description="Sequence of the event.")


class ThreadArchived(Shape):
    """A thread went into the archive, or out of it."""

    thread_id: str = Field(description="The thread.")
    sequence: Count = Field(description="Sequence of the event.")


class ThreadDeleted(Shape):
    """A thread is gone."""

    thread_id: str = Field(description="The thread.")


class TurnNotification(Shape):
    """A turn began or ended."""

    thread_id: str = Field(description="The thread.")
    turn: Turn = Field(description="The turn: inProgress when started, else completed, failed or interrupted.")
    sequence: Count = Field(description="Sequence of the event.")


class ItemStarted(Shape):
    """An item began."""

    item: ThreadItem = Field(description="The item as far as it is known.")
    thread_id: str = Field(description="The thread.")
    turn_id: str = Field(description="Its turn.")
    started_at_ms: int = Field(description="Unix milliseconds.")
    sequence: Count | None = Field(
        default=None, description="Sequence of the event; absent where streamed text, not stored yet, began the item."
    )
    event_id: str | None = Field(default=None, description="In that case: event of the segment of that text.")


class ItemCompleted(Shape):
    """An item is whole. It was announced as started before."""

    item: ThreadItem = Field(description="The item.")
    thread_id: str = Field(description="The thread.")
    turn_id: str = Field(description="Its turn.")
    completed_at_ms: int = Field(description="Unix milliseconds.")
    sequence: Count = Field(description="Sequence of the event.")


class DeltaNotification(Shape):
    """Streamed text, announced before it is stored."""

    thread_id: str = Field(description="The thread.")
    turn_id: str = Field(description="Its turn.")
    item_id: str = Field(description="The item that grows.")
    delta: str = Field(description="The text to add.")
    event_id: str = Field(description="Event of the segment that the text is stored in.")


class TokenUsage(Shape):
    """What the thread used."""

    total: Usage = Field(description="All turns.")
    last: Usage = Field(description="The last request to a model.")


class TokenUsageUpdated(Shape):
    """Usage was reported."""

    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="The turn that used it.")
    token_usage: TokenUsage = Field(description="What the thread used.")
    sequence: Count = Field(description="Sequence of the event.")


class EventNotification(Shape):
    """An event that no other notification covers."""

    event: AgentEvent = Field(description="The event.")


class EventsDropped(Shape):
    """Notifications of a thread were left out; read the events again from here."""

    thread_id: str = Field(description="The thread.")
    after_sequence: Count = Field(description="Read on after this one with thread/events/list.")


class ProgressValue(Shape):
    """How far a request is."""

    kind: Literal["begin", "report", "end"] = Field(description="Beginning, middle or end.")
    message: str | None = Field(default=None, description="A sentence for a person.")
    percentage: float | None = Field(default=None, description="0 to 100.")
    current: Count | None = Field(default=None, description="How many are done.")
    total: Count | None = Field(default=None, description="How many there are.")


class Progress(Shape):
    """Progress of a request that carried a progressToken."""

    token: str | int = Field(description="The request's progressToken.")
    value: ProgressValue = Field(description="How far it is.")


NOTIFICATIONS: Final[dict[str, type[BaseModel]]] = {
    "thread/started": ThreadStarted,
    "thread/archived": ThreadArchived,
    "thread/unarchived": ThreadArchived,
    "thread/deleted": ThreadDeleted,
    "thread/tokenUsage/updated": TokenUsageUpdated,
    "thread/replay/event": ThreadReplayEvent,
    "turn/started": TurnNotification,
    "turn/completed": TurnNotification,
    "item/started": ItemStarted,
    "item/completed": ItemCompleted,
    "item/agentMessage/delta": DeltaNotification,
    "item/reasoning/textDelta": DeltaNotification,
    "item/commandExecution/outputDelta": DeltaNotification,
    "agentSession/event": EventNotification,
    "agentSession/eventsDropped": EventsDropped,
    "$/progress": Progress,
}
"""Method of a notification to the model of its params."""
