"""The month-end pack: the reports of a month as one PDF."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson

from mainstay.business.issuing.document_files import PDF
from mainstay.business.reporting.model import ReportOut
from mainstay.business.reporting.month_end import get_month_end_pack
from mainstay.business.reporting.periods import months_before
from mainstay.documents.pdf import RenderingFailed
from mainstay.doors.downloads import respond_with_generated_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.money.report_tables import REPORTS_PATH, ReportFigures
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_date_range, format_month
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.infrastructure.log import log_error
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict

PACK_PATH = f"{REPORTS_PATH}/month-end-pack.pdf"


@dataclass(frozen=True)
class MonthEndPages:
    """The PDF with the reports of a month."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [Route("GET", PACK_PATH, self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return the PDF, which is printed for this response."""
        check_permission(get_month_end_pack, request.actor)
        query = query_parameters(request.http_request)
        pack = await self.office.perform(request, get_month_end_pack, {"month": query.get("month", "")})
        membership = request.visitor.membership
        name = f"{translate_text('Month-end pack')} {format_month(pack.month)}"
        sheet = {
            "language": current_language().code,
            "name": name,
            "title": translate_text("Month-end pack"),
            "when": format_month(pack.month),
            "issuer": membership.organisation_name if membership else "",
            "page": translate_text("Page {page} of {pages}", page="{page}", pages="{pages}"),
            "nothing": translate_text("Nothing in this period."),
            "sections": [self._build_section(request, report) for report in pack.reports],
        }
        visitors, organisation = self.office.visitors, request.actor.organisation
        try:
            pdf = await visitors.runner.run_content_work(
                organisation,
                visitors.printer.print_reports,
                orjson.dumps(sheet).decode(),
                self.office.today(request).isoformat(),
            )
        except RenderingFailed as error:
            log_error("reports not printed", error, request=request.http_request.id)
            raise Conflict(Message("The PDF could not be created. Open the reports one by one.")) from None
        return respond_with_generated_file(pdf, f"{name}.pdf", PDF)

    def _build_section(self, request: OfficeRequest, report: ReportOut) -> dict[str, Any]:
        """Return one report as it is printed: its headings, rows, totals and notes as texts."""
        figures = ReportFigures(self.office, report, request.display)
        totals = figures.build_totals()
        notes = list(report.notes)
        if report.has_more:
            notes.append(
                translate_text(
                    "Only the first {count} rows are shown. The totals include all of them.", count=len(report.rows)
                )
            )
        return {
            "title": current_language().translate(report.title),
            "when": format_date_range(report.from_ or report.until, report.until),
            "columns": [
                {"label": current_language().translate(cell.label), "number": cell.is_number} for cell in totals
            ],
            "rows": [[cell.text for cell in row] for row in figures.build_rows()],
            "totals": [translate_text("Total"), *(cell.text for cell in totals[1:])],
            "notes": notes,
        }


def list_recent_months(today: date) -> list[tuple[str, str]]:
    """Return the last twelve months with their names, the one before this month first."""
    months = [f"{months_before(today, count):%Y-%m}" for count in (*range(1, 12), 0)]
    return [(month, format_month(month)) for month in months]
