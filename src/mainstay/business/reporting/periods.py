"""The period with which a report is compared: the one before, or the same dates a year earlier."""

from calendar import monthrange
from datetime import date, timedelta
from typing import Literal

Comparison = Literal["periodBefore", "yearBefore"]

# A month such as 2026-11.
MONTH_PATTERN = "^20[0-9]{2}-(0[1-9]|1[0-2])$"
_MONTHS_A_YEAR = 12


def find_compared_period(first: date, last: date, comparison: Comparison) -> tuple[date, date]:
    """Return the first and the last date of the period to compare with.

    Dates that begin with a month are compared with as many months before, others with as many days before.
    """
    if comparison == "yearBefore":
        return months_before(first, _MONTHS_A_YEAR), _shift_end(last, _MONTHS_A_YEAR)
    if first.day == 1:
        months = (last.year - first.year) * _MONTHS_A_YEAR + last.month - first.month + 1
        return months_before(first, months), _shift_end(last, months)
    day_before = first - timedelta(days=1)
    return day_before - (last - first), day_before


def month_range(month: str) -> tuple[date, date]:
    """Return the first and the last date of a month such as 2026-11."""
    first = date.fromisoformat(f"{month}-01")
    return first, first.replace(day=monthrange(first.year, first.month)[1])


def _shift_end(day: date, months: int) -> date:
    """Shift a last date back. The end of a month stays the end of a month."""
    shifted = months_before(day, months)
    is_end = day.day == monthrange(day.year, day.month)[1]
    return shifted.replace(day=monthrange(shifted.year, shifted.month)[1]) if is_end else shifted


def months_before(day: date, months: int) -> date:
    """Return the same day so many months earlier, or the last one of a shorter month."""
    number = day.year * _MONTHS_A_YEAR + day.month - 1 - months
    year, month = number // _MONTHS_A_YEAR, number % _MONTHS_A_YEAR + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))
