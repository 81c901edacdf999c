"""What others changed while a form was open, told apart from what was typed into it.

A form of a record carries a short mark of everything that it showed. What is sent with its mark was not touched, and is
shown again as it is now; all else was typed. Marks need no script, and of what was shown they repeat nothing.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mainstay.doors.pages.asking import ROWS, Asked
from mainstay.terms.refusal import Conflict

# The hidden field with the marks.
SHOWN = "shown"
# So many letters of a digest are a mark: enough to tell apart some thousand of one form.
_LETTERS = 6

Fields = Mapping[str, str]
# The fields of a form, by the name of what is changed as one: a text, some ticks, all rows of a list.
Parts = Mapping[str, Fields]


class Overtaken(Conflict):
    """Someone was faster, and the form is shown again with what they changed."""

    def __init__(self, both: Sequence[str], gone: Sequence[str] = ()) -> None:
        """Named are what both changed, and what one changed that is there no more."""
        told = [
            "Someone has changed this since you opened it, so nothing was saved.",
            "What you have not changed yourself is shown below as it is now: look at it, then save again.",
        ]
        if both:
            told.append(f"Changed by someone else as well: {_listed(both)}. What stands there is yours, and takes")
            told.append("the place of theirs if you save it.")
        if gone:
            told.append(f"Taken out by someone else, with what you had changed in it: {_listed(gone)}.")
        super().__init__(" ".join(told))


class Merged(NamedTuple):
    """What a form shows again, and the names of what both have changed."""

    parts: dict[str, Fields]
    both: list[str]

    @property
    def fields(self) -> dict[str, str]:
        """All of its fields."""
        return {name: text for part in self.parts.values() for name, text in part.items()}


class Seen:
    """What a form showed, by the marks that it carries; without any, all of it counts as typed."""

    def __init__(self, typed: Fields) -> None:
        marks = typed.get(SHOWN, "")
        self._marks = {marks[place : place + _LETTERS] for place in range(0, len(marks), _LETTERS)}

    def has(self, name: str, fields: Fields) -> bool:
        """Whether it showed this."""
        return _mark(name, fields) in self._marks

    def merged(self, typed: Parts, now: Parts) -> Merged:
        """What was typed, and beside it all as it is now; of what was not on the form, nothing was typed."""
        parts: dict[str, Fields] = {}
        both = []
        for name, theirs in now.items():
            own = typed.get(name, theirs)
            touched = not self.has(name, own)
            parts[name] = own if touched else theirs
            if touched and not self.has(name, theirs) and _mark(name, own) != _mark(name, theirs):
                both.append(name)
        return Merged(parts, both)


def marks(parts: Parts) -> str:
    """The marks of what a form shows."""
    return "".join(_mark(name, fields) for name, fields in parts.items())


def marked(asked: Sequence[Asked], fields: Fields) -> dict[str, str]:
    """The fields that a form begins with, and their marks."""
    return {**fields, SHOWN: marks(parts_of(asked, fields))}


def overtaken(asked: Sequence[Asked], typed: Fields, now: Fields) -> tuple[dict[str, str], Overtaken]:
    """The fields of a form that someone was faster than, with what the record has now; and what is said of it."""
    own = parts_of(asked, typed)
    again = Seen(typed).merged(own, parts_of(asked, now))
    named = {name for part in own.values() for name in part}
    beside = {name: text for name, text in typed.items() if name not in named}
    fields = beside | again.fields | {SHOWN: marks(parts_of(asked, now))}
    return fields, Overtaken(labelled(asked, again.both))


def labelled(asked: Sequence[Asked], names: Sequence[str]) -> list[str]:
    """What people call these of what is asked."""
    labels = {one.name: label for label, one in _leaves(asked)}
    return [labels[name] for name in names if name in labels]


def parts_of(asked: Sequence[Asked], fields: Fields) -> dict[str, Fields]:
    """The fields of a form, by what is asked in them."""
    return {
        one.name: {
            name: text
            for name, text in fields.items()
            if name == one.name or name.startswith((f"{one.name} ", f"{one.name}."))
        }
        for _, one in _leaves(asked)
    }


def _leaves(asked: Sequence[Asked]) -> Iterator[tuple[str, Asked]]:
    """What is changed as one, with what people call it; the rows of a list are not told apart by their numbers."""
    for one in asked:
        if one.parts and one.kind != ROWS:
            yield from ((one.label, part) for _, part in _leaves(one.parts))
        else:
            yield one.label, one


def _mark(name: str, fields: Fields) -> str:
    """The mark of what stands in some fields; what is empty is as good as not there."""
    filled = sorted((field, text.strip()) for field, text in fields.items() if text.strip())
    digest = hashlib.sha256(repr((name, filled)).encode()).digest()
    return urlsafe_b64encode(digest)[:_LETTERS].decode()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
