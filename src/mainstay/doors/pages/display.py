"""Display of records: each field as text, derived from the output model."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from mainstay.documents.locales import (
    format_decimal_of_country,
    format_money_of_country,
    format_percent_of_country,
)
from mainstay.doors.pages.formatting import format_date, format_moment, map_link_of, to_phone_digits
from mainstay.doors.pages.page_language import current_language, translate_label, translate_text
from mainstay.values.choices import TextEnum, to_label
from mainstay.values.date_order import date_order_of
from mainstay.values.durations import hours_text
from mainstay.values.money import pad_decimals
from mainstay.values.names import country_names, currency_names, language_names, zone_names
from mainstay.values.reader_language import ENGLISH, ReaderLanguage
from mainstay.values.typed_prices import localise_amount, normalise_amount, normalise_price
from mainstay.vocabulary.permissions import Permissions, RequiresPermission
from mainstay.vocabulary.record_json import MoneyText, PriceText
from mainstay.vocabulary.schemas import Output, StateLabel

# Shown for an empty value: an en dash.
EMPTY_TEXT = "\N{EN DASH}"


# A date and, on a clock of 24 hours, a time.
_DATE_AND_TIME = re.compile(r"(.*[^ T])[ T]+([0-9]{1,2})[:.]([0-9]{2})")


class DisplaySettings(NamedTuple):
    """The viewer's time zone, country and currency, by which values are formatted and read, and their language.

    Without a country or currency, values stay in their plain form.
    """

    zone: str
    country: str | None = None
    currency: str | None = None
    language: ReaderLanguage = ENGLISH

    def format_number(self, text: str) -> str:
        """Format a decimal."""
        return format_decimal_of_country(text, self.country) if self.country else text

    def format_percent(self, text: str) -> str:
        """Format a percentage: `20%`."""
        return format_percent_of_country(text, self.country) if self.country else f"{text}%"

    def format_money(self, text: str, currency: str | None = None) -> str:
        """Format an amount or a price in a currency, or else in that of the organisation: `£1,548.00`."""
        currency = currency or self.currency
        return self.format_amount(pad_decimals(text, currency), currency) if currency else self.format_number(text)

    def format_amount(self, text: str, currency: str) -> str:
        """Format an amount with its currency: `£1,548.00`."""
        return format_money_of_country(text, currency, self.country) if self.country else f"{text} {currency}"

    def parse_number(self, typed: str) -> str:
        """Parse a typed number to a plain decimal."""
        return normalise_amount(typed, self.country) if self.country else normalise_price(typed)

    def number_to_field(self, decimal: str) -> str:
        """Format a plain decimal for a form field."""
        return localise_amount(decimal, self.country) if self.country else decimal

    def price_to_field(self, decimal: str) -> str:
        """Format an amount or a price for a form field."""
        return self.number_to_field(pad_decimals(decimal, self.currency) if self.currency else decimal)

    @property
    def date_example(self) -> str:
        """The placeholder of a date field."""
        return date_order_of(self.country).example

    @property
    def time_example(self) -> str:
        """The placeholder of a field for a date and a time."""
        return f"{self.date_example} hh:mm"

    def date_to_field(self, day: str) -> str:
        """Format a date for a form field. Text that is no date is returned unchanged."""
        try:
            return date_order_of(self.country).format_date(date.fromisoformat(day))
        except ValueError:
            return day

    def parse_date(self, typed: str) -> str:
        """Parse a typed date to ISO 8601. Other text is returned unchanged, and the operation refuses it."""
        day = date_order_of(self.country).parse_date(typed)
        return day.isoformat() if day else typed

    def time_to_field(self, local_time: str) -> str:
        """Format a local time such as `2026-11-15T10:30` for a form field."""
        day, _, time = local_time.partition("T")
        return f"{self.date_to_field(day)} {time}" if time else local_time

    def parse_time(self, typed: str) -> str:
        """Parse a typed local time to ISO 8601. Other text is returned unchanged."""
        match = _DATE_AND_TIME.fullmatch(typed.strip())
        return f"{self.parse_date(match[1])}T{match[2]:0>2}:{match[3]}" if match else typed


class RecordCell(NamedTuple):
    """One field of a record, as text."""

    name: str
    label: str
    text: str
    # `state`, `number`, `amount`, `colour`, `place` or plain text.
    kind: str = "text"
    tone: str = ""
    # Where the field leads: to the record that it refers to, to the phone or the email program, or to the map.
    to: str = ""


def format_cells(
    model: type[BaseModel],
    names: Sequence[str],
    record: Mapping[str, Any],
    display: DisplaySettings,
    choices: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({}),
) -> list[RecordCell]:
    """Format fields of a record, by their JSON names. `choices` maps the values of a field to labels."""
    return [
        _format_choices(model, name, record[name], dict(choices[name]))
        if name in choices
        else _format_cell(model, name, record[name], display, record.get("currency"))
        for name in names
    ]


def drop_empty_cells(record_cells: Sequence[RecordCell]) -> list[RecordCell]:
    """Return the cells that are not empty."""
    return [cell for cell in record_cells if cell.text != EMPTY_TEXT]


def visible_fields(model: type[Output], names: Sequence[str], rights: Permissions) -> list[str]:
    """Return the fields that people with these permissions can see."""
    permissions = {
        field.alias or name: mark.permission
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, RequiresPermission)
    }
    return [name for name in names if name not in permissions or permissions[name] in rights]


def is_amount_field(model: type[Output], name: str) -> bool:
    """Return whether a field holds an amount, which tables align by its decimal point."""
    return name in describe_fields(model) and describe_fields(model)[name][1] in _AMOUNT_TYPES


def column_labels(model: type[Output], names: Sequence[str]) -> dict[str, str]:
    """Return the labels of fields by their names."""
    return {name: describe_fields(model)[name][0] for name in names}


def _format_choices(
    model: type[BaseModel], name: str, value: Sequence[str] | None, labels: Mapping[str, str]
) -> RecordCell:
    """Format the choices that a record has. None means all."""
    text = translate_text("All") if value is None else "\n".join(labels.get(chosen, chosen) for chosen in value)
    return RecordCell(name, describe_fields(model)[name][0], text)


def _format_cell(
    model: type[BaseModel], name: str, value: Any, display: DisplaySettings, currency: str | None
) -> RecordCell:
    label, kind = describe_fields(model)[name]
    if kind in _AMOUNT_TYPES:
        return RecordCell(
            name, label, _format_amount(name, value, display, currency) if value else EMPTY_TEXT, "amount"
        )
    if value is None or value in ([], ""):
        return RecordCell(name, label, EMPTY_TEXT)
    if name == "status" and issubclass(model, Output) and model.states:
        state = state_of(model, value)
        return RecordCell(name, label, state.label, "state", state.tone)
    if number := _format_by_name(name, value, display.zone):
        return RecordCell(name, label, number, "number")
    if isinstance(value, Mapping) and _ADDRESS_MARK in value:
        return RecordCell(name, label, _format_value(kind, name, value), "place", to=map_link_of(value))
    return RecordCell(
        name,
        label,
        _format_value(kind, name, value),
        name if name == "colour" else "text",
        to=_contact_link(name, value),
    )


def _contact_link(name: str, value: Any) -> str:
    """Return the link that calls or writes to someone, if the name of the field says that it holds their number."""
    if name.lower().endswith("phone"):
        return f"tel:{to_phone_digits(value)}"
    return f"mailto:{value}" if name.lower().endswith("email") and isinstance(value, str) else ""


def _format_amount(name: str, value: str, display: DisplaySettings, currency: str | None) -> str:
    """Format an amount in the currency of its record, or a number that is no money."""
    return display.format_number(value) if name in _PLAIN_NUMBER_FIELDS else display.format_money(value, currency)


def _format_by_name(name: str, value: Any, zone: str) -> str | None:
    """Format a moment, a date or a duration, recognised by the field's name. Return None for any other field."""
    if is_moment_field(name):
        return format_moment(value, zone)
    if name in _DURATION_FIELDS:
        return hours_text(value)
    return format_date(value) if is_date_field(name) else None


def is_moment_field(name: str) -> bool:
    """Return whether the name of a field says that it holds a moment."""
    return name.endswith(_MOMENT_ENDINGS) or name == _MOMENT_NAME


def is_date_field(name: str) -> bool:
    """Return whether the name of a field says that it holds a date."""
    return name.endswith(_DATE_ENDINGS) or name == _DATE_NAME


def _format_value(kind: Any, name: str, value: Any) -> str:
    """Format a value as text, by its label if it is a code or one of a few choices."""
    if name in _CODE_LABELS:
        return current_language().translate(_CODE_LABELS[name]().get(value, str(value)))
    if isinstance(kind, type) and issubclass(kind, TextEnum):
        return current_language().translate(kind(value).label)
    return translate_label(value) if get_origin(kind) is Literal else _to_text(value)


_ADDRESS_MARK = "line1"
# How field names of moments and dates end, and the name that stands alone.
_MOMENT_ENDINGS, _MOMENT_NAME = ("At", "Since"), "at"
_DATE_ENDINGS, _DATE_NAME = ("On", "Date", "Until", "From"), "on"
_AMOUNT_TYPES = {PriceText, MoneyText}
# Fields of a price type that hold no money.
_PLAIN_NUMBER_FIELDS = {"percent", "quantity"}
# Minutes that are shown as hours.
_DURATION_FIELDS = {"minutes", "breakMinutes", "billableMinutes"}
# Fields that hold codes, by their JSON names, with the labels of the codes.
_CODE_LABELS: dict[str, Callable[[], dict[str, str]]] = {
    "country": country_names,
    "currency": currency_names,
    "timeZone": zone_names,
    "language": language_names,
}


def state_of(model: type[Output], status: str) -> StateLabel:
    """Return the label and tone of a status."""
    return model.states[status]


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return translate_text("Yes") if value else translate_text("No")
    if isinstance(value, list) and value and isinstance(value[0], dict) and value[0].keys() != _RANGE_KEYS:
        return "\n".join(map(_format_row, value))
    if isinstance(value, list):
        return ", ".join(map(_to_text, value))
    if isinstance(value, Mapping) and value.keys() == _RANGE_KEYS:
        return f"{value['from']}\N{EN DASH}{value['until']}"
    if isinstance(value, Mapping):
        # An address is recognisable without labels. The parts of any other object need theirs.
        has_labels = len(value) > 1 and _ADDRESS_MARK not in value
        parts = [
            f"{translate_label(name)}: {_format_value(str, name, part)}"
            if has_labels
            else _format_value(str, name, part)
            for name, part in value.items()
            if part
        ]
        return "\n".join(parts)
    return str(value)


_RANGE_KEYS = {"from", "until"}


def _format_row(row: Mapping[str, Any]) -> str:
    """Format a row of a list in one line, without internal ids."""
    return " ".join(_to_text(part) for name, part in row.items() if part is not None and not name.endswith("Id"))


@cache
def describe_fields(model: type[BaseModel]) -> dict[str, tuple[str, Any]]:
    """Return the label and the type of each field of a model."""
    return {
        field.alias or name: (field.title or to_label(name.removesuffix("_at")), _without_none(field.annotation))
        for name, field in model.model_fields.items()
    }


def _without_none(kind: Any) -> Any:
    options = [part for part in get_args(kind) if part is not type(None)]
    nullable = type(None) in get_args(kind) and len(options) == 1
    return options[0] if nullable and get_origin(kind) is not list else kind
