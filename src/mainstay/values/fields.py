"""The kinds of value that input fields are made of, with their rules and the words for what is wrong."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StringConstraints

from mainstay.values.ids import is_id
from mainstay.values.mailbox import LONGEST, check_address
from mainstay.values.moments import is_time_zone, moment_text, parse_moment
from mainstay.values.money import CURRENCIES, LARGEST, UNIT, TooLargeError, parse_price, price_text
from mainstay.values.places import COUNTRIES

# Line and paragraph separators stand in patterns as themselves: there is no escape for them that every engine reads.
_SEPARATORS = "\u2028\u2029"
# No text takes control characters: they break mail headers and pages.
_NO_CONTROL = rf"^[^\x00-\x1f\x7f-\x9f{_SEPARATORS}]*$"
_NO_CONTROL_BUT_LINES = rf"^[^\x00-\x09\x0b-\x1f\x7f-\x9f{_SEPARATORS}]*$"
# What every address matches, not what makes one: `mailbox` says that.
_EMAIL = r"^[^\s@\x00-\x1f\x7f-\x9f]+@[^\s@\x00-\x1f\x7f-\x9f]+$"
_COLOUR = r"^#[0-9A-Fa-f]{6}$"


@dataclass(frozen=True, slots=True)
class As:
    """Beside a kind of value: how people are asked for it, where that is not as a line of text."""

    kind: str


@dataclass(frozen=True, slots=True)
class Usual:
    """Beside a value that may be left out: what it is then, where a record is made."""

    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(As):
    """Beside the name of a picture that is kept: people are asked for the file."""

    kind: str = "file"
    # How many bytes are received at most, and what a browser offers to choose from.
    most: int
    accepts: tuple[str, ...]
    # It is redrawn with no side longer than this.
    longest_side: int
    # The field that gets the size of what is kept.
    size: str


# Beside a value that no person is asked for.
NOT_ASKED = As("")


# The name of a file that is kept: the SHA-256 of its content.
_KEPT_NAME = r"^[0-9a-f]{64}$"


def _matching(pattern: str, problem: str) -> AfterValidator:
    """A pattern, with words for what does not match it."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(problem)
        return text

    return AfterValidator(check)


def _shown(pattern: str, **more: str) -> Any:
    return Field(json_schema_extra={"pattern": pattern, **more})


def _visible(text: str) -> str:
    # What is stripped are blanks; there is more that nobody sees, and could click on.
    if not any(map(str.isprintable, text)):
        raise ValueError("is empty")
    return text


_ONE_LINE = _matching(_NO_CONTROL, "has a tab, a line break or another control character")
LONGEST_LINE, LONGEST_PARAGRAPH = 200, 2000
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_LINE),
    _ONE_LINE,
    AfterValidator(_visible),
    _shown(_NO_CONTROL),
]


def _each_once(words: list[str]) -> list[str]:
    kept: dict[str, str] = {}
    for word in words:
        kept.setdefault(word.casefold(), word)
    return list(kept.values())


# Beside words to find something by: each is kept once, as it was first written.
EACH_ONCE = AfterValidator(_each_once)
PostalCode = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20), _ONE_LINE, _shown(_NO_CONTROL)
]
KeptName = Annotated[str, _matching(_KEPT_NAME, "is not the name of a file"), _shown(_KEPT_NAME)]
Paragraph = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_PARAGRAPH),
    _matching(_NO_CONTROL_BUT_LINES, "has a tab or another control character"),
    AfterValidator(_visible),
    _shown(_NO_CONTROL_BUT_LINES),
    As("area"),
]
Phone = Annotated[Line, As("tel")]
Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=LONGEST),
    AfterValidator(check_address),
    _shown(_EMAIL, format="email"),
    As("email"),
]
# Kept in lower case, so that a colour has one form.
Colour = Annotated[
    str,
    _matching(_COLOUR, "is not a colour such as #3366cc"),
    AfterValidator(str.lower),
    _shown(_COLOUR),
    As("colour"),
]


def _web_address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s\x00-\x1f\x7f-\x9f]+", text, re.IGNORECASE):
        raise ValueError("is not an address such as https://example.com/webhooks")
    return text


# Checked for shape only: whether it may be called is found out where it is called from.
WebAddress = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=2000),
    AfterValidator(_web_address),
    Field(json_schema_extra={"format": "uri"}),
    As("url"),
]


def _decimal(problem: str, lowest: int, highest: int) -> BeforeValidator:
    """A decimal with at most four decimals, within bounds."""
    too_large = f"is too large: at most {highest // UNIT:,} is possible"

    def read(given: object) -> int:
        # A JSON number within the bounds of a price comes back from `repr` with the digits it was written with.
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


# A decimal as it is kept, in ten-thousandths; told again as it could have been sent: nobody reads those in a history.
_Parts = Annotated[int, PlainSerializer(price_text, return_type=str, when_used="json")]


# An amount per unit.
Price = Annotated[
    _Parts,
    _decimal("is not a decimal such as 85.50, from 0 and with at most four decimals", 0, LARGEST),
    Field(description='Text such as "85.50", up to four decimals; a number is taken by its digits.'),
    As("price"),
]
# What an hour costs: so little that a database multiplies it by all that is worked in a day, and adds many up.
HourlyRate = Annotated[
    _Parts,
    _decimal("is not a decimal such as 85.50, from 0 and with at most four decimals", 0, 10**8 * UNIT),
    Field(description='Text such as "85.50", up to four decimals; a number is taken by its digits.'),
    As("price"),
]
Percent = Annotated[
    _Parts,
    _decimal("is not a percentage such as 19 or 5.5, from 0 to 100 and with at most four decimals", 0, 100 * UNIT),
    Field(description='Text such as "5.5".'),
    As("decimal"),
]
# What a line of a document costs, or takes off.
SignedPrice = Annotated[
    _Parts,
    _decimal("is not a decimal such as 85.50 or -20, with at most four decimals", -LARGEST, LARGEST),
    Field(description='Text such as "85.50", up to four decimals; a number is taken by its digits.'),
    As("price"),
]
SignedQuantity = Annotated[
    _Parts,
    _decimal("is not a quantity such as 2, 0.5 or -1, with at most four decimals", -(10**7) * UNIT, 10**7 * UNIT),
    Field(description='Text such as "2" or "0.5".'),
    As("decimal"),
]
# How many there are of something.
Quantity = Annotated[
    _Parts,
    _decimal("is not a quantity such as 2 or 0.5, above 0 and with at most four decimals", 1, 10**7 * UNIT),
    Field(description='Text such as "2" or "0.5".'),
    As("decimal"),
]


def _moment(text: str) -> str:
    try:
        return moment_text(parse_moment(text))
    except ValueError:
        raise ValueError("is not a moment such as 2026-11-15T10:30:50Z") from None


# An instant with its offset from UTC; kept as moments are kept.
Moment = Annotated[str, AfterValidator(_moment), Field(json_schema_extra={"format": "date-time"}), As("moment")]


def _day(text: str) -> str:
    # Python also reads `20261115` and `2026-W46-7`.
    try:
        is_day = date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    if not is_day:
        raise ValueError("is not a date such as 2026-11-15")
    return text


# A date, as the calendar of the organisation has it.
Day = Annotated[str, AfterValidator(_day), Field(json_schema_extra={"format": "date"}), As("date")]


# Whatever is done lies in these years: a year beyond them is mistyped, and reckoning with days stays in the calendar.
YEARS = range(2000, 2100)
ANOTHER_YEAR = f"is not within the years {YEARS[0]} to {YEARS[-1]}"


def _of_these_years(day: str) -> str:
    if date.fromisoformat(day).year not in YEARS:
        raise ValueError(ANOTHER_YEAR)
    return day


# One that is kept. What only narrows a list may lie anywhere.
KeptDay = Annotated[Day, AfterValidator(_of_these_years)]


def _whole(given: object) -> object:
    # In the words of a query Pydantic would also take `1_0`, `+5`, `05`, `5.0` and spaces around.
    if isinstance(given, str) and not re.fullmatch("0|-?[1-9][0-9]*", given):
        raise ValueError("is not a whole number")
    # In JSON, 10.0 is a whole number as much as 10 is.
    return int(given) if isinstance(given, float) and given.is_integer() else given


WholeNumber = Annotated[int, BeforeValidator(_whole)]


def _true_or_false(given: object) -> object:
    # In the words of a query Pydantic would also take `1`, `on`, `Yes` and more such.
    if isinstance(given, str) and given not in {"true", "false"}:
        raise ValueError("is not true or false")
    return given


# For what a query can ask. In JSON there is nothing to be told apart.
AskedBool = Annotated[bool, BeforeValidator(_true_or_false)]

# The field by which a list goes on; each list says by its type whose id it is.
LAST_SEEN: Any = Field(default=None, description="Goes on behind this id, the last of the page before.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(As):
    """Beside the id or number of another record: people pick the record."""

    kind: str = "reference"
    # The prefix of such ids, and the state by which their list is narrowed to those that can be meant.
    to: str
    status: str | None = None


@dataclass(frozen=True, slots=True)
class IdOf(AfterValidator):
    """Beside an id: whose it is."""

    prefix: str = ""


# How the words begin for what is no id: a name, perhaps, by which one is found.
NO_ID = "is not the id of"


def id_of(prefix: str, what: str | None = None) -> IdOf:
    """Refuse text that cannot be the id of such a record, whose prefix is what people call it if nothing else is."""

    def check(text: str | None) -> str | None:
        if text is not None and not is_id(text, prefix):
            raise ValueError(f"{NO_ID} {what or f'a {prefix}'}")
        return text

    return IdOf(check, prefix)


def _one_of(known: Any, problem: str) -> AfterValidator:
    def check(text: str) -> str:
        if text not in known:
            raise ValueError(problem)
        return text

    return AfterValidator(check)


Country = Annotated[
    str,
    _one_of(COUNTRIES, "is not a country code such as GB"),
    Field(description="ISO 3166, two letters."),
    As("country"),
]
Currency = Annotated[
    str, _one_of(CURRENCIES, "is not a currency code such as EUR"), Field(description="ISO 4217."), As("currency")
]


def _time_zone(name: str) -> str:
    if not is_time_zone(name):
        raise ValueError("is not a time zone such as Europe/Berlin")
    return name


TimeZone = Annotated[
    str, AfterValidator(_time_zone), Field(description="Where its clocks are, such as Europe/Berlin."), As("zone")
]


def omittable(**details: Any) -> Any:
    """A field that may be left out of a change but not set to null."""
    return Field(default_factory=lambda: None, **details)
