"""Localisation of dates, times and amounts within the name of a record.

Names such as that of a payment are texts for programs too, with `2026-11-30` and `7186.14 GBP`. A page shows
`30 Nov 2026` and `£7,186.14`. Text that someone typed stays unchanged: anything in quotes or after a line break (an
email text), and the typed texts passed in. An example of how a date is written stays unchanged too.
"""

import re
from collections.abc import Iterable

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.formatting import format_date, format_moment
from mainstay.values.money import CURRENCIES

_UNCHANGED = r"“[^”]{0,500}”|\"[^\"]{0,500}\"|\b(?:as|like) \d{4}-\d\d-\d\d[^;.]*|\n[\s\S]*"
_VALUE_PATTERN = (
    r"(?<![\w./-])(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:T(?P<clock>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?P<offset>Z|[+-]\d\d:\d\d)?)?(?![\w/-])"
    r"|(?<![\w.,/-])(?P<amount>-?\d+(?:\.\d+)?) (?P<currency>[A-Z]{3})\b"
    r"| \((?P<zone>[A-Z]\w+(?:/[\w+-]+)+)\)"
)
_VALUE = re.compile(_VALUE_PATTERN)
_VALUE_OR_UNCHANGED = re.compile(f"(?P<kept>{_UNCHANGED})|{_VALUE_PATTERN}")


def localise_text(text: str, display: DisplaySettings, typed: Iterable[str] = ()) -> str:
    """Localise the dates, times and amounts in a text, except in what was typed."""
    typed_patterns = [
        re.escape(typed_text)
        for typed_text in typed
        if typed_text in text and _VALUE.search(typed_text) and not _VALUE.fullmatch(typed_text)
    ]
    pattern = (
        re.compile(f"(?P<typed>{'|'.join(typed_patterns)})|{_VALUE_OR_UNCHANGED.pattern}")
        if typed_patterns
        else _VALUE_OR_UNCHANGED
    )
    return pattern.sub(lambda match: _localise_match(match, display), text)


def _localise_match(match: re.Match[str], display: DisplaySettings) -> str:
    parts = match.groupdict()
    if parts["day"]:
        return _localise_time(match[0], parts, display)
    if parts["currency"] in CURRENCIES:
        return display.format_amount(parts["amount"], parts["currency"])
    if parts["zone"]:
        # The viewer's own time zone is not named.
        city = parts["zone"].rpartition("/")[2].replace("_", " ")
        return "" if parts["zone"] == display.zone else f" ({city} time)"
    return match[0]


def _localise_time(text: str, parts: dict[str, str], display: DisplaySettings) -> str:
    """Format a date, a local time, or a moment in the viewer's time zone. Other text is returned unchanged."""
    day = format_date(parts["day"], display.language)
    if day == parts["day"]:
        return text
    if not parts["clock"]:
        return day
    try:
        return format_moment(text, display.zone, display.language) if parts["offset"] else f"{day}, {parts['clock']}"
    except ValueError:
        return text
