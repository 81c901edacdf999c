"""Payments out of a bank statement: a file is brought along, what it seems to pay is shown, what is ticked recorded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from mainstay.backing.tables import MOST_BYTES, NotATable, read_table
from mainstay.business.invoices.bank_file import Entry, Unreadable, came_in
from mainstay.business.invoices.operations import get_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.invoices.statement import MOST_ENTRIES, find_paid_invoices
from mainstay.business.organisation.operations import get_organisation
from mainstay.doors.http import Response
from mainstay.doors.office.desk import Desk, Guest, wrong
from mainstay.doors.office.invoices import PAYMENTS
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.uploads import Limit, Received
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Refusal

PATH = "/payments/statement"
FILES_AN_HOUR = 60
_TICKED = "record "


@dataclass(frozen=True)
class Statements:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", PATH, enter(self.ask)),
            Route("POST", PATH, enter(self.receive)),
            Route("POST", f"{PATH}/record", enter(self.record)),
        ]

    async def ask(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """From which file."""
        admit(record_payment, guest.actor)
        return self._page(guest)

    async def receive(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What a file says came in, and what each seems to pay; nothing is recorded yet."""
        admit(record_payment, guest.actor)
        await self.desk.form_with_files(guest, {"file": Limit(MOST_BYTES)})
        files = guest.received.get("file", [])
        if not files:
            return self._page(guest, 422, problem="Choose the file that your bank gave you.")
        await self.desk.count_file(guest, "statements", FILES_AN_HOUR)
        country = (await self.desk.perform(guest, get_organisation))["country"]
        try:
            entries = await self.desk.visitors.runner.take_long(_read, files[0], country)
        except (NotATable, Unreadable) as fault:
            return self._page(guest, 422, problem=str(fault))
        if not entries:
            return self._page(guest, 422, problem="Nothing came in, by this file.")
        given = {"entries": [entry._asdict() for entry in entries[:MOST_ENTRIES]]}
        try:
            matched = await self.desk.perform(guest, find_paid_invoices, given)
        except Refusal as refusal:
            return self._page(guest, 422, **wrong(refusal))
        return self._page(
            guest,
            suggestions=[_shown(one) for one in matched["suggestions"]],
            currency=matched["currency"],
            left_out=max(len(entries) - MOST_ENTRIES, 0),
        )

    async def record(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Record each that was ticked; those that cannot be are told, and the others are there."""
        fields = await self.desk.form(guest)
        outcomes = []
        for place in [name.removeprefix(_TICKED) for name in fields if name.startswith(_TICKED)]:
            row = {name: fields.get(f"{name} {place}", "") for name in ("on", "amount", "text", "ref", "invoices")}
            # However often the form is sent, each is recorded once: by what the bank's entry is known by.
            outcomes.append(await self._record(guest, row))
        if not outcomes:
            return self._page(guest, 422, problem="Tick what is to be recorded. Bring the file along once more.")
        return self._page(guest, outcomes=outcomes)

    async def _record(self, guest: Guest, row: dict[str, str]) -> dict[str, Any]:
        try:
            payment = await self.desk.perform(guest, record_payment, await self._payment(guest, row))
        except Refusal as refusal:
            return {**row, "problem": wrong(refusal)["problem"] or refusal.text}
        except InvalidOperation:
            return {**row, "problem": "The amount cannot be read."}
        return {**row, "payment": payment}

    async def _payment(self, guest: Guest, row: dict[str, str]) -> dict[str, object]:
        """What is recorded: for the invoices that were named, the first as far as something is due of it."""
        invoices = [
            await self.desk.perform(guest, get_invoice, {"invoiceId": number})
            for number in re.split(r"[\s,;]+", row["invoices"])
            if number
        ]
        shared: dict[str, object] = {"invoiceId": invoices[0]["id"]} if len(invoices) == 1 else {}
        if len(invoices) > 1:
            allocations, left = [], Decimal(row["amount"])
            for one in invoices:
                share = min(Decimal(one["due"]), left)
                allocations.append({"invoiceId": one["id"], "amount": str(share)})
                left -= share
            shared = {"customerId": invoices[0]["customerId"], "allocations": allocations}
        told = {"on": row["on"], "amount": row["amount"], "reference": row["text"] or None, "externalRef": row["ref"]}
        return {**told, **shared, "method": "bank"}

    def _page(self, guest: Guest, status: int = 200, **shown: Any) -> Response:
        return self.desk.page("statement.html", guest, status, of=PAYMENTS, path=PATH, **shown)


def _read(file: Received, country: str) -> list[Entry]:
    table = read_table(file.path)
    return came_in(table.headings, table.rows, country)


def _shown(suggestion: dict[str, Any]) -> dict[str, Any]:
    numbers = " ".join(one["invoiceNumber"] for one in suggestion["allocations"])
    sure = suggestion["why"] in {"number and amount", "name and amount"}
    return {**suggestion, "numbers": numbers, "ticked": sure and not suggestion["paymentId"]}
