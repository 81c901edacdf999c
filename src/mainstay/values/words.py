"""Words out of a fixed set, and words as they are compared."""

import re
import unicodedata
from enum import StrEnum


class Word(StrEnum):
    """Text that is one of a few, and is looked up as fast as text: Enum's own hash is slower than the look-up."""

    __hash__ = str.__hash__

    @property
    def words(self) -> str:
        """What people call it."""
        return words_of(self.value)


def words_of(name: str) -> str:
    """A name as people write it: `inProgress` and `in_progress` as `In progress`."""
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name).strip().lower().capitalize()


def folded(text: str) -> str:
    """A text as it is ordered and looked for: without case, accents and doubled blanks."""
    if text.isascii():
        return " ".join(text.lower().split())
    parts = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in parts if not unicodedata.combining(letter)).split())
