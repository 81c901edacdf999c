"""What is frozen when a document is issued: all that is printed on it, and nothing that is looked up later.

A snapshot is kept as JSON and read again years later, by a house that has grown: a field it does not know is passed
over, and a field that came later has what it would have been. Money, prices, quantities and percentages are decimal
text, as on the wire. The amounts of a credit note are those that are credited: positive, as they were on the invoice.
There is a sum of tax for every rate that a counted line has, also where the tax is nothing.
"""

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Kind = Literal["invoice", "creditNote", "quote", "purchaseOrder", "statement"]
Type = Literal["standard", "deposit", "progress", "final"]
Language = Literal["en", "de", "fr", "nl", "es"]
Category = Literal["standard", "zero", "exempt", "reverseCharge", "outside"]
LineKind = Literal["item", "text", "heading"]


class Frozen(BaseModel):
    """A part of a snapshot."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        from_attributes=True,
        defer_build=True,
    )


class Place(Frozen):
    """A postal address, as it was: `values.address`, without its rules, which may be stricter one day."""

    line1: str | None = None
    line2: str | None = None
    city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None


class EInvoiceAddress(Frozen):
    """Where electronic invoices go, in a network such as Peppol."""

    scheme: str
    id: str


class Bank(Frozen):
    """Where to pay."""

    name: str | None = None
    iban: str | None = None
    bic: str | None = None
    account: str | None = None
    sort_code: str | None = None


class Party(Frozen):
    """Who sends a document, or is sent it."""

    name: str
    legal_name: str | None = None
    contact_name: str | None = None
    tax_number: str | None = None
    registration_number: str | None = None
    e_invoice_address: EInvoiceAddress | None = None
    address: Place | None = None
    email: str | None = None
    phone: str | None = None
    bank: Bank | None = None
    # The name of the kept file, which is handed in beside the snapshot.
    logo: str | None = None


class Site(Frozen):
    """Where the work is done, or goods are delivered."""

    name: str | None = None
    address: Place | None = None

    @property
    def own_name(self) -> str | None:
        """The name, unless it only repeats the first line of the address."""
        first = self.address.line1 if self.address else None
        return None if self.name and self.name == first else self.name


class Job(Frozen):
    """What the work is called."""

    number: str
    title: str | None = None


class Preceding(Frozen):
    """An invoice before this one: the one that is credited, or a deposit that is deducted."""

    number: str
    issued_on: str | None = None


class WorkPeriod(Frozen):
    """When the work was done, both days included."""

    from_: str = Field(alias="from")
    until: str


class TaxComponent(Frozen):
    """A part of a rate of tax, such as GST."""

    name: str
    percent: str


class TaxRate(Frozen):
    """A rate of tax that a line refers to."""

    id: str
    name: str
    category: Category = "standard"
    components: tuple[TaxComponent, ...] = ()
    note: str | None = None

    @property
    def percent(self) -> Decimal:
        """All parts together."""
        return sum((Decimal(part.percent) for part in self.components), Decimal(0))


class Line(Frozen):
    """A line: something with a price, a heading, or words. Its amount is before the discount of the whole."""

    id: str
    kind: LineKind = "item"
    description: str
    quantity: str = "1"
    unit: str | None = None
    unit_price: str = "0"
    discount_percent: str = "0"
    tax_rate_id: str | None = None
    amount: str = "0"
    # Of a quote: the customer may leave it out, and whether it is counted as it stands.
    optional: bool = False
    chosen: bool = True
    # What was invoiced before and is taken off here.
    deduction: bool = False

    @property
    def counted(self) -> bool:
        """Whether its amount is part of the total."""
        return self.kind == "item" and (self.chosen or not self.optional)


class Discount(Frozen):
    """What is taken off the whole: as it was agreed, and what that comes to."""

    percent: str | None = None
    amount: str | None = None
    taken: str


class TaxComponentAmount(TaxComponent):
    """What a part of a rate comes to."""

    amount: str


class TaxAmount(Frozen):
    """What is taxed at one rate, and the tax."""

    tax_rate_id: str
    net: str
    amount: str
    components: tuple[TaxComponentAmount, ...] = ()


class Totals(Frozen):
    """What the document comes to, and what was paid when it was issued."""

    net: str
    tax: tuple[TaxAmount, ...] = ()
    total: str
    paid: str = "0"
    due: str | None = None


class Deposit(Frozen):
    """What a quote asks for before the work begins."""

    percent: str | None = None
    amount: str


EntryKind = Literal["invoice", "void", "creditNote", "payment", "reversal"]


class AccountEntry(Frozen):
    """What was charged to a customer or paid by them, and what they owed after it."""

    on: str
    kind: EntryKind
    reference: str | None = None
    charged: str | None = None
    paid: str | None = None
    balance: str


class Account(Frozen):
    """What a statement of account says: what was owed before, each entry, and what of the balance is overdue."""

    from_: str = Field(alias="from")
    until: str
    brought_forward: str
    charged: str
    paid: str
    overdue: str
    entries: tuple[AccountEntry, ...] = ()


class Snapshot(Frozen):
    """A document, as it was issued."""

    kind: Kind
    type: Type = "standard"
    number: str
    revision: int = 1
    language: Language = "en"
    currency: str
    prices_include_tax: bool = False
    issued_on: str
    due_on: str | None = None
    valid_until: str | None = None
    needed_on: str | None = None
    service_period: WorkPeriod | None = None
    title: str | None = None
    # What the buyer wants to read on it, and the number of their order.
    reference: str | None = None
    order_number: str | None = None
    seller: Party
    buyer: Party
    site: Site | None = None
    job: Job | None = None
    preceding: tuple[Preceding, ...] = ()
    tax_rates: tuple[TaxRate, ...] = ()
    lines: tuple[Line, ...] = ()
    discount: Discount | None = None
    deposit: Deposit | None = None
    totals: Totals
    terms: str | None = None
    notes: str | None = None
    # Why a credit note was issued.
    reason: str | None = None
    # Whether what is ordered is fetched rather than delivered.
    collected: bool = False
    # Of a statement; the total is then the balance.
    account: Account | None = None

    @property
    def issuer(self) -> Party:
        """Who sends it: who sells, and who buys where it is an order."""
        return self.buyer if self.kind == "purchaseOrder" else self.seller

    @property
    def recipient(self) -> Party:
        """Who is sent it."""
        return self.seller if self.kind == "purchaseOrder" else self.buyer

    @property
    def rates(self) -> dict[str, TaxRate]:
        """The rates of tax by their ids."""
        return {rate.id: rate for rate in self.tax_rates}

    @property
    def items(self) -> tuple[Line, ...]:
        """The lines that cost something and are counted."""
        return tuple(line for line in self.lines if line.counted)

    @property
    def subtotal(self) -> Decimal:
        """What its lines come to, before anything is taken off the whole."""
        return sum((Decimal(line.amount) for line in self.items), Decimal(0))

    @property
    def due(self) -> Decimal:
        """What was to be paid when it was issued."""
        if self.totals.due is not None:
            return Decimal(self.totals.due)
        return Decimal(self.totals.total) - Decimal(self.totals.paid)
