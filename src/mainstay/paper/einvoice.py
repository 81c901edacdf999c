"""E-invoices by EN 16931: what an invoice or credit note says in the terms of the norm, and whether it can be one.

`cii.py` and `ubl.py` write the same terms in the two forms of the norm. Comments name its terms (BT) and rules (BR).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from mainstay.paper.codes import ADDRESS_SCHEMES, UNLISTED_CURRENCIES
from mainstay.paper.einvoice_lines import Allowance, InvoiceLine, TaxGroup, figures_of, is_taxed_as_told
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.paying import plain, tells_account
from mainstay.paper.peppol import REGISTERS, can_go_there, country_of, missing_there
from mainstay.paper.snapshot import Party, Place, Preceding, Snapshot
from mainstay.paper.taxes import is_vat_number, plain_number
from mainstay.values.money import CURRENCIES

Status = Literal["included", "incomplete", "notApplicable"]

_MOST_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a document is an e-invoice of one kind, and which fields are missing if only some are."""

    status: Status
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standings:
    """Whether a document is an e-invoice, and whether it can be sent in the Peppol network."""

    e_invoice: Standing
    peppol: Standing


def standing(snapshot: Snapshot) -> Standings:
    """Whether a document can be an e-invoice; what is missing never stops it from being issued."""
    if why_never(snapshot):
        return Standings(Standing("notApplicable"), Standing("notApplicable"))
    missing = tuple(_missing(snapshot))
    there = tuple(dict.fromkeys((*missing, *missing_there(snapshot))))
    return Standings(_standing(missing), _standing(there) if can_go_there(snapshot) else Standing("notApplicable"))


def why_never(snapshot: Snapshot) -> str | None:
    """Why a document cannot be an e-invoice, whatever is added to it; None where it can."""
    if not _can_be_told(snapshot):
        return "the norm has no words for its taxes or its currency"
    if not is_taxed_as_told(snapshot):
        return "its tax is further from the percentages of its rates than the norm allows"
    return None


def _standing(missing: tuple[str, ...]) -> Standing:
    return Standing("incomplete" if missing else "included", missing)


def _can_be_told(snapshot: Snapshot) -> bool:
    """Whether the norm has words for it: one tax a line and category, and amounts of at most two decimals."""
    rates = [snapshot.rates.get(line.tax_rate_id or "") for line in snapshot.items]
    categories = {rate.category for rate in rates if rate}
    return (
        snapshot.kind in {"invoice", "creditNote"}
        and CURRENCIES[snapshot.currency] <= _MOST_DECIMALS
        and snapshot.currency not in UNLISTED_CURRENCIES
        and bool(rates)
        and all(rate and len(rate.components) <= 1 for rate in rates)
        and all(rate.category == "standard" or not rate.percent for rate in rates if rate)
        and (categories == {"outside"} or "outside" not in categories)
    )


def _missing(snapshot: Snapshot) -> Iterator[str]:
    """Which fields are missing that every e-invoice has."""
    seller, buyer = snapshot.seller, snapshot.buyer
    categories = {snapshot.rates[line.tax_rate_id or ""].category for line in snapshot.items}
    if not country_of(seller):
        yield "seller.address.country"
    if not seller.tax_number and "outside" not in categories:
        yield "seller.taxNumber"
    # A seller is known by a VAT number, or by where they are registered (BR-CO-26). Outside of VAT there is no number.
    known = "outside" not in categories and is_vat_number(seller.tax_number or "")
    if not known and not seller.registration_number:
        yield "seller.registrationNumber"
    if not country_of(buyer):
        yield "buyer.address.country"
    # Who owes the tax is known by a number (BR-AE-02).
    known = is_vat_number(buyer.tax_number or "") or bool(buyer.registration_number)
    if "reverseCharge" in categories and not known:
        yield "buyer.taxNumber"
    if snapshot.kind == "invoice" and not snapshot.due_on:
        yield "dueOn"


@dataclass(frozen=True, slots=True)
class PartyTerms:
    """Who sells (BG-4), or who buys (BG-7)."""

    name: str  # BT-27, BT-44
    trading_name: str | None  # BT-28
    registration: str | None  # BT-30, BT-47
    register: str | None  # the list it is from, by ISO 6523
    vat_number: str | None  # BT-31, BT-48
    tax_number: str | None  # BT-32, of a seller alone
    address: Place
    network: tuple[str, str] | None  # BT-34, BT-49: scheme and identifier
    contact: str | None  # BT-41, BT-56
    phone: str | None
    email: str | None


@dataclass(frozen=True, slots=True)
class PaymentTerms:
    """How it is paid (BG-16)."""

    code: str  # BT-81
    account: str | None = None  # BT-84
    is_iban: bool = False
    holder: str | None = None  # BT-85
    bic: str | None = None  # BT-86


@dataclass(frozen=True, slots=True)
class Terms:
    """What an e-invoice says."""

    number: str  # BT-1
    issued_on: str  # BT-2
    code: str  # BT-3
    currency: str  # BT-5
    decimals: int
    due_on: str | None  # BT-9
    reference: str | None  # BT-10
    order_number: str | None  # BT-13
    payment_note: str  # BT-20
    note: str | None  # BT-22
    preceding: tuple[Preceding, ...]  # BG-3
    seller: PartyTerms
    buyer: PartyTerms
    delivered_on: str | None  # BT-72
    period: tuple[str, str] | None  # BG-14
    deliver_to: tuple[str | None, Place] | None  # BT-70, BG-15
    payment: PaymentTerms | None
    allowances: tuple[Allowance, ...]  # BG-20, and BG-21 where they are negative
    taxes: tuple[TaxGroup, ...]  # BG-23
    lines: tuple[InvoiceLine, ...]  # BG-25
    net: Decimal  # BT-109
    tax: Decimal  # BT-110
    total: Decimal  # BT-112
    due: Decimal  # BT-115
    for_peppol: bool

    @property
    def is_credit_note(self) -> bool:
        """Whether it takes back what an invoice asked for."""
        return self.code == CODES["creditNote"]

    @property
    def lines_net(self) -> Decimal:
        """BT-106: all lines."""
        return sum((line.net for line in self.lines), Decimal(0))

    def allowed(self, *, charges: bool) -> Decimal:
        """BT-107, or BT-108: all that is taken off, or put on, as a whole."""
        return sum((abs(each.amount) for each in self.allowances if each.is_charge == charges), Decimal(0))


# A credit note is settled against its invoice or refunded: it asks for no transfer, and so names no account ("not
# defined" in UNTDID 4461). Without any instructions it would fail among German companies (DE-R-001).
_NOT_DEFINED = PaymentTerms("1")
CODES = {"creditNote": "381", "deposit": "386", "invoice": "380"}


def terms_of(snapshot: Snapshot) -> Terms:
    """What a document that can be an e-invoice says as one."""
    outside = {snapshot.rates[line.tax_rate_id or ""].category for line in snapshot.items} == {"outside"}
    allowances, taxes, lines = figures_of(snapshot)
    period = snapshot.service_period
    one_day = period is not None and period.from_ == period.until
    site = snapshot.site
    is_credit_note = snapshot.kind == "creditNote"
    return Terms(
        number=snapshot.number,
        issued_on=snapshot.issued_on,
        code=CODES["creditNote" if is_credit_note else "deposit" if snapshot.type == "deposit" else "invoice"],
        currency=snapshot.currency,
        decimals=CURRENCIES[snapshot.currency],
        due_on=None if is_credit_note else snapshot.due_on,
        reference=snapshot.reference,
        order_number=snapshot.order_number,
        payment_note=_payment_note(snapshot),
        note="\n".join(text for text in (snapshot.title, snapshot.notes, snapshot.reason) if text) or None,
        preceding=snapshot.preceding,
        seller=_party(snapshot.seller, outside=outside, sells=True),
        buyer=_party(snapshot.buyer, outside=outside, sells=False),
        delivered_on=period.from_ if period and one_day else None,
        period=(period.from_, period.until) if period and not one_day else None,
        deliver_to=(site.own_name, site.address) if site and site.address and site.address.country else None,
        payment=_NOT_DEFINED if is_credit_note else _payment(snapshot),
        allowances=allowances,
        taxes=taxes,
        lines=lines,
        net=Decimal(snapshot.totals.net),
        tax=sum((group.tax for group in taxes), Decimal(0)),
        total=Decimal(snapshot.totals.total),
        due=Decimal(snapshot.totals.total) if is_credit_note else snapshot.due,
        for_peppol=standing(snapshot).peppol.status == "included",
    )


def _payment_note(snapshot: Snapshot) -> str:
    """BT-20: what is agreed on paying; never left out, so that what is due is never without a time (BR-CO-25)."""
    if snapshot.terms:
        return snapshot.terms
    if snapshot.kind == "creditNote":
        return say(snapshot.language, "credit.settled")
    locale = Locale.of(snapshot)
    amount = locale.money(snapshot.due, snapshot.currency)
    if not snapshot.due_on:
        return say(snapshot.language, "pay.now", amount=amount)
    return say(snapshot.language, "pay.by", amount=amount, day=locale.day(snapshot.due_on))


def _party(party: Party, *, outside: bool, sells: bool) -> PartyTerms:
    number = plain_number(party.tax_number) if party.tax_number else None
    is_vat = number is not None and is_vat_number(number)
    trading = party.name if sells and party.legal_name and party.legal_name != party.name else None
    reached = party.contact_name or party.email or party.phone
    network = party.e_invoice_address
    return PartyTerms(
        name=party.legal_name or party.name,
        trading_name=trading,
        registration=party.registration_number,
        register=REGISTERS.get(country_of(party) or ""),
        # Outside of VAT nobody has a number for it (BR-O-02).
        vat_number=number if is_vat and not outside else None,
        tax_number=party.tax_number if sells and number and not is_vat and not outside else None,
        address=party.address or Place(),
        network=(network.scheme, network.id) if network and network.scheme in ADDRESS_SCHEMES else None,
        contact=(party.contact_name or party.name) if reached else None,
        phone=party.phone,
        email=party.email,
    )


def _payment(snapshot: Snapshot) -> PaymentTerms | None:
    bank = snapshot.seller.bank
    if bank is None or not tells_account(snapshot):
        return None
    account = plain(bank.iban) if bank.iban else " ".join(part for part in (bank.sort_code, bank.account) if part)
    sepa = bool(bank.iban) and snapshot.currency == "EUR"
    return PaymentTerms(
        code="58" if sepa else "30",
        account=account,
        is_iban=bool(bank.iban),
        holder=snapshot.seller.legal_name or snapshot.seller.name,
        bic=plain(bank.bic) if bank.bic else None,
    )
