"""What a report is asked for, checked and made whole."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from mainstay.business.organisation.house import House
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.shapes import BACKWARDS
from mainstay.values.fields import ANOTHER_YEAR, YEARS

# So far a report reaches at most: ten years.
_MOST_DAYS = 3660

By = Literal["range", "month"]
# Of which jobs profit is told, and reckoned over what.
Jobs = Literal["workedOn", "finished"]
Basis = Literal["wholeLife", "range"]


class Asked(NamedTuple):
    """The dates of a report, both included, and what it is narrowed to."""

    house: House
    today: date
    first: date
    last: date
    customer: str | None = None
    person: str | None = None
    by: By = "range"
    jobs: Jobs = "workedOn"
    basis: Basis = "wholeLife"

    @property
    def months(self) -> list[str]:
        """The months that it touches, such as 2026-11."""
        begin, end = (day.year * 12 + day.month - 1 for day in (self.first, self.last))
        return [f"{number // 12}-{number % 12 + 1:02d}" for number in range(begin, end + 1)]

    @property
    def dates(self) -> list[date]:
        """Each day."""
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]

    @property
    def stretch(self) -> "Stretch":
        """What is read of the books."""
        return Stretch(self.first.isoformat(), "", self.last.isoformat())

    @property
    def bound(self) -> dict[str, str]:
        """What statements are given."""
        narrowed = {"customer": self.customer} if self.customer else {}
        return {"first": self.first.isoformat(), "last": self.last.isoformat(), **narrowed}


class Stretch(NamedTuple):
    """What is read of the books, one by one: from a date and id on, until a date."""

    on: str
    id: str
    last: str
    # So many are in memory.
    at_once: int = 1000


def days_of(first: str | None, last: str | None, today: date) -> tuple[date, date]:
    """The dates that are meant: until today, and from the beginning of the year in which that ends."""
    end = _reachable("until", last) if last else today
    begin = _reachable("from", first) if first else date(end.year, 1, 1)
    if end < begin:
        raise Invalid([Fault("until", BACKWARDS)])
    if (end - begin).days >= _MOST_DAYS:
        raise Invalid([Fault("until", "is more than ten years after the first date; ask for several reports")])
    return begin, end


def _reachable(name: str, text: str) -> date:
    day = date.fromisoformat(text)
    if day.year not in YEARS:
        raise Invalid([Fault(name, ANOTHER_YEAR)])
    return day
