"""The handshake."""

from typing import Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.wire import Params, Shape


class ClientInfo(Params):
    """The client."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(description="Name of the program.")
    title: str | None = Field(default=None, description="Its name for people.")
    version: str | None = Field(default=None, description="Its version.")
    process_id: int | None = Field(default=None, ge=1, description="The sidecar ends when this process is gone.")


class ClientCapabilities(Params):
    """What the client can do."""

    event_methods: list[str] = Field(default_factory=list[str], description="Taken, without effect.")
    experimental: bool = Field(default=False, description="Taken, without effect.")
    opt_out_notification_methods: list[str] = Field(
        default_factory=list[str], description="Notifications that are not to be sent, by their exact names."
    )
    max_message_bytes: int | None = Field(default=None, ge=1, description="The largest message that it can take.")


class InitializeParams(Params):
    """Params of initialize: the first request of a connection."""

    client_info: ClientInfo = Field(description="The client.")
    capabilities: ClientCapabilities | None = Field(default=None, description="What the client can do.")
    protocol_version: str | None = Field(default=None, description="The version that the client speaks.")


class ServerInfo(Shape):
    """This program."""

    name: Literal["app-server"] = Field(description="What existing clients expect.")
    title: str = Field(description="Its name for people.")
    version: str = Field(description="Its version.")
    protocol_version: Literal["appserver.v0"] = Field(description="The version of the protocol.")


class Platform(Shape):
    """The machine."""

    family: Literal["desktop"] = Field(description="What existing clients expect.")
    os: str = Field(description="`linux`, `macos` or `windows`.")


class FileCheckpointCapabilities(Shape):
    """What can be done with file checkpoints here."""

    capture: bool = Field(description="Whether files can be captured.")
    restore: bool = Field(description="Whether files can be restored.")
    rewind: bool = Field(description="Whether turns can be taken back.")


class ServerCapabilities(Shape):
    """What the sidecar can do."""

    agent_session: bool = Field(description="`agentSession/*`.")
    capability_discovery: bool = Field(description="That this reply lists capabilities.")
    artifact: bool = Field(description="`artifact/read`.")
    evidence: bool = Field(description="`evidence/*`.")
    workspace: bool = Field(description="`workspace/*`: not offered.")
    file_checkpoint: FileCheckpointCapabilities = Field(description="`agentSession/fileCheckpoint/*`.")
    thread_replay: bool = Field(description="`thread/replay`.")
    thread_search: bool = Field(description="`thread/search`.")
    conversation_import: list[str] = Field(description="Tools whose sessions can be imported.")


class DataRoot(Shape):
    """Where everything is kept."""

    path: str = Field(description="The directory, absolute.")
    source: Literal["argument", "environment", "platform"] = Field(description="Which rule chose it.")
    variable: str | None = Field(default=None, description="The environment variable, if one chose it.")


class InitializeResult(Shape):
    """Result of initialize."""

    server_info: ServerInfo = Field(description="This program.")
    platform: Platform = Field(description="The machine.")
    capabilities: ServerCapabilities = Field(description="What it can do.")
    data_root: DataRoot = Field(description="Where everything is kept.")
    boot_id: str = Field(description="Names this run of the process.")
    sqlite_version: str = Field(description="The SQLite that is inside.")
