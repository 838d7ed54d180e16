"""The registry as documents: JSON Schemas of all types, OpenRPC, and the TypeScript maps of methods.

Invariant: everything here is computed from METHODS, NOTIFICATIONS, EVENT_TYPES and ERROR_CODES, in a fixed
order, and holds nothing of the machine it was made on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from lockstitch_protocol import envelope
from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.events import EVENT_TYPES
from lockstitch_protocol.methods import METHODS, Method
from lockstitch_protocol.notifications import NOTIFICATIONS
from lockstitch_protocol.retired import RETIRED_EVENTS, RETIRED_METHODS

Schema = dict[str, Any]
Target = Callable[[str], str]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PREFIX: Final = "#/components/schemas/"


_NULL: Schema = {"type": "null"}


def _allow_null(schema: Schema) -> None:
    """What is optional may also be null."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        moved = {key: inner for key, inner in field.items() if key not in ("default", "description")}
        if name in required or not moved or _NULL in field.get("anyOf", ()):
            continue
        for key in moved:
            del field[key]
        field["anyOf"] = [*moved.get("anyOf", [moved]), _NULL]


def _leave_null_out(schema: Schema) -> None:
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


class _Incoming(GenerateJsonSchema):
    """What a client may send: a field with a default may be left out, or null."""

    def model_schema(self, schema: Any) -> Schema:
        described = super().model_schema(schema)
        _allow_null(described)
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Outgoing(GenerateJsonSchema):
    """What a client gets: a field with a default is always there, one without a value is not."""

    def model_schema(self, schema: Any) -> Schema:
        described = super().model_schema(schema)
        _leave_null_out(described)
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        inner = field["schema"]
        if inner["type"] == "default":
            return "default_factory" in inner or inner.get("default") is not None
        return super().field_is_required(field, total)


def _definitions(models: Iterable[type[BaseModel]], generator: type[GenerateJsonSchema]) -> dict[str, Schema]:
    unique = sorted(set(models), key=lambda model: model.__name__)
    _, document = models_json_schema(
        [(model, "validation") for model in unique],
        ref_template=_PREFIX + "{model}",
        schema_generator=generator,
    )
    return document["$defs"]


def _references(value: Any) -> set[str]:
    names: set[str] = set()

    def note(name: str) -> str:
        names.add(name)
        return name

    refer(value, note)
    return names


def refer(value: Any, target: Target) -> Any:
    """A copy of a schema whose references are what `target` makes of the names of the types."""
    if isinstance(value, list):
        return [refer(inner, target) for inner in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    mapped: Schema = {}
    for key, inner in cast("Schema", value).items():
        if key == "$ref":
            mapped[key] = target(inner.removeprefix(_PREFIX))
        elif key == "mapping":
            mapped[key] = {tag: target(name.removeprefix(_PREFIX)) for tag, name in inner.items()}
        else:
            mapped[key] = refer(inner, target)
    return mapped


def _without_siblings(value: Any) -> Any:
    """References alone in their object, so that the TypeScript names each type once."""
    if isinstance(value, list):
        return [_without_siblings(inner) for inner in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    schema = {key: _without_siblings(inner) for key, inner in cast("Schema", value).items()}
    if "$ref" in schema and len(schema) > 1:
        return {"allOf": [{"$ref": schema.pop("$ref")}], **schema}
    return schema


def _merge(incoming: dict[str, Schema], outgoing: dict[str, Schema]) -> tuple[dict[str, Schema], dict[str, str]]:
    """All types under one name each; a type that differs by direction is `<Name>Input` on the way in."""
    differing = {name for name in incoming.keys() & outgoing.keys() if incoming[name] != outgoing[name]}
    while True:
        more = {
            name for name in (incoming.keys() & outgoing.keys()) - differing if _references(incoming[name]) & differing
        }
        if not more:
            break
        differing |= more
    renamed = {name: f"{name}Input" for name in differing}
    types = dict(outgoing)

    def rename(name: str) -> str:
        return _PREFIX + renamed.get(name, name)

    for name, schema in incoming.items():
        here = refer(schema, rename)
        if name in renamed:
            here["title"] = renamed[name]
        types[renamed.get(name, name)] = here
    return dict(sorted(types.items())), renamed


class Documents:
    """All types of the protocol, and where each method, notification and event finds its own."""

    def __init__(self) -> None:
        params = [method.params for method in METHODS.values()]
        payloads = [event.payload for event in EVENT_TYPES.values()]
        results = [method.result for method in METHODS.values()]
        sent = [*results, *NOTIFICATIONS.values(), envelope.Success, envelope.Failure]
        received = [*params, *payloads, envelope.Request, envelope.Notification]
        self.types, self._renamed = _merge(_definitions(received, _Incoming), _definitions(sent, _Outgoing))

    def incoming(self, model: type[BaseModel]) -> str:
        """Name of the type of what a client sends."""
        return self._renamed.get(model.__name__, model.__name__)

    def type_files(self) -> dict[str, Schema]:
        """One JSON Schema a type; they refer to one another by file name."""
        return {
            f"{name}.json": {"$schema": DIALECT, **refer(schema, "{}.json".format)}
            for name, schema in self.types.items()
        }

    def bundle(self) -> Schema:
        """All types in one JSON Schema."""
        types = {name: refer(schema, "#/$defs/{}".format) for name, schema in self.types.items()}
        return {"$schema": DIALECT, "title": "Types", "$defs": _without_siblings(types)}

    def _method(self, method: Method) -> Schema:
        name = self.incoming(method.params)
        schema = self.types[name]
        required = schema.get("required", ())
        described: Schema = {
            "name": method.name,
            "summary": method.summary,
            "paramStructure": "by-name",
            "params": [
                {"name": key, "required": key in required, "schema": field}
                for key, field in sorted(
                    schema.get("properties", {}).items(), key=lambda entry: entry[0] not in required
                )
            ],
            "x-params": {"$ref": _PREFIX + name},
            "x-since": method.since,
            "x-changes": method.changes,
        }
        if not method.notification:
            result = method.result.__name__
            described["result"] = {"name": result, "schema": {"$ref": _PREFIX + result}}
        return described

    def openrpc(self) -> Schema:
        """The OpenRPC document. Its `x-` parts hold what OpenRPC has no place for."""
        return {
            "openrpc": "1.3.2",
            "info": {
                "title": "Lockstitch",
                "description": "Threads, turns, items, events and file checkpoints of an AI agent's work, over stdio.",
                "version": "appserver.v0",
            },
            "methods": [self._method(method) for method in METHODS.values()],
            "x-notifications": [
                {"name": name, "summary": model.__doc__, "x-params": {"$ref": _PREFIX + model.__name__}}
                for name, model in NOTIFICATIONS.items()
            ],
            "x-events": [
                {
                    "type": name,
                    "summary": event.effect,
                    "payload": {"$ref": _PREFIX + self.incoming(event.payload)},
                    "needsTurn": event.needs_turn,
                    "fromClients": event.from_clients,
                }
                for name, event in EVENT_TYPES.items()
            ],
            "x-retired": {"methods": RETIRED_METHODS, "events": RETIRED_EVENTS},
            "components": {
                "schemas": self.types,
                "errors": {kind: {"code": code, "message": kind} for kind, code in ERROR_CODES.items()},
            },
        }

    def typescript_maps(self) -> str:
        """TypeScript interfaces from method, notification and event names to their types."""
        names: set[str] = set()

        def named(name: str) -> str:
            names.add(name)
            return name

        def interface(name: str, comment: str, entries: list[str]) -> str:
            return f"/** {comment} */\nexport interface {name} {{\n" + "".join(entries) + "}\n"

        def entry(key: str, comment: str, value: str) -> str:
            return f"  /** {comment} */\n  {json.dumps(key)}: {value};\n"

        requests = [
            entry(
                method.name,
                method.summary,
                f"{{ params: {named(self.incoming(method.params))}; result: {named(method.result.__name__)} }}",
            )
            for method in METHODS.values()
            if not method.notification
        ]
        signals = [
            entry(method.name, method.summary, named(self.incoming(method.params)))
            for method in METHODS.values()
            if method.notification
        ]
        notifications = [
            entry(name, str(model.__doc__), named(model.__name__)) for name, model in NOTIFICATIONS.items()
        ]
        events = [
            entry(name, event.effect, named(self.incoming(event.payload)))
            for name, event in EVENT_TYPES.items()
            if event.from_clients
        ]
        kinds = " | ".join(json.dumps(kind) for kind in ERROR_CODES)
        parts = [
            interface("Requests", "What a client may ask.", requests),
            interface("ClientNotifications", "What a client may say without an answer.", signals),
            interface("ServerNotifications", "What the sidecar says unasked.", notifications),
            interface("EventPayloads", "What a host may append. Any other type takes any object.", events),
            f"/** `error.data.kind`. */\nexport type ErrorKind = {kinds};\n",
        ]
        imports = "".join(f"  {name},\n" for name in sorted(names))
        return f'import type {{\n{imports}}} from "./types";\n\n' + "\n".join(parts)


def to_json(document: Schema) -> str:
    """JSON text as it is committed."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


_REFERENCED = re.compile(r"(?:\n \*)?\n \* This interface was referenced by .*\n \* via the .*")
_EMPTY_COMMENT = re.compile(r"/\*\*\n \*/\n")
_ROOT = re.compile(r"export interface Types \{\n.*?\n\}\n", re.DOTALL)


def tidy_typescript(text: str) -> str:
    """Generated TypeScript without the root of the schema, the notes about it, and trailing blanks."""
    text = _ROOT.sub("", _REFERENCED.sub("", text.replace("\r\n", "\n")), count=1)
    return re.sub(r"[ \t]+\n", "\n", _EMPTY_COMMENT.sub("", text)).strip() + "\n"
