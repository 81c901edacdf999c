"""Whoever was merged into another customer: nothing more is done with them, and everyone is told whom to use."""

import re
from typing import Any, NamedTuple

import pytest

from billing import an_invoice, issued
from cast import Cast
from evidence import contents_of
from filing import add
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import (
    archive_customer,
    create_customer,
    get_customer,
    restore_customer,
    update_customer,
)
from mainstay.business.customers.places import save_contact, save_site
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.jobs.operations import create_job
from mainstay.business.quotes.operations import draft_quote
from mainstay.business.records.notes import add_note, list_notes
from mainstay.business.reporting.statement_sending import send_statement
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Blocked, Conflict, WayOut
from mainstay.terms.rights import Role
from trade import ADDRESS, a_contact, a_customer, a_job, a_site


class Merged(NamedTuple):
    """A customer that ended, what was theirs, and the last of those who took it over."""

    id: str
    stays: str
    job: str
    site: str
    contact: str
    invoice: str

    @property
    def told(self) -> str:
        """What everyone is told."""
        return f"Calder Property was merged into Colne ({self.stays}). Use that customer instead."


@pytest.fixture
def merged(cast: Cast) -> Merged:
    """Twice, one behind the other."""
    ended, between, stays = a_customer(cast, externalRef="C-1"), a_customer(cast, "Ryburn"), a_customer(cast, "Colne")
    job, site, contact = a_job(cast, ended)["id"], a_site(cast, ended), a_contact(cast, ended)
    invoice = issued(cast, an_invoice(cast, customerId=ended))["id"]
    for one, other in ((ended, between), (between, stays)):
        cast.perform(merge_customers, customerId=one, intoCustomerId=other, confirmed=True)
    return Merged(ended, stays, job, site, contact, invoice)


LINES = [{"description": "Labour", "unitPrice": "10"}]
# What would be done with the customer that ended, and what else is told of it.
DONE: list[tuple[Operation, dict[str, Any]]] = [
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


@pytest.mark.parametrize(("operation", "given"), DONE)
def test_whatever_names_them_is_refused_with_whom_to_use(
    cast: Cast, merged: Merged, operation: Operation, given: dict[str, Any]
) -> None:
    known = {name: getattr(merged, text, text) if isinstance(text, str) else text for name, text in given.items()}
    before = contents_of(cast)
    with pytest.raises(Blocked, match=f"^{re.escape(merged.told)}$") as refused:
        cast.perform(operation, customerId=merged.id, **known)
    # Nothing would clear it out of the way; who took over is shown instead.
    assert refused.value.unblocks == (WayOut("get_customer", at=merged.stays),)
    assert contents_of(cast) == before


def test_no_change_that_names_a_customer_is_forgotten_here() -> None:
    naming = {one.name for one in CATALOGUE.operations if one.changes and "customer_id" in one.input.model_fields}
    assert naming == {operation.name for operation, _ in DONE}


def test_nobody_is_merged_into_them(cast: Cast, merged: Merged) -> None:
    other = a_customer(cast, "Irwell")
    with pytest.raises(Blocked, match=f"^{re.escape(merged.told)}$"):
        cast.perform(merge_customers, customerId=other, intoCustomerId=merged.id, confirmed=True)


def test_nothing_is_put_beside_them_and_what_was_there_stays(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Colne")
    cast.perform(add_note, recordId=ended, text="Rings twice.")
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    told = rf"^Calder Property was merged into Colne \({stays}\)"
    with pytest.raises(Blocked, match=told):
        cast.perform(add_note, recordId=ended, text="Rings thrice.")
    with pytest.raises(Blocked, match=told):
        add(cast, ended)
    notes = [cast.perform(list_notes, recordId=one)["data"] for one in (ended, stays)]
    assert [len(found) for found in notes] == [1, 0]


@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE])
def test_nothing_that_can_be_done_to_them_is_offered(cast: Cast, merged: Merged, door: Door) -> None:
    actor = cast.actor(Role.OWNER, door=door)
    assert cast.perform(get_customer, actor, customerId=merged.id)["availableActions"] == []
    assert "update_customer" in cast.perform(get_customer, actor, customerId=merged.stays)["availableActions"]


def test_their_reference_is_not_given_again_and_leads_to_the_other(cast: Cast, merged: Merged) -> None:
    told = f"Calder Property has the reference C-1 already. {merged.told}"
    with pytest.raises(Conflict, match=f"^{re.escape(told)}$"):
        cast.perform(create_customer, name="Calder", externalRef="C-1")
