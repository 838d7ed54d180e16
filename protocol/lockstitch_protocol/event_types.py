"""The one table of event types: what the protocol knows about each.

Invariant: every type that has an effect stands in EVENT_TYPES; any other type is stored, listed, exported
and replayed, and makes no item. No pydantic here: the append path reads this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class EventType:
    """What the protocol knows about one type of event."""

    payload_name: str
    effect: str
    needs_turn: bool = False
    """Refused with noActiveTurn where none is given and none is open."""
    joins_turn: bool = False
    """Without a turn id it goes to the open turn, if there is one."""
    from_clients: bool = True
    """False: written by the sidecar itself, refused from clients."""
    streamed: bool = False
    """Streamed text: notified at once, stored in segments."""

    @property
    def payload(self) -> type[BaseModel]:
        """The model of its payload. Importing it is left to whoever asks: the append path does not."""
        from lockstitch_protocol import event_payloads

        return getattr(event_payloads, self.payload_name)


def _item_event(payload: str, effect: str, *, streamed: bool = False) -> EventType:
    return EventType(payload, effect, needs_turn=True, joins_turn=True, streamed=streamed)


def _own(effect: str, *, needs_turn: bool = False) -> EventType:
    return EventType("OpenPayload", effect, needs_turn=needs_turn, from_clients=False)


EVENT_TYPES: Final[dict[str, EventType]] = {
    "turn.started": EventType("TurnPayload", "Opens a turn."),
    "turn.completed": _item_event("TurnPayload", "Ends the turn: completed."),
    "turn.failed": _item_event("TurnPayload", "Ends the turn: failed."),
    "turn.canceled": _item_event("TurnPayload", "Ends the turn: interrupted by the user."),
    "turn.interrupted": _own("Records that the process that served the turn is gone.", needs_turn=True),
    "turn.resumed": _own("The host goes on with an interrupted turn.", needs_turn=True),
    "thread.started": _own("Line 1 of every rollout."),
    "thread.updated": _own("Name, metadata or workspace of the thread changed."),
    "thread.archived": _own("The thread was archived."),
    "thread.unarchived": _own("The thread was taken out of the archive."),
    "thread.rolledBack": _own("Turns left the conversation."),
    "thread.rolledForward": _own("Turns that had left the conversation are back: a rewind was undone."),
    "thread.rewound": _own("Files were restored, rewound, or that was undone; its event id is the rewindId."),
    "thread.recovered": _own("A repair set bytes of the rollout aside."),
    "item.started": _item_event("ItemPayload", "An item begins."),
    "item.updated": _item_event("ItemPayload", "An item changes."),
    "item.completed": _item_event("ItemPayload", "An item is whole."),
    "message.delta": _item_event("DeltaPayload", "Streamed text of a message.", streamed=True),
    "reasoning.delta": _item_event("DeltaPayload", "Streamed text of reasoning.", streamed=True),
    "command.output": _item_event("DeltaPayload", "Streamed output of a command.", streamed=True),
    "message.created": _item_event("MessagePayload", "A message item."),
    "command.started": _item_event("CommandStartedPayload", "A command item begins."),
    "command.exited": _item_event("CommandExitedPayload", "A command item is whole."),
    "patch.started": _item_event("PatchStartedPayload", "A file change item begins."),
    "patch.applied": _item_event("PatchEndedPayload", "A file change item is completed."),
    "patch.failed": _item_event("PatchEndedPayload", "A file change item is failed."),
    "patch.declined": _item_event("PatchEndedPayload", "A file change item is declined."),
    "plan.final": _item_event("PlanPayload", "A plan item."),
    "reasoning.final": _item_event("ReasoningPayload", "A reasoning item."),
    "context.compaction.completed": _item_event("CompactionPayload", "A context compaction item."),
    "artifact.snapshot": EventType("SnapshotPayload", "A file checkpoint.", joins_turn=True),
    "file.changed": EventType("SnapshotPayload", "A file checkpoint.", joins_turn=True),
    "action.required": EventType("ActionPayload", "A question to the user is open.", joins_turn=True),
    "action.resolved": EventType("ActionPayload", "A question was answered.", joins_turn=True),
    "action.cancelled": EventType("ActionPayload", "A question was withdrawn.", joins_turn=True),
    "provider.usage": EventType("UsagePayload", "Adds to the usage of turn and thread.", joins_turn=True),
    "route.selected": _item_event("RoutePayload", "The turn's provider and model."),
    "authority.set": _item_event("AuthorityPayload", "What the turn's agent may do."),
    "worker.started": EventType("WorkerStartedPayload", "A worker begins its first attempt.", joins_turn=True),
    "worker.heartbeat": EventType("WorkerPayload", "Renews a worker's lease."),
    "worker.completed": EventType("WorkerPayload", "Ends a worker: completed."),
    "worker.failed": EventType("WorkerPayload", "Ends a worker: failed."),
    "worker.cancelled": EventType("WorkerPayload", "Ends a worker: cancelled."),
    "worker.retried": EventType("WorkerPayload", "A worker begins its next attempt."),
    "worker.interrupted": _own("A worker's process is gone, or its lease ran out."),
}


def may_client_send(event_type: str) -> bool:
    """Whether a host may append this type; `thread.*` and some of `turn.*` are the sidecar's own."""
    known = EVENT_TYPES.get(event_type)
    return not event_type.startswith("thread.") and (known is None or known.from_clients)
