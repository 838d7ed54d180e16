"""The words of paging that several requests share."""

from typing import Annotated, Literal

from pydantic import Field

SortDirection = Literal["asc", "desc"]
ItemsView = Literal["notLoaded", "summary", "full"]
PageLimit = Annotated[int, Field(ge=1, le=500)]
