"""Items: what a turn is made of, as hosts send them and as reads return them.

Invariant: `ThreadItem` is what reads return and knows eleven types; `HostItem` is what hosts may send and
knows every type. The append path uses `fill_defaults`, not these models.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from lockstitch_protocol.checks import FieldError
from lockstitch_protocol.item_fields import ITEM_FIELDS, ITEM_STATUSES, ItemError, fill_defaults
from lockstitch_protocol.wire import Count, JsonObject, NewId, Shape

__all__ = [
    "ITEM_FIELDS",
    "ITEM_STATUSES",
    "FieldError",
    "HostItem",
    "ItemError",
    "ThreadItem",
    "UserInput",
    "fill_defaults",
]

ItemStatus = Literal["inProgress", "completed", "failed", "declined"]


class TextInput(Shape):
    """Text that the user wrote."""

    model_config = ConfigDict(extra="allow")
    type: Literal["text"] = Field(description="Tag of this part.")
    text: str = Field(description="The text, whole.")


class ImageInput(Shape):
    """An image by URL (a `data:` URL too)."""

    model_config = ConfigDict(extra="allow")
    type: Literal["image"] = Field(description="Tag of this part.")
    url: str = Field(description="Where the image is, or the image itself as a `data:` URL.")


class LocalImageInput(Shape):
    """An image file on this machine."""

    model_config = ConfigDict(extra="allow")
    type: Literal["localImage"] = Field(description="Tag of this part.")
    path: str = Field(description="Path of the image file.")


class SkillInput(Shape):
    """A skill that the user asked for."""

    model_config = ConfigDict(extra="allow")
    type: Literal["skill"] = Field(description="Tag of this part.")
    name: str = Field(description="Name of the skill.")
    path: str = Field(description="Path of the skill's file.")


class MentionInput(Shape):
    """Something that the user pointed at."""

    model_config = ConfigDict(extra="allow")
    type: Literal["mention"] = Field(description="Tag of this part.")
    name: str = Field(description="Name of what is mentioned.")
    path: str = Field(description="Path or URI of what is mentioned.")


UserInput = TypeAliasType(
    "UserInput",
    Annotated[
        TextInput | ImageInput | LocalImageInput | SkillInput | MentionInput,
        Field(discriminator="type", description="One part of a user's message."),
    ],
)


class OutputRef(Shape):
    """Where an output is that was too large for its line; read it with `artifact/read`."""

    artifact_ref: str = Field(description="Names the content in `artifact/read`.")
    sha256: str = Field(description="SHA-256 of the whole output, 64 hexadecimal digits.")
    bytes: Count = Field(description="Size of the whole output.")


class Item(Shape):
    """What every item has. Fields that are not known are kept and returned."""

    model_config = ConfigDict(extra="allow")
    id: NewId = Field(description="Unique in its thread, without regard to case.")
    interrupted: bool | None = Field(default=None, description="True if the item was cut off before its end.")
    output_ref: OutputRef | None = Field(default=None, description="The whole output, where only a preview is here.")


class UserMessageItem(Item):
    """What the user said."""

    type: Literal["userMessage"] = Field(description="Tag of the item.")
    content: list[UserInput] = Field(description="The parts of the message, in order.")
    client_id: str | None = Field(default=None, description="The client's own id of the message.")


class AgentMessageItem(Item):
    """What the agent said. Always whole."""

    type: Literal["agentMessage"] = Field(description="Tag of the item.")
    text: str = Field(default="", description="The message.")
    phase: str | None = Field(default=None, description="Such as `commentary` or `final_answer`, as the host gave it.")


class PlanItem(Item):
    """A plan that the agent made."""

    type: Literal["plan"] = Field(description="Tag of the item.")
    text: str = Field(default="", description="The plan.")


class ReasoningItem(Item):
    """What the agent thought."""

    type: Literal["reasoning"] = Field(description="Tag of the item.")
    summary: list[str] = Field(default_factory=list[str], description="Summaries of the reasoning.")
    content: list[str] = Field(default_factory=list[str], description="The reasoning itself, where it is known.")


class CommandExecutionItem(Item):
    """A command that was run."""

    type: Literal["commandExecution"] = Field(description="Tag of the item.")
    command: str = Field(description="The command line.")
    cwd: str = Field(default="", description="Where it ran.")
    status: ItemStatus = Field(default="completed", description="How far it came.")
    source: str = Field(default="agent", description="Who ran it: `agent`, `userShell`, …")
    command_actions: list[JsonObject] = Field(
        default_factory=list[JsonObject], description="What the host understood the command to do."
    )
    aggregated_output: str | None = Field(default=None, description="Standard output and error as they came.")
    exit_code: int | None = Field(default=None, description="Exit code, where the command ended.")
    duration_ms: int | None = Field(default=None, description="How long it ran, in milliseconds.")


class ChangeKind(Shape):
    """What happened to a file."""

    model_config = ConfigDict(extra="allow")
    type: Literal["add", "delete", "update"] = Field(description="Created, deleted or changed.")
    move_path: str | None = Field(default=None, alias="move_path", description="The new path of a renamed file.")


class FileUpdateChange(Shape):
    """One changed file of a fileChange item."""

    model_config = ConfigDict(extra="allow")
    path: str = Field(description="Path of the file.")
    kind: ChangeKind = Field(description="What happened to it.")
    diff: str = Field(default="", description="Unified diff of the change.")


class FileChangeItem(Item):
    """Files that were changed; a file checkpoint appears as one of these."""

    type: Literal["fileChange"] = Field(description="Tag of the item.")
    changes: list[FileUpdateChange] = Field(default_factory=list[FileUpdateChange], description="The changed files.")
    status: ItemStatus = Field(default="completed", description="How far it came.")
    checkpoint_id: str | None = Field(default=None, description="The file checkpoint that this item shows.")


class McpToolCallItem(Item):
    """A call of an MCP server's tool."""

    type: Literal["mcpToolCall"] = Field(description="Tag of the item.")
    server: str = Field(description="Name of the MCP server.")
    tool: str = Field(description="Name of the tool.")
    status: ItemStatus = Field(default="completed", description="How far it came.")
    arguments: Any = Field(default=None, description="What the tool was given.")
    result: Any = Field(default=None, description="What it returned.")
    error: Any = Field(default=None, description="Why it failed.")
    duration_ms: int | None = Field(default=None, description="How long it ran, in milliseconds.")


class DynamicToolCallItem(Item):
    """A call of a tool that the host itself provides."""

    type: Literal["dynamicToolCall"] = Field(description="Tag of the item.")
    namespace: str | None = Field(default=None, description="Namespace of the tool.")
    tool: str = Field(description="Name of the tool.")
    arguments: Any = Field(default=None, description="What the tool was given.")
    status: ItemStatus = Field(default="completed", description="How far it came.")
    content_items: list[Any] | None = Field(default=None, description="What it returned.")
    success: bool | None = Field(default=None, description="Whether the tool says that it succeeded.")
    duration_ms: int | None = Field(default=None, description="How long it ran, in milliseconds.")


class WebSearchItem(Item):
    """A search in the web."""

    type: Literal["webSearch"] = Field(description="Tag of the item.")
    query: str | None = Field(default=None, description="What was searched for.")
    action: JsonObject | None = Field(default=None, description="Search, open page or find in page, as the host says.")


class ImageViewItem(Item):
    """An image that the agent looked at."""

    type: Literal["imageView"] = Field(description="Tag of the item.")
    path: str = Field(description="Path of the image.")


class ContextCompactionItem(Item):
    """The host made the agent's context shorter here."""

    type: Literal["contextCompaction"] = Field(description="Tag of the item.")


class OtherItem(Item):
    """An item of a type that this protocol does not know: stored and returned as it came."""

    type: str = Field(min_length=1, description="Any other type.", json_schema_extra={"not": {"enum": [*ITEM_FIELDS]}})


ThreadItem = TypeAliasType(
    "ThreadItem",
    Annotated[
        UserMessageItem
        | AgentMessageItem
        | PlanItem
        | ReasoningItem
        | CommandExecutionItem
        | FileChangeItem
        | McpToolCallItem
        | DynamicToolCallItem
        | WebSearchItem
        | ImageViewItem
        | ContextCompactionItem,
        Field(discriminator="type", description="One thing in a turn."),
    ],
)


def _tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return "known" if isinstance(kind, str) and kind in ITEM_FIELDS else "other"


HostItem = TypeAliasType(
    "HostItem",
    Annotated[
        Annotated[ThreadItem, Tag("known")] | Annotated[OtherItem, Tag("other")],
        Discriminator(_tag),
        Field(description="An item as a host may send it: a known one, or one of any other type with an id."),
    ],
)
