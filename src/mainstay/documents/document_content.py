"""The content of a document in its reader's language. The template only arranges it."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from mainstay.documents.characters import to_printable
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.documents.payment_details import build_payment
from mainstay.documents.snapshot import LineSnapshot, PartySnapshot, Snapshot, TaxAmountSnapshot
from mainstay.documents.statement_sheet import build_account_sums, build_account_table
from mainstay.documents.tax_texts import find_no_tax_reason, is_vat_number

# The titles of documents, by kind, or by type for the special types of invoices.
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
# A statement has no number, because it is identified by its date.
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
_LINE_LENGTH = 50
STAMPS = {"void": "stamp.void", "draft": "stamp.draft"}

LabelledText = tuple[str, str]


def document_title_of(snapshot: Snapshot) -> str:
    """Return the title of a document, such as "Invoice"."""
    special = snapshot.kind == "invoice" and snapshot.type != "standard"
    return translate(snapshot.language, _TITLES[snapshot.type if special else snapshot.kind])


def build_content(snapshot: Snapshot, copy: str | None = None) -> dict[str, Any]:
    """Return everything that is printed on a document, with characters that can all be printed."""
    content: dict[str, Any] = make_printable(DocumentContent(snapshot).build(copy))
    return content


class DocumentContent:
    """Builds the content of one document in its reader's language."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.locale = Locale.for_snapshot(snapshot)

    def build(self, copy: str | None) -> dict[str, Any]:
        """Return all parts of the document."""
        snapshot = self.snapshot
        title = document_title_of(snapshot)
        return {
            "language": snapshot.language,
            "title": title,
            "name": f"{title} {snapshot.number}",
            "stamp": self.translate(STAMPS[copy]) if copy else None,
            "issuer": snapshot.issuer.name,
            # This must fit in one line at the top of the following pages.
            "short-issuer": snapshot.issuer.name
            if len(snapshot.issuer.name) <= _LINE_LENGTH
            else f"{snapshot.issuer.name[:_LINE_LENGTH]}…",
            "recipient": {"label": self.translate(_RECIPIENTS[snapshot.kind]), "lines": self._build_recipient()},
            "site": self._build_site(),
            "facts": list(self._build_facts()),
            "subject": snapshot.title,
            "opening": self._build_opening(),
            "columns": {name: self.translate(key) for name, key in _COLUMNS.items()},
            "taxed": any(rate.percent for rate in snapshot.tax_rates),
            "rows": list(self._build_rows()),
            "account": build_account_table(snapshot.account, self) if snapshot.account else None,
            "below": list(self._build_remarks()),
            "sums": list(self._build_sums()),
            "result": (
                self.translate(_RESULTS[snapshot.kind], currency=snapshot.currency),
                self.format_amount(self._result_amount()),
            ),
            "after": self._build_overdue() if snapshot.account else self._build_deposit(),
            "notes": snapshot.notes,
            "terms": {"heading": self.translate("terms.heading"), "text": snapshot.terms} if snapshot.terms else None,
            "payment": build_payment(snapshot, self.locale) if snapshot.kind == "invoice" or self._is_owed() else None,
            "acceptance": self._build_acceptance() if snapshot.kind == "quote" else None,
            "footer": self._build_footer(),
            "page": self.translate("page.of", page="{page}", pages="{pages}"),
            "carried": self.translate("page.carried"),
            "brought": self.translate("page.brought"),
        }

    def translate(self, key: str, **values: object) -> str:
        """Return a message in the reader's language."""
        return translate(self.snapshot.language, key, **values)

    def format_amount(self, text: str | Decimal) -> str:
        """Format an amount for the reader."""
        return self.locale.format_amount(text, self.snapshot.currency)

    def _result_amount(self) -> Decimal:
        return self.snapshot.due if self.snapshot.kind == "invoice" else Decimal(self.snapshot.totals.total)

    def _build_recipient(self) -> list[str]:
        party = self.snapshot.recipient
        attention = [self.translate("party.attention", name=party.contact_name)] if party.contact_name else []
        return [
            party.legal_name or party.name,
            *attention,
            *self.locale.format_address(party.address),
            *self._list_tax_numbers(party, registered=False),
        ]

    def _list_tax_numbers(self, party: PartySnapshot, *, registered: bool) -> list[str]:
        lines = []
        if party.tax_number:
            key = "party.vat" if is_vat_number(party.tax_number) else "party.taxNumber"
            lines.append(self.translate(key, number=party.tax_number))
        if registered and party.registration_number:
            lines.append(self.translate("party.registration", number=party.registration_number))
        return lines

    def _build_site(self) -> dict[str, Any] | None:
        site = self.snapshot.site
        lines = [*([site.own_name] if site.own_name else []), *self.locale.format_address(site.address)] if site else []
        label = self.translate("party.deliverTo" if self.snapshot.kind == "purchaseOrder" else "party.site")
        return {"label": label, "lines": lines} if lines else None

    def _build_facts(self) -> Iterator[LabelledText]:
        snapshot, format_day = self.snapshot, self.locale.format_day
        yield from self._build_number()
        yield self.translate("fact.date"), format_day(snapshot.issued_on)
        if snapshot.account:
            yield (
                self.translate("fact.period"),
                self.locale.format_period(snapshot.account.from_, snapshot.account.until),
            )
        for key, date in (
            ("fact.due", snapshot.due_on),
            ("fact.validUntil", snapshot.valid_until),
            ("fact.neededOn", snapshot.needed_on),
        ):
            if date:
                yield self.translate(key), format_day(date)
        if period := snapshot.service_period:
            key = "fact.supplyDate" if period.from_ == period.until else "fact.supplyPeriod"
            yield self.translate(key), self.locale.format_period(period.from_, period.until)
        if snapshot.job:
            yield self.translate("fact.job"), snapshot.job.number
        if snapshot.order_number:
            yield self.translate("fact.yourOrder"), snapshot.order_number
        if snapshot.reference:
            yield self.translate("fact.reference"), snapshot.reference
        if snapshot.kind == "creditNote":
            for invoice in snapshot.preceding:
                yield self.translate("fact.forInvoice"), invoice.number

    def _build_number(self) -> Iterator[LabelledText]:
        snapshot = self.snapshot
        revised = snapshot.kind == "quote" and snapshot.revision > 1
        if snapshot.kind in _NUMBERS:
            number = (
                self.translate("fact.revision", number=snapshot.number, revision=snapshot.revision)
                if revised
                else snapshot.number
            )
            yield self.translate(_NUMBERS[snapshot.kind]), number

    def _build_opening(self) -> list[str]:
        """Return the sentences above the lines."""
        if self.snapshot.kind != "creditNote":
            return []
        sentences = [
            self.translate("credit.of", number=invoice.number, day=self.locale.format_day(invoice.issued_on))
            if invoice.issued_on
            else self.translate("credit.ofUndated", number=invoice.number)
            for invoice in self.snapshot.preceding
        ]
        return [
            *sentences,
            *([self.translate("credit.reason", reason=self.snapshot.reason)] if self.snapshot.reason else []),
        ]

    def _build_rows(self) -> Iterator[dict[str, Any]]:
        position, running_total = 0, Decimal(0)
        for line in self.snapshot.lines:
            if line.kind != "item":
                yield {"kind": line.kind, "text": line.description, "running": self.format_amount(running_total)}
                continue
            position += 1
            running_total += Decimal(line.amount) if line.counted else 0
            yield self._build_item(line, position) | {"running": self.format_amount(running_total)}

    def _build_item(self, line: LineSnapshot, position: int) -> dict[str, Any]:
        name, _, details = line.description.strip().partition("\n")
        if Decimal(line.discount_percent):
            discount = self.translate("table.discounted", percent=self.locale.format_percent(line.discount_percent))
            details = f"{details}\n{discount}".strip()
        rate = self.snapshot.rates.get(line.tax_rate_id or "")
        option = None
        if line.optional:
            option = self.translate("table.optionIncluded" if line.chosen else "table.option")
        return {
            "kind": "item",
            "place": str(position),
            "text": name,
            "details": details,
            "option": option,
            "counted": line.counted,
            "quantity": self.locale.format_quantity(line.quantity),
            "unit": line.unit or "",
            "price": self.locale.format_price(line.unit_price, self.snapshot.currency),
            "tax": self.locale.format_percent(rate.percent) if rate else "",
            "amount": self.format_amount(line.amount),
        }

    def _build_remarks(self) -> Iterator[str]:
        """Yield the sentences right below the lines: how to read them, and why there is no tax."""
        snapshot = self.snapshot
        if snapshot.prices_include_tax:
            yield self.translate("table.inclusive")
        if any(line.optional and not line.chosen for line in snapshot.lines):
            yield self.translate("table.options")
        used = {tax.tax_rate_id for tax in snapshot.totals.tax}
        for rate in snapshot.tax_rates:
            reason = find_no_tax_reason(snapshot.language, rate.category, rate.note)
            if rate.id in used and reason:
                yield reason
        if snapshot.kind == "creditNote":
            yield self.translate("credit.settled")
        if snapshot.kind == "purchaseOrder":
            if snapshot.collected:
                yield self.translate("order.collected")
            yield self.translate("order.quoting", number=snapshot.number)

    def _build_sums(self) -> Iterator[LabelledText]:
        snapshot = self.snapshot
        if snapshot.account:
            yield from build_account_sums(snapshot.account, self)
            return
        if snapshot.discount:
            yield self.translate("sum.subtotal"), self.format_amount(snapshot.subtotal)
            percent = snapshot.discount.percent
            label = self.translate("sum.discountOf", percent=self.locale.format_percent(percent)) if percent else None
            yield label or self.translate("sum.discount"), self.format_amount(-Decimal(snapshot.discount.taken))
        if snapshot.totals.tax:
            yield self.translate("sum.net"), self.format_amount(snapshot.totals.net)
        for tax in snapshot.totals.tax:
            yield from self._build_tax_sums(tax)
        if snapshot.kind == "invoice" and self._result_amount() != Decimal(snapshot.totals.total):
            yield self.translate("sum.total"), self.format_amount(snapshot.totals.total)
            yield self.translate("sum.paid"), self.format_amount(self._result_amount() - Decimal(snapshot.totals.total))

    def _build_tax_sums(self, tax: TaxAmountSnapshot) -> Iterator[LabelledText]:
        rate, net = self.snapshot.rates.get(tax.tax_rate_id), self.format_amount(tax.net)
        if rate is None or not rate.percent or not tax.components:
            yield self.translate("sum.untaxed", name=rate.name if rate else "", net=net), self.format_amount(tax.amount)
            return
        for part in tax.components:
            label = self.translate(
                "sum.taxed", name=part.name, percent=self.locale.format_percent(part.percent), net=net
            )
            yield label, self.format_amount(part.amount)

    def _build_deposit(self) -> LabelledText | None:
        deposit = self.snapshot.deposit
        if deposit is None:
            return None
        if deposit.percent:
            label = self.translate("sum.depositOf", percent=self.locale.format_percent(deposit.percent))
        else:
            label = self.translate("sum.deposit")
        return label, self.format_amount(deposit.amount)

    def _is_owed(self) -> bool:
        """Return whether this is a statement of account with an amount to pay."""
        return self.snapshot.account is not None and self._result_amount() > 0

    def _build_overdue(self) -> LabelledText | None:
        account = self.snapshot.account
        if account is None or not Decimal(account.overdue):
            return None
        return self.translate("sum.overdue"), self.format_amount(account.overdue)

    def _build_acceptance(self) -> dict[str, Any]:
        return {
            "heading": self.translate("accept.heading"),
            "how": self.translate("accept.how"),
            "fields": [
                self.translate("accept.name"),
                self.translate("accept.date"),
                self.translate("accept.signature"),
            ],
        }

    def _build_footer(self) -> list[list[str]]:
        party = self.snapshot.issuer
        return [
            [party.legal_name or party.name, *self.locale.format_address(party.address)],
            [line for line in (party.email, party.phone) if line],
            self._list_tax_numbers(party, registered=True),
        ]


_COLUMNS = {
    "description": "table.description",
    "quantity": "table.quantity",
    "unit": "table.unit",
    "price": "table.price",
    "tax": "table.tax",
    "amount": "table.amount",
}


def make_printable(value: Any) -> Any:
    """Return the same values with characters that can all be printed."""
    if isinstance(value, str):
        return to_printable(value)
    if isinstance(value, dict):
        return {name: make_printable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_printable(item) for item in value]
    return value
