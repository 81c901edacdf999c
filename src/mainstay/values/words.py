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
    """A text as it is ordered and looked for: no case, no accents, no letters of few languages, no doubled blanks."""
    if text.isascii():
        return " ".join(text.lower().split())
    return unaccented(text).translate(_AS_TYPED)


def unaccented(text: str) -> str:
    """A text without case, accents and doubled blanks. What is kept is told apart by it: it stays as it is for good."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in parts if not unicodedata.combining(letter)).split())


# Letters that are no other letter with an accent, and what people type who do not have them on their keys.
_AS_TYPED = str.maketrans(
    {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n", "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "ə": "e", "æ": "ae", "œ": "oe", "þ": "th",
    }
)  # fmt: skip
