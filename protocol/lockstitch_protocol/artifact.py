"""Artifacts: file versions and outputs too large for a line, read by reference."""

from pydantic import Field

from lockstitch_protocol.file_checkpoint import ContentStatus
from lockstitch_protocol.wire import Count, JsonObject, Params, Shape


class ArtifactReadParams(Params):
    """Params of artifact/read."""

    session_id: str = Field(description="The session (the thread's id).")
    turn_id: str | None = Field(default=None, description="Only this turn.")
    artifact_ref: str | None = Field(default=None, description="Only this artifact.")
    include_content: bool = Field(default=False, description="Whether the contents come along.")
    cursor: str | None = Field(default=None, description="`nextCursor` of the page before.")
    limit: int = Field(default=100, ge=1, le=500, description="At most so many artifacts.")


class Artifact(Shape):
    """A file version, or a tool's output that was too large for its line."""

    artifact_ref: str = Field(description="Names it.")
    event_id: str = Field(description="The event that it came with.")
    sequence: Count = Field(description="Sequence of that event.")
    turn_id: str | None = Field(default=None, description="Its turn.")
    item_id: str | None = Field(default=None, description="The item whose output it is.")
    sha256: str | None = Field(default=None, description="SHA-256 of the content, 64 hexadecimal digits.")
    bytes: Count | None = Field(default=None, description="Size of the content.")
    artifact_id: str | None = Field(default=None, description="Of thread and path, for a file version.")
    path: str | None = Field(default=None, description="The file, relative to the workspace.")
    title: str | None = Field(default=None, description="As the event gave it.")
    kind: str | None = Field(default=None, description="As the event gave it, or `output`.")
    status: str | None = Field(default=None, description="`ready` or `failed`.")
    content: str | None = Field(default=None, description="The content, where it is text.")
    content_base64: str | None = Field(default=None, description="The content, where it is not text.")
    content_status: ContentStatus = Field(description="Whether the content can be had.")
    metadata: JsonObject | None = Field(default=None, description="What the event gave besides.")


class ArtifactReadResult(Shape):
    """Result of artifact/read."""

    artifacts: list[Artifact] = Field(description="By sequence.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
