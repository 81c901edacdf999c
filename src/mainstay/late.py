"""The one place where something is imported late: when it is used first, and not when the program starts.

A command that prints the version needs no database driver, and a house on SQLite none of PostgreSQL's. What is slow to
import, and not used by everyone, is asked for here by its name.
"""

from importlib import import_module
from typing import Any


def late(module: str) -> Any:
    """A module, imported now if it was not before."""
    return import_module(module)


class Late:
    """Something of a module, which is imported when it is first asked for anything."""

    def __init__(self, module: str, name: str) -> None:
        self._where = module, name

    def __getattr__(self, attribute: str) -> Any:
        module, name = self._where
        found = getattr(getattr(late(module), name), attribute)
        # Found here from now on, as fast as in the thing itself.
        setattr(self, attribute, found)
        return found
