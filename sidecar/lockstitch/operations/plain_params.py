"""Params read into plain structs, which takes no model: for requests that make no mistake.

Invariant: what is read here, the method's model would have taken, and would read the same; everything else is None
and the model's business, which also says what is wrong. Pydantic is imported only then.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lockstitch_protocol.plain_params import FORMS


class _Form(msgspec.Struct, frozen=True):
    struct: type[msgspec.Struct]
    optional: frozenset[str]
    """Wire names of the fields that may be missing."""
    known: frozenset[str] | None
    """All wire names, where what has another one is kept too."""


_forms: dict[str, _Form] = {}


def read_plain(method: str, params: dict[str, Any]) -> Any:
    """Decoded params in the form of that method, or None."""
    form = _forms.get(method) or _make_form(method)
    if form is None:
        return None
    present = params
    if None in params.values():  # null is absent, as for the models
        present = {name: value for name, value in params.items() if value is not None or name not in form.optional}
    try:
        read = msgspec.convert(present, form.struct)
    except msgspec.ValidationError:
        return None
    if form.known is not None:  # a struct has no place for what it does not name
        extra = {name: value for name, value in params.items() if name not in form.known}
        vars(read)["model_extra"] = extra
    return read


def _make_form(method: str) -> _Form | None:
    make = FORMS.get(method)
    if make is None:
        return None
    struct = make()
    names, defaults = struct.__struct_encode_fields__, struct.__struct_defaults__
    optional = frozenset(names[len(names) - len(defaults) :])
    known = frozenset(names) if struct.__struct_config__.dict else None
    form = _forms[method] = _Form(struct, optional, known)
    return form
