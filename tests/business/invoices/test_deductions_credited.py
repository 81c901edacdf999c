"""When the deduction of a deposit was credited, the deposit counts as not deducted any more."""

from typing import Any

import pytest

from mainstay.business.invoices.issuing.crediting import credit_invoice
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked
from support.cast import Cast
from support.hours import set_organisation_columns
from support.invoices import (
    credit_issued,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    pay_invoice,
    reread_invoice,
)
from support.prices import make_tax_rate
from support.quotes import make_default_tax_rate

RADIATORS: dict[str, Any] = {"description": "Radiator", "quantity": "10", "unitPrice": "100"}
DEDUCTED_MESSAGE = r"^INV-0001 is deducted on INV-0002\."


def bill_with_deposit(cast: Cast, *lines: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Issue a deposit of half of a quote and the final invoice that deducts it."""
    quote = make_accepted_quote(cast, *(lines or (RADIATORS,)))
    deposit = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"percent": "50"}))
    return deposit, issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))


def list_deductions(invoice: dict[str, Any]) -> list[dict[str, str]]:
    return [{"lineId": line["id"]} for line in invoice["lines"] if (line["source"] or {}).get("kind") == "deposit"]


def credit_of_eight(final: dict[str, Any]) -> dict[str, str]:
    return {"lineId": final["lines"][0]["id"], "quantity": "8"}


def test_it_can_be_credited_then(cast: Cast) -> None:
    make_default_tax_rate(cast)
    set_organisation_columns(cast, prices_include_tax=1)
    deposit, final = bill_with_deposit(cast)
    pay_invoice(cast, deposit)
    after = credit_issued(cast, final, lines=[credit_of_eight(final), *list_deductions(final)])
    assert (after["credited"], after["due"]) == ("300.00", "200.00")
    given_back = credit_issued(cast, deposit)
    assert (given_back["status"], given_back["credited"], given_back["paid"]) == ("credited", "500.00", "0.00")
    # What stands is the two radiators that were not returned.
    assert reread_invoice(cast, final)["due"] == "200.00"


def test_the_preview_says_so(cast: Cast) -> None:
    _, final = bill_with_deposit(cast)
    values = {"reason": "Returned", "deliver": "none", "lines": [credit_of_eight(final), *list_deductions(final)]}
    preview = cast.perform(credit_invoice, Role.OFFICE, invoiceId=final["id"], **values)
    assert "INV-0001 will no longer be deducted, and can then be credited." in preview["effects"]


def test_it_stays_taken_off_while_the_deduction_stands(cast: Cast) -> None:
    deposit, final = bill_with_deposit(cast)
    credit_issued(cast, final, lines=[credit_of_eight(final) | {"quantity": "1"}])
    credit_issued(cast, final, amount="100")
    with pytest.raises(Blocked, match=DEDUCTED_MESSAGE):
        credit_issued(cast, deposit)


def test_of_several_rates_of_tax_all_are_to_be_credited(cast: Cast) -> None:
    full, reduced = make_tax_rate(cast), make_tax_rate(cast, "VAT 5 %", components=[{"name": "VAT", "percent": "5"}])
    deposit, final = bill_with_deposit(cast, RADIATORS | {"taxRateId": full}, RADIATORS | {"taxRateId": reduced})
    first, second = list_deductions(final)
    credit_issued(cast, final, lines=[credit_of_eight(final), first])
    with pytest.raises(Blocked, match=DEDUCTED_MESSAGE):
        credit_issued(cast, deposit)
    credit_issued(cast, final, lines=[{"lineId": final["lines"][1]["id"], "quantity": "8"}, second])
    assert credit_issued(cast, deposit)["status"] == "credited"


def test_it_is_taken_off_again_on_another_invoice_and_there_stays(cast: Cast) -> None:
    deposit, final = bill_with_deposit(cast)
    credit_issued(cast, final, lines=[credit_of_eight(final), *list_deductions(final)])
    credit_issued(cast, final)
    again = issue_invoice(cast, make_invoice(cast, quoteId=final["quoteId"]))
    assert (len(list_deductions(again)), again["total"]) == (1, "500.00")
    with pytest.raises(Blocked, match=r"^INV-0001 is deducted on INV-0003\."):
        credit_issued(cast, deposit)
