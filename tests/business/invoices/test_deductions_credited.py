"""A deposit whose deduction was credited counts as not taken off any more."""

from typing import Any

import pytest

from billing import a_sold_quote, an_invoice, credited, issued, now, paid
from cast import Cast
from labour import decide
from mainstay.business.invoices.crediting import credit_invoice
from mainstay.terms.refusal import Blocked
from mainstay.terms.rights import Role
from quoting import usual_tax
from wares import a_rate

RADIATORS: dict[str, Any] = {"description": "Radiator", "quantity": "10", "unitPrice": "100"}
TAKEN_OFF = r"^INV-0001 is taken off on INV-0002\."


def billed(cast: Cast, *lines: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The deposit of a half of a quote, and the final invoice that takes it off."""
    quote = a_sold_quote(cast, *(lines or (RADIATORS,)))
    deposit = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"percent": "50"}))
    return deposit, issued(cast, an_invoice(cast, quoteId=quote["id"]))


def deductions(invoice: dict[str, Any]) -> list[dict[str, str]]:
    return [{"lineId": line["id"]} for line in invoice["lines"] if (line["source"] or {}).get("kind") == "deposit"]


def eight_of(final: dict[str, Any]) -> dict[str, str]:
    return {"lineId": final["lines"][0]["id"], "quantity": "8"}


def test_it_can_be_credited_then(cast: Cast) -> None:
    usual_tax(cast)
    decide(cast, prices_include_tax=1)
    deposit, final = billed(cast)
    paid(cast, deposit)
    after = credited(cast, final, lines=[eight_of(final), *deductions(final)])
    assert (after["credited"], after["due"]) == ("300.00", "200.00")
    given_back = credited(cast, deposit)
    assert (given_back["status"], given_back["credited"], given_back["paid"]) == ("credited", "500.00", "0.00")
    # What stands is the two radiators that were not returned.
    assert now(cast, final)["due"] == "200.00"


def test_the_preview_says_so(cast: Cast) -> None:
    _, final = billed(cast)
    told = {"reason": "Returned", "deliver": "none", "lines": [eight_of(final), *deductions(final)]}
    preview = cast.perform(credit_invoice, Role.OFFICE, invoiceId=final["id"], **told)
    assert "INV-0001 is not taken off any more, and can be credited." in preview["effects"]


def test_it_stays_taken_off_while_the_deduction_stands(cast: Cast) -> None:
    deposit, final = billed(cast)
    credited(cast, final, lines=[eight_of(final) | {"quantity": "1"}])
    credited(cast, final, amount="100")
    with pytest.raises(Blocked, match=TAKEN_OFF):
        credited(cast, deposit)


def test_of_several_rates_of_tax_all_are_to_be_credited(cast: Cast) -> None:
    full, reduced = a_rate(cast), a_rate(cast, "VAT 5 %", components=[{"name": "VAT", "percent": "5"}])
    deposit, final = billed(cast, RADIATORS | {"taxRateId": full}, RADIATORS | {"taxRateId": reduced})
    first, second = deductions(final)
    credited(cast, final, lines=[eight_of(final), first])
    with pytest.raises(Blocked, match=TAKEN_OFF):
        credited(cast, deposit)
    credited(cast, final, lines=[{"lineId": final["lines"][1]["id"], "quantity": "8"}, second])
    assert credited(cast, deposit)["status"] == "credited"


def test_it_is_taken_off_again_on_another_invoice_and_there_stays(cast: Cast) -> None:
    deposit, final = billed(cast)
    credited(cast, final, lines=[eight_of(final), *deductions(final)])
    credited(cast, final)
    again = issued(cast, an_invoice(cast, quoteId=final["quoteId"]))
    assert (len(deductions(again)), again["total"]) == (1, "500.00")
    with pytest.raises(Blocked, match=r"^INV-0001 is taken off on INV-0003\."):
        credited(cast, deposit)
