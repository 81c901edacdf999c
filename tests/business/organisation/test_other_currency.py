"""What is in another currency than the organisation: it stays as it is, and nothing comes of it any more.

None can come about any more; before the currency was bound to every document, some could.
"""

import pytest

from billing import a_sold_quote, an_invoice, issued, now, paid
from cast import Cast
from labour import decide
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.operations import revise_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.terms.refusal import Conflict, Invalid
from mainstay.terms.rights import Role
from ordering import an_order, ordered
from quoting import BOILER, a_draft, accepted, sent
from trade import work_off


def test_an_invoice_in_another_is_not_issued(cast: Cast) -> None:
    draft = an_invoice(cast)
    decide(cast, currency="EUR")
    told = "It is in GBP, and amounts here are in EUR. Delete it, and draft another in EUR."
    with pytest.raises(Conflict, match=rf"^{told}$"):
        issued(cast, draft)
    assert now(cast, draft)["number"] is None


def test_a_quote_in_another_is_not_sent_nor_is_a_revision_of_it(cast: Cast) -> None:
    draft, dropped = a_draft(cast), sent(cast)
    cast.perform(withdraw_quote, Role.OFFICE, quoteId=dropped["id"], reason="Mistaken", confirmed=True)
    decide(cast, currency="EUR")
    revised = cast.perform(revise_quote, Role.OFFICE, quoteId=dropped["id"])
    for quote in (draft, revised):
        with pytest.raises(Conflict, match=r"^It is in GBP, .*Withdraw it, and draft another in EUR\.$"):
            sent(cast, quote, deliver="none")


def test_an_order_in_another_is_not_sent(cast: Cast) -> None:
    draft = an_order(cast)
    decide(cast, currency="EUR")
    with pytest.raises(Conflict, match=r"^It is in GBP, .*Cancel it, and draft another in EUR\.$"):
        ordered(cast, draft)


@pytest.mark.parametrize("currency", ["EUR", "JPY"])
def test_a_quote_in_another_is_not_billed(cast: Cast, currency: str) -> None:
    quote = a_sold_quote(cast, BOILER, discount={"amount": "12.34"})
    decide(cast, currency=currency)
    with pytest.raises(Conflict, match=rf"^It is in GBP, .*Draft an invoice with lines in {currency} instead\.$"):
        an_invoice(cast, quoteId=quote["id"])


def test_no_deposit_of_a_quote_in_another_is_drafted(cast: Cast) -> None:
    quote = sent(cast, a_draft(cast, deposit={"percent": "30"}), deliver="none")
    decide(cast, currency="EUR")
    accepted(cast, quote)
    work_off(cast)
    assert cast.perform(list_invoices)["data"] == []


def test_no_payment_is_put_to_an_invoice_in_another(cast: Cast) -> None:
    invoice = issued(cast, an_invoice(cast))
    decide(cast, currency="EUR")
    told = "allocations: INV-0001 is in GBP, and the payment in EUR, credit it, and send another in EUR"
    with pytest.raises(Invalid, match=rf"^{told}$"):
        paid(cast, invoice, "100")
    assert now(cast, invoice)["paid"] == "0.00"


def test_the_currency_goes_back_to_that_of_all_documents(cast: Cast) -> None:
    draft = an_invoice(cast)
    decide(cast, currency="EUR")
    assert cast.perform(update_organisation, currency="GBP")["currency"] == "GBP"
    assert issued(cast, draft)["number"] == "INV-0001"
