"""The stored stage of a job and the copies of it for its own people follow every change of the job.

So does what is kept of its customer for them.
"""

from collections.abc import Callable
from typing import Any

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, list_customers, update_customer
from mainstay.business.jobs import store
from mainstay.business.jobs.model import JobProgress, stage_of
from mainstay.business.jobs.operations import change_job_status, list_jobs, update_job
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context, RequestDetails
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job, make_site

WHERE_ORGANISATION = "WHERE organisation_id = :organisation"
COPIED_COLUMNS = "status, stage, priority, customer_id, site_id, lead_person_id, due_on"


def save_facts(cast: Cast, job: str, **facts: Any) -> None:
    """Save on a job what other areas know of it."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        ctx = Context(db, cast.actor(Role.OFFICE), RequestDetails("r"), cast.performer.clock)
        store.save(ctx, JOBS.fetch(ctx, job), facts)


def set_planned(cast: Cast, job: str, role: Role, *, planned: bool) -> None:
    """Set whether someone is planned on a job."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        ctx = Context(db, cast.actor(Role.OFFICE), RequestDetails("r"), cast.performer.clock)
        store.set_planned_access(ctx, job, cast.people[role], planned=planned)


def check_copies(cast: Cast) -> None:
    """Check that every stored stage is the one that follows, and all copies of jobs and customers are up to date."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        jobs = db.all(
            "SELECT stage, next_action, status, billing, planned_visits, quoting, invoiced, owed FROM"
            f" job {WHERE_ORGANISATION}"
        )
        copies = db.all(f"SELECT id, {COPIED_COLUMNS} FROM own_job {WHERE_ORGANISATION}")
        originals = {row[0]: row for row in db.all(f"SELECT id, {COPIED_COLUMNS} FROM job {WHERE_ORGANISATION}")}
        customers = {*db.all(f"SELECT person_id, id, status, name_folded FROM own_customer {WHERE_ORGANISATION}")}
        of_their_jobs = {
            *db.all(
                "SELECT own_job.person_id, customer.id, customer.status, customer.name_folded"
                " FROM own_job JOIN customer ON customer.organisation_id = own_job.organisation_id"
                " AND customer.id = own_job.customer_id WHERE own_job.organisation_id = :organisation"
            )
        }
    assert customers == of_their_jobs
    assert jobs
    for stage, next_action, *progress in jobs:
        progress_values: list[Any] = progress
        assert (stage, next_action) == stage_of(JobProgress(*progress_values))
    assert copies
    assert [copy for copy in copies if copy != originals[copy[0]]] == []


Change = Callable[[Cast, str, str], object]
CHANGES: dict[str, Change] = {
    "priority": lambda cast, job, _: cast.perform(update_job, jobId=job, priority="urgent"),
    "due": lambda cast, job, _: cast.perform(update_job, jobId=job, dueOn="2026-12-01"),
    "no longer due": lambda cast, job, _: cast.perform(update_job, jobId=job, dueOn=None),
    "no site": lambda cast, job, _: cast.perform(update_job, jobId=job, siteId=None),
    "billing": lambda cast, job, _: cast.perform(update_job, jobId=job, billing="nonBillable"),
    "lead": lambda cast, job, _: cast.perform(update_job, jobId=job, leadPersonId=cast.people[Role.SUBCONTRACTOR]),
    "assigned": lambda cast, job, _: cast.perform(
        update_job, jobId=job, priority="low", assigned=[cast.people[Role.MEMBER], cast.people[Role.ADMIN]]
    ),
    "nobody assigned": lambda cast, job, _: cast.perform(update_job, jobId=job, assigned=[]),
    "the customer's name": lambda cast, _, customer: cast.perform(
        update_customer, customerId=customer, name="Älder Property"
    ),
    "begun": lambda cast, job, _: cast.perform(change_job_status, jobId=job, status="inProgress"),
    "done": lambda cast, job, _: cast.perform(change_job_status, jobId=job, status="done"),
    "done by a member": lambda cast, job, _: cast.perform(change_job_status, Role.MEMBER, jobId=job, status="done"),
    "planned": lambda cast, job, _: save_facts(cast, job, planned_visits=1, next_visit_at="2026-11-20T08:00:00.000Z"),
    "quoted": lambda cast, job, _: save_facts(cast, job, quoting=True),
    "invoiced": lambda cast, job, _: save_facts(cast, job, status="done", invoiced=True, owed=100),
    "merged": lambda cast, _, customer: cast.perform(
        merge_customers, customerId=customer, intoCustomerId=make_customer(cast, "Ryburn"), confirmed=True
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_stages_and_copies_are_right(cast: Cast, change: str) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, Role.MEMBER, siteId=make_site(cast, customer), dueOn="2026-11-20")["id"]
    make_job(cast, customer, Role.MEMBER)
    set_planned(cast, job, Role.SUBCONTRACTOR, planned=True)
    check_copies(cast)
    CHANGES[change](cast, job, customer)
    check_copies(cast)


def test_after_all_of_it_in_a_row_too(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, Role.MEMBER, siteId=make_site(cast, customer), dueOn="2026-11-20")["id"]
    for name, change in CHANGES.items():
        if name not in {"done by a member", "done"}:
            change(cast, job, customer)
            check_copies(cast)


def test_a_customer_is_seen_for_one_job_as_for_two_and_as_it_is(cast: Cast) -> None:
    customer = make_customer(cast)
    first, second = (make_job(cast, customer, Role.MEMBER)["id"] for _ in range(2))
    for job in (first, second):
        cast.perform(change_job_status, jobId=job, status="done")
    cast.perform(archive_customer, customerId=customer)
    check_copies(cast)
    for job, others in ((first, [customer]), (second, [])):
        cast.perform(update_job, jobId=job, assigned=[])
        listed = cast.perform(list_customers, Role.MEMBER, status="archived")["data"]
        assert [found["id"] for found in listed] == others


def list_job_ids(cast: Cast, role: Role) -> list[str]:
    return [job["id"] for job in cast.perform(list_jobs, role)["data"]]


def test_who_is_planned_on_a_job_sees_it_until_they_are_not(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    set_planned(cast, job, Role.SUBCONTRACTOR, planned=True)
    set_planned(cast, job, Role.SUBCONTRACTOR, planned=True)
    assert list_job_ids(cast, Role.SUBCONTRACTOR) == [job]
    set_planned(cast, job, Role.SUBCONTRACTOR, planned=False)
    assert list_job_ids(cast, Role.SUBCONTRACTOR) == []


def test_one_reason_to_see_it_is_enough(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.SUBCONTRACTOR)["id"]
    set_planned(cast, job, Role.SUBCONTRACTOR, planned=True)
    cast.perform(update_job, jobId=job, assigned=[])
    assert list_job_ids(cast, Role.SUBCONTRACTOR) == [job]
    cast.perform(update_job, jobId=job, assigned=[cast.people[Role.SUBCONTRACTOR]])
    set_planned(cast, job, Role.SUBCONTRACTOR, planned=False)
    assert list_job_ids(cast, Role.SUBCONTRACTOR) == [job]
    cast.perform(update_job, jobId=job, assigned=[])
    assert list_job_ids(cast, Role.SUBCONTRACTOR) == []


def test_others_keep_seeing_it_when_one_no_longer_does(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, Role.SUBCONTRACTOR)["id"]
    cast.perform(update_job, jobId=job, assigned=[cast.people[Role.MEMBER]])
    assert (list_job_ids(cast, Role.MEMBER), list_job_ids(cast, Role.SUBCONTRACTOR)) == ([job], [])


def test_a_whole_firm_can_be_assigned(cast: Cast) -> None:
    people = [cast.people[role] for role in Role]
    job = make_job(cast, make_customer(cast), assigned=people * 10)["id"]
    assert list_job_ids(cast, Role.MEMBER) == list_job_ids(cast, Role.SUBCONTRACTOR) == [job]
