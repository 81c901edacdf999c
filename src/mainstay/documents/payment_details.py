"""How an invoice is paid: the bank account in words, and as a QR code for banking apps."""

import re
from decimal import Decimal
from io import BytesIO
from typing import Any

from mainstay.documents.characters import to_printable
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.documents.snapshot import BankSnapshot, Snapshot
from mainstay.lazy_import import import_lazily
from mainstay.values.bank import group_iban

_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
# The limits of the QR code of the European Payments Council.
_MAX_AMOUNT = Decimal("999999999.99")
_LONGEST_NAME, _LONGEST_REFERENCE = 70, 140


def build_payment(snapshot: Snapshot, locale: Locale) -> dict[str, Any]:
    """Return what is to be paid, by when and to which account."""
    language, due = snapshot.language, snapshot.due
    if due <= 0:
        return {"heading": translate(language, "pay.nothing"), "rows": [], "code": None, "hint": ""}
    amount = locale.format_money(due, snapshot.currency)
    if snapshot.due_on:
        heading = translate(language, "pay.by", amount=amount, day=locale.format_day(snapshot.due_on))
    else:
        heading = translate(language, "pay.balance" if snapshot.account else "pay.now", amount=amount)
    bank = snapshot.seller.bank or BankSnapshot()
    holder = snapshot.seller.legal_name or snapshot.seller.name
    details = (
        ("pay.holder", holder if bank.iban or bank.account else None),
        ("pay.bank", bank.name),
        ("pay.iban", group_iban(plain_account_number(bank.iban)) if bank.iban else None),
        ("pay.bic", bank.bic),
        ("pay.account", bank.account),
        ("pay.sortCode", bank.sort_code),
        # A payment on account is for several invoices, so it has no reference.
        ("pay.reference", None if snapshot.account else snapshot.number),
    )
    return {
        "heading": heading,
        "rows": [(translate(language, key), text) for key, text in details if text],
        "code": render_payment_code(snapshot),
        "hint": translate(language, "pay.scan"),
    }


def has_account(snapshot: Snapshot) -> bool:
    """Return whether the document names an account to pay to."""
    bank = snapshot.seller.bank
    return bank is not None and bool(bank.iban or bank.account)


def render_payment_code(snapshot: Snapshot) -> str | None:
    """Return the EPC QR code of a euro invoice as SVG, or None if it cannot have one."""
    code_text = build_payment_code_text(snapshot)
    if code_text is None:
        return None
    # The guideline requires error correction level M and UTF-8 bytes.
    code = import_lazily("segno").make(
        code_text, error="M", mode="byte", encoding="utf-8", eci=False, boost_error=False, micro=False
    )
    svg = BytesIO()
    code.save(svg, "svg", border=0, xmldecl=False, nl=False)
    return svg.getvalue().decode()


def build_payment_code_text(snapshot: Snapshot) -> str | None:
    """Return the text of the EPC QR code (EPC069-12): recipient, amount and reference."""
    bank, due = snapshot.seller.bank, snapshot.due
    iban, bic = (plain_account_number(bank.iban or ""), plain_account_number(bank.bic or "")) if bank else ("", "")
    if snapshot.currency != "EUR" or not 0 < due <= _MAX_AMOUNT or not _IBAN.fullmatch(iban):
        return None
    name = " ".join((snapshot.seller.legal_name or snapshot.seller.name).split())
    lines = (
        *("BCD", "002", "1", "SCT"),
        bic if _BIC.fullmatch(bic) else "",
        to_printable(name)[:_LONGEST_NAME],
        iban,
        f"EUR{due:.2f}",
        *("", ""),
        "" if snapshot.account else to_printable(" ".join(snapshot.number.split()))[:_LONGEST_REFERENCE],
    )
    return "\n".join(lines)


def plain_account_number(text: str) -> str:
    """Return an account number without spaces and in capitals."""
    return "".join(text.split()).upper()
