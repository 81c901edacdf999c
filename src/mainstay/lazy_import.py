"""Import modules when they are first used, instead of when the program starts.

A command that prints the version needs no database driver, and an installation on SQLite needs none for PostgreSQL.
Modules that are slow to import and not always used are imported here by name. This is the only place for that.
"""

from importlib import import_module
from typing import Any


def import_lazily(module: str) -> Any:
    """Return a module, and import it if it is not imported yet."""
    return import_module(module)


class LazyObject:
    """Stands for an object of a module. The module is imported when an attribute of the object is first used."""

    def __init__(self, module: str, name: str) -> None:
        self._location = module, name

    def __getattr__(self, attribute: str) -> Any:
        module, name = self._location
        found = getattr(getattr(import_lazily(module), name), attribute)
        # From now on the attribute is found here, as fast as on the object itself.
        setattr(self, attribute, found)
        return found
