"""Suppliers' bills: the list, the page of each, and the form that records one, filled in from an order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.purchasing.bills import get_bill, list_bills, record_bill, update_bill
from mainstay.business.purchasing.operations import get_purchase_order
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Action, Arrangement, Record
from mainstay.doors.office.desk import Desk, Guest, status_of, wrong
from mainstay.doors.office.references import References
from mainstay.doors.office.room import Room
from mainstay.doors.pages.asking import Asked, asked_of, given, usual, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Refusal
from mainstay.values.ids import is_id
from mainstay.values.written import plain_price

_RATES = 100
# So many lines can be typed at once; more are there when these are full.
_SPARE = 4
_DECIMALS = ("quantity", "unitPrice")
_TYPED = ("description", *_DECIMALS, "taxRateId", "orderLineId")

BILLS = Arrangement(
    title="Bills",
    lead="What suppliers want to be paid, and what was paid.",
    path="/purchasing/bills",
    area="Purchasing",
    frame="purchasing.html",
    gets=get_bill,
    lists=list_bills,
    creates=record_bill,
    called=lambda bill: f"{bill['supplierName']} {bill['supplierNumber']}",
    below=lambda bill: " · ".join(filter(None, (bill["purchaseOrderNumber"], bill["jobNumber"]))),
    columns=("status", "total", "on", "dueOn"),
    facts=("supplierName", "supplierNumber", "on", "dueOn", "paidOn", "notes", "voidReason"),
    tabs={"all": "All", "draft": "Drafts", "approved": "To pay", "paid": "Paid", "void": "Void"},
    skips=frozenset({"lines", "edits", "total", "allowOverbilling"}),
    more="bill.html",
    empty="No bills yet. Record the first one, or record one from its order.",
    notes=True,
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
            Route("POST", f"{one}/become", enter(self.become)),
        ]

    async def ask(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The form; for an order, with all that is still to be billed of it."""
        admit(record_bill, guest.actor)
        asked = self._asked(guest)
        fields = usual(asked) | query_words(guest.request)
        order = await self._order(guest, fields)
        if order:
            open_ = [line for line in order["lines"] or () if line["kind"] == "item" and _left(line) > 0]
            fields |= {"supplierId": order["supplierId"], "jobId": order["jobId"] or ""}
            fields |= {name: text for place, line in enumerate(open_) for name, text in _written(place, line).items()}
        return await self._form(guest, fields, order)

    async def record(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Record it, or show more lines to type."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        admit(record_bill, guest.actor)
        if fields.get("do") == "more":
            return await self._form(guest, fields, None, spare=2 * _SPARE)
        asked, order = self._asked(guest), None
        try:
            resolved = await References(self.desk).resolved(guest, asked, fields)
            order = await self._order(guest, resolved)
            sent = given(asked, resolved, guest.time_zone) | {"lines": [_line(row) for row in _rows(fields)]}
            made = await self.desk.perform(guest, record_bill, sent)
        except Refusal as refusal:
            return await self._form(guest, fields, order, refusal)
        return see_other(f"{BILLS.path_of(made['id'])}?done={record_bill.name}")

    async def become(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Approve a bill, or say that it is paid, by one button."""
        fields = await self.desk.form(guest)
        changed = {"billId": at["id"], "status": fields.get("status", "")}
        await self.desk.perform(guest.sending(fields), update_bill, changed)
        return see_other(f"{BILLS.path_of(at['id'])}?done={update_bill.name}")

    async def _form(
        self,
        guest: Guest,
        fields: Mapping[str, str],
        order: Record | None,
        refusal: Refusal | None = None,
        spare: int = _SPARE,
    ) -> Response:
        shown = wrong(refusal)
        asked, written = await References(self.desk).offered(guest, self._asked(guest), fields, None)
        rates = await self.desk.perform(guest, list_tax_rates, {"limit": _RATES})
        typed = _rows(fields)
        return self.desk.page(
            "record_bill.html",
            guest,
            status_of(refusal),
            of=BILLS,
            operation=record_bill,
            order=order,
            asked=asked,
            fields=defaultdict(str, written),
            rows=[*typed, *(dict.fromkeys(_TYPED, "") for _ in range(1 if order and typed else spare))],
            rates=[(rate["id"], rate["name"]) for rate in rates["data"]],
            ways=ways_to(asked, shown.get("faults", {})),
            **shown,
        )

    async def _order(self, guest: Guest, fields: Mapping[str, str]) -> Record | None:
        named = fields.get("purchaseOrderId", "")
        known = is_id(named, "po")
        return await self.desk.perform(guest, get_purchase_order, {"purchaseOrderId": named}) if known else None

    def _asked(self, guest: Guest) -> Sequence[Asked]:
        return [one for one in asked_of(record_bill, guest.actor.rights) if one.name != "lines"]

    async def _shown(self, _guest: Guest, bill: Record | None) -> dict[str, Any]:
        """What only a bill's page has: what is next with it, by one button."""
        if bill is None:
            return {}
        actions = BILLS.actions(self.desk, bill)
        step = _NEXT.get(bill["status"])
        if step and update_bill.name in bill["availableActions"]:
            words, status = step
            path = f"{BILLS.path_of(bill['id'])}/become"
            actions = [Action(words, path, plain=True, answers={"status": status}), *actions]
        return {"actions": actions}


# What is next with a bill, and what it becomes by it.
_NEXT = {"draft": ("Approve", "approved"), "approved": ("Mark as paid", "paid")}


def _left(line: Mapping[str, Any]) -> Decimal:
    return Decimal(line["quantity"]) - Decimal(line["billed"])


def _written(place: int, line: Mapping[str, Any]) -> dict[str, str]:
    """A line of an order as the form begins with it."""
    told = {
        "description": line["description"],
        "quantity": str(_left(line)).removesuffix(".00"),
        "unitPrice": line["unitPrice"],
        "taxRateId": line["taxRateId"] or "none",
        "orderLineId": line["id"],
    }
    return {f"lines.{place}.{name}": text for name, text in told.items()}


def _rows(fields: Mapping[str, str]) -> list[dict[str, str]]:
    """The lines that were typed, in their order; those that were left empty are not among them."""
    places = sorted({int(name.split(".")[1]) for name in fields if _is_of_line(name)})
    rows = [{name: fields.get(f"lines.{place}.{name}", "").strip() for name in _TYPED} for place in places]
    return [row for row in rows if row["description"] or row["unitPrice"]]


def _is_of_line(name: str) -> bool:
    parts = name.split(".")
    return len(parts) == len(("lines", "0", "name")) and parts[0] == "lines" and parts[1].isdecimal()


def _line(row: Mapping[str, str]) -> dict[str, Any]:
    sent: dict[str, Any] = {name: plain_price(row[name]) for name in _DECIMALS if row[name]}
    if row["taxRateId"]:
        sent["taxRateId"] = None if row["taxRateId"] == "none" else row["taxRateId"]
    if row["orderLineId"]:
        sent["orderLineId"] = row["orderLineId"]
    return sent | {"description": row["description"]}
