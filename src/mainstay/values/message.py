"""Messages: English templates with typed values. Rules return messages, and each door renders them for its readers.

The template is also the key of its translation, so it is always a literal: `Message("{invoice} is void.", invoice=…)`.
A value is a text that is shown as it is (a name, a number, what someone typed), a count, another message, several of
these, or one of the types below. Programs get values as in the API; people get them in the formats of their
organisation and language.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, Union
from zoneinfo import ZoneInfo

from mainstay.values.durations import hours_text
from mainstay.values.moments import parse_moment
from mainstay.values.sizes import size_text


class TypedValue(Protocol):
    """A value with a type, which decides how it is rendered."""

    def format(self, message_format: "MessageFormat") -> str:
        """Return the value as text."""


class Amount(NamedTuple):
    """An amount of money, as a decimal text."""

    decimal: str
    currency: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the amount as text."""
        return message_format.format_amount(self)


class DecimalNumber(NamedTuple):
    """A quantity or a percentage, as a decimal text."""

    text: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the number as text."""
        return message_format.format_decimal(self.text)


class CalendarDate(NamedTuple):
    """A date, such as `2026-11-30`."""

    text: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the date as text."""
        return message_format.format_date(self.text)


class CalendarDates(NamedTuple):
    """The whole days from a date to another, which may be the same."""

    first: str
    last: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the days as text."""
        return message_format.format_dates(self)


class LocalMoment(NamedTuple):
    """A stored moment, shown as the local time of a time zone."""

    text: str
    time_zone: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the local time as text."""
        return message_format.format_moment(self)


class LocalPeriod(NamedTuple):
    """The time between two stored moments, shown as local times of a time zone."""

    starts_at: str
    ends_at: str
    time_zone: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the period as text."""
        return message_format.format_period(self)


class Duration(NamedTuple):
    """A time worked or planned, in minutes."""

    minutes: int

    def format(self, _message_format: "MessageFormat") -> str:
        """Return the duration as text: `7:30`."""
        return hours_text(self.minutes)


class FileSize(NamedTuple):
    """A number of bytes."""

    byte_count: int

    def format(self, _message_format: "MessageFormat") -> str:
        """Return the size as text: `3.4 MB`."""
        return size_text(self.byte_count)


class FieldName(NamedTuple):
    """An input field by the name that programs send, such as `siteId`. People know it by its label."""

    name: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the name or the label."""
        return message_format.format_field(self.name)


class Choice(NamedTuple):
    """One of a few fixed values, such as a status. People know it by its label."""

    value: str

    def format(self, message_format: "MessageFormat") -> str:
        """Return the value or its label, as it stands within a sentence."""
        return message_format.format_choice(self.value)


class PossibleChoices(NamedTuple):
    """The fixed values from which one can be chosen."""

    values: tuple[str, ...]

    def format(self, message_format: "MessageFormat") -> str:
        """Return the values or their labels."""
        return message_format.format_possible_choices(self.values)


MessageValue = Union[str, int, TypedValue, "Message", list[Any]]


class Message:
    """A template with its values. If it has a plural template, its value `count` decides between the two."""

    __slots__ = ("for_programs", "plural", "template", "values")

    def __init__(
        self,
        template: str,
        /,
        *,
        plural: str | None = None,
        for_programs: "Message | None" = None,
        **values: MessageValue,
    ) -> None:
        self.template = template
        self.plural = plural
        # What only programs need to know, such as the operation that lists the records to choose from.
        self.for_programs = for_programs
        self.values: Mapping[str, MessageValue] = values

    @classmethod
    def from_template(cls, template: str, values: Mapping[str, MessageValue] | None = None) -> "Message":
        """Make a message from a template that was declared elsewhere, such as the title of an operation."""
        message = cls(template)
        message.values = values or {}
        return message

    @property
    def count(self) -> int:
        """The number that decides between the two templates."""
        count = self.values["count"]
        return count if isinstance(count, int) else 0

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same template with the same values."""
        return isinstance(other, Message) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.template)

    def __repr__(self) -> str:
        return f"Message({str(self)!r})"

    def __str__(self) -> str:
        """Return the text for programs."""
        return PROGRAM_FORMAT.render(self)

    def _key(self) -> tuple[object, ...]:
        return self.template, self.plural, self.for_programs, self.values


class RenderedText(str):
    """A text that is not translated, because a door has rendered it already or people wrote it."""

    __slots__ = ()


NO_TEXT = RenderedText()
# A message that is still to be rendered for its readers, or a text that is shown as it is.
ShownMessage = Message | RenderedText


class MessageFormat:
    """How messages are rendered: here in English and for programs. Doors for people have their own subclass."""

    # Whether a preview also names the events that webhooks would get.
    shows_events = True

    def render(self, message: Message | str) -> str:
        """Return the text of a message."""
        if isinstance(message, str):
            return message
        return self.add_detail(self.fill(self.choose_template(message), message.values), message.for_programs)

    def fill(self, template: str, values: Mapping[str, MessageValue]) -> str:
        """Return a template with the values filled in. Values are not searched for further placeholders."""
        return template.format_map({name: self.format_value(value) for name, value in values.items()})

    def choose_template(self, message: Message) -> str:
        """Return the template, or the plural one if there are several."""
        return message.plural if message.plural is not None and message.count != 1 else message.template

    def add_detail(self, text: str, detail: Message | None) -> str:
        """Add what only programs need to know: as a sentence after a sentence, and otherwise as a clause."""
        if detail is None:
            return text
        return f"{text} {self.render(detail)}" if text.endswith((".", "?")) else f"{text}; {self.render(detail)}"

    def format_value(self, value: MessageValue) -> str:
        """Return a value as text."""
        if isinstance(value, (str, Message)):
            return self.render(value)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, list):
            return self.join([self.format_value(item) for item in value])
        return value.format(self)

    def format_amount(self, amount: Amount) -> str:
        """Format an amount: `1548.00 GBP`."""
        return f"{amount.decimal} {amount.currency}"

    def format_decimal(self, text: str) -> str:
        """Format a quantity or a percentage."""
        return text

    def format_date(self, text: str) -> str:
        """Format a date."""
        return text

    def format_dates(self, dates: CalendarDates) -> str:
        """Format whole days: `2026-11-09 to 2026-11-10`."""
        first, last = (self.format_date(day) for day in dates)
        return first if first == last else f"{first} to {last}"

    def format_moment(self, moment: LocalMoment) -> str:
        """Format a moment: `2026-11-30T08:30 (Europe/London)`."""
        return f"{to_zone_time(moment.text, moment.time_zone):%Y-%m-%dT%H:%M} ({moment.time_zone})"

    def format_period(self, period: LocalPeriod) -> str:
        """Format the time between two moments: `2026-11-15 from 10:00 to 11:30 (Europe/London)`."""
        start, end = (to_zone_time(moment, period.time_zone) for moment in (period.starts_at, period.ends_at))
        day = "" if start.date() == end.date() else f" on {end.date().isoformat()}"
        return f"{start.date().isoformat()} from {start:%H:%M} to {end:%H:%M}{day} ({period.time_zone})"

    def format_field(self, name: str) -> str:
        """Format the name of an input field."""
        return name

    def format_choice(self, value: str) -> str:
        """Format one of a few fixed values."""
        return value

    def format_possible_choices(self, values: Sequence[str]) -> str:
        """Format the values from which one can be chosen: `'work', 'travel' or 'other'`."""
        return join_with("or", [f"'{value}'" for value in values])

    def join(self, items: Sequence[str]) -> str:
        """Join several values: `Grace, Ben and Tom`."""
        return join_with("and", items)


PROGRAM_FORMAT = MessageFormat()


def join_with(word: str, items: Sequence[str]) -> str:
    """Join several texts, with a word before the last: `Grace, Ben and Tom`."""
    if not items:
        return ""
    *others, last = items
    return f"{', '.join(others)} {word} {last}" if others else last


def message_of(error: ValueError) -> Message:
    """Return the message with which an error was raised."""
    [message] = error.args
    return message if isinstance(message, Message) else Message("is not valid")


def to_zone_time(moment: str, time_zone: str) -> datetime:
    """Return a stored moment as the local time of a time zone."""
    return parse_moment(moment).astimezone(ZoneInfo(time_zone))
