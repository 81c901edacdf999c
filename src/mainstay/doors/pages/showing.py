"""How a record is shown to people: each of its fields as words, read off the model of what goes out."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from mainstay.doors.pages.words import date_words, moment
from mainstay.paper.locales import written
from mainstay.terms.rights import Needs, Rights
from mainstay.terms.shapes import Shown, State
from mainstay.terms.wire import MoneyText, PriceText
from mainstay.values.date_order import date_order
from mainstay.values.durations import hours_text
from mainstay.values.money import with_decimals
from mainstay.values.names import country_names, currency_names, language_names, zone_names
from mainstay.values.words import Word, words_of
from mainstay.values.written import plain_amount, plain_price, typed_amount

# What stands where there is nothing to tell: a dash as wide as an n.
NOTHING = "\N{EN DASH}"


# A date and, on a clock of 24 hours, a time.
_TIME = re.compile(r"(.*[^ T])[ T]+([0-9]{1,2})[:.]([0-9]{2})")


class Here(NamedTuple):
    """Where whoever looks is: what their clocks show, in which country, and with which money; none stays plain."""

    zone: str
    country: str | None = None
    currency: str | None = None

    def number(self, text: str) -> str:
        """A decimal as it is written here."""
        return written(text, self.country) if self.country else text

    def money(self, text: str) -> str:
        """An amount or a price as it is written here."""
        return self.number(self._decimals(text))

    def read(self, typed: str) -> str:
        """A number that was typed here, as a plain decimal."""
        return plain_amount(typed, self.country) if self.country else plain_price(typed)

    def to_type(self, plain: str) -> str:
        """A plain decimal as it stands where someone types here."""
        return typed_amount(plain, self.country) if self.country else plain

    def price_to_type(self, plain: str) -> str:
        """An amount or a price likewise."""
        return self.to_type(self._decimals(plain))

    @property
    def date_example(self) -> str:
        """What a field for a date shows while it is empty."""
        return date_order(self.country).example

    @property
    def time_example(self) -> str:
        """The same of a field for a date and a time."""
        return f"{self.date_example} hh:mm"

    def date_to_type(self, day: str) -> str:
        """A date as it stands where someone types here; what is none, as it is."""
        try:
            return date_order(self.country).write(date.fromisoformat(day))
        except ValueError:
            return day

    def read_date(self, typed: str) -> str:
        """A date that was typed here, as ISO 8601; what is none goes on as it is, to be refused in words."""
        found = date_order(self.country).read(typed)
        return found.isoformat() if found else typed

    def time_to_type(self, shown: str) -> str:
        """What clocks show, such as `2026-11-15T10:30`, as it stands where someone types here."""
        day, _, time = shown.partition("T")
        return f"{self.date_to_type(day)} {time}" if time else shown

    def read_time(self, typed: str) -> str:
        """What clocks show, likewise."""
        found = _TIME.fullmatch(typed.strip())
        return f"{self.read_date(found[1])}T{found[2]:0>2}:{found[3]}" if found else typed

    def _decimals(self, text: str) -> str:
        return with_decimals(text, self.currency) if self.currency else text


class Cell(NamedTuple):
    """One field of a record, in words."""

    name: str
    label: str
    text: str
    # `state`, `number`, `amount`, `colour` or plain text.
    kind: str = "text"
    tone: str = ""
    # Where the record is that it names, if it names one.
    to: str = ""


def cells(
    model: type[BaseModel],
    names: Sequence[str],
    record: Mapping[str, Any],
    here: Here,
    choices: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({}),
) -> list[Cell]:
    """These fields of a record, by the names they have in JSON; what is one of some choices by the words for it."""
    return [
        _chosen(model, name, record[name], dict(choices[name]))
        if name in choices
        else _cell(model, name, record[name], here)
        for name in names
    ]


def known(shown: Sequence[Cell]) -> list[Cell]:
    """Those in which there is something to tell."""
    return [cell for cell in shown if cell.text != NOTHING]


def visible(model: type[Shown], names: Sequence[str], rights: Rights) -> list[str]:
    """Those of these fields that people with these rights are ever shown."""
    needed = {
        field.alias or name: mark.right
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Needs)
    }
    return [name for name in names if name not in needed or needed[name] in rights]


def is_amount(model: type[Shown], name: str) -> bool:
    """Whether a field holds what stands one below the other by its decimals: a price and the like."""
    return name in told(model) and told(model)[name][1] in _AMOUNTS


def labels(model: type[Shown], names: Sequence[str]) -> dict[str, str]:
    """What people call these fields."""
    return {name: told(model)[name][0] for name in names}


def _chosen(model: type[BaseModel], name: str, value: Sequence[str] | None, words: Mapping[str, str]) -> Cell:
    """Which of some choices a record has, where none means all."""
    text = "All" if value is None else "\n".join(words.get(one, one) for one in value)
    return Cell(name, told(model)[name][0], text)


def _cell(model: type[BaseModel], name: str, value: Any, here: Here) -> Cell:
    label, kind = told(model)[name]
    if kind in _AMOUNTS:
        write = here.number if name in _COUNTED else here.money
        return Cell(name, label, write(value) if value else NOTHING, "amount")
    if value is None or value in ([], ""):
        return Cell(name, label, NOTHING)
    if name == "status" and issubclass(model, Shown) and model.states:
        state = state_of(model, value)
        return Cell(name, label, state.word, "state", state.tone)
    if number := _number(name, value, here.zone):
        return Cell(name, label, number, "number")
    return Cell(name, label, _words(kind, name, value), name if name == "colour" else "text")


def _number(name: str, value: Any, zone: str) -> str | None:
    """A value that is a moment, a date or a length of time, as its name says; None for any other."""
    if is_moment(name):
        return moment(value, zone)
    if name in _WORKED:
        return hours_text(value)
    return date_words(value) if is_date(name) else None


def is_moment(name: str) -> bool:
    """Whether a field holds a moment, as its name says."""
    return name.endswith(_MOMENTS) or name == _MOMENT


def is_date(name: str) -> bool:
    """Whether a field holds a date, as its name says."""
    return name.endswith(_DATES) or name == _DATE


def _words(kind: Any, name: str, value: Any) -> str:
    """A value in words; one of a few by what people call it."""
    if name in _NAMED:
        return _NAMED[name]().get(value, str(value))
    if isinstance(kind, type) and issubclass(kind, Word):
        return kind(value).words
    return words_of(value) if get_origin(kind) is Literal else _text(value)


_ADDRESS = "line1"
# How the names of moments and of dates end, and what one is called that stands alone.
_MOMENTS, _MOMENT = ("At", "Since"), "at"
_DATES, _DATE = ("On", "Date", "Until"), "on"
_AMOUNTS = {PriceText, MoneyText}
# What is written as prices are, and is no money.
_COUNTED = {"percent", "quantity"}
# How long was worked, which people read in hours.
_WORKED = {"minutes", "breakMinutes", "billableMinutes"}
# Fields that hold codes, by the names they have in JSON, and what people call those.
_NAMED: dict[str, Callable[[], dict[str, str]]] = {
    "country": country_names,
    "currency": currency_names,
    "timeZone": zone_names,
    "language": language_names,
}


def state_of(model: type[Shown], status: str) -> State:
    """How people are told a state."""
    return model.states[status]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list) and value and isinstance(value[0], dict) and value[0].keys() != _SPAN:
        return "\n".join(map(_row, value))
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict) and value.keys() == _SPAN:
        return f"{value['from']}\N{EN DASH}{value['until']}"
    if isinstance(value, dict):
        # An address is known by its look; anything else needs the names of its parts to be understood.
        named = len(value) > 1 and _ADDRESS not in value
        parts = [
            f"{words_of(name)}: {_words(str, name, part)}" if named else _words(str, name, part)
            for name, part in value.items()
            if part
        ]
        return "\n".join(parts)
    return str(value)


_SPAN = {"from", "until"}


def _row(row: Mapping[str, Any]) -> str:
    """A row of a short list; an identifier of ours tells people nothing."""
    return " ".join(_text(part) for name, part in row.items() if part is not None and not name.endswith("Id"))


@cache
def told(model: type[BaseModel]) -> dict[str, tuple[str, Any]]:
    """The label and the type of each field."""
    return {
        field.alias or name: (field.title or words_of(name.removesuffix("_at")), _plain(field.annotation))
        for name, field in model.model_fields.items()
    }


def _plain(kind: Any) -> Any:
    options = [part for part in get_args(kind) if part is not type(None)]
    nullable = type(None) in get_args(kind) and len(options) == 1
    return options[0] if nullable and get_origin(kind) is not list else kind
