"""Customers, jobs, visits and time entries for tests about hours."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from mainstay.business.customers.operations import create_customer
from mainstay.business.hours.approval import review_hours, submit_hours
from mainstay.business.hours.operations import log_hours
from mainstay.business.jobs.operations import create_job
from mainstay.business.schedule.operations import plan_visit
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

NOON = "2026-11-16T12:00:00Z"


def cast_at(cast: Cast, moment: str = NOON) -> Cast:
    """Return the same cast with its clock at this moment."""
    now: datetime = parse_moment(moment)
    return replace(cast, performer=replace(cast.performer, clock=lambda: now))


def make_assigned_job(cast: Cast, **given: object) -> dict[str, Any]:
    """Make a job of a new customer, assigned to the member and the subcontractor."""
    customer = cast.perform(create_customer, name="Ashdown School")
    crew = [cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]]
    return cast.perform(
        create_job, **{"customerId": customer["id"], "title": "Replace the boiler", "assigned": crew} | given
    )


def make_visit(cast: Cast, job: str | None, person: str) -> str:
    """Plan a visit of someone to a job, or to a talk later that day; return its id."""
    about: dict[str, object] = {"jobId": job} if job else {"title": "Toolbox talk"}
    begins = "2026-11-16T08:00" if job else "2026-11-16T11:00"
    given = about | {"personIds": [person], "startsAt": begins, "durationMinutes": 120}
    return str(cast.perform(plan_visit, **given)["id"])


def set_organisation_columns(cast: Cast, **columns: str | int | None) -> None:
    """Set columns of the organisation, such as its rules for hours."""
    names = ", ".join(f"{name} = :{name}" for name in columns)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(f"UPDATE organisation SET {names} WHERE id = :organisation", **columns)


def set_rates(cast: Cast, role: Role, cost: int | None, bill: int | None) -> None:
    """Set the cost rate and the bill rate of someone, in whole units of the currency."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE person SET cost_rate = :cost, bill_rate = :bill WHERE organisation_id = :organisation AND id = :id",
            cost=cost and cost * 10_000,
            bill=bill and bill * 10_000,
            id=cast.people[role],
        )


def mark_entry_billed(cast: Cast, entry: str) -> None:
    """Mark a time entry as billed."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE time_entry SET billed = 1 WHERE organisation_id = :organisation AND id = :id", id=entry)


def make_time_entry(cast: Cast, role: Role = Role.MEMBER, status: str = "draft", **given: object) -> dict[str, Any]:
    """Make a time entry of someone in this state."""
    defaults: dict[str, object] = {} if "startedAt" in given else {"on": "2026-11-16", "minutes": 60}
    entry = cast.perform(log_hours, role, **defaults | given)
    if status != "draft":
        cast.perform(submit_hours, role, timeEntryIds=[entry["id"]])
    if status == "approved":
        cast.perform(review_hours, Role.OFFICE, timeEntryIds=[entry["id"]], decision="approve")
    if status == "rejected":
        cast.perform(review_hours, Role.OFFICE, timeEntryIds=[entry["id"]], decision="reject", reason="Which job?")
    return entry
