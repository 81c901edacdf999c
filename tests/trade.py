"""Customers, sites, contacts and jobs for tests, made as the office makes them; and a worker for what is left to do."""

from dataclasses import replace
from typing import Any

from cast import Cast
from mainstay.business.customers.operations import create_customer
from mainstay.business.customers.places import save_contact, save_site
from mainstay.business.issuing.printed import PRINT
from mainstay.business.jobs.operations import change_job_status, create_job
from mainstay.identity.mails import MAIL
from mainstay.ledger.outbox_queue import Work
from mainstay.terms.rights import Role
from mainstay.values.moments import system_clock
from mainstay.worker.worker import Worker

ADDRESS: dict[str, Any] = {
    "line1": "2 Weir Lane",
    "line2": None,
    "city": "Sowerby Bridge",
    "region": None,
    "postalCode": "HX6 2AG",
    "country": "GB",
}


def a_customer(cast: Cast, name: str = "Calder Property", **given: object) -> str:
    """A new customer without a site, unless something else is said; their id."""
    return str(cast.perform(create_customer, Role.OFFICE, **{"name": name, "makeSite": False, **given})["id"])


def a_contact(cast: Cast, customer: str, name: str = "Ann Boyle", **given: object) -> str:
    """A new contact of a customer; their id."""
    return str(cast.perform(save_contact, Role.OFFICE, customerId=customer, name=name, **given)["id"])


def a_site(cast: Cast, customer: str, **given: object) -> str:
    """A new site of a customer; its id."""
    return str(cast.perform(save_site, Role.OFFICE, **{"customerId": customer, "address": ADDRESS, **given})["id"])


def a_job(cast: Cast, customer: str, *assigned: Role, **given: object) -> dict[str, Any]:
    """A new job of a customer, on which the people of these roles work."""
    people = [cast.people[role] for role in assigned]
    return cast.perform(
        create_job, Role.OFFICE, **{"customerId": customer, "title": "Replace the boiler", "assigned": people, **given}
    )


def close(cast: Cast, job: str) -> None:
    """Let a job be done and over."""
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job, status=status)


def work_off(cast: Cast) -> None:
    """Have a worker do all that is left to be done; what is mailed or printed is let go.

    Their organisation was made just now, whatever moment a test plays at, and left work of its own.
    """
    moment = max(cast.stage.clock(), system_clock())
    worker = Worker(replace(cast.stage, clock=lambda: moment), {MAIL: _let_go, PRINT: _let_go}, ())
    while worker.step():
        pass
    with cast.stage.database.reading(cast.organisation) as rows:
        failed = rows.all("SELECT kind, problem FROM outbox WHERE organisation_id = :organisation")
    assert failed == []


def _let_go(_work: Work) -> None:
    """Mail nothing, and print nothing."""


def left_to_do(cast: Cast) -> list[str]:
    """The kinds of work that an organisation's changes have left, but for telling of events."""
    with cast.stage.database.reading(cast.organisation) as rows:
        sql = "SELECT kind FROM outbox WHERE organisation_id = :organisation AND kind <> 'event' ORDER BY id"
        return [str(kind) for (kind,) in rows.all(sql)]
