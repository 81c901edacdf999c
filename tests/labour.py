"""Work to be done and hours to be logged: customers, jobs and visits for tests about hours."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from cast import Cast
from mainstay.business.customers.operations import create_customer
from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.review import review_hours, submit_hours
from mainstay.business.jobs.operations import create_job
from mainstay.business.schedule.operations import plan_visit
from mainstay.terms.rights import Role
from mainstay.values.moments import parse_moment

NOON = "2026-11-16T12:00:00Z"


def at(cast: Cast, moment: str = NOON) -> Cast:
    """The same people at this moment."""
    now: datetime = parse_moment(moment)
    return replace(cast, stage=replace(cast.stage, clock=lambda: now))


def new_job(cast: Cast, **given: object) -> dict[str, Any]:
    """A job of a new customer, on which the member and the subcontractor work."""
    customer = cast.perform(create_customer, name="Ashdown School")
    crew = [cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]]
    return cast.perform(
        create_job, **{"customerId": customer["id"], "title": "Replace the boiler", "assigned": crew} | given
    )


def new_visit(cast: Cast, job: str | None, person: str) -> str:
    """A visit of someone to a job, or to something else later on."""
    about: dict[str, object] = {"jobId": job} if job else {"title": "Toolbox talk"}
    begins = "2026-11-16T08:00" if job else "2026-11-16T11:00"
    given = about | {"personIds": [person], "startsAt": begins, "durationMinutes": 120}
    return str(cast.perform(plan_visit, **given)["id"])


def decide(cast: Cast, **columns: str | int | None) -> None:
    """Let the organisation have decided this about hours."""
    names = ", ".join(f"{name} = :{name}" for name in columns)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(f"UPDATE organisation SET {names} WHERE id = :organisation", **columns)


def price(cast: Cast, role: Role, cost: int | None, bill: int | None) -> None:
    """Let an hour of someone cost this, and be billed at that, in whole units of the currency."""
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            "UPDATE person SET cost_rate = :cost, bill_rate = :bill WHERE organisation_id = :organisation AND id = :id",
            cost=cost and cost * 10_000,
            bill=bill and bill * 10_000,
            id=cast.people[role],
        )


def bill(cast: Cast, entry: str) -> None:
    """Let an entry be on an invoice."""
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE time_entry SET billed = 1 WHERE organisation_id = :organisation AND id = :id", id=entry)


def logged(cast: Cast, role: Role = Role.MEMBER, status: str = "draft", **given: object) -> dict[str, Any]:
    """An entry of someone in this state."""
    usual: dict[str, object] = {} if "startedAt" in given else {"on": "2026-11-16", "minutes": 60}
    entry = cast.perform(log_hours, role, **usual | given)
    if status != "draft":
        cast.perform(submit_hours, role, timeEntryIds=[entry["id"]])
    if status == "approved":
        cast.perform(review_hours, Role.OFFICE, timeEntryIds=[entry["id"]], decision="approve")
    if status == "rejected":
        cast.perform(review_hours, Role.OFFICE, timeEntryIds=[entry["id"]], decision="reject", reason="Which job?")
    return entry
