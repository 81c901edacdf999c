"""The query of a report: its dates and filters, checked and with defaults."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from mainstay.business.organisation.organisation_settings import OrganisationSettings
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import BACKWARDS
from mainstay.vocabulary.validation import parse_day

# The longest range of a report: ten years.
_MAX_DAYS = 3660

Grouping = Literal["range", "month"]
# Which jobs a profit report contains, and the period of their amounts.
JobChoice = Literal["workedOn", "finished"]
TimeChoice = Literal["billable", "billed"]
ProfitBasis = Literal["wholeLife", "range"]


class ReportQuery(NamedTuple):
    """The dates of a report, both included, and its filters."""

    settings: OrganisationSettings
    today: date
    first: date
    last: date
    customer: str | None = None
    person: str | None = None
    by: Grouping = "range"
    jobs: JobChoice = "workedOn"
    basis: ProfitBasis = "wholeLife"
    # Only the documents behind one row of the tax summary.
    tax: str | None = None
    # Only the time entries that are billable, or that were invoiced.
    time: TimeChoice | None = None

    @property
    def months(self) -> list[str]:
        """The months in its range, such as 2026-11."""
        begin, end = (day.year * 12 + day.month - 1 for day in (self.first, self.last))
        return [f"{number // 12}-{number % 12 + 1:02d}" for number in range(begin, end + 1)]

    @property
    def dates(self) -> list[date]:
        """Every date in its range."""
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]

    @property
    def entry_range(self) -> "EntryRange":
        """The same range, for reading entries one by one."""
        return EntryRange(self.first.isoformat(), "", self.last.isoformat())

    def behind(self, report: str) -> dict[str, str]:
        """Return the input of another report with the same dates and filters."""
        filters = {"customerId": self.customer, "personId": self.person}
        given = {"name": report, "from": self.first.isoformat(), "until": self.last.isoformat()}
        return given | {name: value for name, value in filters.items() if value}

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of SQL statements."""
        customer_parameter = {"customer": self.customer} if self.customer else {}
        return {"first": self.first.isoformat(), "last": self.last.isoformat(), **customer_parameter}


class EntryRange(NamedTuple):
    """A range of entries to read one by one: from a date and id on, until a date."""

    on: str
    id: str
    last: str
    # How many entries are read at once.
    batch_size: int = 1000


def resolve_dates(first: str | None, last: str | None, today: date) -> tuple[date, date]:
    """Return the first and the last date. By default, the last is today, and the first begins the year of the last."""
    end = parse_day("until", last) if last else today
    begin = parse_day("from", first) if first else date(end.year, 1, 1)
    if end < begin:
        raise Invalid([Fault("until", BACKWARDS)])
    if (end - begin).days >= _MAX_DAYS:
        raise Invalid([Fault("until", Message("is more than ten years after the first date; run several reports"))])
    return begin, end
