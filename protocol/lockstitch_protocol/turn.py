"""Turns: one request by the user and all that the agent did for it."""

from typing import Literal

from pydantic import ConfigDict, Field

from lockstitch_protocol.items import ThreadItem, UserInput
from lockstitch_protocol.paging import ItemsView
from lockstitch_protocol.wire import Count, JsonObject, NewId, Params, Shape

TurnStatus = Literal["inProgress", "completed", "interrupted", "failed"]


class TurnError(Shape):
    """Why a turn failed."""

    model_config = ConfigDict(extra="allow")
    message: str = Field(description="A sentence for a person.")
    additional_details: str | None = Field(default=None, description="More of it, as the host gave it.")


class Usage(Shape):
    """Tokens and cost."""

    input_tokens: Count = Field(description="Tokens sent to the model.")
    cached_input_tokens: Count = Field(description="Of these, tokens read from the cache.")
    output_tokens: Count = Field(description="Tokens that the model wrote.")
    reasoning_output_tokens: Count = Field(description="Of these, tokens of reasoning.")
    model: str | None = Field(default=None, description="The model, where there was one only.")
    cost_usd: float | None = Field(default=None, description="Cost in US dollars, where every part of it is known.")


class Turn(Shape):
    """A turn as reads and notifications return it."""

    id: str = Field(description="Unique in its thread.")
    items: list[ThreadItem] = Field(description="Its items in order, as far as `itemsView` says.")
    items_view: ItemsView = Field(description="How much of the items is here.")
    status: TurnStatus = Field(description="`interrupted` is also what a cancelled turn reads as.")
    error: TurnError | None = Field(default=None, description="Why it failed.")
    started_at: int | None = Field(default=None, description="Unix seconds.")
    completed_at: int | None = Field(default=None, description="Unix seconds.")
    duration_ms: int | None = Field(default=None, description="Milliseconds by the sidecar's clock.")
    usage: Usage | None = Field(default=None, description="What its requests to models used.")
    route: JsonObject | None = Field(default=None, description="Provider, model and wire format, as selected.")
    authority: JsonObject | None = Field(default=None, description="What its agent was allowed to do.")


class TurnStartParams(Params):
    """Params of turn/start."""

    model_config = ConfigDict(extra="allow")
    thread_id: str = Field(description="The thread.")
    input: list[UserInput] = Field(min_length=1, description="What the user says.")
    client_user_message_id: str | None = Field(default=None, description="Kept as `clientId` of the message's item.")
    turn_id: NewId | None = Field(default=None, description="Id for the new turn; one is made if absent.")
    model: str | None = Field(default=None, description="The model for this turn and the following ones.")
    effort: str | None = Field(default=None, description="Reasoning effort, as the host names it.")
    cwd: str | None = Field(default=None, description="Where the agent works in this turn; recorded only.")


class TurnStartResult(Shape):
    """Result of turn/start."""

    turn: Turn = Field(description="The new turn, inProgress.")


class TurnInterruptParams(Params):
    """Params of turn/interrupt."""

    thread_id: str = Field(description="The thread.")
    turn_id: str = Field(description="The open turn.")


class TurnSteerParams(Params):
    """Params of turn/steer."""

    thread_id: str = Field(description="The thread.")
    input: list[UserInput] = Field(min_length=1, description="What the user adds.")
    expected_turn_id: str = Field(description="The turn that the client believes is open.")
    client_user_message_id: str | None = Field(default=None, description="Kept as `clientId` of the message's item.")


class TurnSteerResult(Shape):
    """Result of turn/steer."""

    turn_id: str = Field(description="The turn that the message went to.")
