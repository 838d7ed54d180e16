"""Names of modules that are imported when a name is first used.

For tables that name everything while a request needs one row: the real imports stand under TYPE_CHECKING, so
that every name is still checked, and a start costs what it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LaterModule:
    """A module by its dotted name; each attribute is a LaterName, whether or not the module has it."""

    __slots__ = ("_module",)

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> LaterName:
        return LaterName(self._module, name)


class LaterName:
    """One name of such a module. Calling it imports the module, then calls what is there."""

    __slots__ = ("__name__", "_found", "_module")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self.__name__ = name
        self._found: Any = None

    def get(self) -> Any:
        """What the name stands for. Raises ImportError and AttributeError as an import statement would."""
        if self._found is None:
            self._found = getattr(import_module(self._module), self.__name__)
        return self._found

    def __call__(self, *args: Any) -> Any:
        return self.get()(*args)
