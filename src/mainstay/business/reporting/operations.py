"""What can be asked of the reports."""

from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.organisation.house import house_of
from mainstay.business.people.store import PEOPLE
from mainstay.business.reporting.asked import Asked, Basis, Jobs, days_of
from mainstay.business.reporting.job_profit import job_profit
from mainstay.business.reporting.model import MOST_ROWS, Name, ReportOut, Table, told
from mainstay.business.reporting.receivables import receivables
from mainstay.business.reporting.revenue import revenue
from mainstay.business.reporting.series import number_series
from mainstay.business.reporting.statement import statement
from mainstay.business.reporting.taxes import tax_summary
from mainstay.business.reporting.working import hours
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, LastDay
from mainstay.values.fields import Day, id_of


class GetReport(Input):
    """Which report, of which time, and narrowed to what."""

    name: Name = Field(
        title="Report",
        description="`receivables` by age today, a customer's `statement`, `revenue` by month, `jobProfit` (which jobs"
        " made or lost money, the losses first, with their unbilled value), `hours` by"
        " person, `taxSummary` by rate, `numberSeries` of invoices and credit notes.",
    )
    from_: Day | None = Field(None, alias="from", title="From", description="The first date; else that of the year.")
    until: LastDay | None = Field(None, description="The last date; today where nothing is said.")
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only this customer; a statement needs one."
    )
    person_id: Annotated[str | None, id_of("person")] = Field(
        None, title="Person", description="Only this person's hours."
    )
    by: Literal["range", "month"] | None = Field(
        None, description="taxSummary of the whole `range`, or of each `month` in it."
    )
    jobs: Jobs | None = Field(
        None,
        description="jobProfit of jobs `workedOn` between the dates, the default, or of those `finished` then.",
    )
    basis: Basis | None = Field(
        None,
        description="jobProfit of each job over its `wholeLife`, the default, or only what falls into the `range`.",
    )


class Report(NamedTuple):
    """A report that can be asked for."""

    title: str
    lead: str
    make: Callable[[Context, Asked], Table]
    # What it can be asked by, beside its name.
    takes: tuple[str, ...]
    # What of that it cannot do without.
    needs: tuple[str, ...] = ()


_RANGE = ("from", "until")
REPORTS: dict[Name, Report] = {
    "receivables": Report("Receivables", "What customers owe, by how late it is.", receivables, ("customerId",)),
    "statement": Report(
        "Statement of account",
        "What was charged to a customer and paid by them, with the balance after each entry.",
        statement,
        ("customerId", *_RANGE),
        ("customerId",),
    ),
    "revenue": Report(
        "Revenue", "What was invoiced, credited and paid in each month.", revenue, (*_RANGE, "customerId")
    ),
    "jobProfit": Report(
        "Job profit",
        "The margin of each job that was worked on: which made money, and which lost it.",
        job_profit,
        (*_RANGE, "customerId", "jobs", "basis"),
    ),
    "hours": Report(
        "Hours and utilisation", "How much of people's time was worked and billed.", hours, (*_RANGE, "personId")
    ),
    "taxSummary": Report(
        "Tax summary", "What was taxed at each rate, for the tax return.", tax_summary, (*_RANGE, "by")
    ),
    "numberSeries": Report(
        "Number series", "Whether the numbers of invoices and credit notes have a gap.", number_series, _RANGE
    ),
}


@operation(right=Right.REPORTS_READ, effect=Effect.READ, rest="GET /reports/{name}", takes_long=True)
def get_report(ctx: Context, given: GetReport) -> ReportOut:
    """Get a report: a table of columns, rows and totals.

    Amounts are exact, and drafts count only as still to invoice. The list operations tell the records behind it.
    """
    report = REPORTS[given.name]
    _check(given, report)
    house = house_of(ctx)
    today = house.today(ctx)
    first, last = days_of(given.from_, given.until, today)
    if given.customer_id:
        CUSTOMERS.fetch(ctx, given.customer_id)
    if given.person_id:
        PEOPLE.fetch(ctx, given.person_id)
    asked = Asked(
        house,
        today,
        first,
        last,
        given.customer_id,
        given.person_id,
        given.by or "range",
        given.jobs or "workedOn",
        given.basis or "wholeLife",
    )
    made = report.make(ctx, asked)
    return ReportOut(
        object=ReportOut.noun,
        name=given.name,
        title=report.title,
        currency=house.currency,
        from_=first.isoformat() if "from" in report.takes else None,
        until=last.isoformat(),
        columns=list(made.columns),
        rows=[told(row, made.columns, house.currency) for row in made.rows[:MOST_ROWS]],
        totals=told(made.totals, made.columns, house.currency),
        notes=list(made.notes),
        has_more=len(made.rows) > MOST_ROWS,
    )


OPERATIONS = (get_report,)


def _check(given: GetReport, report: Report) -> None:
    """Refuse what a report cannot be asked by, which would seem to heed it; and ask for what it needs."""
    known = {field.alias or name for name, field in GetReport.model_fields.items()} - {"name"}
    sent = given.model_dump(by_alias=True, exclude_none=True).keys()
    takes = ", ".join(report.takes)
    wrong = sorted(sent & (known - {*report.takes}))
    faults = [Fault(name, f"is nothing for this report, which takes {takes}") for name in wrong]
    faults += [Fault(name, "is required for this report") for name in report.needs if name not in sent]
    if given.basis == "range" and given.jobs:
        faults.append(Fault("jobs", "is for whole lives, not for a range; leave out one of the two"))
    if faults:
        raise Invalid(faults)
