"""Threads as one document, to read, to paste or to keep."""

from typing import Literal

from pydantic import Field

from lockstitch_protocol.wire import Count, Params, Shape


class ThreadExportParams(Params):
    """Params of thread/export."""

    thread_id: str = Field(description="The thread.")
    format: Literal["jsonl", "markdown"] = Field(
        description="`jsonl`: its events; with redact false the rollout, byte for byte. `markdown`: for people."
    )
    path: str | None = Field(
        default=None, description="A new file, absolute; its folder exists. Without one the content is in the reply."
    )
    redact: bool = Field(default=True, description="False: secrets that are recognised stay in.")


class ThreadExportResult(Shape):
    """Result of thread/export."""

    path: str | None = Field(default=None, description="The file that was written.")
    content: str | None = Field(default=None, description="The document, where no path was given.")
    bytes: Count = Field(description="Its size in UTF-8.")
    sha256: str = Field(description="SHA-256 of its bytes.")
    partial: bool | None = Field(default=None, description="True: events of the thread are lost.")
    redactions: dict[str, int] | None = Field(
        default=None, description="How many different secrets of each kind were left out; absent with redact false."
    )
