"""Hand-written checks of decoded JSON, for the append path where a model would cost more than the write.

Invariant: these checks accept exactly what the pydantic models beside them accept; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[[str, Any], None]
"""Raises FieldError for a value, which is never None, that does not fit; the first argument is its path."""


class FieldError(ValueError):
    """One field is wrong: `path` is dotted, as in the JSON that was checked, `message` says what it must be."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message

    def under(self, prefix: str) -> FieldError:
        """The same error for a value that lies inside another one, at `prefix`."""
        return type(self)(f"{prefix}.{self.path}" if self.path else prefix, self.message)


REQUIRED = "is required"
"""What the message says of a field that is missing or null."""


def text(path: str, value: Any) -> None:
    """A string."""
    if not isinstance(value, str):
        raise FieldError(path, "must be a string")


def whole(path: str, value: Any) -> None:
    """A whole number; `1.0` and `true` are none."""
    if type(value) is not int:
        raise FieldError(path, "must be a whole number")


def count(path: str, value: Any) -> None:
    """A whole number that is not negative."""
    if type(value) is not int or value < 0:
        raise FieldError(path, "must be a whole number, 0 or more")


def number(path: str, value: Any) -> None:
    """A number of any kind."""
    if type(value) is not int and not isinstance(value, float):
        raise FieldError(path, "must be a number")


def flag(path: str, value: Any) -> None:
    """True or false."""
    if type(value) is not bool:
        raise FieldError(path, "must be true or false")


def mapping(path: str, value: Any) -> None:
    """An object."""
    if not isinstance(value, dict):
        raise FieldError(path, "must be an object")


def array(path: str, value: Any) -> None:
    """An array of anything."""
    if not isinstance(value, list):
        raise FieldError(path, "must be an array")


def anything(path: str, value: Any) -> None:
    """Every JSON value will do."""


def one_of(*words: str) -> Check:
    """One of a closed set of strings."""
    known = frozenset(words)
    message = "must be one of " + ", ".join(words)

    def check(path: str, value: Any) -> None:
        if not isinstance(value, str) or value not in known:
            raise FieldError(path, message)

    return check


def each(inner: Check) -> Check:
    """An array whose every element fits."""

    def check(path: str, value: Any) -> None:
        array(path, value)
        for index, element in enumerate(value):
            if element is None:
                raise FieldError(f"{path}.{index}", "must not be null")
            inner(f"{path}.{index}", element)

    return check


def fields(*, required: dict[str, Check] | None = None, optional: dict[str, Check] | None = None) -> Check:
    """An object whose known fields fit; unknown ones are left alone."""
    must = tuple((required or {}).items())
    may = tuple((optional or {}).items())

    def check(path: str, value: Any) -> None:
        mapping(path, value)
        prefix = f"{path}." if path else ""
        for name, inner in must:
            found = value.get(name)
            if found is None:
                raise FieldError(prefix + name, REQUIRED)
            inner(prefix + name, found)
        for name, inner in may:
            found = value.get(name)
            if found is not None:
                inner(prefix + name, found)

    return check
