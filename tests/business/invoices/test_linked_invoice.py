"""What a customer sees of an invoice through the link they were sent: only that invoice, as it was issued."""

from typing import Any

import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.issuing.public import (
    get_linked_invoice,
    get_linked_invoice_pdf,
    get_linked_invoice_ubl,
    see_linked_invoice,
)
from mainstay.identity.authenticate import actor_of_link
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Lapsed, NotFound
from support.cast import Cast
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, reread_invoice, void_issued
from support.quotes import make_default_tax_rate
from support.stored_state import list_events_of, names_amount, read_last_event, to_event_record

READS = (get_linked_invoice, get_linked_invoice_pdf, get_linked_invoice_ubl)


def customer_actor_of(cast: Cast, invoice: dict[str, Any]) -> Actor:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return actor_of_link(db, invoice["id"])


def test_it_is_shown_as_it_was_issued_with_what_was_paid_since(cast: Cast) -> None:
    make_default_tax_rate(cast)
    sent = issue_invoice(cast)
    customer = customer_actor_of(cast, sent)
    cast.perform(update_customer, customerId=sent["customerId"], name="Renamed")
    pay_invoice(cast, sent, "250")
    credit_issued(cast, sent, amount="50")
    shown = cast.perform(get_linked_invoice, customer, invoiceId=sent["id"])
    assert (shown["number"], shown["status"], shown["language"]) == ("INV-0001", "partPaid", "en")
    assert [shown[name] for name in ("total", "paid", "credited", "due")] == ["1200.00", "250.00", "50.00", "900.00"]
    assert shown["snapshot"]["buyer"]["name"] == "Calder Property"
    assert shown["hasXml"] is False
    # Nothing of what it costs the organisation.
    assert not names_amount(str(shown), 700)


def test_the_first_time_that_it_is_seen_counts(cast: Cast) -> None:
    sent = issue_invoice(cast)
    customer = customer_actor_of(cast, sent)
    for _ in range(2):
        cast.perform(see_linked_invoice, customer, invoiceId=sent["id"])
    after = reread_invoice(cast, sent)
    assert after["viewedAt"] is not None
    assert [event["type"] for event in list_events_of(cast)].count("invoice.viewed") == 1
    assert read_last_event(cast)["data"]["object"] == to_event_record(after)
    assert read_last_event(cast)["actor"]["kind"] == "customer"


def test_of_one_that_is_void_the_stamped_copy_is_to_be_had(cast: Cast) -> None:
    sent = issue_invoice(cast)
    customer = customer_actor_of(cast, sent)
    assert cast.perform(get_linked_invoice_pdf, customer, invoiceId=sent["id"], copy="void")["form"] == "pdf"
    void_issued(cast, sent)
    assert cast.perform(get_linked_invoice, customer, invoiceId=sent["id"])["status"] == "void"
    assert cast.perform(get_linked_invoice_pdf, customer, invoiceId=sent["id"], copy="void")["form"] == "void"
    with pytest.raises(Conflict, match=r"can't be an e-invoice"):
        cast.perform(get_linked_invoice_ubl, customer, invoiceId=sent["id"])


def test_no_other_is_there_for_them_and_a_draft_has_no_link(cast: Cast, other_cast: Cast) -> None:
    sent, draft = issue_invoice(cast), make_invoice(cast)
    customer = customer_actor_of(cast, sent)
    others = [draft["id"], issue_invoice(cast)["id"], issue_invoice(other_cast)["id"], "INV-0001", "INV-0002"]
    for other in others:
        for operation in (*READS, see_linked_invoice):
            with pytest.raises(NotFound):
                cast.perform(operation, customer, invoiceId=other)
    with pytest.raises(NotFound):
        customer_actor_of(cast, draft)


@pytest.mark.parametrize("role", list(Role))
def test_it_is_for_customers_alone(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    for operation in (*READS, see_linked_invoice):
        with pytest.raises(Forbidden):
            cast.perform(operation, role, invoiceId=sent["id"])


def test_it_is_read_while_lapsed_and_nothing_is_written(cast: Cast) -> None:
    sent = issue_invoice(cast)
    cast.lapse()
    customer = customer_actor_of(cast, sent)
    assert cast.perform(get_linked_invoice, customer, invoiceId=sent["id"])["status"] == "sent"
    with pytest.raises(Lapsed):
        cast.perform(see_linked_invoice, customer, invoiceId=sent["id"])
