"""What all wire models share: camelCase names, strict types, null means absent.

Invariant: a string is never made of a number, nor a number of a string; a field with a default takes null
as if it were absent; unknown fields are ignored unless a model says that it keeps them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from lockstitch_protocol.ids import ID_PATTERN, THREAD_ID_PATTERN

JsonObject = dict[str, Any]
"""Any JSON object."""

NewId = Annotated[str, StringConstraints(pattern=f"^{ID_PATTERN}$")]
"""An id that the client gives: a letter or digit, then at most 127 letters, digits and `._:-`."""

NewThreadId = Annotated[str, StringConstraints(pattern=f"^{THREAD_ID_PATTERN}$")]
"""A thread id that the client gives: at most 100 characters, without `.` and `:` (it is in a file name)."""

Count = Annotated[int, Field(ge=0)]
"""An integer that is not negative."""


class Wire(BaseModel):
    """The base of everything that crosses the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        strict=True,
        extra="ignore",
        defer_build=True,
        protected_namespaces=(),
    )

    _optional: ClassVar[frozenset[str] | None] = None

    @classmethod
    def optional_names(cls) -> frozenset[str]:
        """The wire names of the fields that have a default."""
        names = cls.__dict__.get("_optional")
        if names is None:
            found: set[str] = set()
            for name, field in cls.model_fields.items():
                if not field.is_required():
                    alias = field.validation_alias or name
                    found.update(map(str, alias.choices) if isinstance(alias, AliasChoices) else [str(alias)])
            names = frozenset(found)
            cls._optional = names
        return names

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if isinstance(value, dict) and None in value.values():
            optional = cls.optional_names()
            return {key: inner for key, inner in value.items() if inner is not None or key not in optional}  # pyright: ignore[reportUnknownVariableType]
        return value  # pyright: ignore[reportUnknownVariableType]


class Params(Wire):
    """The base of what a client sends as params."""


class Shape(Wire):
    """The base of what is sent to a client: results, notifications, and the types in them."""


class Empty(Shape):
    """An empty object."""
