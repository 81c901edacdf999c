"""What stands on a document, in words and in its reader's language: the template only arranges it."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from mainstay.paper.account import account_sums, account_table
from mainstay.paper.letters import printable
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.paying import payment
from mainstay.paper.snapshot import Line, Party, Snapshot, TaxAmount
from mainstay.paper.taxes import is_vat_number, reason_for_no_tax

# What each kind of document is called, by its type where it has one.
_TITLES = {
    "invoice": "title.invoice",
    "deposit": "title.deposit",
    "progress": "title.progress",
    "final": "title.final",
    "creditNote": "title.creditNote",
    "quote": "title.quote",
    "purchaseOrder": "title.purchaseOrder",
    "statement": "title.statement",
}
# A statement has no number: it is known by its date.
_NUMBERS = {
    "invoice": "fact.invoiceNumber",
    "creditNote": "fact.creditNoteNumber",
    "quote": "fact.quoteNumber",
    "purchaseOrder": "fact.orderNumber",
}
_RECIPIENTS = {
    "invoice": "party.billTo",
    "creditNote": "party.creditedTo",
    "quote": "party.quoteFor",
    "purchaseOrder": "party.supplier",
    "statement": "party.statementFor",
}
_RESULTS = {
    "invoice": "sum.due",
    "creditNote": "sum.credited",
    "quote": "sum.totalIn",
    "purchaseOrder": "sum.totalIn",
    "statement": "sum.balance",
}
_ONE_LINE = 50
STAMPS = {"void": "stamp.void", "draft": "stamp.draft"}

Pair = tuple[str, str]


def title_of(snapshot: Snapshot) -> str:
    """What a document is called."""
    special = snapshot.kind == "invoice" and snapshot.type != "standard"
    return say(snapshot.language, _TITLES[snapshot.type if special else snapshot.kind])


def sheet_of(snapshot: Snapshot, copy: str | None = None) -> dict[str, Any]:
    """All that is printed, with every letter one that can be."""
    cleaned: dict[str, Any] = _cleaned(Sheet(snapshot).told(copy))
    return cleaned


class Sheet:
    """One document, as it is told to its reader."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.of = snapshot
        self.locale = Locale.of(snapshot)

    def told(self, copy: str | None) -> dict[str, Any]:
        """Every part of it."""
        of = self.of
        title = title_of(of)
        return {
            "language": of.language,
            "title": title,
            "name": f"{title} {of.number}",
            "stamp": self.say(STAMPS[copy]) if copy else None,
            "issuer": of.issuer.name,
            # One line at the top of the pages that follow.
            "short-issuer": of.issuer.name if len(of.issuer.name) <= _ONE_LINE else f"{of.issuer.name[:_ONE_LINE]}…",
            "recipient": {"label": self.say(_RECIPIENTS[of.kind]), "lines": self._recipient()},
            "site": self._site(),
            "facts": list(self._facts()),
            "subject": of.title,
            "opening": self._opening(),
            "columns": {name: self.say(key) for name, key in _COLUMNS.items()},
            "taxed": any(rate.percent for rate in of.tax_rates),
            "rows": list(self._rows()),
            "account": account_table(of.account, self) if of.account else None,
            "below": list(self._below()),
            "sums": list(self._sums()),
            "result": (self.say(_RESULTS[of.kind], currency=of.currency), self.amount(self._result())),
            "after": self._overdue() if of.account else self._deposit(),
            "notes": of.notes,
            "terms": {"heading": self.say("terms.heading"), "text": of.terms} if of.terms else None,
            "payment": payment(of, self.locale) if of.kind == "invoice" or self._is_owed() else None,
            "acceptance": self._acceptance() if of.kind == "quote" else None,
            "footer": self._footer(),
            "page": self.say("page.of", page="{page}", pages="{pages}"),
            "carried": self.say("page.carried"),
            "brought": self.say("page.brought"),
        }

    def say(self, key: str, **values: object) -> str:
        """A message in the reader's language."""
        return say(self.of.language, key, **values)

    def amount(self, text: str | Decimal) -> str:
        """An amount as the reader writes it."""
        return self.locale.amount(text, self.of.currency)

    def _result(self) -> Decimal:
        return self.of.due if self.of.kind == "invoice" else Decimal(self.of.totals.total)

    def _recipient(self) -> list[str]:
        party = self.of.recipient
        attention = [self.say("party.attention", name=party.contact_name)] if party.contact_name else []
        return [
            party.legal_name or party.name,
            *attention,
            *self.locale.address(party.address),
            *self._tax_numbers(party, registered=False),
        ]

    def _tax_numbers(self, party: Party, *, registered: bool) -> list[str]:
        lines = []
        if party.tax_number:
            key = "party.vat" if is_vat_number(party.tax_number) else "party.taxNumber"
            lines.append(self.say(key, number=party.tax_number))
        if registered and party.registration_number:
            lines.append(self.say("party.registration", number=party.registration_number))
        return lines

    def _site(self) -> dict[str, Any] | None:
        site = self.of.site
        lines = [*([site.own_name] if site.own_name else []), *self.locale.address(site.address)] if site else []
        label = self.say("party.deliverTo" if self.of.kind == "purchaseOrder" else "party.site")
        return {"label": label, "lines": lines} if lines else None

    def _facts(self) -> Iterator[Pair]:
        of, day = self.of, self.locale.day
        yield from self._number()
        yield self.say("fact.date"), day(of.issued_on)
        if of.account:
            yield self.say("fact.period"), self.locale.days(of.account.from_, of.account.until)
        for key, on in (("fact.due", of.due_on), ("fact.validUntil", of.valid_until), ("fact.neededOn", of.needed_on)):
            if on:
                yield self.say(key), day(on)
        if period := of.service_period:
            key = "fact.supplyDate" if period.from_ == period.until else "fact.supplyPeriod"
            yield self.say(key), self.locale.days(period.from_, period.until)
        if of.job:
            yield self.say("fact.job"), of.job.number
        if of.order_number:
            yield self.say("fact.yourOrder"), of.order_number
        if of.reference:
            yield self.say("fact.reference"), of.reference
        if of.kind == "creditNote":
            for invoice in of.preceding:
                yield self.say("fact.forInvoice"), invoice.number

    def _number(self) -> Iterator[Pair]:
        of = self.of
        revised = of.kind == "quote" and of.revision > 1
        if of.kind in _NUMBERS:
            number = self.say("fact.revision", number=of.number, revision=of.revision) if revised else of.number
            yield self.say(_NUMBERS[of.kind]), number

    def _opening(self) -> list[str]:
        """What is said before the lines."""
        if self.of.kind != "creditNote":
            return []
        told = [
            self.say("credit.of", number=invoice.number, day=self.locale.day(invoice.issued_on))
            if invoice.issued_on
            else self.say("credit.ofUndated", number=invoice.number)
            for invoice in self.of.preceding
        ]
        return [*told, *([self.say("credit.reason", reason=self.of.reason)] if self.of.reason else [])]

    def _rows(self) -> Iterator[dict[str, Any]]:
        place, reached = 0, Decimal(0)
        for line in self.of.lines:
            if line.kind != "item":
                yield {"kind": line.kind, "text": line.description, "running": self.amount(reached)}
                continue
            place += 1
            reached += Decimal(line.amount) if line.counted else 0
            yield self._item(line, place) | {"running": self.amount(reached)}

    def _item(self, line: Line, place: int) -> dict[str, Any]:
        name, _, details = line.description.strip().partition("\n")
        if Decimal(line.discount_percent):
            less = self.say("table.discounted", percent=self.locale.percent(line.discount_percent))
            details = f"{details}\n{less}".strip()
        rate = self.of.rates.get(line.tax_rate_id or "")
        option = None
        if line.optional:
            option = self.say("table.optionIncluded" if line.chosen else "table.option")
        return {
            "kind": "item",
            "place": str(place),
            "text": name,
            "details": details,
            "option": option,
            "counted": line.counted,
            "quantity": self.locale.quantity(line.quantity),
            "unit": line.unit or "",
            "price": self.locale.price(line.unit_price, self.of.currency),
            "tax": self.locale.percent(rate.percent) if rate else "",
            "amount": self.amount(line.amount),
        }

    def _below(self) -> Iterator[str]:
        """What is said right below the lines: how to read them, and why there is no tax."""
        of = self.of
        if of.prices_include_tax:
            yield self.say("table.inclusive")
        if any(line.optional and not line.chosen for line in of.lines):
            yield self.say("table.options")
        used = {tax.tax_rate_id for tax in of.totals.tax}
        for rate in of.tax_rates:
            reason = reason_for_no_tax(of.language, rate.category, rate.note)
            if rate.id in used and reason:
                yield reason
        if of.kind == "creditNote":
            yield self.say("credit.settled")
        if of.kind == "purchaseOrder":
            if of.collected:
                yield self.say("order.collected")
            yield self.say("order.quoting", number=of.number)

    def _sums(self) -> Iterator[Pair]:
        of = self.of
        if of.account:
            yield from account_sums(of.account, self)
            return
        if of.discount:
            yield self.say("sum.subtotal"), self.amount(of.subtotal)
            percent = of.discount.percent
            told = self.say("sum.discountOf", percent=self.locale.percent(percent)) if percent else None
            yield told or self.say("sum.discount"), self.amount(-Decimal(of.discount.taken))
        if of.totals.tax:
            yield self.say("sum.net"), self.amount(of.totals.net)
        for tax in of.totals.tax:
            yield from self._tax(tax)
        if of.kind == "invoice" and self._result() != Decimal(of.totals.total):
            yield self.say("sum.total"), self.amount(of.totals.total)
            yield self.say("sum.paid"), self.amount(self._result() - Decimal(of.totals.total))

    def _tax(self, tax: TaxAmount) -> Iterator[Pair]:
        rate, net = self.of.rates.get(tax.tax_rate_id), self.amount(tax.net)
        if rate is None or not rate.percent or not tax.components:
            yield self.say("sum.untaxed", name=rate.name if rate else "", net=net), self.amount(tax.amount)
            return
        for part in tax.components:
            label = self.say("sum.taxed", name=part.name, percent=self.locale.percent(part.percent), net=net)
            yield label, self.amount(part.amount)

    def _deposit(self) -> Pair | None:
        deposit = self.of.deposit
        if deposit is None:
            return None
        if deposit.percent:
            label = self.say("sum.depositOf", percent=self.locale.percent(deposit.percent))
        else:
            label = self.say("sum.deposit")
        return label, self.amount(deposit.amount)

    def _is_owed(self) -> bool:
        """Whether it is a statement of an account on which something is to be paid."""
        return self.of.account is not None and self._result() > 0

    def _overdue(self) -> Pair | None:
        account = self.of.account
        if account is None or not Decimal(account.overdue):
            return None
        return self.say("sum.overdue"), self.amount(account.overdue)

    def _acceptance(self) -> dict[str, Any]:
        return {
            "heading": self.say("accept.heading"),
            "how": self.say("accept.how"),
            "fields": [self.say("accept.name"), self.say("accept.date"), self.say("accept.signature")],
        }

    def _footer(self) -> list[list[str]]:
        party = self.of.issuer
        return [
            [party.legal_name or party.name, *self.locale.address(party.address)],
            [line for line in (party.email, party.phone) if line],
            self._tax_numbers(party, registered=True),
        ]


_COLUMNS = {
    "description": "table.description",
    "quantity": "table.quantity",
    "unit": "table.unit",
    "price": "table.price",
    "tax": "table.tax",
    "amount": "table.amount",
}


def _cleaned(told: Any) -> Any:
    """The same, with letters only that can be printed."""
    if isinstance(told, str):
        return printable(told)
    if isinstance(told, dict):
        return {name: _cleaned(each) for name, each in told.items()}
    if isinstance(told, list | tuple):
        return [_cleaned(each) for each in told]
    return told
