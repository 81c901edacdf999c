"""Remind of several overdue invoices: mark them in a list, check one preview, send all reminders together."""

from collections.abc import Mapping
from dataclasses import dataclass

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.issuing.reminders import MAX_REMINDERS, send_reminders
from mainstay.business.invoices.store import INVOICES
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, Preview
from mainstay.doors.office.money.invoices import INVOICES_LAYOUT
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Invalid

PATH = f"{INVOICES.path}/remind"
_OVERDUE_PATH = f"{INVOICES_LAYOUT.path}?status=overdue"
# The prefix of the fields that name an invoice.
_INVOICE_PREFIX = "invoice "


@dataclass(frozen=True)
class ReminderPages:
    """The pages to choose overdue invoices and to send reminders."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return Form(self.office, find_by_path, self._send, self._render_page).routes(PATH)

    async def _send(self, form: OpenForm[PathValues]) -> Response:
        """Show what would be sent for the marked invoices, then send it."""
        request, fields = form.request, form.fields
        check_permission(send_reminders, request.actor)
        given = {"invoiceIds": _marked_invoices(fields), "again": fields.get("again") == "yes"}
        answer = await self.office.preview_or_perform(request, send_reminders, given, fields)
        if not isinstance(answer, Preview):
            return redirect(f"{_OVERDUE_PATH}&done={send_reminders.name}")
        return self.office.render_page(
            "confirm.html",
            request,
            answer.status,
            of=INVOICES_LAYOUT,
            operation=send_reminders,
            title="Send reminders",
            lead=None,
            sends=True,
            deed="Send reminders",
            record_title=translate_text("Send reminders"),
            path=PATH,
            version=None,
            fields=fields,
            preview=answer,
            instead=(),
        )

    async def _render_page(self, form: OpenForm[PathValues]) -> Response:
        """Show the overdue invoices to choose from."""
        request, refusal, marked = form.request, form.refusal, _marked_invoices(form.fields)
        if refusal and not isinstance(refusal, Invalid):
            raise refusal
        check_permission(send_reminders, request.actor)
        page = await self.office.perform(request, list_invoices, {"status": "overdue", "limit": MAX_REMINDERS})
        problem = refusal.message if refusal and marked else Message("Select at least one invoice.")
        return self.office.render_page(
            "reminders.html",
            request,
            form.status,
            area="Invoices",
            invoices=page.data,
            marked=marked,
            more=page.has_more,
            notice=None,
            problem=PageFormat(request.display).render(problem) if refusal else None,
        )


def _marked_invoices(fields: Mapping[str, str]) -> list[str]:
    return [name.removeprefix(_INVOICE_PREFIX) for name in fields if name.startswith(_INVOICE_PREFIX)]
