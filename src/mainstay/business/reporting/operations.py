"""The reports there are, and the operation that builds one."""

from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.store import PEOPLE
from mainstay.business.reporting.customer_statement import report_statement
from mainstay.business.reporting.inputs import JobChoice, ProfitBasis, ReportQuery, resolve_dates
from mainstay.business.reporting.job_profit import report_job_profit
from mainstay.business.reporting.model import MAX_REPORT_ROWS, ReportName, ReportOut, ReportTable, format_row
from mainstay.business.reporting.number_gaps import report_number_series
from mainstay.business.reporting.receivables import report_receivables
from mainstay.business.reporting.revenue import report_revenue
from mainstay.business.reporting.taxes import report_taxes
from mainstay.business.reporting.utilisation import report_hours
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Day, make_id_validator
from mainstay.values.message import FieldName, Message, MessageValue
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, LastDay


class GetReport(Input):
    """Which report, for which dates, with which filters."""

    name: ReportName = Field(
        title="Report",
        description="`receivables` (who owes how much, by age), a customer's `statement`, `revenue` by month,"
        " `jobProfit` (which jobs made or lost money, losses first, with their unbilled value), `hours` by person,"
        " `taxSummary` by rate (VAT return), `numberSeries` of invoices and credit notes.",
    )
    from_: Day | None = Field(None, alias="from", title="From", description="The first date. Default: 1 January.")
    until: LastDay | None = Field(None, description="The last date. Default: today.")
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only this customer. Required for a statement."
    )
    person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Person", description="Only this person's hours."
    )
    by: Literal["range", "month"] | None = Field(
        None, title="Show", description="taxSummary for the whole `range`, or for each `month`."
    )
    jobs: JobChoice | None = Field(
        None,
        description="jobProfit of jobs `workedOn` between the dates (default), or of jobs `finished` between them.",
    )
    basis: ProfitBasis | None = Field(
        None,
        title="Include",
        description="jobProfit of each job over its `wholeLife` (default), or only within the `range` of dates.",
    )


class ReportKind(NamedTuple):
    """One kind of report."""

    title: str
    lead: str
    build: Callable[[Context, ReportQuery], ReportTable]
    # The input fields it accepts besides its name.
    accepts: tuple[str, ...]
    # Those of them that it requires.
    requires: tuple[str, ...] = ()


_RANGE = ("from", "until")
REPORTS: dict[ReportName, ReportKind] = {
    "receivables": ReportKind("Receivables", "What customers owe, by age.", report_receivables, ("customerId",)),
    "statement": ReportKind(
        "Statement of account",
        "A customer's invoices and payments, with the balance after each entry.",
        report_statement,
        ("customerId", *_RANGE),
        ("customerId",),
    ),
    "revenue": ReportKind(
        "Revenue", "Invoiced, credited and paid in each month.", report_revenue, (*_RANGE, "customerId")
    ),
    "jobProfit": ReportKind(
        "Job profit",
        "The margin of each job: which jobs made money, and which lost it.",
        report_job_profit,
        (*_RANGE, "customerId", "jobs", "basis"),
    ),
    "hours": ReportKind(
        "Hours and utilisation", "Hours worked and billable, by person.", report_hours, (*_RANGE, "personId")
    ),
    "taxSummary": ReportKind(
        "Tax summary",
        "Tax on your sales at each rate, for your VAT or sales tax return. Purchases are not included.",
        report_taxes,
        (*_RANGE, "by"),
    ),
    "numberSeries": ReportKind(
        "Invoice numbering", "Missing invoice and credit note numbers.", report_number_series, _RANGE
    ),
}


@operation(permission=Permission.REPORTS_READ, effect=Effect.READ, api_path="GET /reports/{name}", is_slow=True)
def get_report(ctx: Context, given: GetReport) -> ReportOut:
    """Get report.

    A table with totals: who owes money, revenue, which jobs lost money, hours, VAT; drafts count only as still to
    invoice. The list operations show the records behind it.
    """
    report = REPORTS[given.name]
    _check_query(given, report)
    settings = settings_of(ctx)
    today = settings.today(ctx)
    first, last = resolve_dates(given.from_, given.until, today)
    if given.customer_id:
        CUSTOMERS.fetch(ctx, given.customer_id)
    if given.person_id:
        PEOPLE.fetch(ctx, given.person_id)
    query = ReportQuery(
        settings,
        today,
        first,
        last,
        given.customer_id,
        given.person_id,
        given.by or "range",
        given.jobs or "workedOn",
        given.basis or "wholeLife",
    )
    report_table, message_format = report.build(ctx, query), ctx.request.message_format
    return ReportOut(
        object=ReportOut.noun,
        name=given.name,
        title=report.title,
        currency=settings.currency,
        from_=first.isoformat() if "from" in report.accepts else None,
        until=last.isoformat(),
        columns=list(report_table.columns),
        rows=[
            format_row(row, report_table.columns, settings.currency, message_format)
            for row in report_table.rows[:MAX_REPORT_ROWS]
        ],
        totals=format_row(report_table.totals, report_table.columns, settings.currency, message_format),
        notes=[message_format.render(note) for note in report_table.notes],
        has_more=len(report_table.rows) > MAX_REPORT_ROWS,
    )


OPERATIONS = (get_report,)


def _check_query(given: GetReport, report: ReportKind) -> None:
    """Refuse fields that the report does not accept, because they would be ignored, and require those it needs."""
    field_names = {field.alias or name for name, field in GetReport.model_fields.items()} - {"name"}
    sent = given.model_dump(by_alias=True, exclude_none=True).keys()
    accepted: list[MessageValue] = [FieldName(name) for name in report.accepts]
    problem = Message("can't be used for this report, only {fields}", fields=accepted)
    faults = [Fault(name, problem) for name in sorted(sent & (field_names - {*report.accepts}))]
    faults += [Fault(name, Message("is required for this report")) for name in report.requires if name not in sent]
    if given.basis == "range" and given.jobs:
        faults.append(Fault("jobs", Message("can't be combined with only the selected dates")))
    if faults:
        raise Invalid(faults)
