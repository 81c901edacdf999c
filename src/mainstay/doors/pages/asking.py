"""What people are asked for: the fields of a form, read off the input of an operation, and what they answered."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from mainstay.doors.pages.kinds import KINDS, LISTS, why_unread
from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.speech import label
from mainstay.doors.pages.words import spoken
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import Needs, Rights, withheld
from mainstay.values.colours import COLOURS
from mainstay.values.fields import As, IdOf, Reference, Upload, Usual
from mainstay.values.names import country_names, currency_names, language_names, offered_zones
from mainstay.values.parts import PartChange
from mainstay.values.words import Word, folded, words_of

Choices = Sequence[tuple[str, str]]

# The kinds of a date with a time.
_TIMED = {"moment", "wall"}
# The kind of a list of which every row has the same few fields.
ROWS = "rows"
# Ends the name of the field beside a record that is typed: which one stood there, and how it was called.
AS_SHOWN = " as shown"
# What a row may have in it that was left empty.
_NOTHING = (None, "", False)
# What a form carries beside the fields of its operation.
_NOT_ASKED = {"confirmed"}
# Kinds of value of which there is a list: what is chosen, and how people know it.
_LISTED: dict[str, Callable[[], Choices]] = {
    "country": lambda: _by_name(country_names()),
    "currency": lambda: _by_name(currency_names()),
    "zone": lambda: _by_name(offered_zones()),
    # In the order in which they stand beside each other.
    "colour": lambda: tuple(COLOURS.items()),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One field of a form."""

    name: str
    label: str
    help: str | None
    kind: str
    required: bool
    choices: Choices = ()
    # The fields of an address and the like, each with a name of its own; or those that every row of a list has.
    parts: tuple["Asked", ...] = ()
    # The rows of a list as a form shows them, and how many there may be.
    lines: tuple[tuple["Asked", ...], ...] = ()
    most: int | None = None
    # Which file is asked for, if one is; and a record of which kind, by the prefix of its ids, and in which state.
    upload: Upload | None = None
    refers: str | None = None
    status: str | None = None
    # What stands there before anyone has filled it in; and whether it is a whole number.
    usual: str = ""
    whole: bool = False
    # How a date is typed, or a date with a time.
    example: str = ""

    @property
    def as_shown(self) -> str:
        """The name of the field that remembers which record a text was shown for."""
        return f"{self.name}{AS_SHOWN}"

    def answer(self, fields: Mapping[str, str], here: Here) -> object:
        """What was filled in, as an operation takes it; what was left empty is null where it may be."""
        if self.kind == ROWS:
            rows = [{_last(part.name): part.answer(fields, here) for part in line} for line in self.lines]
            return [row for row in rows if any(value not in _NOTHING for value in row.values())]
        if self.parts:
            parts = {_last(part.name): part.answer(fields, here) for part in self.parts}
            # A box that is left open is an answer too; and what must be there is, though all that it is made of are
            # empty lists, or such things again.
            filled_in = any(part not in (None, "", []) for part in parts.values())
            made = all(part.parts or part.kind in LISTS for part in self.parts)
            return parts if filled_in or (self.required and made) else None
        if self.kind == "flag":
            return self.name in fields
        if self.kind in {"checks", "references"}:
            chosen = [value for value, _ in self.choices if f"{self.name} {value}" in fields]
            return chosen if chosen or self.kind == "references" else None
        text = fields.get(self.name, "").strip()
        if not text and not self.required and self.kind not in LISTS:
            return None
        return KINDS["whole" if self.whole else self.kind].read(text, here)

    def filled(self, value: Any, here: Here) -> dict[str, str]:
        """What the field shows of a value of a record."""
        if self.kind == ROWS:
            rows = [(self.line(number), row) for number, row in enumerate(value or ())]
            filled_in = [part.filled(row.get(_last(part.name)), here) for line, row in rows for part in line]
            return {name: text for part in filled_in for name, text in part.items()}
        if self.parts:
            parts = value or {}
            return {
                name: text
                for part in self.parts
                for name, text in part.filled(parts.get(_last(part.name)), here).items()
            }
        if self.kind in {"checks", "references"}:
            return {f"{self.name} {chosen}": "on" for chosen in value or ()}
        if self.kind == "flag":
            return {self.name: "on"} if value else {}
        return {self.name: "" if value is None else KINDS[self.kind].write(value, here)}

    def dated(self, here: Here) -> "Asked":
        """The field, and the fields within it, with how dates are typed here."""
        return replace(
            self,
            example=here.date_example if self.kind == "date" else here.time_example if self.kind in _TIMED else "",
            parts=tuple(part.dated(here) for part in self.parts),
            lines=tuple(tuple(part.dated(here) for part in line) for line in self.lines),
        )

    def narrowed(self, possible: Sequence[str]) -> "Asked":
        """A choice with only what is possible, in that order."""
        words = dict(self.choices)
        return replace(self, choices=[(value, words[value]) for value in possible if value in words])

    def line(self, number: int) -> tuple["Asked", ...]:
        """The fields of one row, each with a name of its own."""
        return tuple(replace(part, name=f"{self.name}.{number}.{part.name}", help=None) for part in self.parts)


@cache
def asked_of(operation: Operation, rights: Rights) -> tuple[Asked, ...]:
    """What someone with these rights is asked for; which record it is about, its page knows."""
    known = {named_by(operation)}
    asked = (
        _offered(_asked(name, field, ""), withheld(field.metadata, rights))
        for name, field in operation.input.model_fields.items()
        if name not in known | _NOT_ASKED and _may_send(field, rights)
    )
    return tuple(one for one in asked if one.kind)


def named_by(operation: Operation) -> str | None:
    """The field by which an operation is told which record it is done to, or which ones."""
    listing = operation.on or operation.offered_on
    name = listing.id_field if listing else None
    return name if name is None or name in operation.input.model_fields else f"{name}s"


def given(asked: Sequence[Asked], fields: Mapping[str, str], here: Here) -> dict[str, object]:
    """A form's fields as its operation takes them; files are not among them."""
    return {field.name: field.answer(fields, here) for field in asked if not field.upload}


def filled(asked: Sequence[Asked], record: Mapping[str, Any], here: Here) -> dict[str, str]:
    """A record as a form shows it: its times by the clocks where it is, and beside it what is usual."""
    shown: dict[str, str] = {}
    here = here._replace(zone=record.get("timeZone") or here.zone)
    for field in asked:
        shown |= field.filled(record[field.name], here) if field.name in record else usual([field])
    return shown


def usual(asked: Sequence[Asked]) -> dict[str, str]:
    """What a form shows before anyone has filled it in."""
    return {one.name: one.usual for one in asked if one.usual not in {"", "False"}}


def ways_to(asked: Sequence[Asked], faults: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is wrong, in the order of the form: each with the field it is about, if that is on the form."""
    fields = dict(_named(asked))
    told = [(name, f"{called} {faults[name]}") for name, called in fields.items() if name in faults]
    return told + [("", f"{label(name, fields)} {problem}") for name, problem in faults.items() if name not in fields]


def as_typed(asked: Sequence[Asked], fields: Mapping[str, str], faults: Mapping[str, str]) -> dict[str, str]:
    """What is wrong, in the words of those who type where an operation has none for it."""
    typed = [(one, text) for one in asked if one.name in faults and (text := fields.get(one.name, "").strip())]
    unread = {one.name: why_unread(one.kind, text) for one, text in typed}
    return {name: unread.get(name) or problem for name, problem in faults.items()}


def _named(asked: Sequence[Asked]) -> Iterator[tuple[str, str]]:
    """What people call each field, by its name."""
    for field in asked:
        yield field.name, field.label
        yield from ((part.name, part.label) for part in field.parts if field.kind != ROWS)
        for number, line in enumerate(field.lines, 1):
            yield from ((part.name, f"{field.label}, row {number}: {part.label}") for part in line)


def _last(name: str) -> str:
    """What a part is called within what it is part of."""
    return name.rpartition(".")[2]


def _asked(name: str, field: FieldInfo, within: str) -> Asked:
    kind, choices, parts = _kind(field)
    refers = _refers(field)
    alias = within + (field.alias or name)
    return Asked(
        name=alias,
        label=field.title or words_of(name),
        # How a code is written, nobody needs to know who picks it from a list.
        help=None if kind in _LISTED else spoken(field.description) or None,
        kind=kind,
        required=kind not in LISTS and (field.is_required() or not _is_nullable(field.annotation)),
        choices=choices,
        parts=tuple(_asked(part, of, "" if kind == ROWS else f"{alias}.") for part, of in parts.items()),
        most=next((most for mark in field.metadata if (most := getattr(mark, "max_length", None))), None),
        upload=next((mark for mark in field.metadata if isinstance(mark, Upload)), None),
        refers=refers.to if refers else None,
        status=refers.status if refers else None,
        usual=next(
            (mark.value for mark in field.metadata if isinstance(mark, Usual)),
            str(field.default) if isinstance(field.default, (str, int)) else "",
        ),
        whole=_is_whole(field) and kind in _WHOLE,
    )


def _offered(asked: Asked, untold: Sequence[str]) -> Asked:
    """A field without the choices that its form does not offer."""
    return replace(asked, choices=[one for one in asked.choices if one[0] not in untold]) if untold else asked


def _is_whole(field: FieldInfo) -> bool:
    plain, _ = _plain(field.annotation)
    return plain is int or (get_origin(plain) is Literal and all(type(value) is int for value in get_args(plain)))


def _refers(field: FieldInfo) -> Reference | None:
    """What tells of which records a field names one, or several."""
    plain, beside = _plain(field.annotation)
    inner = get_args(plain)[0] if get_origin(plain) is list else None
    for mark in (*field.metadata, *beside, *(_plain(inner)[1] if inner else ())):
        if isinstance(mark, (IdOf, Reference)):
            return Reference(to=mark.prefix) if isinstance(mark, IdOf) else mark
    return None


def _kind(field: FieldInfo) -> tuple[str, Choices, dict[str, FieldInfo]]:
    """How a field is asked for: its kind, what can be chosen, and its parts."""
    plain, metadata = _plain(field.annotation)
    for mark in (*field.metadata, *metadata):
        if isinstance(mark, As):
            return mark.kind, _LISTED[mark.kind]() if mark.kind in _LISTED else (), {}
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        # A form asks for all of a part, and what was emptied is cleared.
        whole = plain.part if issubclass(plain, PartChange) else plain
        return "parts", (), whole.model_fields
    if choices := _choices(plain):
        return "choice", choices, {}
    refers = _refers(field)
    if get_origin(plain) is list:
        inner, _ = _plain(get_args(plain)[0])
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return ROWS, (), inner.model_fields
        return ("references" if refers else "list"), (), {}
    return ("reference" if refers else _SIMPLE.get(plain, "text")), (), {}


# How a whole number is asked for, where it is nothing else: a price is kept as one, and so is a time.
_WHOLE = {"number", "choice", "text"}
_SIMPLE: dict[Any, str] = {bool: "flag", int: "number", SecretStr: "password"}


def _by_name(names: Mapping[str, str]) -> Choices:
    """Codes and their names, as one looks for a name: without regard to case and accents."""
    return sorted(names.items(), key=lambda one: folded(one[1]))


def _choices(kind: Any) -> Choices:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [(value.value, value.words if isinstance(value, Word) else words_of(value.value)) for value in kind]
    if get_origin(kind) is not Literal:
        return ()
    values, names = [str(value) for value in get_args(kind)], language_names()
    return [(value, names[value] if names.keys() >= {*values} else words_of(value)) for value in values]


def _plain(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without null and without what is written beside it; and that."""
    marks: list[Any] = []
    while True:
        options = [part for part in get_args(kind) if part is not type(None)]
        if get_origin(kind) is Annotated:
            kind, *beside = get_args(kind)
            marks += beside
        elif _is_nullable(kind) and len(options) == 1:
            kind = options[0]
        else:
            return kind, tuple(marks)


def _is_nullable(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _may_send(field: FieldInfo, rights: Rights) -> bool:
    return all(needs.right in rights for needs in _needs(field))


def _needs(field: FieldInfo) -> Iterator[Needs]:
    return (mark for mark in field.metadata if isinstance(mark, Needs))
