"""What is made when it is first asked for, and kept."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


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
