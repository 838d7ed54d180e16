"""The envelope of messages: requests, notifications and replies.

Invariant: a reply has a result or an error, never both; its id has the type and value that the request had.
"""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.error_data import ErrorData
from lockstitch_protocol.wire import Params, Shape

RequestId = str | int


class Request(Params):
    """A call that is answered."""

    jsonrpc: Literal["2.0"] | None = Field(default=None, description="May be left out; replies then do without, too.")
    id: RequestId = Field(description="Echoed in the reply, with its type.")
    method: str = Field(description="One of the registry.")
    params: dict[str, Any] | None = Field(default=None, description="Null and absent are {}.")


class Notification(Params):
    """A call that is not answered."""

    jsonrpc: Literal["2.0"] | None = Field(default=None, description="May be left out.")
    method: str = Field(description="One of the registry.")
    params: dict[str, Any] | None = Field(default=None, description="Null and absent are {}.")


class Success(Shape):
    """A reply with a result."""

    model_config = ConfigDict(extra="forbid")
    jsonrpc: Literal["2.0"] | None = Field(default=None, description="Sent if the client sends it.")
    id: RequestId = Field(description="The request's id.")
    result: dict[str, Any] = Field(description="As the method says.")


class ErrorObject(Shape):
    """What went wrong."""

    code: int = Field(description="As the table of errors says for `data.kind`.")
    message: str = Field(description="A sentence for a person; never match on it.")
    data: ErrorData = Field(description="Stable facts to act on.")


class Failure(Shape):
    """A reply with an error."""

    model_config = ConfigDict(extra="forbid")
    jsonrpc: Literal["2.0"] | None = Field(default=None, description="Sent if the client sends it.")
    id: RequestId | None = Field(description="The request's id; null where it could not be read.")
    error: ErrorObject = Field(description="What went wrong.")
