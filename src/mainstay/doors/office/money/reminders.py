"""Remind of several overdue invoices: mark them in a list, check one preview, send all reminders together."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.issuing.reminders import MAX_REMINDERS, send_reminders
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, status_of
from mainstay.doors.office.money.invoices import INVOICES_LAYOUT
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Invalid

PATH = "/invoices/remind"
_OVERDUE_PATH = f"{INVOICES_LAYOUT.path}?status=overdue"
# The prefix of the fields that name an invoice.
_INVOICE_PREFIX = "invoice "


@dataclass(frozen=True)
class ReminderPages:
    """The pages to choose overdue invoices and to send reminders."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [Route("GET", PATH, signed_in(self.show)), Route("POST", PATH, signed_in(self.send))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the overdue invoices to choose from."""
        return await self._render_page(request)

    async def send(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show what would be sent for the marked invoices, then send it."""
        fields = await self.office.read_form(request)
        request = request.with_form_token(fields)
        check_permission(send_reminders, request.actor)
        marked = [name.removeprefix(_INVOICE_PREFIX) for name in fields if name.startswith(_INVOICE_PREFIX)]
        confirmed = fields.get("confirmed") == "yes"
        try:
            given = {"invoiceIds": marked, "again": fields.get("again") == "yes", "confirmed": confirmed}
            answer = await self.office.perform(request, send_reminders, given)
        except Invalid as invalid:
            return await self._render_page(request, marked, invalid)
        if confirmed:
            return redirect(f"{_OVERDUE_PATH}&done={send_reminders.name}")
        return self.office.render_page(
            "confirm.html",
            request,
            of=INVOICES_LAYOUT,
            operation=send_reminders,
            title="Send reminders",
            lead=None,
            sends=True,
            deed="Send reminders",
            called="Send reminders",
            path=PATH,
            version=None,
            fields=fields,
            preview=answer,
            instead=(),
        )

    async def _render_page(
        self, request: OfficeRequest, marked: Collection[str] = (), refusal: Invalid | None = None
    ) -> Response:
        check_permission(send_reminders, request.actor)
        page = await self.office.perform(request, list_invoices, {"status": "overdue", "limit": MAX_REMINDERS})
        problem = refusal.message if refusal and marked else Message("Select at least one invoice.")
        return self.office.render_page(
            "reminders.html",
            request,
            status_of(refusal),
            area="Invoices",
            invoices=page["data"],
            marked=marked,
            more=page["hasMore"],
            notice=None,
            problem=PageFormat(request.display).render(problem) if refusal else None,
        )
