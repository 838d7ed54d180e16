"""What lies in the data root and in the workspaces: counted, checked, made anew, and cleared of what nobody needs."""

from typing import Annotated, Literal

from pydantic import Field

from lockstitch_protocol.wire import Count, Params, Shape


class StorageReportParams(Params):
    """Params of storage/report."""

    thread_limit: Count = Field(default=100, description="How many threads are listed, the largest first.")


class StorageClass(Shape):
    """One kind of what is stored."""

    name: Literal[
        "sessions",
        "archivedSessions",
        "database",
        "artifacts",
        "exports",
        "quarantine",
        "trash",
        "journal",
        "log",
        "workspaces",
    ] = Field(description="`artifacts` are contents in the data root, `workspaces` those in workspaces.")
    bytes: Count = Field(description="Bytes of its files.")
    files: Count = Field(description="How many files.")
    oldest: str | None = Field(default=None, description="When the oldest was changed last: RFC 3339, UTC.")
    newest: str | None = Field(default=None, description="When the newest was changed last.")


class StorageThread(Shape):
    """What one thread takes."""

    thread_id: str = Field(description="The thread.")
    archived: bool = Field(description="Whether it is archived.")
    bytes: Count = Field(description="Bytes of its rollout.")
    events: Count = Field(description="Its last sequence.")
    contents: Count = Field(description="How many contents it refers to: file versions and large outputs.")
    oldest: str = Field(description="When it was created.")
    newest: str = Field(description="When it was updated last.")


class StorageDatabase(Shape):
    """The projection, which can be made anew from the rollouts."""

    path: str = Field(description="Its file.")
    bytes: Count = Field(description="Size of the file.")
    page_bytes: Count = Field(description="Size of a page.")
    pages: Count = Field(description="How many pages.")
    free_pages: Count = Field(description="How many of them hold nothing; storage/gc gives them back.")
    wal_bytes: Count = Field(description="Size of the write-ahead log beside it.")


class StorageSum(Shape):
    """So many files."""

    bytes: Count = Field(description="Their bytes.")
    files: Count = Field(description="How many.")


class StorageSafetyCopies(Shape):
    """Contents of the data root, most of them copies of file versions, and how far copies may go."""

    bytes: Count = Field(description="What they take now.")
    budget_bytes: Count = Field(description="Up to here copies are made; clones always are.")
    skipped: Count = Field(description="Versions that this process did not copy, for want of budget or disk.")
    advice: str | None = Field(default=None, description="What to do where the budget is used up. Nothing is removed.")


class StorageReportResult(Shape):
    """Result of storage/report."""

    data_root: str = Field(description="Where everything is kept.")
    bytes: Count = Field(description="All bytes of all classes.")
    files: Count = Field(description="All files.")
    classes: list[StorageClass] = Field(description="By kind.")
    thread_count: Count = Field(description="How many threads there are.")
    threads: list[StorageThread] = Field(description="The largest threads.")
    database: StorageDatabase | None = Field(default=None, description="Absent where it is kept in memory only.")
    orphans: StorageSum = Field(description="Contents in the data root and in workspaces that no thread refers to.")
    safety_copies: StorageSafetyCopies = Field(description="File versions kept a second time, in the data root.")


class StorageGcParams(Params):
    """Params of storage/gc."""

    dry_run: bool = Field(default=True, description="False: remove the candidates.")
    older_than_days: Annotated[float, Field(ge=0, le=36500, allow_inf_nan=False)] | None = Field(
        default=None, description="Only what was changed last so many days ago; never what is younger than an hour."
    )
    max_bytes: Count | None = Field(default=None, description="No more bytes than this, the oldest first.")


class StorageCandidate(Shape):
    """A file or folder that nothing refers to."""

    path: str = Field(description="Where it is.")
    bytes: Count = Field(description="Its size.")
    reason: Literal["unreferenced", "unfinished", "threadGone"] = Field(
        description="`unreferenced`: a content that no thread names; `unfinished`: left by a write that was cut off; "
        "`threadGone`: version documents of a thread that was deleted."
    )


class StorageSkipped(Shape):
    """A place that was left alone."""

    path: str = Field(description="Where.")
    reason: str = Field(description="Why, for a person.")


class StorageGcResult(Shape):
    """Result of storage/gc."""

    dry_run: bool = Field(description="Whether nothing was removed.")
    candidates: list[StorageCandidate] = Field(description="What can be removed, or was; at most 1,000 are listed.")
    candidate_count: Count = Field(description="How many there are.")
    candidate_bytes: Count = Field(description="Their bytes.")
    removed: Count = Field(description="How many were removed.")
    freed_bytes: Count = Field(description="Their bytes, and what the database gave back.")
    skipped: list[StorageSkipped] = Field(description="Workspaces that could not be looked at.")


class StorageVerifyParams(Params):
    """Params of storage/verify."""

    thread_id: str | None = Field(default=None, description="One thread; absent: all.")


class StorageDifference(Shape):
    """Something that is not as it should be."""

    kind: Literal["damage", "projection", "content", "rollout"] = Field(
        description="`damage`: bytes of a rollout that are no sound line; `projection`: a row that is not what the "
        "rollout gives; `content`: a file version or output that cannot be had; `rollout`: a file that cannot be read."
    )
    thread_id: str | None = Field(default=None, description="The thread.")
    reason: str = Field(description="What is wrong: a stable word.")
    from_offset: Count | None = Field(default=None, description="Of damage: its first byte.")
    to_offset: Count | None = Field(default=None, description="Of damage: the byte after its last.")
    told: bool | None = Field(default=None, description="Of damage: recovery has recorded it, and reads tell of it.")
    table: str | None = Field(default=None, description="Of the projection: the table.")
    key: str | None = Field(default=None, description="Of the projection: which row.")
    sha256: str | None = Field(default=None, description="Of a content: its hash.")


class StorageVerifyResult(Shape):
    """Result of storage/verify."""

    ok: bool = Field(description="Whether nothing differs but damage that is told of already.")
    threads: Count = Field(description="How many threads were checked.")
    events: Count = Field(description="How many events their rollouts hold.")
    bytes: Count = Field(description="How many bytes of rollouts were read.")
    contents: Count = Field(description="How many contents were read.")
    differences: list[StorageDifference] = Field(description="What differs; at most 1,000 are listed.")
    difference_count: Count = Field(description="How many there are.")


class StorageRebuildParams(Params):
    """Params of storage/rebuild."""


class StorageRebuildResult(Shape):
    """Result of storage/rebuild. Every answer is as before, byte for byte."""

    threads: Count = Field(description="How many threads the new projection has.")
    resumed: Count = Field(description="How many of them an earlier attempt, which was cut off, had read already.")
    bytes: Count = Field(description="Size of the new projection.")
