"""What the payload of each event type holds, for schemas and tests.

Invariant: a payload keeps the fields that its model does not know. The append path uses `event_checks`, which
says the same, and a test compares the two.
"""

from typing import Any, Literal, Self

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from lockstitch_protocol.items import FileUpdateChange, HostItem, ItemStatus
from lockstitch_protocol.snapshot import SNAPSHOT_FIELDS
from lockstitch_protocol.wire import Count, JsonObject, NewId, Shape
from lockstitch_protocol.worker import Attempts, LeaseMs


class OpenPayload(Shape):
    """A payload whose further fields are kept."""

    model_config = ConfigDict(extra="allow")


class EventError(OpenPayload):
    """Why something failed."""

    message: str | None = Field(default=None, description="A sentence for a person.")


class TurnUsage(OpenPayload):
    """Tokens that a turn used, as far as the host says."""

    input_tokens: Count | None = Field(default=None, description="Tokens sent to the model.")
    cached_input_tokens: Count | None = Field(default=None, description="Of these, tokens read from the cache.")
    output_tokens: Count | None = Field(default=None, description="Tokens that the model wrote.")
    reasoning_output_tokens: Count | None = Field(default=None, description="Of these, tokens of reasoning.")
    model: str | None = Field(default=None, description="The model.")
    cost_usd: float | None = Field(default=None, description="Cost in US dollars, where the host knows it.")


class TurnPayload(OpenPayload):
    """Payload of turn.started, turn.completed, turn.failed and turn.canceled."""

    usage: TurnUsage | None = Field(default=None, description="Usage of the whole turn.")
    error: str | EventError | None = Field(default=None, description="Why the turn failed: a text or an object.")


class ItemPayload(OpenPayload):
    """Payload of item.started, item.updated and item.completed."""

    item: HostItem = Field(description="The item as a whole; missing fields get their defaults.")


class DeltaPayload(OpenPayload):
    """Payload of message.delta, reasoning.delta and command.output: streamed text."""

    item_id: NewId = Field(description="The item that grows.")
    delta: str = Field(description="The text to add to it.")


class MessagePayload(OpenPayload):
    """Payload of message.created."""

    role: Literal["user", "assistant"] = Field(description="Who speaks.")
    content: str | list[JsonObject] = Field(description="A text, or parts with `type` and `text`.")
    item_id: NewId | None = Field(default=None, description="Id of the message's item; one is made if absent.")
    client_id: str | None = Field(default=None, description="The client's own id of the message.")


class CommandStartedPayload(OpenPayload):
    """Payload of command.started."""

    command: str | list[str] = Field(description="The command line, or its arguments.")
    item_id: NewId | None = Field(default=None, description="Id of the command's item; one is made if absent.")
    cwd: str | None = Field(default=None, description="Where it runs.")
    source: str | None = Field(default=None, description="Who runs it.")
    command_actions: list[JsonObject] | None = Field(default=None, description="What it is understood to do.")


class CommandExitedPayload(OpenPayload):
    """Payload of command.exited."""

    item_id: NewId = Field(description="The command's item.")
    exit_code: int | None = Field(default=None, description="Exit code, where there is one.")
    aggregated_output: str | None = Field(default=None, description="The whole output, if it was not streamed.")
    duration_ms: int | None = Field(default=None, description="How long it ran, in milliseconds.")
    status: ItemStatus | None = Field(default=None, description="How it ended.")


class PatchStartedPayload(OpenPayload):
    """Payload of patch.started."""

    changes: list[FileUpdateChange] = Field(description="What the patch is to change.")
    item_id: NewId | None = Field(default=None, description="Id of the patch's item; one is made if absent.")


class PatchEndedPayload(OpenPayload):
    """Payload of patch.applied, patch.failed and patch.declined."""

    item_id: NewId = Field(description="The patch's item.")
    changes: list[FileUpdateChange] | None = Field(default=None, description="What was changed, if it differs.")
    error: str | EventError | None = Field(default=None, description="Why the patch failed.")


class PlanPayload(OpenPayload):
    """Payload of plan.final."""

    text: str = Field(description="The plan.")
    item_id: NewId | None = Field(default=None, description="Id of the plan's item; one is made if absent.")


class ReasoningPayload(OpenPayload):
    """Payload of reasoning.final."""

    item_id: NewId | None = Field(default=None, description="Id of the item; one is made if absent.")
    text: str | None = Field(default=None, description="The reasoning as one text.")
    summary: list[str] | None = Field(default=None, description="Summaries of the reasoning.")
    content: list[str] | None = Field(default=None, description="The reasoning itself.")


class CompactionPayload(OpenPayload):
    """Payload of context.compaction.completed."""

    item_id: NewId | None = Field(default=None, description="Id of the item; one is made if absent.")


def _spelled(name: str) -> AliasChoices:
    return AliasChoices(name, *SNAPSHOT_FIELDS[name][0])


class SnapshotFields(OpenPayload):
    """What a snapshot says about one file. Each name is also taken in snake_case."""

    path: str | None = Field(default=None, description="Path in the workspace; inside it also absolute.")
    path_base64: str | None = Field(
        default=None,
        validation_alias=_spelled("pathBase64"),
        description="The exact path where its name is not valid Unicode.",
    )
    op: Literal["created", "modified", "deleted", "renamed"] | None = Field(
        default=None, description="What happened; worked out from the contents if absent."
    )
    old_path: str | None = Field(
        default=None, validation_alias=_spelled("oldPath"), description="Path before a rename."
    )
    old_path_base64: str | None = Field(
        default=None, validation_alias=_spelled("oldPathBase64"), description="The exact path before a rename."
    )
    content: str | None = Field(default=None, description="The file's text now; read from the disk if absent.")
    content_base64: str | None = Field(
        default=None, validation_alias=_spelled("contentBase64"), description="The file's bytes now."
    )
    previous_content: str | None = Field(
        default=None,
        validation_alias=_spelled("previousContent"),
        description="The file's text before; `beforeContent` and `oldContent` are taken too.",
    )
    previous_content_base64: str | None = Field(
        default=None, validation_alias=_spelled("previousContentBase64"), description="The file's bytes before."
    )
    before_absent: bool | None = Field(
        default=None, validation_alias=_spelled("beforeAbsent"), description="True: there was no such file before."
    )
    before_not_captured: bool | None = Field(
        default=None,
        validation_alias=_spelled("beforeNotCaptured"),
        description="True: what was there before is not known, and nothing is to be assumed.",
    )
    after_not_captured: bool | None = Field(
        default=None,
        validation_alias=_spelled("afterNotCaptured"),
        description="True: what the file became is not known, and the disk is not to be read.",
    )
    diff: str | None = Field(default=None, description="Unified diff of the change, where no contents are known.")
    mode: str | None = Field(default=None, pattern="^[0-7]{3,6}$", description="File mode, octal, such as `0644`.")
    checkpoint_id: NewId | None = Field(
        default=None, validation_alias=_spelled("checkpointId"), description="The host's own id of the checkpoint."
    )
    artifact_id: str | None = Field(
        default=None, validation_alias=_spelled("artifactId"), description="Kept as metadata; places nothing."
    )
    title: str | None = Field(default=None, description="Title for people.")
    kind: str | None = Field(default=None, description="What sort of document it is.")
    preview: str | None = Field(default=None, description="A short text for lists.")
    document: Any = Field(default=None, description="The host's own document, kept in the version document.")
    metadata: JsonObject | None = Field(default=None, description="Anything else; kept and returned.")


class SnapshotPayload(SnapshotFields):
    """Payload of artifact.snapshot and file.changed: the only way a file version enters."""

    artifact: SnapshotFields | None = Field(default=None, description="The same fields, nested.")
    change: SnapshotFields | None = Field(default=None, description="The same fields, nested.")

    @model_validator(mode="after")
    def _has_path(self) -> Self:
        places = [self, self.artifact, self.change]
        if all(place is None or (place.path is None and place.path_base64 is None) for place in places):
            raise ValueError("path is required")
        return self


class ActionPayload(OpenPayload):
    """Payload of action.required, action.resolved and action.cancelled: approvals."""

    request_id: str = Field(min_length=1, description="Names the question; its answer carries the same.")


class UsagePayload(OpenPayload):
    """Payload of provider.usage: what one request to a model cost."""

    input_tokens: Count = Field(description="Tokens sent to the model.")
    cached_input_tokens: Count = Field(description="Of these, tokens read from the cache.")
    output_tokens: Count = Field(description="Tokens that the model wrote.")
    reasoning_output_tokens: Count = Field(description="Of these, tokens of reasoning.")
    model: str | None = Field(default=None, description="The model.")
    cost_usd: float | None = Field(default=None, description="Cost in US dollars, where the host knows it.")


class RoutePayload(OpenPayload):
    """Payload of route.selected."""

    provider: str = Field(description="The provider that serves the turn.")
    model: str = Field(description="The model that serves the turn.")
    wire_format: str | None = Field(default=None, description="The provider's protocol.")


class AuthorityPayload(OpenPayload):
    """Payload of authority.set."""

    mode: str = Field(description="What the agent may do in this turn.")
    trust: str | None = Field(default=None, description="How far the workspace is trusted.")
    sandbox: Any = Field(default=None, description="The sandbox, as the host describes it.")
    allowed: Any = Field(default=None, description="What is allowed without asking, as the host describes it.")


class WorkerStartedPayload(OpenPayload):
    """Payload of worker.started. Lease, attempt and process are added by the sidecar, whatever is sent."""

    worker_id: NewId | None = Field(default=None, description="Id for the new worker; one is made if absent.")
    kind: str = Field(min_length=1, description="What sort of worker it is.")
    lease_ms: LeaseMs | None = Field(default=None, description="How long it lives after a heartbeat. Default 30000.")
    max_attempts: Attempts | None = Field(default=None, description="How often it may be begun. Default 3.")


class WorkerPayload(OpenPayload):
    """Payload of the other events about a worker; `result` and `error` of its end are kept."""

    worker_id: NewId = Field(description="The worker.")
