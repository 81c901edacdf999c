"""Customers, sites, contacts and jobs for tests, made as the office does; and a worker for waiting tasks."""

from dataclasses import replace
from typing import Any

from mainstay.business.customers.operations import create_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.equipment.operations import save_equipment
from mainstay.business.issuing.document_files import PRINT
from mainstay.business.jobs.operations import change_job_status, create_job
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.identity.emails import EMAIL_TASK
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Role
from mainstay.worker.worker import Worker
from support.cast import Cast

ADDRESS: dict[str, Any] = {
    "line1": "2 Weir Lane",
    "line2": None,
    "city": "Sowerby Bridge",
    "region": None,
    "postalCode": "HX6 2AG",
    "country": "GB",
}


def make_customer(cast: Cast, name: str = "Calder Property", **given: object) -> str:
    """Make a customer, by default without a site, and return their id."""
    return str(cast.perform(create_customer, Role.OFFICE, **{"name": name, "makeSite": False, **given})["id"])


def make_contact(cast: Cast, customer: str, name: str = "Ann Boyle", **given: object) -> str:
    """Make a contact of a customer, and return their id."""
    return str(cast.perform(save_contact, Role.OFFICE, customerId=customer, name=name, **given)["id"])


def make_equipment(cast: Cast, site: str, **given: object) -> str:
    """Make equipment at a site, and return its id."""
    return str(cast.perform(save_equipment, Role.OFFICE, **{"siteId": site, "name": "Boiler", **given})["id"])


def make_site(cast: Cast, customer: str, **given: object) -> str:
    """Make a site of a customer, and return its id."""
    return str(cast.perform(save_site, Role.OFFICE, **{"customerId": customer, "address": ADDRESS, **given})["id"])


def make_job(cast: Cast, customer: str, *assigned: Role, **given: object) -> dict[str, Any]:
    """Make a job of a customer, assigned to the people of these roles."""
    people = [cast.people[role] for role in assigned]
    return cast.perform(
        create_job, Role.OFFICE, **{"customerId": customer, "title": "Replace the boiler", "assigned": people, **given}
    )


def close_job(cast: Cast, job: str) -> None:
    """Mark a job as done, then as closed."""
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job, status=status)


def run_all_tasks(cast: Cast) -> None:
    """Have a worker run all waiting tasks; emails and PDFs are ignored.

    The organisation itself was made just now, whatever moment the test is set at, and left tasks too.
    """
    moment = max(cast.performer.clock(), system_clock())
    worker = Worker(replace(cast.performer, clock=lambda: moment), {EMAIL_TASK: _ignore_task, PRINT: _ignore_task}, ())
    while worker.run_next_tasks():
        pass
    with cast.performer.database.read_transaction(cast.organisation) as db:
        failed = db.all("SELECT kind, problem FROM outbox WHERE organisation_id = :organisation")
    assert failed == []


def _ignore_task(_work: LeasedTask) -> None:
    """Mail nothing, and print nothing."""


def list_task_kinds(cast: Cast) -> list[str]:
    """Return the kinds of an organisation's waiting tasks, without those that send events."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = "SELECT kind FROM outbox WHERE organisation_id = :organisation AND kind <> 'event' ORDER BY id"
        return [str(kind) for (kind,) in db.all(sql)]
