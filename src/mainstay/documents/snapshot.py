"""The snapshot of an issued document: everything that is printed on it, so that nothing is looked up later.

A snapshot is stored as JSON and may be read years later by a newer version. Unknown fields are ignored, and newer
fields get the value that they would have had. Money, prices, quantities and percentages are decimal text, as in the
API. The amounts of a credit note are positive, as they were on the invoice. Every rate of a counted line has a tax sum,
even if it is zero.
"""

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

DocumentKind = Literal["invoice", "creditNote", "quote", "purchaseOrder", "statement"]
InvoiceType = Literal["standard", "deposit", "progress", "final"]
Language = Literal["en", "de", "fr", "nl", "es"]
TaxCategory = Literal["standard", "zero", "exempt", "reverseCharge", "outside"]
LineKind = Literal["item", "text", "heading"]


class SnapshotPart(BaseModel):
    """The base of all parts of a snapshot."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        from_attributes=True,
        defer_build=True,
    )


class AddressSnapshot(SnapshotPart):
    """A postal address as it was. It has no validation rules, because those of `values.address` may become stricter."""

    line1: str | None = None
    line2: str | None = None
    city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None


class EInvoiceAddressSnapshot(SnapshotPart):
    """An address for electronic invoices, in a network such as Peppol."""

    scheme: str
    id: str


class BankSnapshot(SnapshotPart):
    """The bank account to pay to."""

    name: str | None = None
    iban: str | None = None
    bic: str | None = None
    account: str | None = None
    sort_code: str | None = None


class PartySnapshot(SnapshotPart):
    """The sender or the recipient of a document."""

    name: str
    legal_name: str | None = None
    contact_name: str | None = None
    tax_number: str | None = None
    registration_number: str | None = None
    e_invoice_address: EInvoiceAddressSnapshot | None = None
    address: AddressSnapshot | None = None
    email: str | None = None
    phone: str | None = None
    bank: BankSnapshot | None = None
    # The name of the stored file, whose content is passed together with the snapshot.
    logo: str | None = None


class SiteSnapshot(SnapshotPart):
    """The place where the work is done or goods are delivered."""

    name: str | None = None
    address: AddressSnapshot | None = None

    @property
    def own_name(self) -> str | None:
        """The name, unless it only repeats the first line of the address."""
        first = self.address.line1 if self.address else None
        return None if self.name and self.name == first else self.name


class JobSnapshot(SnapshotPart):
    """The number and title of the job."""

    number: str
    title: str | None = None


class PrecedingSnapshot(SnapshotPart):
    """An earlier invoice: one that is credited, or a deposit that is deducted."""

    number: str
    issued_on: str | None = None


class WorkPeriodSnapshot(SnapshotPart):
    """The days on which the work was done, both included."""

    from_: str = Field(alias="from")
    until: str


class TaxComponentSnapshot(SnapshotPart):
    """A component of a tax rate, such as GST."""

    name: str
    percent: str


class TaxRateSnapshot(SnapshotPart):
    """A tax rate that lines refer to."""

    id: str
    name: str
    category: TaxCategory = "standard"
    components: tuple[TaxComponentSnapshot, ...] = ()
    note: str | None = None

    @property
    def percent(self) -> Decimal:
        """The sum of all components."""
        return sum((Decimal(part.percent) for part in self.components), Decimal(0))


class LineSnapshot(SnapshotPart):
    """A line: an item with a price, a heading, or text. Its amount is before the discount of the document."""

    id: str
    kind: LineKind = "item"
    description: str
    quantity: str = "1"
    unit: str | None = None
    unit_price: str = "0"
    discount_percent: str = "0"
    tax_rate_id: str | None = None
    amount: str = "0"
    # On a quote: whether the customer may leave it out, and whether it is counted now.
    optional: bool = False
    chosen: bool = True
    # Whether it deducts what was invoiced before.
    deduction: bool = False

    @property
    def counted(self) -> bool:
        """Whether its amount is part of the total."""
        return self.kind == "item" and (self.chosen or not self.optional)


class DiscountSnapshot(SnapshotPart):
    """The discount of the whole document: as it was agreed, and the amount it comes to."""

    percent: str | None = None
    amount: str | None = None
    taken: str


class TaxComponentAmountSnapshot(TaxComponentSnapshot):
    """A component of a tax rate, with its amount."""

    amount: str


class TaxAmountSnapshot(SnapshotPart):
    """The amounts that are taxed at one rate, and the tax."""

    tax_rate_id: str
    net: str
    amount: str
    components: tuple[TaxComponentAmountSnapshot, ...] = ()


class TotalsSnapshot(SnapshotPart):
    """The totals of the document, and what was paid when it was issued."""

    net: str
    tax: tuple[TaxAmountSnapshot, ...] = ()
    total: str
    paid: str = "0"
    due: str | None = None


class DepositSnapshot(SnapshotPart):
    """The deposit that a quote asks for before the work begins."""

    percent: str | None = None
    amount: str


EntryKind = Literal["invoice", "void", "creditNote", "payment", "reversal"]


class AccountEntrySnapshot(SnapshotPart):
    """A charge to a customer or a payment by them, and the balance after it."""

    on: str
    kind: EntryKind
    reference: str | None = None
    charged: str | None = None
    paid: str | None = None
    balance: str


class AccountSnapshot(SnapshotPart):
    """A statement of account: the balance brought forward, each entry, and how much of the balance is overdue."""

    from_: str = Field(alias="from")
    until: str
    brought_forward: str
    charged: str
    paid: str
    overdue: str
    entries: tuple[AccountEntrySnapshot, ...] = ()


class Snapshot(SnapshotPart):
    """A document as it was issued."""

    kind: DocumentKind
    type: InvoiceType = "standard"
    number: str
    revision: int = 1
    language: Language = "en"
    currency: str
    prices_include_tax: bool = False
    issued_on: str
    due_on: str | None = None
    valid_until: str | None = None
    needed_on: str | None = None
    service_period: WorkPeriodSnapshot | None = None
    title: str | None = None
    # The buyer's reference, and the number of their order.
    reference: str | None = None
    order_number: str | None = None
    seller: PartySnapshot
    buyer: PartySnapshot
    site: SiteSnapshot | None = None
    job: JobSnapshot | None = None
    preceding: tuple[PrecedingSnapshot, ...] = ()
    tax_rates: tuple[TaxRateSnapshot, ...] = ()
    lines: tuple[LineSnapshot, ...] = ()
    discount: DiscountSnapshot | None = None
    deposit: DepositSnapshot | None = None
    totals: TotalsSnapshot
    terms: str | None = None
    notes: str | None = None
    # Why a credit note was issued.
    reason: str | None = None
    # Whether the ordered goods are collected instead of delivered.
    collected: bool = False
    # Only on a statement of account, whose total is the balance.
    account: AccountSnapshot | None = None

    @property
    def issuer(self) -> PartySnapshot:
        """The party that sends it: the seller, or the buyer of a purchase order."""
        return self.buyer if self.kind == "purchaseOrder" else self.seller

    @property
    def recipient(self) -> PartySnapshot:
        """The party that it is sent to."""
        return self.seller if self.kind == "purchaseOrder" else self.buyer

    @property
    def rates(self) -> dict[str, TaxRateSnapshot]:
        """The tax rates by their IDs."""
        return {rate.id: rate for rate in self.tax_rates}

    @property
    def items(self) -> tuple[LineSnapshot, ...]:
        """The lines that have a price and are counted."""
        return tuple(line for line in self.lines if line.counted)

    @property
    def subtotal(self) -> Decimal:
        """The sum of its lines, before the discount of the document."""
        return sum((Decimal(line.amount) for line in self.items), Decimal(0))

    @property
    def due(self) -> Decimal:
        """The amount that was to be paid when it was issued."""
        if self.totals.due is not None:
            return Decimal(self.totals.due)
        return Decimal(self.totals.total) - Decimal(self.totals.paid)
