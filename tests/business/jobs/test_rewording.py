"""The worker refreshes the search words of records when a customer's name or a site's address changes."""

import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.customers.sites_and_contacts import list_contacts, list_sites, save_site
from mainstay.business.invoices.reactions import TASK_KINDS
from mainstay.business.jobs.operations import list_jobs
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job, make_site, run_all_tasks
from support.stored_state import read_trail


def find_ids(cast: Cast, operation: Operation, text: str, role: Role = Role.OWNER) -> list[str]:
    return [record["id"] for record in cast.perform(operation, role, text=text)["data"]]


def test_after_another_name_everything_of_the_customer_is_found_by_it(only_cast: Cast) -> None:
    customer = make_customer(only_cast)
    made = {
        list_contacts: make_contact(only_cast, customer),
        list_sites: make_site(only_cast, customer),
        list_jobs: make_job(only_cast, customer)["id"],
    }
    only_cast.perform(update_customer, customerId=customer, name="Ryburn Estates")
    run_all_tasks(only_cast)
    for operation, record in made.items():
        assert find_ids(only_cast, operation, "ryburn est") == [record]
        assert find_ids(only_cast, operation, "calder") == []


@pytest.mark.parametrize("change", [{"address": {"line1": "7 Dale Road"}}, {"name": "Dale mill"}])
def test_after_a_site_has_another_name_or_address_its_jobs_are_found_by_it(
    only_cast: Cast, change: dict[str, object]
) -> None:
    customer = make_customer(only_cast)
    site = make_site(only_cast, customer)
    job = make_job(only_cast, customer, siteId=site)["id"]
    only_cast.perform(save_site, siteId=site, **change)
    run_all_tasks(only_cast)
    assert find_ids(only_cast, list_jobs, "dale boiler") == [job]


def test_what_the_field_is_not_shown_finds_nothing_for_it_afterwards_either(only_cast: Cast) -> None:
    customer = make_customer(only_cast)
    job = make_job(only_cast, customer, Role.MEMBER, customerOrderNumber="Ryburn 4711")["id"]
    assert find_ids(only_cast, list_jobs, "ryburn", Role.MEMBER) == []
    only_cast.perform(update_customer, customerId=customer, name="Ryburn Estates")
    run_all_tasks(only_cast)
    assert find_ids(only_cast, list_jobs, "ryburn", Role.MEMBER) == [job]
    assert (find_ids(only_cast, list_jobs, "4711", Role.MEMBER), find_ids(only_cast, list_jobs, "4711")) == ([], [job])


def test_of_another_customer_nothing_is_reworded_and_of_many_everything_is(only_cast: Cast) -> None:
    customer, other = make_customer(only_cast), make_customer(only_cast, "Calder Two")
    jobs = [make_job(only_cast, customer)["id"] for _ in range(30)]
    unchanged = make_job(only_cast, other)["id"]
    only_cast.perform(update_customer, customerId=customer, name="Ryburn Estates")
    run_all_tasks(only_cast)
    page = only_cast.perform(list_jobs, text="ryburn", limit=100)["data"]
    assert [job["id"] for job in page] == jobs[::-1]
    assert find_ids(only_cast, list_jobs, "calder") == [unchanged]


def test_it_is_done_once_however_often_it_is_tried_and_leaves_no_trace_of_its_own(only_cast: Cast) -> None:
    customer = make_customer(only_cast)
    make_job(only_cast, customer)
    only_cast.perform(update_customer, customerId=customer, name="Ryburn Estates")
    with only_cast.performer.database.read_transaction(only_cast.organisation) as db:
        row = db.one("SELECT id FROM outbox WHERE organisation_id = :organisation AND kind <> 'event'")
    assert row is not None
    before = read_trail(only_cast)
    work = LeasedTask(str(row[0]), only_cast.organisation, TASK_KINDS[0].name, {"customer": customer}, 0)
    for _ in range(2):
        only_cast.performer.run_task(TASK_KINDS[0], work)
    assert find_ids(only_cast, list_jobs, "ryburn")
    assert read_trail(only_cast) == before


def test_what_a_customer_left_that_is_gone_is_nothing(only_cast: Cast) -> None:
    work = LeasedTask("out_1", only_cast.organisation, TASK_KINDS[0].name, {"customer": "customer_1"}, 0)
    only_cast.performer.run_task(TASK_KINDS[0], work)
