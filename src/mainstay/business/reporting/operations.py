"""The reports there are, and the operation that builds one."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.store import PEOPLE
from mainstay.business.reporting.customer_statement import report_statement
from mainstay.business.reporting.documents import report_documents
from mainstay.business.reporting.inputs import JobChoice, ProfitBasis, ReportQuery, TimeChoice, resolve_dates
from mainstay.business.reporting.job_profit import report_job_profit
from mainstay.business.reporting.model import (
    MAX_REPORT_ROWS,
    CellValue,
    ComparedPeriod,
    ReportName,
    ReportOut,
    ReportTable,
    format_row,
)
from mainstay.business.reporting.number_gaps import report_number_series
from mainstay.business.reporting.payables import report_payables
from mainstay.business.reporting.periods import MONTH_PATTERN, Comparison, find_compared_period, month_range
from mainstay.business.reporting.receivables import report_receivables
from mainstay.business.reporting.revenue import report_revenue
from mainstay.business.reporting.taxes import report_taxes
from mainstay.business.reporting.time_entries import report_time_entries
from mainstay.business.reporting.utilisation import report_hours
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import NOT_IN_FORMS, Day, make_id_validator
from mainstay.values.message import FieldName, Message, MessageValue
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, LastDay


class GetReport(Input):
    """Which report, for which dates, with which filters."""

    name: ReportName = Field(
        title="Report",
        description=describe(
            "[[`receivables` (who owes how much, by age), `payables` to suppliers, a "
            "customer's `statement`, `revenue` by month, `jobProfit` (which jobs made or "
            "lost money, losses first, with their unbilled value), `hours` by person, "
            "`taxSummary` by rate (VAT return), `numberSeries` of invoices and credit "
            "notes; `documents` and `timeEntries` behind figures.]]"
        ),
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
        None, title="Show", description=describe("[[taxSummary for the whole `range`, or for each `month`.]]")
    )
    jobs: JobChoice | None = Field(
        None,
        description=describe(
            "[[jobProfit of jobs `workedOn` between the dates (default), or of jobs `finished` between them.]]"
        ),
    )
    basis: ProfitBasis | None = Field(
        None,
        title="Include",
        description=describe(
            "[[jobProfit of each job over its `wholeLife` (default), or only within the `range` of dates.]]"
        ),
    )
    compare_with: Comparison | None = Field(
        None, title="Compare with", description="Also shows the period before, or the same dates a year ago."
    )
    month: Annotated[str | None, NOT_IN_FORMS] = Field(
        None, pattern=MONTH_PATTERN, description="documents of this month only, such as 2026-11."
    )
    tax: Annotated[str | None, NOT_IN_FORMS] = Field(
        None, max_length=100, description=describe("[[documents behind a row of taxSummary: its `taxKey`.]]")
    )
    time: Annotated[TimeChoice | None, NOT_IN_FORMS] = Field(
        None, description=describe("[[timeEntries that are `billable`, or that were `billed`, only.]]")
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
    "payables": ReportKind("Payables", "What you owe suppliers, by age.", report_payables, ()),
    "statement": ReportKind(
        "Statement of account",
        "A customer's invoices and payments, with the balance after each entry.",
        report_statement,
        ("customerId", *_RANGE),
        ("customerId",),
    ),
    "revenue": ReportKind(
        "Revenue",
        "Invoiced, credited and paid in each month.",
        report_revenue,
        (*_RANGE, "customerId", "compareWith"),
    ),
    "jobProfit": ReportKind(
        "Job profit",
        "The margin of each job: which jobs made money, and which lost it.",
        report_job_profit,
        (*_RANGE, "customerId", "jobs", "basis", "compareWith"),
    ),
    "hours": ReportKind(
        "Hours and utilisation",
        "Hours worked and billable, by person.",
        report_hours,
        (*_RANGE, "personId", "compareWith"),
    ),
    "taxSummary": ReportKind(
        "Tax summary",
        "Tax on your sales at each rate, for your VAT or sales tax return. Purchases are not included.",
        report_taxes,
        (*_RANGE, "by", "compareWith"),
    ),
    "numberSeries": ReportKind(
        "Invoice numbering", "Missing invoice and credit note numbers.", report_number_series, _RANGE
    ),
    "documents": ReportKind(
        "Documents",
        "Each invoice, credit note and payment behind the figures.",
        report_documents,
        (*_RANGE, "customerId", "month", "tax"),
    ),
    "timeEntries": ReportKind(
        "Time entries", "Each time entry behind the figures.", report_time_entries, (*_RANGE, "personId", "time")
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
    if given.month:
        first, last = _limit_to_month(given.month, first, last)
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
        given.tax,
        given.time,
    )
    return build_report(ctx, given.name, query, given.compare_with)


def build_report(ctx: Context, name: ReportName, query: ReportQuery, compare_with: Comparison | None) -> ReportOut:
    """Build a report, and the same report for the period to compare with."""
    report, currency = REPORTS[name], query.settings.currency
    table, message_format = report.build(ctx, query), ctx.request.message_format
    return ReportOut(
        object=ReportOut.noun,
        name=name,
        title=report.title,
        currency=currency,
        from_=query.first.isoformat() if "from" in report.accepts else None,
        until=query.last.isoformat(),
        columns=list(table.columns),
        rows=_format_rows(ctx, table, currency),
        totals=format_row(table.totals, table.columns, currency, message_format),
        notes=[message_format.render(note) for note in table.notes],
        behind=table.behind,
        columns_behind=dict(table.columns_behind),
        compared=_build_compared(ctx, report, query, compare_with) if compare_with else None,
        has_more=len(table.rows) > MAX_REPORT_ROWS,
    )


def _build_compared(ctx: Context, report: ReportKind, query: ReportQuery, comparison: Comparison) -> ComparedPeriod:
    first, last = find_compared_period(query.first, query.last, comparison)
    table, currency = report.build(ctx, query._replace(first=first, last=last)), query.settings.currency
    return ComparedPeriod.model_validate(
        {
            "from": first.isoformat(),
            "until": last.isoformat(),
            "rows": _format_rows(ctx, table, currency),
            "totals": format_row(table.totals, table.columns, currency, ctx.request.message_format),
        }
    )


def _format_rows(ctx: Context, table: ReportTable, currency: str) -> list[list[CellValue]]:
    rows = table.rows[:MAX_REPORT_ROWS]
    return [format_row(row, table.columns, currency, ctx.request.message_format) for row in rows]


def _limit_to_month(month: str, first: date, last: date) -> tuple[date, date]:
    begin, end = month_range(month)
    if begin > last or end < first:
        raise Invalid([Fault("month", Message("is not within the dates"))])
    return max(first, begin), min(last, end)


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
