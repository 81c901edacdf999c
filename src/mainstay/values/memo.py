"""Compute values when they are first used, and remember them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Owner = TypeVar("Owner")


class CachedValue(Generic[T]):
    """A property that is computed once, for objects that only one thread uses.

    It works like `cached_property`, which until Python 3.12 takes a lock that costs more than most of these values.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, kind: type) -> T:
        value = self._make(owner)
        # From now on the instance attribute is found before this descriptor.
        owner.__dict__[self._name] = value
        return value


def cached_on_owner(make: Callable[[Owner], T]) -> Callable[[Owner], T]:
    """Make a function of one object compute its result once for each object and store it on that object."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def cached(owner: Owner) -> T:
        attributes = vars(owner)
        if name not in attributes:
            attributes[name] = make(owner)
        value: T = attributes[name]
        return value

    return cached
