"""Reminders of several overdue invoices: marked in a list, shown in one preview, sent together."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mainstay.business.invoices.operations import list_invoices
from mainstay.business.invoices.reminding import MOST_AT_ONCE, send_reminders
from mainstay.doors.http import Response
from mainstay.doors.office.desk import Desk, Guest, status_of
from mainstay.doors.office.invoices import INVOICES
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Invalid

PATH = "/invoices/remind"
_OVERDUE = f"{INVOICES.path}?status=overdue"
# How the fields begin that name an invoice.
_INVOICE = "invoice "


@dataclass(frozen=True)
class ReminderPages:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [Route("GET", PATH, enter(self.choose)), Route("POST", PATH, enter(self.send))]

    async def choose(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Show the overdue invoices to choose from."""
        return await self._page(guest)

    async def send(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Show what would be sent for the marked invoices, then send it."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        admit(send_reminders, guest.actor)
        marked = [name.removeprefix(_INVOICE) for name in fields if name.startswith(_INVOICE)]
        confirmed = fields.get("confirmed") == "yes"
        try:
            given = {"invoiceIds": marked, "again": fields.get("again") == "yes", "confirmed": confirmed}
            answer = await self.desk.perform(guest, send_reminders, given)
        except Invalid as invalid:
            return await self._page(guest, marked, invalid)
        if confirmed:
            return see_other(f"{_OVERDUE}&done={send_reminders.name}")
        return self.desk.page(
            "confirm.html",
            guest,
            of=INVOICES,
            operation=send_reminders,
            deed="Send reminders",
            called="Send reminders",
            path=PATH,
            version=None,
            fields=fields,
            preview=answer,
            instead=(),
        )

    async def _page(self, guest: Guest, marked: Collection[str] = (), refusal: Invalid | None = None) -> Response:
        admit(send_reminders, guest.actor)
        page = await self.desk.perform(guest, list_invoices, {"status": "overdue", "limit": MOST_AT_ONCE})
        return self.desk.page(
            "reminders.html",
            guest,
            status_of(refusal),
            area="Invoices",
            invoices=page["data"],
            marked=marked,
            more=page["hasMore"],
            notice=None,
            problem=("Mark at least one invoice." if not marked else refusal.text) if refusal else None,
        )
