"""Payments out of a bank statement: a file is brought along, what it seems to pay is shown, what is ticked recorded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mainstay.backing.tables import MOST_BYTES, NotATable
from mainstay.business.invoices.bank_file import Incoming, Unreadable, came_in
from mainstay.business.invoices.operations import get_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.invoices.statement import MOST_ENTRIES, find_paid_invoices
from mainstay.business.organisation.operations import get_organisation
from mainstay.doors.http import Response
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest
from mainstay.doors.office.invoices import PAYMENTS
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.uploads import Limit, Received
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Conflict, Invalid, NotFound, Refusal
from mainstay.values.money import parse_price

PATH = "/payments/statement"
# A row of the form, as it is shown and as it was sent.
Row = dict[str, Any]
# What is sent of a row that can be recorded, by what it is called in one that is shown.
_SENT = {"on": "on", "amount": "amount", "text": "text", "externalRef": "ref", "numbers": "invoices"}
_TICKED, _PROBLEM = "record", "problem"
# So much of what the customer wrote is kept with a payment.
_LONGEST_REFERENCE = 200


@dataclass(frozen=True)
class StatementPages:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", PATH, enter(self.ask)),
            Route("POST", PATH, enter(self.receive)),
            *form_at(f"{PATH}/record", enter(self.record), PATH),
        ]

    async def ask(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """From which file."""
        admit(record_payment, guest.actor)
        left = _sent(guest.typed)
        return await self._again(guest, 200, left, notice=AS_LEFT) if left else self._page(guest)

    async def receive(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What a file says came in, and what each seems to pay; nothing is recorded yet."""
        admit(record_payment, guest.actor)
        await self.desk.form_with_files(guest, {"file": Limit(MOST_BYTES)})
        files = guest.received.get("file", [])
        if not files:
            return self._page(guest, 422, problem="Choose the file that your bank gave you.")
        await self.desk.count_file(guest, "statements")
        organisation = await self.desk.perform(guest, get_organisation)
        try:
            read, others = await self.desk.visitors.runner.read_content(
                guest.actor.organisation, self._read, files[0], organisation["country"], organisation["currency"]
            )
        except (NotATable, Unreadable) as fault:
            return self._page(guest, 422, problem=str(fault))
        if not read:
            return self._page(guest, 422, problem=f"Nothing came in, by this file. {_not_listed(others)}".strip())
        entries = read[:MOST_ENTRIES]
        return self._page(
            guest,
            rows=await self._matched(guest, entries),
            currency=organisation["currency"],
            left_out=len(read) - len(entries),
            not_listed=_not_listed(others),
        )

    async def _matched(self, guest: Guest, entries: list[Incoming]) -> list[Row]:
        """What each entry seems to pay, in their order; one that cannot be recorded is shown with its problem."""
        given = [{"on": one.on, "amount": one.amount, "text": one.text} for one in entries if not one.problem]
        matched = await self.desk.perform(guest, find_paid_invoices, {"entries": given})
        suggestions = iter(matched["suggestions"])
        return [one._asdict() if one.problem else _shown(next(suggestions)) for one in entries]

    async def record(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Record each that was ticked; what cannot be is told beside it, and stands there again with what is left."""
        admit(record_payment, guest.actor)
        rows = _sent(await self.desk.form(guest))
        if not any(row["ticked"] for row in rows):
            return await self._again(guest, 422, rows, problem="Tick what is to be recorded.")
        # However often the form is sent, each is recorded once: by what the bank's entry is known by.
        done = [await self._record(guest, row) if row["ticked"] else row for row in rows]
        left = [row for row in done if "payment" not in row]
        problem = "Some could not be recorded. What is in the way stands beside them." if _amiss(left) else None
        recorded = [row for row in done if "payment" in row]
        return await self._again(guest, 200, left, recorded=recorded, problem=problem)

    async def _again(self, guest: Guest, status: int, rows: list[Row], **shown: Any) -> Response:
        """The rows as they were sent; where none is, the file is asked for."""
        if rows:
            organisation = await self.desk.perform(guest, get_organisation)
            shown |= {"rows": rows, "currency": organisation["currency"], "left_out": 0, "not_listed": ""}
        return self._page(guest, status, **shown)

    async def _record(self, guest: Guest, row: Row) -> Row:
        try:
            payment = await self.desk.perform(guest, record_payment, await self._payment(guest, row))
        except Refusal as refusal:
            return {**row, "fault": _why_not(refusal)}
        return {**row, "payment": payment}

    async def _payment(self, guest: Guest, row: Row) -> dict[str, object]:
        """What is recorded: for the invoices that were named, the first as far as something is due of it."""
        left = _counted(row["amount"])
        # Whoever names one twice means it once.
        numbers = dict.fromkeys(filter(None, re.split(r"[\s,;]+", row["numbers"])))
        if not numbers:
            raise Conflict("Say for which invoice, or leave it unticked.")
        if not row["on"]:
            # Left out, it would be today.
            raise Conflict("Say when it came in.")
        invoices = [await self._invoice(guest, number) for number in numbers]
        shared: dict[str, object] = {"invoiceId": invoices[0]["id"]}
        if len(invoices) > 1:
            allocations = []
            for one in invoices:
                share = min(Decimal(one["due"]), left)
                allocations.append({"invoiceId": one["id"], "amount": str(share)})
                left -= share
            shared = {"customerId": invoices[0]["customerId"], "allocations": allocations}
        reference = row["text"][:_LONGEST_REFERENCE].strip() or None
        told = {"on": row["on"], "amount": row["amount"], "reference": reference, "externalRef": row["externalRef"]}
        return {**told, **shared, "method": "bank"}

    async def _invoice(self, guest: Guest, number: str) -> dict[str, Any]:
        try:
            return await self.desk.perform(guest, get_invoice, {"invoiceId": number})
        except (NotFound, Invalid):
            raise Conflict(f"There is no invoice {number}.") from None

    def _read(self, file: Received, country: str, currency: str) -> tuple[list[Incoming], int]:
        """What came in, and how many rows say nothing of the kind."""
        table = self.desk.visitors.content.read_table(file.path)
        entries = came_in(table.headings, table.rows, country, currency)
        return entries, len(table.rows) - len(entries)

    def _page(self, guest: Guest, status: int = 200, **shown: Any) -> Response:
        shown = {"rows": (), "recorded": (), **shown}
        return self.desk.page("statement.html", guest, status, of=PAYMENTS, path=PATH, **shown)


def _not_listed(rows: int) -> str:
    """What is said of rows that are not shown."""
    if not rows:
        return ""
    return f"{'1 row is' if rows == 1 else f'{rows} rows are'} not listed: of what went out, or without an amount."


def _sent(fields: Mapping[str, str]) -> list[Row]:
    """The rows of a form, in their order; those that were recorded before have no invoices to fill in."""
    named = (name.partition(" ") for name in fields)
    known_by = {_TICKED, _PROBLEM, _SENT["numbers"]}
    places = dict.fromkeys(place for what, _, place in named if place and what in known_by)
    return [_sent_row(fields, place) for place in places]


def _sent_row(fields: Mapping[str, str], place: str) -> Row:
    row: Row = {name: fields.get(f"{sent} {place}", "") for name, sent in _SENT.items()}
    told: Row = {"paymentId": None, "why": None, "fault": None, "readable": _is_price(row["amount"])}
    if problem := fields.get(f"{_PROBLEM} {place}"):
        # It is not recorded, and stands there until someone has looked after it.
        return row | told | {"problem": problem, "ticked": False}
    return row | told | {"ticked": f"{_TICKED} {place}" in fields}


def _amiss(rows: list[Row]) -> bool:
    return any(row["fault"] for row in rows)


def _is_price(text: str) -> bool:
    try:
        parse_price(text)
    except ValueError:
        return False
    return True


def _counted(amount: str) -> Decimal:
    """An amount to count with: one that a payment can have."""
    try:
        price = parse_price(amount)
    except ValueError:
        raise Conflict("The amount cannot be read.") from None
    if price <= 0:
        raise Conflict("The amount is not more than nothing.")
    return Decimal(amount)


def _why_not(refusal: Refusal) -> str:
    """What a row was refused with; what the bank's entry is known by is no field that people see."""
    known = [fault for fault in refusal.faults if fault.field == "externalRef"] if isinstance(refusal, Invalid) else []
    return f"The bank's entry {known[0].problem}." if known else refusal.text


def _shown(suggestion: dict[str, Any]) -> Row:
    numbers = " ".join(one["invoiceNumber"] for one in suggestion["allocations"])
    sure = suggestion["why"] in {"number and amount", "name and amount"}
    told = {"numbers": numbers, "ticked": sure and not suggestion["paymentId"], "fault": None, "readable": True}
    return {**suggestion, **told}
