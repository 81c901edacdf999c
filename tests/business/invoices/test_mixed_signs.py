"""Lines that take something off: discounts, deposits, part invoices and credit notes by signed amounts."""

from typing import Any

import pytest

from billing import a_sold_quote, an_invoice, changed, credited, issued, notes_of
from cast import Cast
from mainstay.business.invoices.crediting import get_credit_note
from mainstay.business.invoices.operations import list_invoices
from mainstay.terms.rights import Role
from trade import work_off
from wares import a_rate

TEN_PERCENT = {"percent": "10"}


def lines(cast: Cast, off: str = "-50") -> list[dict[str, Any]]:
    """100 at 20 %, and what is taken off it at 0 %."""
    none = a_rate(cast, "Zero", category="zero", components=[{"name": "VAT", "percent": "0"}])
    return [
        {"description": "Boiler", "unitPrice": "100", "taxRateId": a_rate(cast)},
        {"description": "Trade-in", "unitPrice": off, "taxRateId": none},
    ]


def taxed(document: dict[str, Any]) -> list[tuple[str, str]]:
    """The net and the tax at each rate."""
    return [(tax["net"], tax["amount"]) for tax in document["taxes"]]


def last_note(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    """The newest credit note of an invoice."""
    note = notes_of(cast, invoice)[-1]
    return cast.perform(get_credit_note, Role.OFFICE, creditNoteId=note["id"])


@pytest.mark.parametrize("discount", [TEN_PERCENT, {"amount": "5"}])
def test_a_discount_on_an_invoice_and_its_credit_note(cast: Cast, discount: dict[str, str]) -> None:
    invoice = issued(cast, an_invoice(cast, lines=lines(cast), discount=discount))
    assert taxed(invoice) == [("90.00", "18.00"), ("-45.00", "0.00")]
    assert (invoice["net"], invoice["tax"], invoice["total"]) == ("45.00", "18.00", "63.00")
    credited(cast, invoice)
    assert taxed(last_note(cast, invoice)) == taxed(invoice)


def test_a_discount_on_a_quote_its_deposit_and_its_last_invoice(cast: Cast) -> None:
    quote = a_sold_quote(cast, *lines(cast), discount=TEN_PERCENT, deposit={"percent": "50"})
    assert taxed(quote) == [("90.00", "18.00"), ("-45.00", "0.00")]
    work_off(cast)
    (draft,) = cast.perform(list_invoices, Role.OFFICE, quoteId=quote["id"])["data"]
    half = [("45.00", "9.00"), ("-22.50", "0.00")]
    deposit = issued(cast, draft)
    assert (deposit["kind"], deposit["total"], taxed(deposit)) == ("deposit", "31.50", half)
    final = issued(cast, an_invoice(cast, quoteId=quote["id"]))
    assert (final["total"], taxed(final)) == ("31.50", half)


def test_half_of_an_invoice_is_credited_with_half_of_each_tax(cast: Cast) -> None:
    invoice = issued(cast, an_invoice(cast, lines=lines(cast)))
    credited(cast, invoice, amount="35")
    assert taxed(last_note(cast, invoice)) == [("50.00", "10.00"), ("-25.00", "0.00")]


def test_lines_that_nearly_cancel_each_other_out_keep_their_shares_on_a_part_of_the_quote(cast: Cast) -> None:
    nearly = lines(cast, "-99.99")
    quote = a_sold_quote(cast, *nearly, {"description": "Work", "unitPrice": "500"}, discount=TEN_PERCENT)
    some = [line["id"] for line in quote["lines"][:2]]
    part = an_invoice(cast, quoteId=quote["id"], quoteLines=some)
    assert (part["discount"], taxed(part)) == (
        {"percent": None, "amount": "0.00"},
        [("90.00", "18.00"), ("-89.99", "0.00")],
    )
    # A draft whose lines change is shared out anew.
    dearer: dict[str, object] = {"edit": "set", "lineId": part["lines"][0]["id"], "unitPrice": "200"}
    assert taxed(changed(cast, part, dearer))[0] == ("200.00", "40.00")


def test_a_line_is_credited_with_its_own_share_of_the_discount(cast: Cast) -> None:
    invoice = issued(cast, an_invoice(cast, lines=lines(cast, "-99.99"), discount=TEN_PERCENT))
    assert taxed(invoice) == [("90.00", "18.00"), ("-89.99", "0.00")]
    (boiler, off) = ({"lineId": line["id"], "quantity": "0.5"} for line in invoice["lines"])
    credited(cast, invoice, lines=[boiler, off])
    assert taxed(last_note(cast, invoice)) == [("45.00", "9.00"), ("-45.00", "0.00")]
