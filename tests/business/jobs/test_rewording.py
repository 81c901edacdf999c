"""What bears a customer's name or a site's address is found by it again when it has changed, by the worker."""

import pytest

from cast import Cast
from evidence import trail
from mainstay.business.customers.operations import update_customer
from mainstay.business.customers.places import list_contacts, list_sites, save_site
from mainstay.business.invoices.rewording import CHORES
from mainstay.business.jobs.operations import list_jobs
from mainstay.kernel.operation import Operation
from mainstay.ledger.outbox_queue import Work
from mainstay.terms.rights import Role
from trade import a_contact, a_customer, a_job, a_site, work_off


def found(cast: Cast, operation: Operation, text: str, role: Role = Role.OWNER) -> list[str]:
    return [record["id"] for record in cast.perform(operation, role, text=text)["data"]]


def test_after_another_name_everything_of_the_customer_is_found_by_it(alone: Cast) -> None:
    customer = a_customer(alone)
    made = {
        list_contacts: a_contact(alone, customer),
        list_sites: a_site(alone, customer),
        list_jobs: a_job(alone, customer)["id"],
    }
    alone.perform(update_customer, customerId=customer, name="Ryburn Estates")
    work_off(alone)
    for operation, record in made.items():
        assert found(alone, operation, "ryburn est") == [record]
        assert found(alone, operation, "calder") == []


@pytest.mark.parametrize("change", [{"address": {"line1": "7 Dale Road"}}, {"name": "Dale mill"}])
def test_after_a_site_has_another_name_or_address_its_jobs_are_found_by_it(
    alone: Cast, change: dict[str, object]
) -> None:
    customer = a_customer(alone)
    site = a_site(alone, customer)
    job = a_job(alone, customer, siteId=site)["id"]
    alone.perform(save_site, siteId=site, **change)
    work_off(alone)
    assert found(alone, list_jobs, "dale boiler") == [job]


def test_what_the_field_is_not_shown_finds_nothing_for_it_afterwards_either(alone: Cast) -> None:
    customer = a_customer(alone)
    job = a_job(alone, customer, Role.MEMBER, customerOrderNumber="Ryburn 4711")["id"]
    assert found(alone, list_jobs, "ryburn", Role.MEMBER) == []
    alone.perform(update_customer, customerId=customer, name="Ryburn Estates")
    work_off(alone)
    assert found(alone, list_jobs, "ryburn", Role.MEMBER) == [job]
    assert (found(alone, list_jobs, "4711", Role.MEMBER), found(alone, list_jobs, "4711")) == ([], [job])


def test_of_another_customer_nothing_is_reworded_and_of_many_everything_is(alone: Cast) -> None:
    customer, other = a_customer(alone), a_customer(alone, "Calder Two")
    jobs = [a_job(alone, customer)["id"] for _ in range(30)]
    kept = a_job(alone, other)["id"]
    alone.perform(update_customer, customerId=customer, name="Ryburn Estates")
    work_off(alone)
    page = alone.perform(list_jobs, text="ryburn", limit=100)["data"]
    assert [job["id"] for job in page] == jobs[::-1]
    assert found(alone, list_jobs, "calder") == [kept]


def test_it_is_done_once_however_often_it_is_tried_and_leaves_no_trace_of_its_own(alone: Cast) -> None:
    customer = a_customer(alone)
    a_job(alone, customer)
    alone.perform(update_customer, customerId=customer, name="Ryburn Estates")
    with alone.stage.database.reading(alone.organisation) as rows:
        row = rows.one("SELECT id FROM outbox WHERE organisation_id = :organisation AND kind <> 'event'")
    assert row is not None
    before = trail(alone)
    work = Work(str(row[0]), alone.organisation, CHORES[0].name, {"customer": customer}, 0)
    for _ in range(2):
        alone.stage.do_chore(CHORES[0], work)
    assert found(alone, list_jobs, "ryburn")
    assert trail(alone) == before


def test_what_a_customer_left_that_is_gone_is_nothing(alone: Cast) -> None:
    work = Work("out_1", alone.organisation, CHORES[0].name, {"customer": "customer_1"}, 0)
    alone.stage.do_chore(CHORES[0], work)
