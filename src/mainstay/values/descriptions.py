"""Descriptions of operations and fields: what programs read, and the part of it that helps people.

A description is written once. What only programs need stands in double square brackets:
``describe("Where you work. [[Required for a new `site`.]]")``.
"""

import re
from typing import Self

_FOR_PROGRAMS = re.compile(r"\[\[(.+?)\]\]")


class Description(str):
    """A description as programs read it, with what people read."""

    __slots__ = ("help",)
    help: str

    def __new__(cls, text: str, help_text: str) -> Self:
        """Make a description of both texts."""
        description = super().__new__(cls, text)
        description.help = help_text
        return description

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """Return what a copy is made of."""
        return type(self), (str(self), self.help)


def describe(text: str) -> Description:
    """Return a description; what stands in double square brackets is for programs only."""
    return Description(_FOR_PROGRAMS.sub(r"\1", text), " ".join(_FOR_PROGRAMS.sub("", text).split()))


def help_of(description: str | None) -> str:
    """Return what people read of a description."""
    return description.help if isinstance(description, Description) else description or ""


def add_for_programs(description: str | None, note: str) -> Description:
    """Return a description with one more sentence for programs."""
    return Description(f"{description} {note}" if description else note, help_of(description))
