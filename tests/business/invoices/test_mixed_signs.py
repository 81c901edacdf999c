"""Lines with negative amounts: discounts, deposits, part invoices and credit notes."""

from typing import Any

import pytest

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.issuing.crediting import get_credit_note
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import run_all_tasks
from support.invoices import (
    credit_issued,
    credit_notes_of,
    edit_invoice,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
)
from support.prices import make_tax_rate

TEN_PERCENT = {"percent": "10"}


def make_lines(cast: Cast, trade_in: str = "-50") -> list[dict[str, Any]]:
    """Return a line of 100 at 20 % and a deduction at 0 %."""
    none = make_tax_rate(cast, "Zero", category="zero", components=[{"name": "VAT", "percent": "0"}])
    return [
        {"description": "Boiler", "unitPrice": "100", "taxRateId": make_tax_rate(cast)},
        {"description": "Trade-in", "unitPrice": trade_in, "taxRateId": none},
    ]


def list_taxes(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the net and the tax at each rate."""
    return [(tax["net"], tax["amount"]) for tax in document["taxes"]]


def fetch_last_note(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    """Return the newest credit note of an invoice."""
    note = credit_notes_of(cast, invoice)[-1]
    return cast.perform(get_credit_note, Role.OFFICE, creditNoteId=note["id"])


@pytest.mark.parametrize("discount", [TEN_PERCENT, {"amount": "5"}])
def test_a_discount_on_an_invoice_and_its_credit_note(cast: Cast, discount: dict[str, str]) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, lines=make_lines(cast), discount=discount))
    assert list_taxes(invoice) == [("90.00", "18.00"), ("-45.00", "0.00")]
    assert (invoice["net"], invoice["tax"], invoice["total"]) == ("45.00", "18.00", "63.00")
    credit_issued(cast, invoice)
    assert list_taxes(fetch_last_note(cast, invoice)) == list_taxes(invoice)


def test_a_discount_on_a_quote_its_deposit_and_its_last_invoice(cast: Cast) -> None:
    quote = make_accepted_quote(cast, *make_lines(cast), discount=TEN_PERCENT, deposit={"percent": "50"})
    assert list_taxes(quote) == [("90.00", "18.00"), ("-45.00", "0.00")]
    run_all_tasks(cast)
    (draft,) = cast.perform(list_invoices, Role.OFFICE, quoteId=quote["id"])["data"]
    half = [("45.00", "9.00"), ("-22.50", "0.00")]
    deposit = issue_invoice(cast, draft)
    assert (deposit["kind"], deposit["total"], list_taxes(deposit)) == ("deposit", "31.50", half)
    final = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    assert (final["total"], list_taxes(final)) == ("31.50", half)


def test_half_of_an_invoice_is_credited_with_half_of_each_tax(cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, lines=make_lines(cast)))
    credit_issued(cast, invoice, amount="35")
    assert list_taxes(fetch_last_note(cast, invoice)) == [("50.00", "10.00"), ("-25.00", "0.00")]


def test_lines_that_nearly_cancel_each_other_out_keep_their_shares_on_a_part_of_the_quote(cast: Cast) -> None:
    nearly = make_lines(cast, "-99.99")
    quote = make_accepted_quote(cast, *nearly, {"description": "Work", "unitPrice": "500"}, discount=TEN_PERCENT)
    some = [line["id"] for line in quote["lines"][:2]]
    part = make_invoice(cast, quoteId=quote["id"], quoteLines=some)
    assert (part["discount"], list_taxes(part)) == (
        {"percent": None, "amount": "0.00"},
        [("90.00", "18.00"), ("-89.99", "0.00")],
    )
    # When a line of a draft changes, its amounts are computed again.
    dearer: dict[str, object] = {"edit": "set", "lineId": part["lines"][0]["id"], "unitPrice": "200"}
    assert list_taxes(edit_invoice(cast, part, dearer))[0] == ("200.00", "40.00")


def test_a_line_is_credited_with_its_own_share_of_the_discount(cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, lines=make_lines(cast, "-99.99"), discount=TEN_PERCENT))
    assert list_taxes(invoice) == [("90.00", "18.00"), ("-89.99", "0.00")]
    (boiler, off) = ({"lineId": line["id"], "quantity": "0.5"} for line in invoice["lines"])
    credit_issued(cast, invoice, lines=[boiler, off])
    assert list_taxes(fetch_last_note(cast, invoice)) == [("45.00", "9.00"), ("-45.00", "0.00")]
