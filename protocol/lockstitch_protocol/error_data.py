"""The shapes of `error.data`, for schemas: `kind` and the facts that come with it.

Invariant: every kind of ERROR_CODES is described by the one shape here; a fact that has nothing to say is absent.
"""

from typing import Any

from pydantic import ConfigDict, Field

from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.file_checkpoint import ContentStatus
from lockstitch_protocol.wire import Count, Shape


class FieldProblem(Shape):
    """One parameter that is wrong."""

    path: str = Field(description="Dotted, as in the params, such as `runtimeEvents.2.payload.item.id`.")
    message: str = Field(description="What it must be.")


class ConflictingFile(Shape):
    """A file that holds something the timeline does not know."""

    model_config = ConfigDict(extra="allow")
    path: str = Field(description="The file, relative to the workspace.")
    expected_sha256: str | None = Field(default=None, description="What the timeline last knew.")
    actual_sha256: str | None = Field(default=None, description="What is on the disk.")


class ErrorData(Shape):
    """`error.data`: the kind, and the facts that are known."""

    model_config = ConfigDict(extra="allow")
    kind: str = Field(description="Stable word to match on.", json_schema_extra={"enum": [*sorted(ERROR_CODES)]})
    errors: list[FieldProblem] | None = Field(default=None, description="invalidParams: what is wrong.")
    replacement: str | None = Field(default=None, description="methodRetired: what to call today.")
    method: str | None = Field(default=None, description="methodNotFound, methodRetired: what was called.")
    error_id: str | None = Field(default=None, description="internalError: finds the cause in the log.")
    thread_id: str | None = Field(default=None, description="The thread concerned.")
    turn_id: str | None = Field(default=None, description="The turn concerned.")
    item_id: str | None = Field(default=None, description="The item concerned.")
    checkpoint_id: str | None = Field(default=None, description="The checkpoint concerned.")
    event_id: str | None = Field(default=None, description="The event concerned.")
    path: str | None = Field(default=None, description="The file or directory concerned.")
    reason: str | None = Field(default=None, description="pathRefused, workspaceUnavailable: why.")
    files: list[ConflictingFile] | None = Field(default=None, description="conflict: the files concerned.")
    content_status: ContentStatus | None = Field(default=None, description="contentUnavailable: why.")
    errno: Any = Field(default=None, description="storage…: what the system said, a number or a name.")
    limit: Count | None = Field(default=None, description="messageTooLarge, tooDeep: the limit.")
    use: str | None = Field(default=None, description="messageTooLarge: the method that answers in pages.")
    next_cursor: str | None = Field(default=None, description="messageTooLarge: where to read on.")
