"""The fields of payloads that the reducer reads, and nothing else of them.

Invariant: unknown fields are skipped without being decoded; a payload of another shape raises ParseError.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lockstitch import codec
from lockstitch.codec import ParseError
from lockstitch.rollout.line import Draft
from lockstitch.timeline.checkpoints import path_key
from lockstitch.timeline.rows import KINDS, ItemKind

RECEIVED_AT = "$receivedAt"
"""In a payload whose event has a time of its own: when it came in by our clock. A host's own field of that name
is not kept."""


class Received(msgspec.Struct, rename={"at": RECEIVED_AT}):
    at: str | None = None


class ItemPayload(msgspec.Struct):
    item: codec.Raw


class ItemHead(msgspec.Struct):
    id: str
    type: str
    status: Any = None
    """A word in the items that we know; an unknown one may mean anything by it."""
    outputRef: codec.Raw = codec.NOTHING  # noqa: N815


class OutputRef(msgspec.Struct):
    sha256: str = ""


class PayloadItem(msgspec.Struct, frozen=True, gc=False):
    """What the reducer has to know of a payload's item; the item itself is the last `length` bytes before the brace."""

    id: str
    kind: int
    """An ItemKind."""
    status: str | None
    spilled: str | None
    """The sha256 of its output, which is in the artifact store."""
    length: int


class ItemDraft(Draft, frozen=True, gc=False):
    """An event whose payload holds an item of which is known already what `read_item` would find there."""

    kind: int = 0
    """An ItemKind."""
    status: str | None = None
    item_length: int = 0
    new_key: str | None = None
    """The item's id in lower case, if no stored row has it and the event completes it."""
    own: bool = False
    """`at` is when it happened, and no claim beside which the payload tells another time."""


class UserMessage(msgspec.Struct):
    content: list[dict[str, object]] = []


class TurnStarted(msgspec.Struct):
    bootId: str | None = None  # noqa: N815
    model: str | None = None
    effort: str | None = None


class GitFields(msgspec.Struct):
    sha: str | None = None
    branch: str | None = None
    originUrl: str | None = None  # noqa: N815


class Workspace(msgspec.Struct):
    cwd: str = ""
    key: str | None = None
    linked: bool = True
    """False: an import tells where the work was done; nothing may be written there."""


class Origin(msgspec.Struct):
    threadId: str  # noqa: N815
    rootId: str  # noqa: N815


class ThreadStarted(msgspec.Struct):
    format: int = 1
    cwd: str = ""
    workspaceKey: str | None = None  # noqa: N815
    workspaceLinked: bool = False  # noqa: N815
    model: str = ""
    modelProvider: str = ""  # noqa: N815
    name: str | None = None
    source: str = ""
    threadSource: str | None = None  # noqa: N815
    cliVersion: str = ""  # noqa: N815
    gitInfo: GitFields | None = None  # noqa: N815
    forkedFrom: Origin | None = None  # noqa: N815
    parentThreadId: str | None = None  # noqa: N815
    extra: codec.Raw = codec.NOTHING


class ThreadUpdated(msgspec.Struct):
    name: str | msgspec.UnsetType | None = msgspec.UNSET
    gitInfo: GitFields | msgspec.UnsetType | None = msgspec.UNSET  # noqa: N815
    workspace: Workspace | msgspec.UnsetType = msgspec.UNSET
    model: str | msgspec.UnsetType = msgspec.UNSET
    modelProvider: str | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    extra: codec.Raw = codec.NOTHING


class RolledBack(msgspec.Struct):
    numTurns: int  # noqa: N815


class RolledForward(msgspec.Struct):
    turnIds: list[str]  # noqa: N815
    preview: str = ""
    previewTurnId: str | None = None  # noqa: N815


class Recovered(msgspec.Struct):
    damage: codec.Raw = codec.NOTHING
    partial: bool = False


class UsagePayload(msgspec.Struct):
    inputTokens: float = 0  # noqa: N815
    cachedInputTokens: float = 0  # noqa: N815
    outputTokens: float = 0  # noqa: N815
    reasoningOutputTokens: float = 0  # noqa: N815
    costUsd: float | None = None  # noqa: N815


class TurnEnded(msgspec.Struct):
    usage: UsagePayload | None = None


class ActionPayload(msgspec.Struct):
    requestId: str | int = ""  # noqa: N815


class Side(msgspec.Struct):
    sha256: str | None = None


class CheckpointPayload(msgspec.Struct):
    checkpointId: str  # noqa: N815
    path: str
    op: str
    source: str
    versionNo: int | None = None  # noqa: N815
    before: Side | None = None
    after: Side | None = None
    pathBase64: str | None = None  # noqa: N815

    @property
    def key(self) -> str:
        """What rows call the path."""
        return path_key(self.path, self.pathBase64)


class CheckpointEvent(msgspec.Struct):
    checkpoint: CheckpointPayload


class Confirmed(msgspec.Struct):
    path: str
    sha256: str | None = None
    pathBase64: str | None = None  # noqa: N815

    @property
    def key(self) -> str:
        """What rows call the path."""
        return path_key(self.path, self.pathBase64)


class Imported(msgspec.Struct):
    client: str
    sourceThreadId: str  # noqa: N815
    readBytes: int  # noqa: N815


class WorkerPayload(msgspec.Struct):
    workerId: str  # noqa: N815
    kind: str = ""
    attempt: int = 1
    maxAttempts: int = 1  # noqa: N815
    leaseMs: int = 0  # noqa: N815
    leaseExpiresAt: str = ""  # noqa: N815
    bootId: str | None = None  # noqa: N815


class WorkspaceLink(msgspec.Struct):
    rootId: str | None = None  # noqa: N815


class Link(msgspec.Struct):
    """What `thread.started` and `thread.updated` say of the data root that made a link to a workspace."""

    workspaceRootId: str | None = None  # noqa: N815
    workspace: WorkspaceLink | None = None


read_received = codec.decoder(Received)
_read_output_ref = codec.decoder(OutputRef)
_read_item_payload = codec.decoder(ItemPayload)
_read_item_head = codec.decoder(ItemHead)
_read_user_message = codec.decoder(UserMessage)
read_turn_started = codec.decoder(TurnStarted)
read_thread_started = codec.decoder(ThreadStarted)
read_thread_updated = codec.decoder(ThreadUpdated)
read_rolled_back = codec.decoder(RolledBack)
read_rolled_forward = codec.decoder(RolledForward)
read_recovered = codec.decoder(Recovered)
read_usage = codec.decoder(UsagePayload)
read_turn_ended = codec.decoder(TurnEnded)
read_action = codec.decoder(ActionPayload)
read_checkpoint = codec.decoder(CheckpointEvent)
read_confirmed = codec.decoder(Confirmed)
read_imported = codec.decoder(Imported)
read_worker = codec.decoder(WorkerPayload)
_read_link = codec.decoder(Link)


def read_linked_by(payload: bytes) -> str | None:
    """The data root that made the link of a `thread.started` or `thread.updated`; None where it does not say."""
    link = _read_link(payload)
    return link.workspaceRootId if link.workspace is None else link.workspace.rootId


def read_item(payload: bytes) -> PayloadItem:
    """What the reducer has to know of the payload's item. Raises ParseError."""
    value = _read_item_payload(payload).item
    head = _read_item_head(value)
    status = head.status if isinstance(head.status, str) else None
    spilled = output_of(head.outputRef) if head.outputRef else None
    return PayloadItem(head.id, KINDS.get(head.type, ItemKind.other), status, spilled, len(value))


def known_item(draft: ItemDraft) -> PayloadItem:
    """What `read_item` would find in the draft's payload."""
    return PayloadItem(str(draft.item_id), draft.kind, draft.status, None, draft.item_length)


def output_of(reference: codec.Raw) -> str | None:
    """The sha256 of an item's `outputRef`; None if it is not one of ours."""
    try:
        return _read_output_ref(reference).sha256
    except ParseError:
        return None  # of an item that we do not know, whose field means something else


def read_item_content(payload: bytes) -> list[dict[str, object]]:
    """The parts of a user's message. Raises ParseError."""
    return _read_user_message(_read_item_payload(payload).item).content
