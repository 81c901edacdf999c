"""Customers, sites, jobs and visits for tests about the schedule."""

from typing import Any

from mainstay.business.customers.operations import create_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.jobs.operations import create_job
from mainstay.business.schedule.operations import plan_visit
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

# A Monday in winter, when the clocks of London show UTC.
DAY = "2038-01-11"


def make_customer_and_site(cast: Cast, **given: object) -> tuple[str, str]:
    """Make a customer and a site with a contact, and return both ids."""
    customer = str(cast.perform(create_customer, name="Hill Farm", phone="+44 1 secret")["id"])
    contact = cast.perform(save_contact, customerId=customer, name="Carla Contact", phone="+44 7700 900001")["id"]
    values = {"address": {"line1": "1 Hill Road", "city": "Halifax"}, "accessNotes": "Key under the mat"}
    site = cast.perform(save_site, customerId=customer, contactId=contact, **values | given)
    return customer, str(site["id"])


def make_site_job(cast: Cast, zone: str | None = None, **given: object) -> dict[str, Any]:
    """Make a job at a site of its own."""
    customer, site = make_customer_and_site(cast, timeZone=zone)
    return cast.perform(create_job, **{"customerId": customer, "siteId": site, "title": "Mend the roof"} | given)


def insert_colleagues(cast: Cast, status: str, number: int) -> None:
    """Insert so many people, active or left, whose names sort before all others."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for one in range(number):
            db.run(
                "INSERT INTO person (organisation_id, id, name, name_folded, email, email_folded, role, status, skills,"
                " created_at, created_by, updated_at, updated_by, version)"
                " VALUES (:organisation, :id, :name, :name, :email, :email, 'member', :status, '[]', '', '{}', '',"
                " '{}', 1)",
                id=f"person_{one:026}",
                name=f"a {one:03}",
                email=f"{one}@a.example",
                status=status,
            )


def plan_test_visit(
    cast: Cast, role: Role | None = Role.MEMBER, times: tuple[str, str] = ("10:00", "11:00"), **given: object
) -> Any:
    """Plan a visit, by default of a new job, for a person of this role or for nobody yet."""
    people = [cast.people[role]] if role else []
    job = {} if given.keys() & {"jobId", "title"} else {"jobId": make_site_job(cast)["id"]}
    at = {} if "on" in given else {"startsAt": f"{DAY}T{times[0]}", "endsAt": f"{DAY}T{times[1]}"}
    return cast.perform(plan_visit, **job | {"personIds": people} | at | given)


def read_finish_times(page: str) -> dict[str, str]:
    """Return the hours that the page to finish a visit has filled in."""
    names = ("on", "seenStart", "seenAt", "startedAt", "endedAt")
    return {name: page.partition(f'name="{name}"')[2].partition('value="')[2].partition('"')[0] for name in names}


def plan_today(cast: Cast, person: str, **job: Any) -> str:
    """Plan a visit of a person today, on a job of their own; return its address."""
    job_id = make_site_job(cast, assigned=[person], **job)["id"]
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    return f"/schedule/visits/{cast.perform(plan_visit, jobId=job_id, personIds=[person], on=day)['id']}"
