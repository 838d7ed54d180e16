"""Writes the source of `plain_params.py`: the params of requests as structs, out of the models of the registry.

Invariant: a form takes nothing that its model would not take, and reads the same out of it. What cannot be said as a
struct (a name with several spellings, a fraction) is narrowed to what can, or the model has no form.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from lockstitch_protocol.methods import METHODS

_HEAD = '''\
"""The params of requests as structs, for requests that need no model: each function makes one of them.

Generated from the models by `python -m lockstitch_protocol.generate`. Do not edit.
"""
# ruff: noqa: N802 - the names are those of the models

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

'''
_BOUNDS = ("ge", "le", "min_length", "max_length", "pattern")
_PLAIN: dict[Any, str] = {str: "str", int: "int", bool: "bool", type(None): "None", Any: "Any"}
_OWN_NAMES = frozenset({"_null_is_absent"})


class _NoFormError(Exception):
    """A type that no struct says."""


def plain_params_source() -> str:
    """The module's text."""
    makers: dict[str, str] = {}
    rows: list[str] = []
    for method in METHODS.values():
        if method.notification:
            continue
        name = f"_{method.params.__name__}"
        try:
            makers.setdefault(name, _maker(method.params))
        except _NoFormError:
            continue
        rows.append(f'    "{method.name}": {name},')
    table = "\n".join(rows)
    return (
        f"{_HEAD}\n{''.join(makers.values())}"
        f"FORMS: dict[str, Callable[[], type[Struct]]] = {{\n{table}\n}}\n"
        '"""By method, what makes the struct of its params."""\n'
    )


def _maker(model: type[BaseModel]) -> str:
    """A function that makes the struct of a model, and those of the models in it."""
    structs: dict[str, str] = {}
    _add_struct(model, structs)
    body = "".join(structs.values())
    return f"def _{model.__name__}() -> type[Struct]:\n{body}    return {model.__name__}\n\n\n"


def _add_struct(model: type[BaseModel], structs: dict[str, str], tag: str | None = None) -> None:
    decorators = model.__pydantic_decorators__
    if set(decorators.model_validators) - _OWN_NAMES or decorators.field_validators:
        raise _NoFormError
    fields = {name: field for name, field in model.model_fields.items() if tag is None or name != "type"}
    lines: list[str] = []
    for name, field in sorted(fields.items(), key=lambda entry: not entry[1].is_required()):
        alias = field.validation_alias
        if not isinstance(alias, str):
            raise _NoFormError  # a name with several spellings
        kinds, default = _required(field, structs) if field.is_required() else _optional(field, structs)
        if alias != to_camel(name):
            default = f'field(name="{alias}"{default and ", default="}{default})'
        lines.append(f"        {name}: {' | '.join(kinds)}{default and ' = '}{default}\n")
    options = ', rename="camel"'
    if tag is not None:
        options += f', tag_field="type", tag="{tag}"'
    elif model.model_config.get("extra") == "allow":
        options += ", dict=True"  # where what it does not name is put
    body = "".join(lines) or "        pass\n"
    structs[model.__name__] = f"    class {model.__name__}(Struct{options}):\n{body}\n"


def _required(field: FieldInfo, structs: dict[str, str]) -> tuple[list[str], str]:
    return _bounded(_kinds(field.annotation, structs), field.metadata), ""


def _optional(field: FieldInfo, structs: dict[str, str]) -> tuple[list[str], str]:
    """Type and default of a field that may be missing. A null reads as missing."""
    default = field.get_default(call_default_factory=False)
    if field.default_factory is not None or not (default is None or isinstance(default, (str, int, bool))):
        raise _NoFormError
    try:
        kinds, _ = _required(field, structs)
    except _NoFormError:
        if default is not None:
            raise
        return ["None"], "None"  # given, it is the model's business
    if default is not None and "None" in kinds:
        raise _NoFormError
    return kinds, _quoted(default)


def _bounded(kinds: list[str], metadata: Iterable[Any]) -> list[str]:
    """The members of a union, with the bounds that hold for the only one of them that is not null."""
    bounds: dict[str, Any] = {}
    for entry in metadata:
        for bound in entry.metadata if isinstance(entry, FieldInfo) else [entry]:
            found = {name: value for name in _BOUNDS if (value := getattr(bound, name, None)) is not None}
            if not found:
                raise _NoFormError
            bounds.update(found)
    if not bounds:
        return kinds
    if "pattern" in bounds:  # the `$` of Python matches before a line's end too
        bounds["pattern"] = bounds["pattern"].removesuffix("$") + "\\Z"
    said = ", ".join(f"{name}={_quoted(value)}" for name, value in bounds.items())
    bounded = [kind if kind == "None" else f"Annotated[{kind}, Meta({said})]" for kind in kinds]
    if len(set(bounded) - {"None"}) > 1:
        raise _NoFormError
    return bounded


def _kinds(annotation: Any, structs: dict[str, str]) -> list[str]:
    """The members of the union that a type is; of most types, one."""
    annotation = getattr(annotation, "__value__", annotation)  # of an alias that has a name
    if annotation in _PLAIN:
        return [_PLAIN[annotation]]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation.model_config.get("extra") == "allow":
            raise _NoFormError
        _add_struct(annotation, structs)
        return [annotation.__name__]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal and all(isinstance(word, str) for word in arguments):
        return [f"Literal[{', '.join(_quoted(word) for word in arguments)}]"]
    if origin is typing.Annotated:
        return _annotated(arguments[0], arguments[1:], structs)
    if origin in (typing.Union, types.UnionType):
        return [kind for argument in arguments for kind in _kinds(argument, structs)]
    if origin is list:
        return [f"list[{' | '.join(_kinds(arguments[0], structs))}]"]
    if origin is dict and arguments == (str, Any):
        return ["dict[str, Any]"]
    raise _NoFormError


def _annotated(kind: Any, metadata: tuple[Any, ...], structs: dict[str, str]) -> list[str]:
    """A type with bounds, or models told apart by their field `type`, which operations take as they were sent."""
    if not any(isinstance(entry, FieldInfo) and entry.discriminator == "type" for entry in metadata):
        return _bounded(_kinds(kind, structs), metadata)
    members: tuple[type[BaseModel], ...] = typing.get_args(kind)
    for member in members:
        (tag,) = typing.get_args(member.model_fields["type"].annotation)
        _add_struct(member, structs, tag)
    return [member.__name__ for member in members]


def _quoted(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)
