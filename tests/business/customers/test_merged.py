"""A customer who was merged into another cannot be used any more, and every refusal names the other one."""

import re
from typing import Any, NamedTuple

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import (
    archive_customer,
    create_customer,
    get_customer,
    restore_customer,
    update_customer,
)
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.jobs.operations import create_job
from mainstay.business.quotes.operations import draft_quote
from mainstay.business.records.notes import add_note, list_notes
from mainstay.business.reporting.statement_sending import send_statement
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, UnblockingAction
from support.attachments import add_file
from support.cast import Cast
from support.customers import ADDRESS, make_contact, make_customer, make_job, make_site
from support.invoices import issue_invoice, make_invoice
from support.stored_state import read_rows_of


class MergedCustomer(NamedTuple):
    """A customer who was merged into another, with their records, and the id of the customer who remains."""

    id: str
    stays: str
    job: str
    site: str
    contact: str
    invoice: str

    @property
    def message(self) -> str:
        """The refusal of every operation on the merged customer."""
        return f"Calder Property was merged into Colne. Use that customer instead. Its id is {self.stays}."


@pytest.fixture
def merged_customer(cast: Cast) -> MergedCustomer:
    """Merge a customer into a second one, and that one into a third."""
    ended, between, stays = (
        make_customer(cast, externalRef="C-1"),
        make_customer(cast, "Ryburn"),
        make_customer(cast, "Colne"),
    )
    job, site, contact = make_job(cast, ended)["id"], make_site(cast, ended), make_contact(cast, ended)
    invoice = issue_invoice(cast, make_invoice(cast, customerId=ended))["id"]
    for one, other in ((ended, between), (between, stays)):
        cast.perform(merge_customers, customerId=one, intoCustomerId=other, confirmed=True)
    return MergedCustomer(ended, stays, job, site, contact, invoice)


LINES = [{"description": "Labour", "unitPrice": "10"}]
# Operations on the merged customer that are refused, each with the rest of its input.
REFUSED: list[tuple[Operation, dict[str, Any]]] = [
    (create_job, {"title": "Mend the roof"}),
    (draft_quote, {"title": "A roof", "lines": LINES}),
    (draft_quote, {"jobId": "job"}),
    (draft_invoice, {"lines": LINES}),
    (draft_invoice, {"jobId": "job"}),
    (record_payment, {"amount": "5"}),
    (record_payment, {"amount": "5", "invoiceId": "invoice"}),
    (save_site, {"address": ADDRESS}),
    (save_site, {"siteId": "site"}),
    (save_contact, {"name": "Ann"}),
    (save_contact, {"contactId": "contact"}),
    (update_customer, {"name": "Calder"}),
    (send_statement, {"deliver": "none", "confirmed": True}),
    (archive_customer, {}),
    (restore_customer, {}),
    (merge_customers, {"intoCustomerId": "stays", "confirmed": True}),
]


@pytest.mark.parametrize(("operation", "given"), REFUSED)
def test_whatever_names_them_is_refused_with_whom_to_use(
    cast: Cast, merged_customer: MergedCustomer, operation: Operation, given: dict[str, Any]
) -> None:
    known = {
        name: getattr(merged_customer, text, text) if isinstance(text, str) else text for name, text in given.items()
    }
    before = read_rows_of(cast)
    with pytest.raises(Blocked, match=f"^{re.escape(merged_customer.message)}$") as refused:
        cast.perform(operation, customerId=merged_customer.id, **known)
    # Nothing would clear it out of the way; who took over is shown instead.
    assert refused.value.unblocking_actions == (
        UnblockingAction("get_customer", merged_customer.stays, is_alternative=True),
    )
    assert read_rows_of(cast) == before


def test_no_change_that_names_a_customer_is_forgotten_here() -> None:
    naming = {one.name for one in CATALOGUE.operations if one.changes and "customer_id" in one.input.model_fields}
    assert naming == {operation.name for operation, _ in REFUSED}


def test_nobody_is_merged_into_them(cast: Cast, merged_customer: MergedCustomer) -> None:
    other = make_customer(cast, "Irwell")
    with pytest.raises(Blocked, match=f"^{re.escape(merged_customer.message)}$"):
        cast.perform(merge_customers, customerId=other, intoCustomerId=merged_customer.id, confirmed=True)


def test_nothing_is_put_beside_them_and_what_was_there_stays(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Colne")
    cast.perform(add_note, recordId=ended, text="Rings twice.")
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    message = rf"^Calder Property was merged into Colne\. Use that customer instead\. Its id is {stays}\.$"
    with pytest.raises(Blocked, match=message):
        cast.perform(add_note, recordId=ended, text="Rings thrice.")
    with pytest.raises(Blocked, match=message):
        add_file(cast, ended)
    notes = [cast.perform(list_notes, recordId=one)["data"] for one in (ended, stays)]
    assert [len(found) for found in notes] == [1, 0]


@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE])
def test_nothing_that_can_be_done_to_them_is_offered(cast: Cast, merged_customer: MergedCustomer, door: Door) -> None:
    actor = cast.actor(Role.OWNER, door=door)
    assert cast.perform(get_customer, actor, customerId=merged_customer.id)["availableActions"] == []
    assert "update_customer" in cast.perform(get_customer, actor, customerId=merged_customer.stays)["availableActions"]


def test_their_reference_is_not_given_again_and_leads_to_the_other(cast: Cast, merged_customer: MergedCustomer) -> None:
    message = f"Calder Property already has the external ID C-1. {merged_customer.message}"
    with pytest.raises(Conflict, match=f"^{re.escape(message)}$"):
        cast.perform(create_customer, name="Calder", externalRef="C-1")
