"""The types of input fields, with their rules and error messages."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StringConstraints

from mainstay.values.countries import COUNTRIES
from mainstay.values.descriptions import describe
from mainstay.values.email_address import MAX_ADDRESS_LENGTH, check_address
from mainstay.values.ids import is_id
from mainstay.values.message import DecimalNumber, Message
from mainstay.values.moments import is_time_zone, moment_text, parse_moment
from mainstay.values.money import CURRENCIES, MAX_STORED, UNIT, TooLargeError, parse_price, price_text

# Patterns contain line and paragraph separators literally: no escape for them works in every regex engine.
_SEPARATORS = "\u2028\u2029"
# Texts contain no control characters, because they break email headers and pages.
_NO_CONTROL = rf"^[^\x00-\x1f\x7f-\x9f{_SEPARATORS}]*$"
_NO_CONTROL_BUT_LINES = rf"^[^\x00-\x09\x0b-\x1f\x7f-\x9f{_SEPARATORS}]*$"
# Every address matches this pattern, but not every match is an address: `check_address` decides.
_EMAIL = r"^[^\s@\x00-\x1f\x7f-\x9f]+@[^\s@\x00-\x1f\x7f-\x9f]+$"
_COLOUR = r"^#[0-9A-Fa-f]{6}$"


@dataclass(frozen=True, slots=True)
class InputKind:
    """Annotates a type with the input that people get, if it is not a line of text."""

    kind: str


@dataclass(frozen=True, slots=True)
class DefaultValue:
    """Annotates an optional input with the value that it has by default in a new record."""

    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(InputKind):
    """Annotates the hash of a stored picture: people upload the file."""

    kind: str = "file"
    # The largest upload in bytes, and the media types that the browser offers to choose from.
    max_bytes: int
    media_types: tuple[str, ...]
    # The picture is redrawn with no side longer than this.
    max_side: int
    # The field that gets the size of the stored picture.
    size_field: str


# Annotates a value that no form asks for.
NOT_IN_FORMS = InputKind("")


# The name of a stored file: the SHA-256 of its content.
_STORED_NAME = r"^[0-9a-f]{64}$"


def _match_pattern(pattern: str, problem: Message) -> AfterValidator:
    """Return a validator of a pattern, with the error message for text that does not match."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(problem)
        return text

    return AfterValidator(check)


def _pattern_field(pattern: str, **extra: str) -> Any:
    return Field(json_schema_extra={"pattern": pattern, **extra})


def _check_visible(text: str) -> str:
    # Stripping removes only blanks; other invisible characters would leave nothing to see or click on.
    if not any(map(str.isprintable, text)):
        raise ValueError(Message("is empty"))
    return text


_ONE_LINE = _match_pattern(_NO_CONTROL, Message("contains a tab, a line break or another control character"))
MAX_LINE_LENGTH, MAX_PARAGRAPH_LENGTH = 200, 2000
TextLine = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LINE_LENGTH),
    _ONE_LINE,
    AfterValidator(_check_visible),
    _pattern_field(_NO_CONTROL),
]

ExternalRef = Annotated[
    TextLine | None, Field(title="External ID", description="ID in your other software. Must be unique.")
]


def _remove_duplicates(words: list[str]) -> list[str]:
    unique: dict[str, str] = {}
    for word in words:
        unique.setdefault(word.casefold(), word)
    return list(unique.values())


# Annotates search words: repeated words are removed, and each keeps its first spelling.
WITHOUT_DUPLICATES = AfterValidator(_remove_duplicates)
PostalCode = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20), _ONE_LINE, _pattern_field(_NO_CONTROL)
]
StoredFileName = Annotated[
    str, _match_pattern(_STORED_NAME, Message("is not the name of a file")), _pattern_field(_STORED_NAME)
]
Paragraph = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_PARAGRAPH_LENGTH),
    _match_pattern(_NO_CONTROL_BUT_LINES, Message("contains a tab or another control character")),
    AfterValidator(_check_visible),
    _pattern_field(_NO_CONTROL_BUT_LINES),
    InputKind("area"),
]
# The words of one email. With the values of its placeholders, a text may be longer than its template.
EmailSubject = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    _ONE_LINE,
    AfterValidator(_check_visible),
    _pattern_field(_NO_CONTROL),
]
EmailText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000),
    _match_pattern(_NO_CONTROL_BUT_LINES, Message("contains a tab or another control character")),
    AfterValidator(_check_visible),
    _pattern_field(_NO_CONTROL_BUT_LINES),
    InputKind("area"),
]
Phone = Annotated[TextLine, InputKind("tel")]
Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MAX_ADDRESS_LENGTH),
    AfterValidator(check_address),
    _pattern_field(_EMAIL, format="email"),
    InputKind("email"),
]
# Stored in lower case, so that every colour has only one form.
Colour = Annotated[
    str,
    _match_pattern(_COLOUR, Message("is not a colour such as #3366cc")),
    AfterValidator(str.lower),
    _pattern_field(_COLOUR),
    InputKind("colour"),
]


def _check_web_address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s\x00-\x1f\x7f-\x9f]+", text, re.IGNORECASE):
        raise ValueError(Message("is not an address such as https://example.com/webhooks"))
    return text


# Only the form is checked here: `AddressGuard` decides whether the address may be called.
WebAddress = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=2000),
    AfterValidator(_check_web_address),
    Field(json_schema_extra={"format": "uri"}),
    InputKind("url"),
]


def _check_decimal(problem: Message, lowest: int, highest: int) -> BeforeValidator:
    """Return a validator of a decimal with at most four decimals, within bounds."""
    too_large = Message("is too large; the maximum is {maximum}", maximum=DecimalNumber(str(highest // UNIT)))

    def read(given: object) -> int:
        # `repr` returns the digits in which a JSON number within these bounds was written.
        text = repr(given) if type(given) in {int, float} else given
        try:
            stored = parse_price(str(text))
        except TooLargeError:
            raise ValueError(too_large) from None
        except ValueError:
            raise ValueError(problem) from None
        if not lowest <= stored <= highest:
            raise ValueError(too_large if abs(stored) > highest else problem)
        return stored

    return BeforeValidator(read, json_schema_input_type=str | float)


# A decimal stored in ten-thousandths; it is serialised in the form in which it was sent, which people can read in a
# history.
_TenThousandths = Annotated[int, PlainSerializer(price_text, return_type=str, when_used="json")]


_NOT_A_PRICE = Message("is not a number such as 85.50, from 0, with at most four decimals")


# An amount per unit.
Price = Annotated[
    _TenThousandths,
    _check_decimal(_NOT_A_PRICE, 0, MAX_STORED),
    Field(description='Text such as "85.50", up to four decimals, or a number.'),
    InputKind("price"),
]
# The price of an hour, with a bound that lets a database multiply it by a day's work and add many of them up.
HourlyRate = Annotated[
    _TenThousandths,
    _check_decimal(_NOT_A_PRICE, 0, 10**8 * UNIT),
    Field(description='Text such as "85.50", up to four decimals, or a number.'),
    InputKind("price"),
]
Percent = Annotated[
    _TenThousandths,
    _check_decimal(
        Message("is not a percentage such as 19 or 5.5, from 0 to 100, with at most four decimals"), 0, 100 * UNIT
    ),
    Field(description='Text such as "5.5".'),
    InputKind("decimal"),
]
# The price or deduction of a document line.
SignedPrice = Annotated[
    _TenThousandths,
    _check_decimal(
        Message("is not a number such as 85.50 or -20, with at most four decimals"), -MAX_STORED, MAX_STORED
    ),
    Field(description='Text such as "85.50", up to four decimals, or a number.'),
    InputKind("price"),
]
SignedQuantity = Annotated[
    _TenThousandths,
    _check_decimal(
        Message("is not a quantity such as 2, 0.5 or -1, with at most four decimals"),
        -(10**7) * UNIT,
        10**7 * UNIT,
    ),
    Field(description='Text such as "2" or "0.5".'),
    InputKind("decimal"),
]
# A quantity.
Quantity = Annotated[
    _TenThousandths,
    _check_decimal(Message("is not a quantity such as 2 or 0.5, above 0, with at most four decimals"), 1, 10**7 * UNIT),
    Field(description='Text such as "2" or "0.5".'),
    InputKind("decimal"),
]


def _to_moment(text: str) -> str:
    try:
        return moment_text(parse_moment(text))
    except ValueError:
        raise ValueError(Message("is not a moment such as 2026-11-15T10:30:50Z")) from None


# A moment with its offset from UTC, stored as all moments are.
Moment = Annotated[
    str, AfterValidator(_to_moment), Field(json_schema_extra={"format": "date-time"}), InputKind("moment")
]


# The template of the error message for a text that is not a date.
NOT_A_DATE = "is not a date such as 2026-11-15"


def _check_day(text: str) -> str:
    # Python also accepts `20261115` and `2026-W46-7`.
    try:
        is_day = date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    if not is_day:
        raise ValueError(Message(NOT_A_DATE))
    return text


# A date in the organisation's calendar.
Day = Annotated[str, AfterValidator(_check_day), Field(json_schema_extra={"format": "date"}), InputKind("date")]


# The years of stored dates: another year is a typing error, and date calculations stay within the calendar.
ALLOWED_YEARS = range(2000, 2100)
WRONG_YEAR = Message("is outside the years {first} to {last}", first=ALLOWED_YEARS[0], last=ALLOWED_YEARS[-1])


def _check_year(day: str) -> str:
    if date.fromisoformat(day).year not in ALLOWED_YEARS:
        raise ValueError(WRONG_YEAR)
    return day


# A date that is stored. A date that only filters a list may be in any year.
StoredDay = Annotated[Day, AfterValidator(_check_year)]


def _check_whole_number(given: object) -> object:
    # In query strings Pydantic would also accept `1_0`, `+5`, `05`, `5.0` and surrounding spaces.
    if isinstance(given, str) and not re.fullmatch("0|-?[1-9][0-9]*", given):
        raise ValueError(Message("is not a whole number"))
    # In JSON, 10.0 is a whole number too.
    return int(given) if isinstance(given, float) and given.is_integer() else given


WholeNumber = Annotated[int, BeforeValidator(_check_whole_number)]


def _check_true_or_false(given: object) -> object:
    # In query strings Pydantic would also accept `1`, `on`, `Yes` and others.
    if isinstance(given, str) and given not in {"true", "false"}:
        raise ValueError(Message("is not true or false"))
    return given


# A boolean in a query string. JSON has a type of its own for it.
QueryBool = Annotated[bool, BeforeValidator(_check_true_or_false)]

# The field that asks for the next page of a list; each list declares by its type whose id it is.
STARTING_AFTER: Any = Field(default=None, description=describe("[[The last ID of the previous page.]]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReference(InputKind):
    """Annotates the id or number of another record: people pick the record."""

    kind: str = "reference"
    # The prefix of these ids, and the status that filters the list of records to pick from.
    prefix: str
    status: str | None = None


@dataclass(frozen=True, slots=True)
class IdValidator(AfterValidator):
    """A validator of ids that records the prefix of the ids."""

    prefix: str = ""


# The template of the error message for a text that is not an id, such as a name.
NOT_AN_ID = "is not the id of {record}"


def make_id_validator(prefix: str, label: str | None = None) -> IdValidator:
    """Return a validator that refuses text that cannot be the id of such a record.

    The message uses `label`, or else the prefix, as the name of the kind of record.
    """

    def check(text: str | None) -> str | None:
        if text is not None and not is_id(text, prefix):
            raise ValueError(Message(NOT_AN_ID, record=label or f"a {prefix}"))
        return text

    return IdValidator(check, prefix)


def _check_one_of(allowed: Any, problem: Message) -> AfterValidator:
    def check(text: str) -> str:
        if text not in allowed:
            raise ValueError(problem)
        return text

    return AfterValidator(check)


Country = Annotated[
    str,
    _check_one_of(COUNTRIES, Message("is not a country code such as GB")),
    Field(description="ISO 3166, two letters."),
    InputKind("country"),
]
Currency = Annotated[
    str,
    _check_one_of(CURRENCIES, Message("is not a currency code such as EUR")),
    Field(description="ISO 4217."),
    InputKind("currency"),
]


def _check_time_zone(name: str) -> str:
    if not is_time_zone(name):
        raise ValueError(Message("is not a time zone such as Europe/Berlin"))
    return name


TimeZone = Annotated[
    str,
    AfterValidator(_check_time_zone),
    Field(description="E.g. Europe/Berlin."),
    InputKind("zone"),
]


def none_if_omitted() -> None:
    """Return None. As a default factory it lets a field be left out; a default would also let null clear the field."""


def omittable_field(**details: Any) -> Any:
    """Return a field that may be left out of a change but not set to null."""
    return Field(default_factory=none_if_omitted, **details)
