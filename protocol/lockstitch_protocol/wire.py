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


_NULL: JsonObject = {"type": "null"}


def _allow_null(schema: JsonObject) -> None:
    """What is optional may also be null."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        moved = {key: inner for key, inner in field.items() if key not in ("default", "description")}
        if name in required or not moved or _NULL in field.get("anyOf", ()):
            continue
        for key in moved:
            del field[key]
        field["anyOf"] = [*moved.get("anyOf", [moved]), _NULL]


def _leave_null_out(schema: JsonObject) -> None:
    """What has no value is left out of what we send, so its schema does not say null."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        if name in required or field.get("default", ...) is not None:
            continue
        del field["default"]
        kinds = [kind for kind in field.get("anyOf", ()) if kind != _NULL]
        if len(kinds) == 1:
            del field["anyOf"]
            field.update(kinds[0])
        elif kinds:
            field["anyOf"] = kinds


class Wire(BaseModel):
    """The base of everything that crosses the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        strict=True,
        extra="ignore",
        defer_build=True,
        protected_namespaces=(),
        use_attribute_docstrings=False,
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

    model_config = ConfigDict(json_schema_extra=_allow_null)


class Shape(Wire):
    """The base of what is sent to a client: results, notifications, and the types in them."""

    model_config = ConfigDict(json_schema_extra=_leave_null_out)


class Empty(Shape):
    """An empty object."""
