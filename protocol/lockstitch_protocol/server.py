"""The process itself: its status, its end, and requests about requests."""

from pydantic import Field

from lockstitch_protocol.wire import Count, Params, Shape


class NoParams(Params):
    """No params."""


class ProcessEntry(Shape):
    """A process on the same data root."""

    pid: int = Field(description="Its process id.")
    boot_id: str = Field(description="Its boot.")
    started_at: str = Field(description="RFC 3339, UTC, microseconds.")


class ServerStatusResult(Shape):
    """Result of server/status."""

    boot_id: str = Field(description="Names this run of the process.")
    uptime_ms: Count = Field(description="Milliseconds since it started.")
    version: str = Field(description="Its version.")
    data_root: str = Field(description="Where everything is kept.")
    pending_writes: Count = Field(description="Appends that wait for the disk.")
    projection_lag: Count = Field(description="Bytes of rollouts that the projection has not read yet.")
    open_threads: Count = Field(description="Threads that are open in this process.")
    processes: list[ProcessEntry] = Field(description="Processes on this data root, this one too.")


class CancelParams(Params):
    """Params of $/cancelRequest."""

    id: str | int = Field(description="The request to cancel, as its id was sent.")
