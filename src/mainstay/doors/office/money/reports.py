"""Reports: their list, each with its chart, table and file, and the journal for the accountant."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import chain
from typing import IO, Any
from urllib.parse import urlencode

from mainstay.business.customers.operations import get_customer
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.reporting.journal import list_postings
from mainstay.business.reporting.model import Column, ReportOut
from mainstay.business.reporting.operations import REPORTS, get_report
from mainstay.doors.http import Response
from mainstay.doors.office.kit.list_export import ListExport, export_list, write_download
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, refusal_variables, status_of
from mainstay.doors.office.kit.reference_fields import ReferenceFields, restore_ids
from mainstay.doors.office.kit.spreadsheet_rows import escape_formula, write_csv
from mainstay.doors.office.money.charts import build_chart
from mainstay.doors.office.money.month_end import PACK_PATH, list_recent_months
from mainstay.doors.office.money.report_tables import HIDDEN_KINDS, REPORTS_PATH, ReportFigures
from mainstay.doors.pages.display import drop_empty_cells, format_cells
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.formatting import format_date_range
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Invalid, NotFound
from mainstay.vocabulary.typed_records import RecordFields

_PATH = REPORTS_PATH
_JOURNAL_PATH = f"{_PATH}/journal.csv"
# The columns of the journal's file, as docs/journal.md describes them, and the fields of a posting that they hold.
JOURNAL_COLUMNS = {
    "date": "on",
    "document": "document",
    "number": "number",
    "customer": "customerName",
    "account": "account",
    "detail": "detail",
    "taxCategory": "taxCategory",
    "taxPercent": "taxPercent",
    "debit": "debit",
    "credit": "credit",
    "currency": "currency",
    "invoices": "invoices",
    "text": "text",
}

# The fields above a statement of account: of the organisation, and of the customer.
_SELLER_FIELDS = ("name", "address", "email", "phone")
_CUSTOMER_FIELDS = ("name", "billingAddress")


@dataclass(frozen=True)
class ReportPages:
    """The pages and files of reports."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", _PATH, signed_in(self.list_reports)),
            Route("GET", _JOURNAL_PATH, signed_in(self.export_journal)),
            Route("GET", f"{_PATH}/{{name}}", signed_in(self.show)),
            Route("GET", f"{_PATH}/{{name}}/export.csv", signed_in(self.export)),
        ]

    async def list_reports(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the list of reports."""
        check_permission(get_report, request.actor)
        year = self.office.today(request).replace(month=1, day=1)
        return self.office.render_page(
            "reports.html",
            request,
            area="Reports",
            reports=[
                {"path": f"{_PATH}/{name}", "title": one.title, "lead": one.lead} for name, one in REPORTS.items()
            ],
            pack={"path": PACK_PATH, "months": list_recent_months(self.office.today(request))},
            journal={"path": _JOURNAL_PATH, "from": year.isoformat(), "until": self.office.today(request).isoformat()},
        )

    async def show(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show a report, for the dates and filters in its address."""
        check_permission(get_report, request.actor)
        query, variables, refusal = self._read_query(request, path_values), self._table_variables(request, None), None
        form_fields, fields = await ReferenceFields(self.office).add_filter_choices(
            request, self._form_fields(request, path_values), query
        )
        try:
            # If a required field is missing, only the form is shown.
            if query.keys() >= {*REPORTS[_report_name(path_values)].requires}:
                report_input = await self._build_input(request, path_values, form_fields, query)
                report = await self.office.perform(request, get_report, report_input)
                fields |= {
                    name: request.display.date_to_field(day)
                    for name, day in (("from", report.from_), ("until", report.until))
                    if day
                }
                variables = self._table_variables(request, report) | await self._party_variables(request, report_input)
        except Invalid as invalid:
            refusal = invalid
        return self.office.render_page(
            "report.html",
            request,
            status_of(refusal),
            area="Reports",
            title=REPORTS[_report_name(path_values)].title,
            lead=REPORTS[_report_name(path_values)].lead,
            path=f"{_PATH}/{path_values['name']}",
            form_fields=form_fields,
            hidden={name: query[name] for name in ("tax", "time") if name in query},
            fields=defaultdict(str, fields),
            ranges=self._list_ranges(request, path_values, query),
            export=f"{_PATH}/{path_values['name']}/export.csv?{urlencode(query)}",
            **variables,
            **refusal_variables(refusal),
        )

    async def export(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the report as a file for spreadsheets."""
        check_permission(get_report, request.actor)
        query = self._read_query(request, path_values)
        report_input = await self._build_input(request, path_values, self._form_fields(request, path_values), query)
        report = await self.office.perform(request, get_report, report_input)
        shown_columns = [
            (position, column) for position, column in enumerate(report.columns) if column.kind not in HIDDEN_KINDS
        ]
        message_format = PageFormat(request.display)
        headings = [_column_heading(one, message_format) for _, one in shown_columns]
        rows = [[_plain_value(column.kind, row[position]) for position, column in shown_columns] for row in report.rows]
        notice = Message(
            "Only the first {count} rows are included. Choose a shorter period to get the others.", count=len(rows)
        )
        notices: list[list[str]] = [[message_format.render(notice)]] if report.has_more else []
        lines = [headings, *rows, *notices]
        temporary_files, accepts_gzip = self.office.visitors.temporary_files, request.http_request.accepts_gzip
        return write_download(temporary_files, report.title, partial(write_csv, rows=lines), compresses=accepts_gzip)

    async def export_journal(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return every posting between two dates as a file, for the accountant."""
        check_permission(list_postings, request.actor)
        query = query_parameters(request.http_request)
        list_query = {name: request.display.parse_date(query[name]) for name in ("from", "until") if query.get(name)}
        postings = ListExport.for_request(self.office, request, list_postings, list_query)
        return await export_list(self.office, request, postings, "Journal", _write_journal)

    async def _build_input(
        self,
        request: OfficeRequest,
        path_values: Mapping[str, str],
        form_fields: Sequence[FormField],
        query: Mapping[str, str],
    ) -> dict[str, str]:
        """Return the input of the operation."""
        return {
            "name": _report_name(path_values),
            **await ReferenceFields(self.office).resolve_ids(request, form_fields, query),
        }

    async def _party_variables(self, request: OfficeRequest, report_input: Mapping[str, str]) -> dict[str, Any]:
        """Return the sender and the recipient of a report that is given to a customer."""
        if "customerId" not in REPORTS[_report_name(report_input)].requires:
            return {}
        seller = await self.office.perform(request, get_organisation)
        customer = await self.office.perform(request, get_customer, {"customerId": report_input["customerId"]})
        return {
            "ours": drop_empty_cells(
                format_cells(get_organisation.output, _SELLER_FIELDS, RecordFields(seller), request.display)
            ),
            "theirs": drop_empty_cells(
                format_cells(get_customer.output, _CUSTOMER_FIELDS, RecordFields(customer), request.display)
            ),
            "customer": self.office.path_of(customer.id),
        }

    def _form_fields(self, request: OfficeRequest, path_values: Mapping[str, str]) -> list[FormField]:
        report = REPORTS[_report_name(path_values)]
        fields_by_name = {one.name: one for one in form_fields_of(get_report, request.actor.permissions)}
        # Not every filter is in the form: some only come with a link to what is behind a figure.
        names = [name for name in report.accepts if name in fields_by_name]
        return [replace(fields_by_name[name], help=None, required=name in report.requires) for name in names]

    def _read_query(self, request: OfficeRequest, path_values: Mapping[str, str]) -> dict[str, str]:
        """Return the report's fields from its address."""
        allowed = REPORTS[_report_name(path_values)].accepts
        query = restore_ids(self._form_fields(request, path_values), query_parameters(request.http_request))
        return {name: text for name, text in query.items() if name in allowed and text}

    def _list_ranges(
        self, request: OfficeRequest, path_values: Mapping[str, str], query: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        """Return the usual date ranges, each with its address."""
        if "from" not in REPORTS[_report_name(path_values)].accepts:
            return []
        ranges = []
        for label, first, last in _usual_ranges(self.office.today(request)):
            dates = {"from": first.isoformat(), "until": last.isoformat()}
            is_current = dates.items() <= query.items()
            ranges.append(
                {
                    "words": label,
                    "to": f"{_PATH}/{path_values['name']}?{urlencode({**query, **dates})}",
                    "here": is_current,
                }
            )
        return ranges

    def _table_variables(self, request: OfficeRequest, report: ReportOut | None) -> dict[str, Any]:
        """Return the template variables of a report."""
        if report is None:
            return {"report": None, "chart": None}
        figures = ReportFigures(self.office, report, request.display)
        compared = report.compared
        return {
            "report": report,
            "when": format_date_range(report.from_ or report.until, report.until),
            "compared_when": format_date_range(compared.from_, compared.until) if compared else "",
            "rows": figures.build_rows(),
            "totals": figures.build_totals(),
            "chart": build_chart(figures),
        }


def _report_name(path_values: Mapping[str, str]) -> Any:
    if path_values["name"] not in REPORTS:
        raise NotFound("report")
    return path_values["name"]


def _usual_ranges(today: date) -> list[tuple[str, date, date]]:
    month, year = today.replace(day=1), today.replace(month=1, day=1)
    last_month, last_year = month - timedelta(days=1), year - timedelta(days=1)
    return [
        (translate_text("This month"), month, today),
        (translate_text("Last month"), last_month.replace(day=1), last_month),
        (translate_text("This year"), year, today),
        (translate_text("Last year"), last_year.replace(month=1, day=1), last_year),
    ]


def _column_heading(column: Column, message_format: PageFormat) -> str:
    """Return the heading of a column in the file. It names the unit of durations."""
    label = str(column.label)
    return message_format.render(Message("{column}, minutes", column=label)) if column.kind == "minutes" else label


def _write_journal(postings: ListExport, file: IO[bytes]) -> None:
    lines = (
        [_plain_value("text", posting[name]) for name in JOURNAL_COLUMNS.values()]
        for posting in postings.read_records()
    )
    write_csv(file, chain([list(JOURNAL_COLUMNS)], lines))


def _plain_value(kind: str, value: Any) -> str:
    """Format a value for spreadsheets."""
    text = "" if value is None else str(value)
    return escape_formula(text) if kind == "text" else text
