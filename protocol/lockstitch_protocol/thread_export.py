"""Threads as one document, to read, to paste or to keep, and documents taken in again."""

from typing import Literal

from pydantic import Field

from lockstitch_protocol.thread import Thread
from lockstitch_protocol.wire import Count, Params, Shape


class ThreadExportParams(Params):
    """Params of thread/export."""

    thread_id: str = Field(description="The thread.")
    format: Literal["jsonl", "markdown", "html", "bundle"] = Field(
        description="`jsonl`: its events; with redact false the rollout, byte for byte. `markdown`, `html`: to read; "
        "the page needs nothing else. `bundle`: a zip file with its rollout and contents."
    )
    path: str | None = Field(
        default=None, description="A new file, absolute; its folder exists. Without one the content is in the reply."
    )
    redact: bool | None = Field(
        default=None,
        description="False: secrets that are recognised stay in. Without it true, for a bundle false: only a whole one "
        "can be imported.",
    )


class ThreadExportResult(Shape):
    """Result of thread/export."""

    path: str | None = Field(default=None, description="The file that was written.")
    content: str | None = Field(default=None, description="The document, where no path was given.")
    content_base64: str | None = Field(default=None, description="In place of `content`: a document that is no text.")
    bytes: Count = Field(description="Its size.")
    sha256: str = Field(description="SHA-256 of its bytes.")
    partial: bool | None = Field(default=None, description="True: events of the thread are lost.")
    redactions: dict[str, int] | None = Field(
        default=None, description="How many different secrets of each kind were left out; absent with redact false."
    )
    warning: str | None = Field(default=None, description="For a bundle that may hold secrets: what to think of.")


class ThreadImportParams(Params):
    """Params of thread/import."""

    path: str = Field(
        min_length=1,
        description="A bundle, or the lines of a thread as thread/export gives them with redact false; absolute.",
    )


class ThreadImportResult(Shape):
    """Result of thread/import."""

    thread: Thread = Field(description="The thread. It has no workspace until thread/metadata/update links one.")
    imported: Count = Field(description="How many events are new here.")
    duplicates: Count = Field(description="How many events were here already.")
