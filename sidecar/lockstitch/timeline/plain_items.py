"""Items in their plain form: as typed structs, checked and completed by the decoder in one go.

What a struct here takes, `fill_defaults` takes too, and makes the same item of it. What no struct takes (a field
that it does not know, a null, a word where a number belongs) is for `fill_defaults` to complete or to explain. This
costs a tenth of looking at each field of a decoded item; a test compares the two.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from lockstitch import codec
from lockstitch.timeline.rows import ItemKind

_UNSET = msgspec.UNSET
_Optional = str | None
"""Absent or null: then it is not stored."""
_Filled = str | msgspec.UnsetType | None
"""Absent or null: then `fills` says what is stored."""
_Whole = int | None
_Status = Literal["inProgress", "completed", "failed", "declined"] | msgspec.UnsetType | None
_Strings = list[str] | msgspec.UnsetType | None


class _Part(msgspec.Struct, tag_field="type", forbid_unknown_fields=True, gc=False):
    """One part of a user's message; nothing of it is ever filled in or left out."""


class _TextPart(_Part, tag="text"):
    text: str
    text_elements: list[Any] | msgspec.UnsetType = _UNSET


class _ImagePart(_Part, tag="image"):
    url: str


class _LocalImagePart(_Part, tag="localImage"):
    path: str


class _SkillPart(_Part, tag="skill"):
    name: str
    path: str


class _MentionPart(_Part, tag="mention"):
    name: str
    path: str


class _ChangeKind(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["add", "delete", "update"]
    move_path: str | msgspec.UnsetType | None = _UNSET


class _Change(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One file of a change."""

    path: str
    kind: _ChangeKind
    diff: str = ""


class PlainItem(
    msgspec.Struct, tag_field="type", forbid_unknown_fields=True, rename="camel", omit_defaults=True, gc=False
):
    """An item of a type that we know, with no field that we do not know."""

    kind: ClassVar[int]
    fills: ClassVar[tuple[tuple[str, Any], ...]] = ()
    """What is stored where a field says nothing."""
    has_status: ClassVar[bool] = False
    streamed: ClassVar[tuple[str, ...]] = ()
    """Fields that an earlier event, or streamed text, may hold where this one leaves them out."""
    nests: ClassVar[tuple[str, ...]] = ()
    """Fields that may hold any value, hence one that is nested too deep."""
    id: str


class _UserMessage(PlainItem, tag="userMessage"):
    kind: ClassVar[int] = int(ItemKind.userMessage)
    nests: ClassVar[tuple[str, ...]] = ("content",)
    content: list[_TextPart | _ImagePart | _LocalImagePart | _SkillPart | _MentionPart]
    client_id: _Optional = None


class _AgentMessage(PlainItem, tag="agentMessage"):
    kind: ClassVar[int] = int(ItemKind.agentMessage)
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("text", ""),)
    streamed: ClassVar[tuple[str, ...]] = ("text",)
    text: _Filled = _UNSET
    phase: _Optional = None


class _Plan(PlainItem, tag="plan"):
    kind: ClassVar[int] = int(ItemKind.plan)
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("text", ""),)
    streamed: ClassVar[tuple[str, ...]] = ("text",)
    text: _Filled = _UNSET


class _Reasoning(PlainItem, tag="reasoning"):
    kind: ClassVar[int] = int(ItemKind.reasoning)
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("summary", ()), ("content", ()))
    streamed: ClassVar[tuple[str, ...]] = ("summary", "content")
    summary: _Strings = _UNSET
    content: _Strings = _UNSET


class _CommandExecution(PlainItem, tag="commandExecution"):
    kind: ClassVar[int] = int(ItemKind.commandExecution)
    nests: ClassVar[tuple[str, ...]] = ("command_actions",)
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("cwd", ""), ("source", "agent"), ("command_actions", ()))
    has_status: ClassVar[bool] = True
    streamed: ClassVar[tuple[str, ...]] = ("aggregated_output",)
    command: str
    cwd: _Filled = _UNSET
    status: _Status = _UNSET
    source: _Filled = _UNSET
    command_actions: list[dict[str, Any]] | msgspec.UnsetType | None = _UNSET
    aggregated_output: _Optional = None
    exit_code: _Whole = None
    duration_ms: _Whole = None


class _FileChange(PlainItem, tag="fileChange"):
    kind: ClassVar[int] = int(ItemKind.fileChange)
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("changes", ()),)
    has_status: ClassVar[bool] = True
    changes: list[_Change] | msgspec.UnsetType | None = _UNSET
    status: _Status = _UNSET
    checkpoint_id: _Optional = None


class _McpToolCall(PlainItem, tag="mcpToolCall"):
    kind: ClassVar[int] = int(ItemKind.mcpToolCall)
    nests: ClassVar[tuple[str, ...]] = ("arguments", "result", "error")
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("arguments", None),)
    has_status: ClassVar[bool] = True
    server: str
    tool: str
    status: _Status = _UNSET
    arguments: Any = _UNSET
    result: Any = None
    error: Any = None
    duration_ms: _Whole = None


class _DynamicToolCall(PlainItem, tag="dynamicToolCall"):
    kind: ClassVar[int] = int(ItemKind.dynamicToolCall)
    nests: ClassVar[tuple[str, ...]] = ("arguments", "content_items")
    fills: ClassVar[tuple[tuple[str, Any], ...]] = (("arguments", None),)
    has_status: ClassVar[bool] = True
    tool: str
    namespace: _Optional = None
    arguments: Any = _UNSET
    status: _Status = _UNSET
    content_items: list[Any] | None = None
    success: bool | None = None
    duration_ms: _Whole = None


class _WebSearch(PlainItem, tag="webSearch"):
    kind: ClassVar[int] = int(ItemKind.webSearch)
    nests: ClassVar[tuple[str, ...]] = ("action",)
    query: _Optional = None
    action: dict[str, Any] | None = None


class _ImageView(PlainItem, tag="imageView"):
    kind: ClassVar[int] = int(ItemKind.imageView)
    path: str


class _ContextCompaction(PlainItem, tag="contextCompaction"):
    kind: ClassVar[int] = int(ItemKind.contextCompaction)


class _Payload(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A payload that holds the item and nothing else."""

    item: (
        _UserMessage
        | _AgentMessage
        | _Plan
        | _Reasoning
        | _CommandExecution
        | _FileChange
        | _McpToolCall
        | _DynamicToolCall
        | _WebSearch
        | _ImageView
        | _ContextCompaction
    )


ITEM_AT = len('{"item":')
"""Where in the payload the item stands; one brace follows it."""
_decode = msgspec.json.Decoder(_Payload, float_hook=codec.Digits).decode


def plain_item(payload: bytes | codec.Raw) -> PlainItem | None:
    """The item of an item event's payload, which is JSON as it was sent; None where the plain form does not fit.

    Whether its id is one is for the caller to ask: of many at once.
    """
    try:
        return _decode(payload).item
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def may_nest(item: PlainItem) -> bool:
    """Whether the item holds values that may be nested deeper than is allowed."""
    for name in item.nests:  # a generator would cost twice as much
        if getattr(item, name):
            break
    else:
        return False
    return True


def plain_form(item: dict[str, Any]) -> PlainItem | None:
    """The same of an item that is decoded; whether its id is one, and how deep it nests, is for the caller to know."""
    try:
        return msgspec.convert({"item": item}, _Payload).item
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def encode_plain(item: PlainItem, *, over: bool) -> bytes:
    """The payload that is stored, its item filled in: whatever the host says, what is `over` is in progress no more."""
    found: Any = item
    for name, default in item.fills:
        value = getattr(found, name)
        if value is None or value is _UNSET:
            setattr(found, name, default)
    if item.has_status:
        status = found.status
        if status is None or status is _UNSET:
            found.status = "completed" if over else "inProgress"
        elif over and status == "inProgress":
            found.status = "completed"
    return codec.encode(_Payload(found))


def status_of(item: Any) -> str | None:
    """The status of an item that was encoded; None of those that have none."""
    return item.status if item.has_status else None


def leaves_out(item: PlainItem) -> bool:
    """Whether earlier events may hold more of the item than this one says."""
    for name in item.streamed:  # a generator would cost twice as much
        if not getattr(item, name):
            break
    else:
        return False
    return True


class PlainTurnStart(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The payload of a `turn.started` that says nothing but which turn."""

    turnId: str  # noqa: N815


class _Nothing(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A payload that says nothing."""


class PlainDelta(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Streamed text."""

    itemId: str  # noqa: N815
    delta: str


_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Usage(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The tokens of a model's answer, and nothing beside them."""

    inputTokens: _Count  # noqa: N815
    cachedInputTokens: _Count  # noqa: N815
    outputTokens: _Count  # noqa: N815
    reasoningOutputTokens: _Count  # noqa: N815


_decode_delta = msgspec.json.Decoder(PlainDelta).decode
_decoders = {
    "message.delta": _decode_delta,
    "reasoning.delta": _decode_delta,
    "command.output": _decode_delta,
    "turn.started": msgspec.json.Decoder(PlainTurnStart).decode,
    "turn.completed": msgspec.json.Decoder(_Nothing).decode,
    "provider.usage": msgspec.json.Decoder(_Usage).decode,
}


def plain_payload(type_: str, payload: bytes | codec.Raw) -> Any:
    """The payload of one of the other events of nearly every turn, which `check_payload` would take; else None."""
    decode = _decoders.get(type_)
    if decode is None:
        return None
    try:
        return decode(payload)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
