"""Conversation import: finding, previewing and taking over sessions that other tools wrote."""

from typing import Any, Literal

from pydantic import Field

from lockstitch_protocol.wire import Count, Params, Shape

SourceClient = Literal["codex", "claude", "gemini"]
ImportPhase = Literal[
    "queued", "reading_source", "building_history", "persisting_history", "finalizing", "completed", "failed"
]


class SourceScanParams(Params):
    """Params of conversationImport/source/scan."""

    source_client: SourceClient | None = Field(default=None, description="Whose sessions to look for. Default: all.")
    source_root: str | None = Field(default=None, description="Where to look. Default: where the tools keep them.")
    project_path: str | None = Field(default=None, description="Only sessions of this directory.")
    query: str | None = Field(default=None, description="Only sessions whose title, project or id contains it.")
    include_archived: bool = Field(default=False, description="Whether archived sessions count.")
    limit: int = Field(default=100, ge=1, le=500, description="At most so many sessions.")
    cursor: str | None = Field(default=None, description="`nextCursor` of the page before.")


class ImportSource(Shape):
    """Where sessions were looked for."""

    source_client: SourceClient | None = Field(default=None, description="Whose sessions, where one was asked for.")
    source_root: str | None = Field(default=None, description="The directory.")
    status: Literal["ready", "missing"] = Field(description="`missing`: there is no such directory.")


class SourceThread(Shape):
    """A session that another tool wrote."""

    source_client: SourceClient = Field(description="The tool that wrote it.")
    source_thread_id: str = Field(description="Its id there; becomes the thread's id.")
    source_path: str = Field(description="Its file.")
    title: str | None = Field(default=None, description="Its name, or the beginning of its first message.")
    project_path: str | None = Field(default=None, description="The directory it worked in.")
    created_at: str | None = Field(default=None, description="RFC 3339, UTC, microseconds.")
    updated_at: str = Field(description="RFC 3339, UTC, microseconds.")
    bytes: Count = Field(description="Size of its file.")
    imported_thread_id: str | None = Field(default=None, description="The thread here, if it was imported.")


class SourceScanResult(Shape):
    """Result of conversationImport/source/scan: the last updated first."""

    source: ImportSource = Field(description="Where sessions were looked for.")
    threads: list[SourceThread] = Field(description="This page.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")


class ImportPreviewParams(Params):
    """Params of conversationImport/thread/preview. Nothing is written."""

    source_path: str = Field(description="The session's file.")
    limit: int = Field(default=50, ge=0, le=500, description="At most so many messages.")


class ImportCounts(Shape):
    """What an import would bring."""

    turns: Count = Field(description="Turns.")
    items: Count = Field(description="Items.")
    edits: Count = Field(description="File changes.")
    damaged_lines: Count = Field(description="Lines that cannot be read.")


class PreviewMessage(Shape):
    """A message of the session."""

    role: Literal["user", "assistant"] = Field(description="Who speaks.")
    text: str = Field(description="What is said.")
    turn_id: str | None = Field(default=None, description="In which turn.")
    created_at: str | None = Field(default=None, description="RFC 3339, UTC, microseconds.")


class ImportPreviewResult(Shape):
    """Result of conversationImport/thread/preview."""

    source: ImportSource = Field(description="Whose session it is.")
    thread: SourceThread = Field(description="The session.")
    summary: ImportCounts = Field(description="What an import would bring.")
    messages: list[PreviewMessage] = Field(description="The first messages.")


class ImportCommitParams(Params):
    """Params of conversationImport/thread/commit: starts a job. Needs sourcePath or sourceThreadId."""

    source_path: str | None = Field(default=None, description="The session's file.")
    source_thread_id: str | None = Field(default=None, description="The session's id, looked for as in source/scan.")
    source_client: SourceClient | None = Field(default=None, description="Where to look for sourceThreadId.")
    source_root: str | None = Field(default=None, description="Where to look for sourceThreadId.")
    confirmed: bool = Field(default=False, description="Must be true.")
    replace_existing: bool = Field(default=False, description="True: a thread imported before is made anew.")
    progress_token: str | int | None = Field(default=None, description="Asks for `$/progress` until the job ends.")


class ImportProgress(Shape):
    """How far an import is."""

    phase: ImportPhase = Field(description="What it is doing.")
    completed_items: Count = Field(description="Items done.")
    total_items: Count = Field(description="Items known.")
    completed_turns: Count = Field(description="Turns done.")
    total_turns: Count = Field(description="Turns known.")


class ImportOutcome(Shape):
    """What an import brought."""

    thread_id: str = Field(description="The thread.")
    turns: Count = Field(description="Turns that are new.")
    items: Count = Field(description="Items that are new.")
    checkpoints: Count = Field(description="File checkpoints that are new.")
    skipped: Count = Field(description="Lines that hold nothing to keep.")
    damaged: Count = Field(description="Lines that could not be read.")
    shared_items: Count | None = Field(
        default=None,
        description="Items that are left out, since other threads of the conversation have them.",
    )
    forked_from_id: str | None = Field(
        default=None, description="The thread that this one goes on from: the session began with a copy of its lines."
    )


class ImportJob(Shape):
    """One import."""

    job_id: str = Field(description="Names it in job/read.")
    source_client: SourceClient = Field(description="Whose session it is.")
    source_thread_id: str | None = Field(default=None, description="The session, once it is known.")
    status: Literal["queued", "running", "completed", "failed"] = Field(description="How far it is.")
    progress: ImportProgress = Field(description="How far it is, in numbers.")
    result: ImportOutcome | None = Field(default=None, description="What it brought, once completed.")
    error: Any = Field(default=None, description="Why it failed: `{kind, message}`.")
    created_at: str = Field(description="RFC 3339, UTC, microseconds.")
    updated_at: str = Field(description="RFC 3339, UTC, microseconds.")


class ImportJobResult(Shape):
    """Result of conversationImport/thread/commit, job/read and job/cancel."""

    job: ImportJob = Field(description="The job.")


class ImportJobCancelParams(Params):
    """Params of conversationImport/job/cancel. A job that has ended is answered as it is."""

    job_id: str = Field(description="The job.")


class ImportJobReadParams(Params):
    """Params of conversationImport/job/read."""

    job_id: str = Field(description="The job.")
