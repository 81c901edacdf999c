"""Suppliers' bills: the list, the page of each, and the form that records one, filled in from an order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.purchasing.bills import get_bill, list_bills, record_bill, update_bill
from mainstay.business.purchasing.model import is_editable, next_of_bill
from mainstay.business.purchasing.operations import get_purchase_order
from mainstay.doors.http import Response
from mainstay.doors.office import bill_rows
from mainstay.doors.office.arrangement import Action, Arrangement
from mainstay.doors.office.bill_lines import RATES, SPARE, BillLines
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, seen_version, status_of, wrong
from mainstay.doors.office.references import AsTold, References
from mainstay.doors.office.room import Room
from mainstay.doors.pages.asking import Asked, asked_of, given, usual, ways_to
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.words import side_by_side
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Refusal
from mainstay.values.ids import is_id

BILLS = Arrangement(
    title="Bills",
    lead="What suppliers want to be paid, and what was paid.",
    path="/purchasing/bills",
    area="Purchasing",
    frame="purchasing.html",
    gets=get_bill,
    lists=list_bills,
    creates=record_bill,
    called=lambda bill: side_by_side(bill["supplierName"], bill["supplierNumber"]),
    below=lambda bill: " · ".join(filter(None, (bill["purchaseOrderNumber"], bill["jobNumber"]))),
    columns=("status", "total", "on", "dueOn"),
    yields=("on",),
    facts=("supplierName", "supplierNumber", "on", "dueOn", "paidOn", "notes", "voidReason"),
    tabs={"all": "All", "draft": "Drafts", "approved": "To pay", "paid": "Paid", "void": "Void"},
    skips=frozenset({"lines", "edits", "total", "allowOverbilling"}),
    more="bill.html",
    empty="No bills yet. Record the first one, or record one from its order.",
)


@dataclass(frozen=True)
class Bills:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one, new = self.desk.signed_in, BILLS.path_of("{id}"), f"{BILLS.path}/{BILLS.create_path}"
        return [
            *(route for route in Room(self.desk, BILLS, shows=self._shown).routes() if route.path != new),
            Route("GET", new, enter(self.ask)),
            Route("POST", new, enter(self.record)),
            *form_at(f"{one}/become", enter(self.become), one),
            *BillLines(self.desk, BILLS).routes(),
        ]

    async def ask(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The form; for an order, with all that is still to be billed of it, or with what it credits."""
        admit(record_bill, guest.actor)
        asked = self._asked(guest)
        fields = usual(asked) | query_words(guest.request)
        order = await self._order(guest, fields)
        if order:
            fields |= {"supplierId": order["supplierId"], "jobId": order["jobId"] or ""}
            fill_in = bill_rows.credit_of_order if _is_credit(guest) else bill_rows.of_order
            fields |= fill_in(order["lines"] or (), guest.here)
        if guest.typed:
            return await self._form(guest, guest.typed, order, notice=AS_LEFT)
        return await self._form(guest, fields, order)

    async def record(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Record it, or show more lines to type."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        admit(record_bill, guest.actor)
        if fields.get("do") == "more":
            return await self._form(guest, fields, None)
        asked, order = self._asked(guest), None
        try:
            resolved = await References(self.desk).resolved(guest, asked, fields)
            order = await self._order(guest, resolved)
            sent = given(asked, resolved, guest.here) | {
                "lines": [bill_rows.new_line(row, guest.here) for row in bill_rows.typed_in(fields)]
            }
            made = await self.desk.perform(guest, record_bill, sent)
        except Refusal as refusal:
            return await self._form(guest, fields, order, refusal)
        return see_other(f"{BILLS.path_of(made['id'])}?done={record_bill.name}")

    async def become(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Approve a bill, or say that it is paid, by one button."""
        fields = await self.desk.form(guest)
        changed = {"billId": at["id"], "status": fields.get("status", "")}
        await self.desk.perform(guest.sending(fields), update_bill, changed, seen_version(fields))
        return see_other(f"{BILLS.path_of(at['id'])}?done={update_bill.name}")

    async def _form(
        self,
        guest: Guest,
        fields: Mapping[str, str],
        order: AsTold | None,
        refusal: Refusal | None = None,
        notice: str | None = None,
    ) -> Response:
        shown = wrong(refusal)
        asked, written = await References(self.desk).offered(guest, self._asked(guest), fields, None)
        rates = await self.desk.perform(guest, list_tax_rates, {"limit": RATES})
        typed = bill_rows.typed_in(fields)
        spare = 2 * SPARE if fields.get("do") == "more" else 1 if order and typed else SPARE
        return self.desk.page(
            "record_bill.html",
            guest,
            status_of(refusal),
            of=BILLS,
            operation=record_bill,
            order=order,
            credits=_is_credit(guest),
            asked=asked,
            fields=defaultdict(str, written),
            rows=[*typed, *(bill_rows.blank() for _ in range(spare))],
            rates=[(rate["id"], rate["name"]) for rate in rates["data"]],
            ways=ways_to(asked, shown.get("faults", {})),
            notice=notice,
            **shown,
        )

    async def _order(self, guest: Guest, fields: Mapping[str, str]) -> AsTold | None:
        named = fields.get("purchaseOrderId", "")
        known = is_id(named, "po")
        return await self.desk.perform(guest, get_purchase_order, {"purchaseOrderId": named}) if known else None

    def _asked(self, guest: Guest) -> Sequence[Asked]:
        return [one for one in asked_of(record_bill, guest.actor.rights) if one.name != "lines"]

    async def _shown(self, guest: Guest, bill: AsTold | None) -> dict[str, Any]:
        """What only a bill's page has: what is next with it, by one button, and the way to its lines."""
        if bill is None:
            return {}
        actions = BILLS.actions(self.desk, bill)
        step = next_of_bill(bill["status"])
        if step and update_bill.name in bill["availableActions"]:
            path = f"{BILLS.path_of(bill['id'])}/become"
            actions = [Action(step.words, path, plain=True, answers={"status": step.to}), *actions]
        return {"actions": actions, "editable": is_editable(bill["status"]) and guest.may(update_bill)}


def _is_credit(guest: Guest) -> bool:
    """Whether a credit note is recorded, as the address says."""
    return "credit" in query_words(guest.request)
