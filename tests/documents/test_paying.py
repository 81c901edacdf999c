"""How an invoice is paid, and what a banking app reads from its code."""

from typing import Any

import pytest

from mainstay.documents.locales import Locale
from mainstay.documents.payment_details import build_payment, build_payment_code_text, render_payment_code
from support.snapshots import SELLER, SnapshotItem, make_snapshot

IBAN = SELLER["bank"]["iban"]


def with_bank(**bank: str) -> dict[str, Any]:
    return {"seller": {**SELLER, "bank": bank}}


def test_the_code_says_whom_to_pay_how_much_and_what_for() -> None:
    assert build_payment_code_text(make_snapshot(SnapshotItem(price="1234.5"))) == (
        "BCD\n002\n1\nSCT\nCOBADEFFXXX\nRohr & Söhne GmbH\nDE89370400440532013000\nEUR1469.06\n\n\nINV-0207"
    )
    drawn = render_payment_code(make_snapshot(SnapshotItem()))
    assert drawn is not None
    assert drawn.startswith("<svg xmlns=")


@pytest.mark.parametrize(
    "given",
    [
        {"currency": "GBP"},
        with_bank(account="12345678", sortCode="12-34-56"),
        with_bank(iban="not an account"),
        {"seller": {**SELLER, "bank": None}},
    ],
    ids=["another currency", "no IBAN", "a wrong IBAN", "no bank"],
)
def test_there_is_no_code_where_no_app_would_take_it(given: dict[str, Any]) -> None:
    assert render_payment_code(make_snapshot(SnapshotItem(), **given)) is None


@pytest.mark.parametrize(("price", "said"), [("0.01", "EUR0.01"), ("840336134.44", "EUR999999999.98")])
def test_every_amount_it_can_say_is_said_whole(price: str, said: str) -> None:
    assert said in (build_payment_code_text(make_snapshot(SnapshotItem(price=price))) or "")


@pytest.mark.parametrize("price", ["0", "-5", "840336134.46"])
def test_there_is_no_code_for_nothing_and_for_more_than_it_can_say(price: str) -> None:
    assert build_payment_code_text(make_snapshot(SnapshotItem(price=price))) is None


def test_what_does_not_fit_is_cut_and_what_is_no_bic_is_left_out() -> None:
    seller = {**SELLER, "legalName": "Very\nlong " * 30, "bank": {"iban": IBAN, "bic": "?"}}
    text = build_payment_code_text(make_snapshot(SnapshotItem(), seller=seller, number="INV\n1" + "x" * 200))
    assert text is not None
    lines = text.split("\n")
    assert (len(lines), lines[4], len(lines[5]), len(lines[10])) == (11, "", 70, 140)


def test_it_is_told_in_words_too() -> None:
    text = build_payment(
        make_snapshot(SnapshotItem(), **with_bank(account="12345678", sortCode="12-34-56")), Locale("en")
    )
    assert text["heading"] == "Please pay €119.00 by 30 November 2026"
    assert text["rows"] == [
        ("Payee", "Rohr & Söhne GmbH"),
        ("Account", "12345678"),
        ("Sort code", "12-34-56"),
        ("Reference", "INV-0207"),
    ]


def test_what_is_paid_already_is_not_asked_for() -> None:
    whole = make_snapshot(SnapshotItem())
    paid = whole.model_copy(update={"totals": whole.totals.model_copy(update={"paid": "119.00"})})
    assert build_payment(paid, Locale("en")) == {
        "heading": "There is nothing left to pay",
        "rows": [],
        "code": None,
        "hint": "",
    }
