"""Events: how they are appended, and how they are returned.

Invariant: the payload of an event is any object here; its type says what it holds (`event_payloads`), and
the append path checks it with `check_payload`.
"""

from typing import Any, Literal

from pydantic import AliasChoices, Field

from lockstitch_protocol.event_checks import PayloadError, check_payload
from lockstitch_protocol.event_types import EVENT_TYPES, EventType, may_client_send
from lockstitch_protocol.wire import Count, JsonObject, NewId, Params, Shape

__all__ = [
    "EVENT_TYPES",
    "AgentEvent",
    "AppendParams",
    "AppendResult",
    "EventType",
    "PayloadError",
    "check_payload",
    "may_client_send",
]


class AgentEvent(Shape):
    """One durable fact of a thread, as it is returned."""

    event_id: str = Field(description="Unique in its thread.")
    sequence: Count | None = Field(
        default=None,
        description="1, 2, 3… without gaps in its thread: the only order. Absent while it is not stored yet.",
    )
    session_id: str = Field(description="The session, which is the thread: the same id.")
    thread_id: str = Field(description="The thread that the event belongs to.")
    turn_id: str | None = Field(default=None, description="The turn that it belongs to.")
    item_id: str | None = Field(default=None, description="The item that it belongs to.")
    type: str = Field(description="Its type, one of the table or any other.")
    timestamp: str = Field(description="When it happened: RFC 3339, UTC, microseconds. For people, not for order.")
    payload: JsonObject = Field(description="As stored: file content is a reference, a whole item is in `item`.")


class RuntimeEventInput(Params):
    """One event that a host reports."""

    type: str = Field(
        min_length=1,
        validation_alias=AliasChoices("type", "eventType", "event_type"),
        description="Type of the event; `eventType` and `event_type` are taken too.",
    )
    payload: JsonObject = Field(default_factory=dict[str, Any], description="What the type says; absent is {}.")
    event_id: NewId | None = Field(
        default=None, description="The host's own id: the same id with the same content is stored once."
    )
    item_id: str | None = Field(default=None, description="The item that the event belongs to.")
    at: str | None = Field(default=None, description="When it happened, RFC 3339; kept as the event's timestamp.")


class AppendParams(Params):
    """Params of agentSession/runtimeEvents/append: all of the events are stored, or none."""

    session_id: str = Field(description="The session (the thread's id).")
    turn_id: str | None = Field(
        default=None, description="The turn of these events; an item event without one goes to the open turn."
    )
    runtime_events: list[RuntimeEventInput] = Field(
        default_factory=list[RuntimeEventInput], description="The events, in order."
    )
    durability: Literal["sync", "buffered"] | None = Field(
        default=None,
        description="`sync`: answered when it is on the disk. `buffered`: within 2 s. Default sync; buffered if the "
        "request holds deltas only.",
    )


class AppendResult(Shape):
    """Result of agentSession/runtimeEvents/append."""

    events: list[AgentEvent] = Field(description="As many as were sent, in their order.")
    duplicates: Count | None = Field(default=None, description="How many of them were stored before.")
