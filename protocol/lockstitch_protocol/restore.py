"""Files put back: restore of one checkpoint, rewind to a turn, and undo of either."""

from typing import Literal

from pydantic import Field

from lockstitch_protocol.file_checkpoint import CheckpointSummary
from lockstitch_protocol.wire import Params, Shape

OnConflict = Literal["refuse", "backup"]


class PlannedFile(Shape):
    """What a restore does, or would do, to one file."""

    path: str = Field(description="The file, relative to the workspace.")
    path_base64: str | None = Field(default=None, description="The exact path where its name is not valid Unicode.")
    action: Literal["write", "delete", "keep", "conflict", "unavailable"] = Field(
        description="`conflict` and `unavailable` refuse the whole act, unless `paths` leaves the file out."
    )
    from_sha256: str | None = Field(default=None, description="What is on the disk; none where there is no file.")
    to_sha256: str | None = Field(default=None, description="What is to be there; none where no file is to be.")
    reason: str | None = Field(
        default=None,
        description="Why: `changed`, `backup`, `firstSeen`, `readOnly`, a contentStatus, or why the path is refused.",
    )


class OverwrittenFile(Shape):
    """A file that held something the timeline did not know."""

    path: str = Field(description="The file, relative to the workspace.")
    path_base64: str | None = Field(default=None, description="The exact path where its name is not valid Unicode.")
    expected_sha256: str | None = Field(default=None, description="What the timeline last knew.")
    actual_sha256: str | None = Field(default=None, description="What was on the disk.")
    reason: str | None = Field(default=None, description="`changed`, `backup`, or why it cannot be read.")


class RestoreParams(Params):
    """Params of agentSession/fileCheckpoint/restore."""

    session_id: str = Field(description="The session (the thread's id).")
    checkpoint_id: str = Field(description="The checkpoint.")
    side: Literal["before", "after"] = Field(default="after", description="What it left, or what it found.")
    confirm_restore: bool = Field(default=False, description="Must be true, unless dryRun.")
    create_backup: bool = Field(
        default=True,
        description="Whether `backupPath` is told. The bytes that are replaced are kept in any case.",
    )
    on_conflict: OnConflict = Field(
        default="refuse", description="`backup`: record unknown bytes as a version, then go on."
    )
    dry_run: bool = Field(default=False, description="Plan only; changes nothing.")


class RestoreResult(Shape):
    """Result of agentSession/fileCheckpoint/restore."""

    session_id: str = Field(description="The session.")
    thread_id: str = Field(description="The thread.")
    checkpoint: CheckpointSummary = Field(description="The checkpoint that was restored.")
    live_path: str = Field(description="Path of the file itself.")
    snapshot_path: str | None = Field(default=None, description="The version document, relative to the workspace.")
    backup_path: str | None = Field(
        default=None, description="Where the replaced bytes are kept: in the workspace relative to it, else absolute."
    )
    restored_at: str | None = Field(default=None, description="RFC 3339, UTC, microseconds; none of a dry run.")
    restore_checkpoint_id: str | None = Field(default=None, description="The checkpoint of this restore, for undo.")
    conflict: OverwrittenFile | None = Field(default=None, description="What was there, if the timeline knew it not.")
    plan: list[PlannedFile] = Field(description="What was done, or would be, to each file; a rename has two.")


class RewindParams(Params):
    """Params of agentSession/fileCheckpoint/rewind."""

    session_id: str = Field(description="The session (the thread's id).")
    to_turn_id: str = Field(description="The turn.")
    position: Literal["before", "after"] = Field(
        default="after",
        description="`after`: the files as that turn left them. `before`: as its first edit of each found it.",
    )
    paths: list[str] | None = Field(
        default=None,
        description="Only these files, or what is under these folders. What was both is the file; `x/` is the folder.",
    )
    paths_base64: list[str] | None = Field(default=None, description="The same, by the exact bytes of their names.")
    confirm_restore: bool = Field(default=False, description="Must be true, unless dryRun.")
    on_conflict: OnConflict = Field(
        default="refuse", description="`backup`: record unknown bytes as versions, then go on."
    )
    dry_run: bool = Field(default=False, description="Plan only; changes nothing.")
    conversation: bool = Field(default=False, description="Roll the conversation back in the same act.")


class UndoParams(Params):
    """Params of agentSession/fileCheckpoint/undo: exactly one of the two ids."""

    session_id: str = Field(description="The session (the thread's id).")
    rewind_id: str | None = Field(default=None, description="Of a rewind, or of an undo.")
    restore_checkpoint_id: str | None = Field(default=None, description="Of a restore.")
    confirm_restore: bool = Field(default=False, description="Must be true, unless dryRun.")
    on_conflict: OnConflict = Field(
        default="refuse", description="`backup`: record unknown bytes as versions, then go on."
    )
    dry_run: bool = Field(default=False, description="Plan only; changes nothing.")


class RewindResult(Shape):
    """Result of agentSession/fileCheckpoint/rewind and undo: all files or none."""

    plan: list[PlannedFile] = Field(description="What was done, or would be, to each file.")
    applied: bool = Field(description="False for a dry run.")
    rewind_id: str = Field(description="Names this act, for undo.")
