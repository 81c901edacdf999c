"""What is kept beside a job follows every change of it: its stage, and the copies by which its own people list it.

So does what is kept of its customer for them.
"""

from collections.abc import Callable
from typing import Any

import pytest

from cast import Cast
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, list_customers, update_customer
from mainstay.business.jobs import store
from mainstay.business.jobs.model import Standing, stage_of
from mainstay.business.jobs.operations import change_job_status, list_jobs, update_job
from mainstay.business.jobs.store import JOBS
from mainstay.kernel.context import Context, Envelope
from mainstay.terms.rights import Role
from trade import a_customer, a_job, a_site

HERE = "WHERE organisation_id = :organisation"
COPIES = "status, stage, priority, customer_id, site_id, lead_person_id, due_on"


def hand_down(cast: Cast, job: str, **facts: Any) -> None:
    """Tell a job what other areas know of it."""
    with cast.stage.database.changing(cast.organisation) as rows:
        ctx = Context(rows, cast.actor(Role.OFFICE), Envelope("r"), cast.stage.clock)
        store.save(ctx, JOBS.fetch(ctx, job), facts)


def plan(cast: Cast, job: str, role: Role, *, planned: bool) -> None:
    """Let someone be planned on a job, or no longer."""
    with cast.stage.database.changing(cast.organisation) as rows:
        ctx = Context(rows, cast.actor(Role.OFFICE), Envelope("r"), cast.stage.clock)
        store.let_see(ctx, job, cast.people[role], planned=planned)


def check(cast: Cast) -> None:
    """Every stage that is kept is the one that follows, every copy is as the job is, and so are those of customers."""
    with cast.stage.database.reading(cast.organisation) as rows:
        jobs = rows.all(
            f"SELECT stage, next_action, status, billing, planned_visits, quoting, invoiced, owed FROM job {HERE}"
        )
        copies = rows.all(f"SELECT id, {COPIES} FROM own_job {HERE}")
        originals = {row[0]: row for row in rows.all(f"SELECT id, {COPIES} FROM job {HERE}")}
        customers = {*rows.all(f"SELECT person_id, id, status, name_folded FROM own_customer {HERE}")}
        of_their_jobs = {
            *rows.all(
                "SELECT own_job.person_id, customer.id, customer.status, customer.name_folded"
                " FROM own_job JOIN customer ON customer.organisation_id = own_job.organisation_id"
                " AND customer.id = own_job.customer_id WHERE own_job.organisation_id = :organisation"
            )
        }
    assert customers == of_their_jobs
    assert jobs
    for stage, next_action, *standing in jobs:
        known: list[Any] = standing
        assert (stage, next_action) == stage_of(Standing(*known))
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
    "planned": lambda cast, job, _: hand_down(cast, job, planned_visits=1, next_visit_at="2026-11-20T08:00:00.000Z"),
    "quoted": lambda cast, job, _: hand_down(cast, job, quoting=True),
    "invoiced": lambda cast, job, _: hand_down(cast, job, status="done", invoiced=True, owed=100),
    "merged": lambda cast, _, customer: cast.perform(
        merge_customers, customerId=customer, intoCustomerId=a_customer(cast, "Ryburn"), confirmed=True
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_stages_and_copies_are_right(cast: Cast, change: str) -> None:
    customer = a_customer(cast)
    job = a_job(cast, customer, Role.MEMBER, siteId=a_site(cast, customer), dueOn="2026-11-20")["id"]
    a_job(cast, customer, Role.MEMBER)
    plan(cast, job, Role.SUBCONTRACTOR, planned=True)
    check(cast)
    CHANGES[change](cast, job, customer)
    check(cast)


def test_after_all_of_it_in_a_row_too(cast: Cast) -> None:
    customer = a_customer(cast)
    job = a_job(cast, customer, Role.MEMBER, siteId=a_site(cast, customer), dueOn="2026-11-20")["id"]
    for name, change in CHANGES.items():
        if name not in {"done by a member", "done"}:
            change(cast, job, customer)
            check(cast)


def test_a_customer_is_seen_for_one_job_as_for_two_and_as_it_is(cast: Cast) -> None:
    customer = a_customer(cast)
    first, second = (a_job(cast, customer, Role.MEMBER)["id"] for _ in range(2))
    for job in (first, second):
        cast.perform(change_job_status, jobId=job, status="done")
    cast.perform(archive_customer, customerId=customer)
    check(cast)
    for job, others in ((first, [customer]), (second, [])):
        cast.perform(update_job, jobId=job, assigned=[])
        listed = cast.perform(list_customers, Role.MEMBER, status="archived")["data"]
        assert [found["id"] for found in listed] == others


def seen(cast: Cast, role: Role) -> list[str]:
    return [job["id"] for job in cast.perform(list_jobs, role)["data"]]


def test_who_is_planned_on_a_job_sees_it_until_they_are_not(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))["id"]
    plan(cast, job, Role.SUBCONTRACTOR, planned=True)
    plan(cast, job, Role.SUBCONTRACTOR, planned=True)
    assert seen(cast, Role.SUBCONTRACTOR) == [job]
    plan(cast, job, Role.SUBCONTRACTOR, planned=False)
    assert seen(cast, Role.SUBCONTRACTOR) == []


def test_one_reason_to_see_it_is_enough(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.SUBCONTRACTOR)["id"]
    plan(cast, job, Role.SUBCONTRACTOR, planned=True)
    cast.perform(update_job, jobId=job, assigned=[])
    assert seen(cast, Role.SUBCONTRACTOR) == [job]
    cast.perform(update_job, jobId=job, assigned=[cast.people[Role.SUBCONTRACTOR]])
    plan(cast, job, Role.SUBCONTRACTOR, planned=False)
    assert seen(cast, Role.SUBCONTRACTOR) == [job]
    cast.perform(update_job, jobId=job, assigned=[])
    assert seen(cast, Role.SUBCONTRACTOR) == []


def test_others_keep_seeing_it_when_one_no_longer_does(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.MEMBER, Role.SUBCONTRACTOR)["id"]
    cast.perform(update_job, jobId=job, assigned=[cast.people[Role.MEMBER]])
    assert (seen(cast, Role.MEMBER), seen(cast, Role.SUBCONTRACTOR)) == ([job], [])


def test_a_whole_firm_can_be_assigned(cast: Cast) -> None:
    people = [cast.people[role] for role in Role]
    job = a_job(cast, a_customer(cast), assigned=people * 10)["id"]
    assert seen(cast, Role.MEMBER) == seen(cast, Role.SUBCONTRACTOR) == [job]
