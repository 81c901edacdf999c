"""What is made when it is first asked for, and kept."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Owner = TypeVar("Owner")


class MadeOnce(Generic[T]):
    """A property that is worked out once, for things that one thread has to itself.

    As `cached_property`, which until Python 3.12 takes a lock that costs more than most of what is made here.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, kind: type) -> T:
        made = self._make(owner)
        # Found there from now on, before this is.
        owner.__dict__[self._name] = made
        return made


def once_each(make: Callable[[Owner], T]) -> Callable[[Owner], T]:
    """A function that is worked out once for each thing it is asked of, which keeps the answer."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def made(owner: Owner) -> T:
        kept = vars(owner)
        if name not in kept:
            kept[name] = make(owner)
        found: T = kept[name]
        return found

    return made
