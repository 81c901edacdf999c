"""E-invoices by EN 16931: the terms of an invoice or credit note, and whether it can be an e-invoice.

`cii.py` and `ubl.py` write the same terms in the two syntaxes of the standard. Comments name its terms (BT), groups
(BG) and rules (BR).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from mainstay.documents.codes import ADDRESS_SCHEMES, UNLISTED_CURRENCIES
from mainstay.documents.einvoice_lines import Allowance, EInvoiceTaxGroup, InvoiceLine, figures_of, has_consistent_tax
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.documents.payment_details import has_account, plain_account_number
from mainstay.documents.peppol import (
    COMPANY_REGISTER_CODES,
    are_peppol_rules_supported,
    country_of,
    find_missing_for_peppol,
)
from mainstay.documents.snapshot import AddressSnapshot, PartySnapshot, PrecedingSnapshot, Snapshot
from mainstay.documents.tax_texts import is_vat_number, normalise_vat_number
from mainstay.values.message import Message
from mainstay.values.money import CURRENCIES

EInvoiceStatus = Literal["included", "incomplete", "notApplicable"]

_MAX_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class EInvoiceCheck:
    """Whether a document is one kind of e-invoice, and which fields are missing if only some are."""

    status: EInvoiceStatus
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EInvoiceChecks:
    """Whether a document is an e-invoice, and whether it can be sent in the Peppol network."""

    e_invoice: EInvoiceCheck
    peppol: EInvoiceCheck


def check_einvoice(snapshot: Snapshot) -> EInvoiceChecks:
    """Check whether a document can be an e-invoice.

    Missing fields never prevent a document from being issued.
    """
    if explain_impossible(snapshot):
        return EInvoiceChecks(EInvoiceCheck("notApplicable"), EInvoiceCheck("notApplicable"))
    missing = tuple(_find_missing_fields(snapshot))
    missing_for_peppol = tuple(dict.fromkeys((*missing, *find_missing_for_peppol(snapshot))))
    return EInvoiceChecks(
        _build_check(missing),
        _build_check(missing_for_peppol) if are_peppol_rules_supported(snapshot) else EInvoiceCheck("notApplicable"),
    )


def explain_impossible(snapshot: Snapshot) -> Message | None:
    """Return why a document cannot be an e-invoice even with more fields, or None if it can."""
    if not _is_expressible(snapshot):
        return Message("the standard does not support its taxes or its currency")
    if not has_consistent_tax(snapshot):
        return Message("its tax differs from the percentages of its rates by more than the standard allows")
    return None


def _build_check(missing: tuple[str, ...]) -> EInvoiceCheck:
    return EInvoiceCheck("incomplete" if missing else "included", missing)


def _is_expressible(snapshot: Snapshot) -> bool:
    """Return whether the standard can express it: one tax per line and category, amounts of at most two decimals."""
    rates = [snapshot.rates.get(line.tax_rate_id or "") for line in snapshot.items]
    categories = {rate.category for rate in rates if rate}
    return (
        snapshot.kind in {"invoice", "creditNote"}
        and CURRENCIES[snapshot.currency] <= _MAX_DECIMALS
        and snapshot.currency not in UNLISTED_CURRENCIES
        and bool(rates)
        and all(rate and len(rate.components) <= 1 for rate in rates)
        and all(rate.category == "standard" or not rate.percent for rate in rates if rate)
        and (categories == {"outside"} or "outside" not in categories)
    )


def _find_missing_fields(snapshot: Snapshot) -> Iterator[str]:
    """Yield the missing fields that every e-invoice must have."""
    seller, buyer = snapshot.seller, snapshot.buyer
    categories = {snapshot.rates[line.tax_rate_id or ""].category for line in snapshot.items}
    if not country_of(seller):
        yield "seller.address.country"
    if not seller.tax_number and "outside" not in categories:
        yield "seller.taxNumber"
    # A seller is identified by a VAT number or a registration number (BR-CO-26). Outside of VAT there is no VAT number.
    is_identified = "outside" not in categories and is_vat_number(seller.tax_number or "")
    if not is_identified and not seller.registration_number:
        yield "seller.registrationNumber"
    if not country_of(buyer):
        yield "buyer.address.country"
    # The buyer owes the tax and must be identified by a number (BR-AE-02).
    is_identified = is_vat_number(buyer.tax_number or "") or bool(buyer.registration_number)
    if "reverseCharge" in categories and not is_identified:
        yield "buyer.taxNumber"
    if snapshot.kind == "invoice" and not snapshot.due_on:
        yield "dueOn"


@dataclass(frozen=True, slots=True)
class PartyTerms:
    """The seller (BG-4) or the buyer (BG-7)."""

    name: str  # BT-27, BT-44
    trading_name: str | None  # BT-28
    registration: str | None  # BT-30, BT-47
    register: str | None  # the list it is from, by ISO 6523
    vat_number: str | None  # BT-31, BT-48
    tax_number: str | None  # BT-32, of a seller alone
    address: AddressSnapshot
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
class EInvoiceTerms:
    """The terms of an e-invoice."""

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
    preceding: tuple[PrecedingSnapshot, ...]  # BG-3
    seller: PartyTerms
    buyer: PartyTerms
    delivered_on: str | None  # BT-72
    period: tuple[str, str] | None  # BG-14
    deliver_to: tuple[str | None, AddressSnapshot] | None  # BT-70, BG-15
    payment: PaymentTerms | None
    allowances: tuple[Allowance, ...]  # BG-20, and BG-21 if they are negative
    taxes: tuple[EInvoiceTaxGroup, ...]  # BG-23
    lines: tuple[InvoiceLine, ...]  # BG-25
    net: Decimal  # BT-109
    tax: Decimal  # BT-110
    total: Decimal  # BT-112
    due: Decimal  # BT-115
    for_peppol: bool

    @property
    def is_credit_note(self) -> bool:
        """Whether it is a credit note."""
        return self.code == DOCUMENT_CODES["creditNote"]

    @property
    def lines_net(self) -> Decimal:
        """The sum of all lines (BT-106)."""
        return sum((line.net for line in self.lines), Decimal(0))

    def sum_allowances(self, *, charges: bool) -> Decimal:
        """Return the sum of the document's charges (BT-108) or of its allowances (BT-107)."""
        return sum(
            (abs(allowance.amount) for allowance in self.allowances if allowance.is_charge == charges), Decimal(0)
        )


# A credit note is settled against its invoice or refunded. It asks for no transfer and so names no account ("not
# defined" in UNTDID 4461). Without any payment instructions, German companies would reject it (DE-R-001).
_NO_PAYMENT = PaymentTerms("1")
DOCUMENT_CODES = {"creditNote": "381", "deposit": "386", "invoice": "380"}


def einvoice_terms_of(snapshot: Snapshot) -> EInvoiceTerms:
    """Return the terms of a document that can be an e-invoice."""
    outside = {snapshot.rates[line.tax_rate_id or ""].category for line in snapshot.items} == {"outside"}
    allowances, taxes, lines = figures_of(snapshot)
    period = snapshot.service_period
    one_day = period is not None and period.from_ == period.until
    site = snapshot.site
    is_credit_note = snapshot.kind == "creditNote"
    return EInvoiceTerms(
        number=snapshot.number,
        issued_on=snapshot.issued_on,
        code=DOCUMENT_CODES["creditNote" if is_credit_note else "deposit" if snapshot.type == "deposit" else "invoice"],
        currency=snapshot.currency,
        decimals=CURRENCIES[snapshot.currency],
        due_on=None if is_credit_note else snapshot.due_on,
        reference=snapshot.reference,
        order_number=snapshot.order_number,
        payment_note=_payment_note(snapshot),
        note="\n".join(text for text in (snapshot.title, snapshot.notes, snapshot.reason) if text) or None,
        preceding=snapshot.preceding,
        seller=_build_party(snapshot.seller, outside=outside, is_seller=True),
        buyer=_build_party(snapshot.buyer, outside=outside, is_seller=False),
        delivered_on=period.from_ if period and one_day else None,
        period=(period.from_, period.until) if period and not one_day else None,
        deliver_to=(site.own_name, site.address) if site and site.address and site.address.country else None,
        payment=_NO_PAYMENT if is_credit_note else _build_payment(snapshot),
        allowances=allowances,
        taxes=taxes,
        lines=lines,
        net=Decimal(snapshot.totals.net),
        tax=sum((group.tax for group in taxes), Decimal(0)),
        total=Decimal(snapshot.totals.total),
        due=Decimal(snapshot.totals.total) if is_credit_note else snapshot.due,
        for_peppol=check_einvoice(snapshot).peppol.status == "included",
    )


def _payment_note(snapshot: Snapshot) -> str:
    """Return the payment terms (BT-20).

    They are never left out, so that an amount due is never without a due date (BR-CO-25).
    """
    if snapshot.terms:
        return snapshot.terms
    if snapshot.kind == "creditNote":
        return translate(snapshot.language, "credit.settled")
    locale = Locale.for_snapshot(snapshot)
    amount = locale.format_money(snapshot.due, snapshot.currency)
    if not snapshot.due_on:
        return translate(snapshot.language, "pay.now", amount=amount)
    return translate(snapshot.language, "pay.by", amount=amount, day=locale.format_day(snapshot.due_on))


def _build_party(party: PartySnapshot, *, outside: bool, is_seller: bool) -> PartyTerms:
    number = normalise_vat_number(party.tax_number) if party.tax_number else None
    is_vat = number is not None and is_vat_number(number)
    trading_name = party.name if is_seller and party.legal_name and party.legal_name != party.name else None
    has_contact = party.contact_name or party.email or party.phone
    network = party.e_invoice_address
    return PartyTerms(
        name=party.legal_name or party.name,
        trading_name=trading_name,
        registration=party.registration_number,
        register=COMPANY_REGISTER_CODES.get(country_of(party) or ""),
        # Outside of VAT there must be no VAT number (BR-O-02).
        vat_number=number if is_vat and not outside else None,
        tax_number=party.tax_number if is_seller and number and not is_vat and not outside else None,
        address=party.address or AddressSnapshot(),
        network=(network.scheme, network.id) if network and network.scheme in ADDRESS_SCHEMES else None,
        contact=(party.contact_name or party.name) if has_contact else None,
        phone=party.phone,
        email=party.email,
    )


def _build_payment(snapshot: Snapshot) -> PaymentTerms | None:
    bank = snapshot.seller.bank
    if bank is None or not has_account(snapshot):
        return None
    account = (
        plain_account_number(bank.iban)
        if bank.iban
        else " ".join(part for part in (bank.sort_code, bank.account) if part)
    )
    is_sepa = bool(bank.iban) and snapshot.currency == "EUR"
    return PaymentTerms(
        code="58" if is_sepa else "30",
        account=account,
        is_iban=bool(bank.iban),
        holder=snapshot.seller.legal_name or snapshot.seller.name,
        bic=plain_account_number(bank.bic) if bank.bic else None,
    )
