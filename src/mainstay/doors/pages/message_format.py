"""Messages as people read them: with the labels of fields, and the formats of their organisation."""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Self

from markupsafe import Markup

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.field_labels import NO_LABELS, Labels, quote_label
from mainstay.doors.pages.formatting import format_date, format_moment
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.values.choices import label_in_text
from mainstay.values.email_address import NOT_AN_ADDRESS
from mainstay.values.fields import NOT_A_DATE, NOT_AN_ID
from mainstay.values.message import (
    Amount,
    CalendarDates,
    Duration,
    LocalMoment,
    LocalPeriod,
    Message,
    MessageValue,
    RenderedText,
    message_of,
    to_zone_time,
)
from mainstay.values.translated_format import TranslatedFormat
from mainstay.vocabulary.validation import EMPTY, NOT_A_BOOLEAN, NOT_ONE_OF, REQUIRED


class PageFormat(TranslatedFormat):
    """Renders messages for a person."""

    def __init__(self, display: DisplaySettings, labels: Labels = NO_LABELS) -> None:
        super().__init__(display.language)
        self._display = display
        self._labels = labels

    def render(self, message: Message | str) -> RenderedText:
        """Return the text of a message."""
        return RenderedText(super().render(message))

    def render_problem(self, message: Message | str, *, is_duration: bool = False) -> "Problem":
        """Return what is wrong with a field, to be completed by the label of the field."""
        if isinstance(message, str):
            return message if isinstance(message, Problem) else Problem(message)
        template = SENTENCES.get(message.template)
        values = {
            name: Duration(value) if is_duration and isinstance(value, int) else value
            for name, value in message.values.items()
        }
        sentence = self._language.translate(template) if template else ""
        return Problem(self.render(message), self._fill_known(sentence, values))

    def format_amount(self, amount: Amount) -> str:
        """Format an amount: `£1,548.00`."""
        return self._display.format_amount(amount.decimal, amount.currency)

    def format_decimal(self, text: str) -> str:
        """Format a quantity or a percentage."""
        return self._display.format_number(text.rstrip("0").rstrip(".") if "." in text else text)

    def format_date(self, text: str) -> str:
        """Format a date: `30 Nov 2026`."""
        return format_date(text, self._language)

    def format_dates(self, dates: CalendarDates) -> str:
        """Format whole days: `9-10 Nov 2026`, with a dash."""
        return self._language.format_date_range(*map(date.fromisoformat, dates))

    def format_moment(self, moment: LocalMoment) -> str:
        """Format a moment: `30 Nov 2026, 08:30`."""
        return self._format_moment(moment.text, moment.time_zone) + self._name_zone(moment.time_zone)

    def format_period(self, period: LocalPeriod) -> str:
        """Format the time between two moments: `30 Nov 2026, 08:30-10:00`, with a dash."""
        start, end = (to_zone_time(moment, period.time_zone) for moment in (period.starts_at, period.ends_at))
        last = f"{end:%H:%M}" if start.date() == end.date() else self._format_moment(period.ends_at, period.time_zone)
        zone = self._name_zone(period.time_zone)
        return f"{self._format_moment(period.starts_at, period.time_zone)}\N{EN DASH}{last}{zone}"

    def format_field(self, name: str) -> str:
        """Return the label of an input field, in quotes."""
        return quote_label(name, self._labels, self._language)

    def _format_moment(self, text: str, time_zone: str) -> str:
        return format_moment(text, time_zone, self._language)

    def _name_zone(self, time_zone: str) -> str:
        """Name the city of a time zone, unless it is the person's own zone."""
        city = time_zone.rpartition("/")[2].replace("_", " ")
        return "" if time_zone == self._display.zone else f" ({city})"

    def _fill_known(self, template: str, values: Mapping[str, MessageValue]) -> str:
        """Fill in the values, and leave the placeholders of the label."""
        placeholders = {name: f"{{{name}}}" for name in _LABEL_PLACEHOLDERS}
        return self.fill(template, {**placeholders, "date_example": self._display.date_example, **values})


class Problem(RenderedText):
    """What is wrong with a field, as in `is not a date`; and if there is a better one, the sentence with its label."""

    __slots__ = ("sentence",)
    sentence: str

    def __new__(cls, text: str, sentence: str = "") -> Self:
        """Make a problem; the sentence has placeholders for the label."""
        problem = super().__new__(cls, text)
        problem.sentence = sentence
        return problem


def problem_sentence(label: str, problem: str) -> str:
    """Return what is wrong with a field as a sentence: `Enter a name.`."""
    # Templates pass translated labels, which are escaped already; the sentence is escaped as a whole.
    label = current_language().translate(label.unescape() if isinstance(label, Markup) else label)
    # The label of a field in a row begins with the row: `Parts, row 2: Quantity`.
    row, _, label = label.rpartition(": ")
    if row:
        return f"{row}: {problem_sentence(label, problem)}"
    sentence = problem.sentence if isinstance(problem, Problem) else ""
    if not sentence:
        return f"{label} {problem}."
    in_sentence = label_in_text(label)
    if "{a_label}" in sentence and in_sentence.rpartition(" ")[2] in _NOT_NOUNS:
        return translate_text("{label} is required.", label=label)
    return sentence.format(label=label, label_in_sentence=in_sentence, a_label=_add_article(in_sentence))


def duration_problem(label: str, error: ValueError) -> str:
    """Return why a typed duration is not understood, as a sentence. No part of it depends on the organisation."""
    page_format = PageFormat(DisplaySettings("UTC", language=current_language()))
    return problem_sentence(label, page_format.render_problem(message_of(error)))


# Labels that end with one of these, such as `Starts` or `Paid on`, take no article.
_NOT_NOUNS = frozenset(
    {"after", "before", "by", "ends", "finished", "from", "on", "since", "started", "starts", "to", "until"}
)


def _add_article(noun: str) -> str:
    """Return a label with its article, unless it is a plural or begins with `your`."""
    is_plural = noun.endswith("s") and not noun.endswith("ss")
    if is_plural or noun.startswith("your "):
        return noun
    return translate_text("an {noun}", noun=noun) if noun[:1] in "aeiou" else translate_text("a {noun}", noun=noun)


_LABEL_PLACEHOLDERS = ("label", "label_in_sentence", "a_label")
# Sentences for the usual problems of a field, by the template of the problem.
SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        REQUIRED: "Enter {a_label}.",
        EMPTY: "Enter {a_label}.",
        "is required for a new record": "Enter {a_label}.",
        "is required without {item}": "Enter {a_label}, or choose an item from the price list.",
        "is longer than {max_length} characters": "{label} must be {max_length} characters or fewer.",
        "has fewer than {min_length} characters": "{label} must have at least {min_length} characters.",
        "is not a whole number": "{label} must be a whole number.",
        NOT_A_BOOLEAN: "{label} must be yes or no.",
        "is too large": "{label} is too large.",
        "is below {ge}": "{label} must be {ge} or more.",
        "is above {le}": "{label} must be {le} or less.",
        NOT_ONE_OF: "Choose {choices} for {label_in_sentence}.",
        NOT_AN_ID: "{label} was not found. Choose one from the list.",
        NOT_AN_ADDRESS: "Enter a valid email, e.g. kim@example.com.",
        NOT_A_DATE: "{label} must be a date, such as {date_example}.",
    }
)
