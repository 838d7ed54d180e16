"""Search over what was said and done in all threads."""

from typing import Annotated

from pydantic import Field

from lockstitch_protocol.paging import PageLimit
from lockstitch_protocol.wire import Count, Params, Shape


class ThreadSearchParams(Params):
    """Params of thread/search. No sign in the query is an operator but double quotes around a phrase."""

    query: str = Field(
        description="Words that must all be in one item or title, in any order; words in double quotes, and parts of a "
        "word such as src/main.py, directly behind each other. Case and accents do not count. Where no whole word is "
        "found, beginnings of words are."
    )
    thread_id: str | None = Field(default=None, description="Only this thread, archived or not.")
    cwd: str | None = Field(default=None, description="Only threads of this workspace, however its path is spelled.")
    archived: bool | None = Field(
        default=None, description="True: only archived threads. Default false, without threadId."
    )
    limit: PageLimit = Field(default=20, description="At most so many hits.")
    cursor: str | None = Field(default=None, description="`nextCursor` of another page.")


class SearchHit(Shape):
    """An item, or a thread's title, that was found."""

    thread_id: str = Field(description="The thread.")
    turn_id: str | None = Field(default=None, description="The turn; none for a title and for what is in no turn.")
    item_id: str | None = Field(default=None, description="The item; none for a title.")
    snippet: str = Field(description="The part of its text that shows best what was found, on one line.")
    ranges: list[Annotated[list[Count], Field(min_length=2, max_length=2)]] = Field(
        description="Where in the snippet it was found: [start, end) in UTF-16 units."
    )
    score: float = Field(description="How well it fits; higher is better. Comparable within one answer.")


class Indexing(Shape):
    """How far the index is; it grows on while nobody asks."""

    done: Count = Field(description="How many of the threads that are searched are in the index up to their end.")
    total: Count = Field(description="How many there are.")


class ThreadSearchResult(Shape):
    """Result of thread/search."""

    data: list[SearchHit] = Field(description="What was found, the best first.")
    next_cursor: str | None = Field(description="Where the next page begins; null at the end.")
    indexing: Indexing | None = Field(
        default=None, description="There while the index is not complete: ask again for all that there is."
    )
