"""File checkpoints: recorded changes of files, their contents and their differences."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.wire import Count, JsonObject, Params, Shape

ContentStatus = Literal["available", "missing", "corrupt", "tooLarge", "unreadable", "notCaptured"]
CheckpointSource = Literal["agent", "capture", "external", "restore", "import"]
CheckpointOp = Literal["created", "modified", "deleted", "renamed", "external", "restored"]


class ContentReference(Shape):
    """Names the content of one side of a change."""

    sha256: str | None = Field(default=None, description="SHA-256 of the raw bytes, 64 hexadecimal digits.")
    bytes: Count | None = Field(default=None, description="Size of the content.")
    encoding: str | None = Field(default=None, description="Such as `utf-8` or `utf-16-le`; `binary` if not text.")
    eol: str | None = Field(default=None, description="`lf`, `crlf`, `cr`, `mixed` or `none`.")
    mode: str | None = Field(default=None, description="File mode, octal, such as `0644`.")
    assumed: bool | None = Field(default=None, description="True: taken from the version before, not seen.")
    content_status: ContentStatus = Field(description="Whether the content can be had.")


class CheckpointSummary(Shape):
    """One recorded change of one file."""

    checkpoint_id: str = Field(description="Unique in its thread.")
    turn_id: str | None = Field(default=None, description="Its turn; none for a restore or a capture outside one.")
    path: str = Field(description="`/`-separated, relative to the workspace.")
    path_base64: str | None = Field(default=None, description="The exact path where its name is not valid Unicode.")
    source: CheckpointSource = Field(description="How it came to be known.")
    updated_at: str = Field(description="RFC 3339, UTC, microseconds.")
    version_no: Count | None = Field(default=None, description="1, 2, 3… per path in the thread.")
    version_id: str | None = Field(default=None, description="Names the version.")
    request_id: str | None = Field(default=None, description="The host's request that it belongs to.")
    title: str | None = Field(default=None, description="As the event gave it.")
    kind: str | None = Field(default=None, description="As the event gave it.")
    status: Literal["ready", "failed"] | None = Field(default=None, description="`failed`: it could not be captured.")
    preview_text: str | None = Field(default=None, description="A short text for lists.")
    snapshot_path: str | None = Field(default=None, description="The version document, relative to the workspace.")
    validation_issue_count: Count = Field(description="How many problems `get` would list.")
    sequence: Count = Field(description="Sequence of its event.")
    op: CheckpointOp = Field(description="What happened.")
    old_path: str | None = Field(default=None, description="Path before a rename.")
    old_path_base64: str | None = Field(default=None, description="The exact one where it is not valid Unicode.")
    before: ContentReference | None = Field(description="What the file was; null: there was none.")
    after: ContentReference | None = Field(description="What the file became; null: there is none.")
    additions: Count | None = Field(default=None, description="Lines added.")
    deletions: Count | None = Field(default=None, description="Lines removed.")


class FileCheckpointListParams(Params):
    """Params of agentSession/fileCheckpoint/list."""

    session_id: str = Field(description="The session (the thread's id).")
    path: str | None = Field(default=None, description="Only this file.")
    path_base64: str | None = Field(default=None, description="Only this file, by the exact bytes of its name.")
    turn_id: str | None = Field(default=None, description="Only this turn.")
    cursor: str | None = Field(default=None, description="`nextCursor` of the page before.")
    limit: int = Field(default=500, ge=1, le=5_000, description="At most so many checkpoints.")


class FileCheckpointListResult(Shape):
    """Result of agentSession/fileCheckpoint/list: newest first, by sequence, then by path."""

    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread.")
    checkpoint_count: Count = Field(description="How many match, on all pages.")
    checkpoints: list[CheckpointSummary] = Field(description="This page.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")


class FileCheckpointGetParams(Params):
    """Params of agentSession/fileCheckpoint/get."""

    session_id: str = Field(description="The session (the thread's id).")
    checkpoint_id: str = Field(description="The checkpoint.")
    side: Literal["before", "after"] | None = Field(
        default=None, description="Which content. Default after, or before where only that was captured."
    )
    max_bytes: Count = Field(default=1_048_576, description="At most so much content; `truncated` says if it was cut.")
    as_: Literal["text", "base64"] | None = Field(
        default=None, alias="as", description="The form of the content. Default: text where it is UTF-8."
    )


class FileVersion(Shape):
    """One version of a file."""

    id: str = Field(description="Names the version.")
    version_no: Count = Field(description="1, 2, 3… per path in the thread.")
    checkpoint_id: str = Field(description="The checkpoint that made it.")
    sha256: str | None = Field(default=None, description="SHA-256 of its content; none where there is no content.")
    bytes: Count | None = Field(default=None, description="Size of its content.")
    turn_id: str | None = Field(default=None, description="Its turn.")
    created_at: str = Field(description="RFC 3339, UTC, microseconds.")
    op: CheckpointOp = Field(description="What happened.")


class FileCheckpointGetResult(Shape):
    """Result of agentSession/fileCheckpoint/get."""

    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread.")
    checkpoint: CheckpointSummary = Field(description="The checkpoint.")
    side: Literal["before", "after"] = Field(description="Which content this is.")
    live_path: str = Field(description="Path of the file itself.")
    snapshot_path: str | None = Field(default=None, description="The version document, relative to the workspace.")
    checkpoint_document: JsonObject | None = Field(default=None, description="The version document.")
    live_document: JsonObject | None = Field(default=None, description="The newest version's document.")
    version_history: list[FileVersion] = Field(description="All versions of the path, oldest first.")
    validation_issues: list[str] = Field(description="What is wrong with this checkpoint, in sentences.")
    metadata: JsonObject | None = Field(default=None, description="What the event gave besides.")
    content: str | None = Field(default=None, description="The content, where it is text.")
    content_base64: str | None = Field(default=None, description="The content, where it is not, or was asked for so.")
    content_status: ContentStatus = Field(description="Whether the content can be had.")
    truncated: bool = Field(description="Whether the content was cut at maxBytes.")
    live_state: Literal["same", "changed", "missing", "unreadable"] = Field(
        description="The file on the disk, compared with this content."
    )


class FileCheckpointDiffParams(Params):
    """Params of agentSession/fileCheckpoint/diff."""

    session_id: str = Field(description="The session (the thread's id).")
    checkpoint_id: str = Field(description="The checkpoint.")
    against: str | None = Field(
        default=None,
        description="`previous`: what the file was before. `live`: the file on the disk. Else another checkpoint's id. "
        "Default previous.",
    )
    context_lines: int = Field(default=3, ge=0, le=10_000, description="Unchanged lines around each change.")
    max_bytes: Count | None = Field(default=None, description="Cuts the diff; `truncated` says so.")


class DiffLine(Shape):
    """One line of a hunk."""

    kind: Literal["context", "add", "remove"] = Field(description="Unchanged, added or removed.")
    value: str = Field(description="The line without its end.")
    old_no: Count | None = Field(default=None, description="Its number before.")
    new_no: Count | None = Field(default=None, description="Its number after.")
    no_newline: bool | None = Field(default=None, description="True: it ends without a newline.")


class DiffHunk(Shape):
    """One group of changes."""

    old_start: Count = Field(description="First line before.")
    old_lines: Count = Field(description="How many lines before.")
    new_start: Count = Field(description="First line after.")
    new_lines: Count = Field(description="How many lines after.")
    lines: list[DiffLine] = Field(description="The lines.")


class DiffSide(Shape):
    """What one side of a diff is, beside its lines."""

    bytes: Count = Field(description="Size.")
    encoding: str = Field(description="`utf-8`, `utf-8-bom`, `utf-16-le`, … or `binary`.")
    eol: str | None = Field(default=None, description="`lf`, `crlf`, `cr`, `mixed` or `none`; none of binary content.")
    mode: str | None = Field(default=None, description="File mode, octal, where it is known.")


class FileDiff(Shape):
    """How two contents differ."""

    format: Literal["unified"] = Field(description="Form of `unified`.")
    unified: str = Field(description="Applies with `git apply` and `patch -p1`.")
    hunks: list[DiffHunk] = Field(description="The same, taken apart.")
    additions: Count = Field(description="Lines added.")
    deletions: Count = Field(description="Lines removed.")
    binary: bool = Field(description="Whether a side is not text.")
    truncated: bool = Field(description="Whether it was cut at maxBytes.")
    approximate: bool | None = Field(default=None, description="True: right, but not the smallest.")
    encoding_changed: bool | None = Field(default=None, description="True: the sides differ in encoding.")
    eol_changed: bool | None = Field(default=None, description="True: the sides differ in line ends.")
    mode_changed: bool | None = Field(default=None, description="True: the sides differ in mode.")
    renamed: bool | None = Field(default=None, description="True: the sides differ in path.")
    before: DiffSide | None = Field(
        default=None, description="The older side where it is binary or encoding, line ends or mode differ."
    )
    after: DiffSide | None = Field(default=None, description="The newer side, likewise; null: no file there.")


class FileCheckpointDiffResult(Shape):
    """Result of agentSession/fileCheckpoint/diff."""

    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread.")
    checkpoint: CheckpointSummary = Field(description="The checkpoint.")
    current_version_id: str | None = Field(default=None, description="The version on the new side.")
    previous_version_id: str | None = Field(default=None, description="The version on the old side.")
    diff: FileDiff = Field(description="The difference.")


class FileCheckpointCaptureParams(Params):
    """Params of agentSession/fileCheckpoint/capture: reads the files now."""

    session_id: str = Field(description="The session (the thread's id).")
    turn_id: str | None = Field(default=None, description="The turn that it belongs to.")
    paths: list[str] | None = Field(
        default=None, description="The files, relative to the workspace or absolute inside it."
    )
    paths_base64: list[str] | None = Field(default=None, description="Further ones, by the exact bytes of their names.")
    reason: str | None = Field(default=None, description="Why; kept with the checkpoint.")


class FailedCapture(Shape):
    """A file that could not be captured."""

    path: str = Field(description="The file.")
    path_base64: str | None = Field(default=None, description="The exact path where its name is not valid Unicode.")
    reason: str = Field(description="Why.")


class FileCheckpointCaptureResult(Shape):
    """Result of agentSession/fileCheckpoint/capture."""

    captured: list[CheckpointSummary] = Field(description="What differed from the last version.")
    unchanged: list[str] = Field(description="Paths that are as the last version.")
    failed: list[FailedCapture] = Field(description="What could not be captured.")


class FileArtifactMetadata(Shape):
    """A checkpoint as `agentSession/read` details it."""

    model_config = ConfigDict(extra="allow")
    artifact_id: str = Field(description="Of thread and path.")
    artifact_version_no: Count | None = Field(default=None, description="1, 2, 3… per path in the thread.")
    artifact_version_id: str | None = Field(default=None, description="Names the version.")
    artifact_version: Any = Field(default=None, description="The version in short.")
    artifact_kind: str | None = Field(default=None, description="As the event gave it.")
    artifact_status: str | None = Field(default=None, description="`ready` or `failed`.")
    preview_text: str | None = Field(default=None, description="A short text for lists.")
    artifact_version_diff: Any = Field(default=None, description="The bounded diff from the version before.")
