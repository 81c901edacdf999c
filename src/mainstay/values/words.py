"""Words out of a fixed set."""

from enum import StrEnum


class Word(StrEnum):
    """Text that is one of a few, and is looked up as fast as text: Enum's own hash is slower than the look-up."""

    __hash__ = str.__hash__
