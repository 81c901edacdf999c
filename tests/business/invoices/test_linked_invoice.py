"""What a customer sees of an invoice, by the link that was sent to them: that one alone, as it was issued."""

from typing import Any

import pytest

from billing import an_invoice, credited, issued, now, paid, voided
from cast import Cast
from evidence import as_told, events, last_event, names_amount
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.public import (
    get_linked_invoice,
    get_linked_invoice_pdf,
    get_linked_invoice_ubl,
    see_linked_invoice,
)
from mainstay.identity.authenticate import actor_of_link
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Conflict, Forbidden, Lapsed, NotFound
from mainstay.terms.rights import Role
from quoting import usual_tax

READS = (get_linked_invoice, get_linked_invoice_pdf, get_linked_invoice_ubl)


def customer_of(cast: Cast, invoice: dict[str, Any]) -> Actor:
    with cast.stage.database.reading(cast.organisation) as rows:
        return actor_of_link(rows, invoice["id"])


def test_it_is_shown_as_it_was_issued_with_what_was_paid_since(cast: Cast) -> None:
    usual_tax(cast)
    sent = issued(cast)
    customer = customer_of(cast, sent)
    cast.perform(update_customer, customerId=sent["customerId"], name="Renamed")
    paid(cast, sent, "250")
    credited(cast, sent, amount="50")
    shown = cast.perform(get_linked_invoice, customer, invoiceId=sent["id"])
    assert (shown["number"], shown["status"], shown["language"]) == ("INV-0001", "partPaid", "en")
    assert [shown[name] for name in ("total", "paid", "credited", "due")] == ["1200.00", "250.00", "50.00", "900.00"]
    assert shown["snapshot"]["buyer"]["name"] == "Calder Property"
    assert shown["hasXml"] is False
    # Nothing of what it costs the organisation.
    assert not names_amount(str(shown), 700)


def test_the_first_time_that_it_is_seen_counts(cast: Cast) -> None:
    sent = issued(cast)
    customer = customer_of(cast, sent)
    for _ in range(2):
        cast.perform(see_linked_invoice, customer, invoiceId=sent["id"])
    after = now(cast, sent)
    assert after["viewedAt"] is not None
    assert [event["type"] for event in events(cast)].count("invoice.viewed") == 1
    assert last_event(cast)["data"]["object"] == as_told(after)
    assert last_event(cast)["actor"]["kind"] == "customer"


def test_of_one_that_is_void_the_stamped_copy_is_to_be_had(cast: Cast) -> None:
    sent = issued(cast)
    customer = customer_of(cast, sent)
    assert cast.perform(get_linked_invoice_pdf, customer, invoiceId=sent["id"], copy="void")["form"] == "pdf"
    voided(cast, sent)
    assert cast.perform(get_linked_invoice, customer, invoiceId=sent["id"])["status"] == "void"
    assert cast.perform(get_linked_invoice_pdf, customer, invoiceId=sent["id"], copy="void")["form"] == "void"
    with pytest.raises(Conflict, match=r"cannot be an e-invoice"):
        cast.perform(get_linked_invoice_ubl, customer, invoiceId=sent["id"])


def test_no_other_is_there_for_them_and_a_draft_has_no_link(cast: Cast, stranger: Cast) -> None:
    sent, draft = issued(cast), an_invoice(cast)
    customer = customer_of(cast, sent)
    others = [draft["id"], issued(cast)["id"], issued(stranger)["id"], "INV-0001", "INV-0002"]
    for other in others:
        for operation in (*READS, see_linked_invoice):
            with pytest.raises(NotFound):
                cast.perform(operation, customer, invoiceId=other)
    with pytest.raises(NotFound):
        customer_of(cast, draft)


@pytest.mark.parametrize("role", list(Role))
def test_it_is_for_customers_alone(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    for operation in (*READS, see_linked_invoice):
        with pytest.raises(Forbidden):
            cast.perform(operation, role, invoiceId=sent["id"])


def test_it_is_read_while_lapsed_and_nothing_is_written(cast: Cast) -> None:
    sent = issued(cast)
    cast.lapse()
    customer = customer_of(cast, sent)
    assert cast.perform(get_linked_invoice, customer, invoiceId=sent["id"])["status"] == "sent"
    with pytest.raises(Lapsed):
        cast.perform(see_linked_invoice, customer, invoiceId=sent["id"])
