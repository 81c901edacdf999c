"""Finds figures and names in what an agent said, however it writes them."""

import re
from datetime import date, time
from decimal import Decimal

_NUMBER = re.compile(r"\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SEPARATOR = re.compile(r"(?<=\d)[,\u00a0\u202f ](?=\d{3}\b)")


def says_text(answer: str, text: str) -> bool:
    """Return whether an answer contains a text, ignoring case, spacing and the kind of apostrophe."""
    return _simplify(text) in _simplify(answer)


def says_amount(answer: str, amount: Decimal | str) -> bool:
    """Return whether an answer contains an amount, such as `1,548.00`, `£1548` or `1 548.00`."""
    numbers = {_SEPARATOR.sub("", number) for number in _NUMBER.findall(answer)} | {*_PLAIN_NUMBER.findall(answer)}
    return Decimal(amount) in map(Decimal, numbers)


def says_day(answer: str, day: date) -> bool:
    """Return whether an answer contains a date, such as `2026-12-15`, `15 December`, or `Dec 15th`."""
    number, month = rf"0?{day.day}(?:st|nd|rd|th)?", f"{day:%b}"
    forms = (
        day.isoformat(),
        rf"\b0?{day.day}[/.]0?{day.month}\b",
        rf"\b{number}\b[^.\n]{{0,25}}\b{month}",
        rf"\b{month}[a-z]*\.? [^.\n]{{0,12}}\b{number}\b",
        rf"\b{month}[a-z]*\.? {number}\b",
    )
    return any(re.search(form, answer, re.IGNORECASE) for form in forms)


def says_time(answer: str, at: time) -> bool:
    """Return whether an answer contains a time of day, such as `13:15`, `1.15 pm` or `9 am`."""
    half, other_half = (r" ?p\.?m", r" ?a\.?m") if at.hour >= _NOON else (r" ?a\.?m", r" ?p\.?m")
    in_half_day = at.hour % 12 or 12
    forms = [
        rf"\b0?{at.hour}[:.]{at.minute:02d}\b(?!{other_half})",
        rf"\b0?{in_half_day}[:.]{at.minute:02d}{half}",
        *([] if at.minute else [rf"\b0?{in_half_day}{half}"]),
    ]
    return any(re.search(form, answer, re.IGNORECASE) for form in forms)


def says_duration(answer: str, minutes: int) -> bool:
    """Return whether an answer contains a duration, such as `6:30`, `6.5 hours`, `6 h 30 min` or `390 minutes`."""
    hours, rest = divmod(minutes, 60)
    decimal_hours = f"{Decimal(minutes) / 60:.2f}".rstrip("0").rstrip(".")
    forms = [
        rf"\b{minutes} ?min",
        rf"\b{re.escape(decimal_hours)}(?:\.?0+)? ?h",
        rf"\b0?{hours}:{rest:02d}\b",
        rf"\b{hours} ?h[a-z]*,?(?: and)? ?0?{rest} ?(?:m|\b)",
        *([rf"\b{hours} ?(?:h|½)"] if not rest else []),
        *([rf"\b{hours} ?½"] if rest == _HALF_AN_HOUR else []),
    ]
    return any(re.search(form, answer, re.IGNORECASE) for form in forms)


_NOON, _HALF_AN_HOUR = 12, 30


def _simplify(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").casefold().split())
