"""How an invoice is paid: the account in words, and as a code for banking apps."""

import re
from decimal import Decimal
from io import BytesIO
from typing import Any

from mainstay.late import late
from mainstay.paper.letters import printable
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Bank, Snapshot
from mainstay.values.bank import in_groups

_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
# What the code of the European Payments Council can ask for.
_MOST = Decimal("999999999.99")
_LONGEST_NAME, _LONGEST_REFERENCE = 70, 140


def payment(snapshot: Snapshot, locale: Locale) -> dict[str, Any]:
    """What is to be paid, by when and where to."""
    language, due = snapshot.language, snapshot.due
    if due <= 0:
        return {"heading": say(language, "pay.nothing"), "rows": [], "code": None, "hint": ""}
    amount = locale.money(due, snapshot.currency)
    if snapshot.due_on:
        heading = say(language, "pay.by", amount=amount, day=locale.day(snapshot.due_on))
    else:
        heading = say(language, "pay.balance" if snapshot.account else "pay.now", amount=amount)
    bank = snapshot.seller.bank or Bank()
    holder = snapshot.seller.legal_name or snapshot.seller.name
    known = (
        ("pay.holder", holder if bank.iban or bank.account else None),
        ("pay.bank", bank.name),
        ("pay.iban", in_groups(plain(bank.iban)) if bank.iban else None),
        ("pay.bic", bank.bic),
        ("pay.account", bank.account),
        ("pay.sortCode", bank.sort_code),
        # What one pays on account is for several invoices.
        ("pay.reference", None if snapshot.account else snapshot.number),
    )
    return {
        "heading": heading,
        "rows": [(say(language, key), text) for key, text in known if text],
        "code": payment_code(snapshot),
        "hint": say(language, "pay.scan"),
    }


def tells_account(snapshot: Snapshot) -> bool:
    """Whether it says to which account it is paid."""
    bank = snapshot.seller.bank
    return bank is not None and bool(bank.iban or bank.account)


def payment_code(snapshot: Snapshot) -> str | None:
    """The EPC code of a euro invoice with an IBAN, as a picture in SVG."""
    asked = payment_code_text(snapshot)
    if asked is None:
        return None
    # Level M and letters as bytes of UTF-8, as the guideline wants it.
    code = late("segno").make(
        asked, error="M", mode="byte", encoding="utf-8", eci=False, boost_error=False, micro=False
    )
    drawn = BytesIO()
    code.save(drawn, "svg", border=0, xmldecl=False, nl=False)
    return drawn.getvalue().decode()


def payment_code_text(snapshot: Snapshot) -> str | None:
    """What the code of an invoice says to a banking app (EPC069-12): whom to pay, how much, and what for."""
    bank, due = snapshot.seller.bank, snapshot.due
    iban, bic = (plain(bank.iban or ""), plain(bank.bic or "")) if bank else ("", "")
    if snapshot.currency != "EUR" or not 0 < due <= _MOST or not _IBAN.fullmatch(iban):
        return None
    name = " ".join((snapshot.seller.legal_name or snapshot.seller.name).split())
    lines = (
        *("BCD", "002", "1", "SCT"),
        bic if _BIC.fullmatch(bic) else "",
        printable(name)[:_LONGEST_NAME],
        iban,
        f"EUR{due:.2f}",
        *("", ""),
        "" if snapshot.account else printable(" ".join(snapshot.number.split()))[:_LONGEST_REFERENCE],
    )
    return "\n".join(lines)


def plain(text: str) -> str:
    """An account as machines read it, without the spaces people write in it."""
    return "".join(text.split()).upper()
