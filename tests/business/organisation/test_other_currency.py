"""Documents in another currency than the organisation's stay as they are and cannot be used any more.

None can come about any more; before the currency was bound to every document, some could.
"""

import pytest

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.operations import revise_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid
from support.cast import Cast
from support.customers import run_all_tasks
from support.hours import set_organisation_columns
from support.invoices import issue_invoice, make_accepted_quote, make_invoice, pay_invoice, reread_invoice
from support.purchases import make_order, place_order
from support.quotes import BOILER, accept_quote, issue_quote, make_quote


def test_an_invoice_in_another_is_not_issued(cast: Cast) -> None:
    draft = make_invoice(cast)
    set_organisation_columns(cast, currency="EUR")
    message = "This is in GBP, but your organisation uses EUR. Delete this draft, and draft the invoice in EUR."
    with pytest.raises(Conflict, match=rf"^{message}$"):
        issue_invoice(cast, draft)
    assert reread_invoice(cast, draft)["number"] is None


def test_a_quote_in_another_is_not_sent_nor_is_a_revision_of_it(cast: Cast) -> None:
    draft, dropped = make_quote(cast), issue_quote(cast)
    cast.perform(withdraw_quote, Role.OFFICE, quoteId=dropped["id"], reason="Mistaken", confirmed=True)
    set_organisation_columns(cast, currency="EUR")
    revised = cast.perform(revise_quote, Role.OFFICE, quoteId=dropped["id"])
    for quote in (draft, revised):
        with pytest.raises(Conflict, match=r"^This is in GBP, .*Withdraw it and create a quote in EUR\.$"):
            issue_quote(cast, quote, deliver="none")


def test_an_order_in_another_is_not_sent(cast: Cast) -> None:
    draft = make_order(cast)
    set_organisation_columns(cast, currency="EUR")
    with pytest.raises(Conflict, match=r"^This is in GBP, .*Cancel it, and create another in EUR\.$"):
        place_order(cast, draft)


@pytest.mark.parametrize("currency", ["EUR", "JPY"])
def test_a_quote_in_another_is_not_billed(cast: Cast, currency: str) -> None:
    quote = make_accepted_quote(cast, BOILER, discount={"amount": "12.34"})
    set_organisation_columns(cast, currency=currency)
    with pytest.raises(Conflict, match=rf"^This is in GBP, .*Draft an invoice with lines in {currency} instead\.$"):
        make_invoice(cast, quoteId=quote["id"])


def test_no_deposit_of_a_quote_in_another_is_drafted(cast: Cast) -> None:
    quote = issue_quote(cast, make_quote(cast, deposit={"percent": "30"}), deliver="none")
    set_organisation_columns(cast, currency="EUR")
    accept_quote(cast, quote)
    run_all_tasks(cast)
    assert cast.perform(list_invoices)["data"] == []


def test_no_payment_is_put_to_an_invoice_in_another(cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast))
    set_organisation_columns(cast, currency="EUR")
    message = (
        "allocations: include INV-0001, which is in GBP, but the payment is in EUR: credit the invoice and send another"
        " in EUR"
    )
    with pytest.raises(Invalid, match=rf"^{message}$"):
        pay_invoice(cast, invoice, "100")
    assert reread_invoice(cast, invoice)["paid"] == "0.00"


def test_the_currency_goes_back_to_that_of_all_documents(cast: Cast) -> None:
    draft = make_invoice(cast)
    set_organisation_columns(cast, currency="EUR")
    assert cast.perform(update_organisation, currency="GBP")["currency"] == "GBP"
    assert issue_invoice(cast, draft)["number"] == "INV-0001"
