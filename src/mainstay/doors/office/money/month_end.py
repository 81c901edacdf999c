"""The month-end pack: the reports of a month as one PDF.

It is made in the background. If that takes longer than a moment, its address shows a page that loads itself again until
the PDF is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import time
from typing import Any

import orjson

from mainstay.business.issuing.document_files import PDF
from mainstay.business.reporting.model import ReportOut
from mainstay.business.reporting.month_end import get_month_end_pack
from mainstay.business.reporting.periods import months_before
from mainstay.doors.document_answers import FileNotReady
from mainstay.doors.downloads import respond_with_generated_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.background_work import BackgroundWork
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.money.report_tables import REPORTS_PATH, ReportFigures
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_date_range, format_month
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.infrastructure.log import log_error
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.validation import parse_input

PACK_PATH = f"{REPORTS_PATH}/month-end-pack.pdf"


# A pack that nobody has fetched for so long is made again, because its figures may have changed.
_FRESH_SECONDS = 300
# The progress of a pack that could not be made.
_FAILED = -1


@dataclass(frozen=True)
class MonthEndPages:
    """The PDF with the reports of a month."""

    office: OfficePages
    _work: BackgroundWork = field(default_factory=BackgroundWork)

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [Route("GET", PACK_PATH, self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return the PDF, or a page that waits for it. It is sent once: the next request makes it again."""
        check_permission(get_month_end_pack, request.actor)
        month = query_parameters(request.http_request).get("month", "")
        parse_input(get_month_end_pack.input, {"month": month})
        files, stored_name = self.office.visitors.temporary_files, f"month-end.{request.actor.id}.{month}"
        if files.progress_of(stored_name) is None and _find_fresh(files, stored_name) is None:
            files.set_progress(stored_name, 0)
            await self._work.start(self._make(request, month, stored_name))
        progress, path = files.progress_of(stored_name), _find_fresh(files, stored_name)
        if progress == _FAILED:
            files.clear_progress(stored_name)
            raise Conflict(Message("The PDF could not be created. Open the reports one by one."))
        name = f"{translate_text('Month-end pack')} {format_month(month)}.pdf"
        if progress is not None or path is None:
            raise FileNotReady(orjson.dumps({"name": name}))
        pdf = path.read_bytes()
        path.unlink()
        return respond_with_generated_file(pdf, name, PDF)

    async def _make(self, request: OfficeRequest, month: str, stored_name: str) -> None:
        """Make the PDF and store it."""
        files = self.office.visitors.temporary_files
        try:
            pdf = await self._print(request, month)
            path, file = files.create_file()
            with file:
                file.write(pdf)
            files.store_finished(path, stored_name)
        except Exception as error:
            log_error("month-end pack not made", error, request=request.http_request.id)
            files.set_progress(stored_name, _FAILED)
        else:
            files.clear_progress(stored_name)

    async def _print(self, request: OfficeRequest, month: str) -> bytes:
        pack = await self.office.perform(request, get_month_end_pack, {"month": month})
        membership = request.visitor.membership
        title = translate_text("Month-end pack")
        sheet = {
            "language": current_language().code,
            "name": f"{title} {format_month(month)}",
            "title": title,
            "when": format_month(month),
            "issuer": membership.organisation_name if membership else "",
            "page": translate_text("Page {page} of {pages}", page="{page}", pages="{pages}"),
            "nothing": translate_text("Nothing in this period."),
            "sections": [self._build_section(request, report) for report in pack.reports],
        }
        visitors, today = self.office.visitors, self.office.today(request).isoformat()
        return await visitors.runner.run_print(
            request.actor.organisation, visitors.printer.print_reports, orjson.dumps(sheet).decode(), today
        )

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


def _find_fresh(files: TemporaryFiles, stored_name: str) -> Path | None:
    path = files.find_finished(stored_name)
    return path if path and path.stat().st_mtime > time() - _FRESH_SECONDS else None


def list_recent_months(today: date) -> list[tuple[str, str]]:
    """Return the last twelve months with their names, the one before this month first."""
    months = [f"{months_before(today, count):%Y-%m}" for count in (*range(1, 12), 0)]
    return [(month, format_month(month)) for month in months]
