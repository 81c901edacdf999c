"""Work to plan: customers, sites and jobs, and visits to them."""

from typing import Any

from cast import Cast
from mainstay.business.customers.operations import create_customer
from mainstay.business.customers.places import save_contact, save_site
from mainstay.business.jobs.operations import create_job
from mainstay.business.schedule.operations import plan_visit
from mainstay.terms.rights import Role

# A Monday in winter, when the clocks of London show UTC.
DAY = "2038-01-11"


def make_site(cast: Cast, **given: object) -> tuple[str, str]:
    """The ids of a customer and of a site of theirs, where someone is met."""
    customer = str(cast.perform(create_customer, name="Hill Farm", phone="+44 1 secret")["id"])
    contact = cast.perform(save_contact, customerId=customer, name="Carla Contact", phone="+44 7700 900001")["id"]
    values = {"address": {"line1": "1 Hill Road", "city": "Halifax"}, "accessNotes": "Key under the mat"}
    site = cast.perform(save_site, customerId=customer, contactId=contact, **values | given)
    return customer, str(site["id"])


def make_job(cast: Cast, zone: str | None = None, **given: object) -> dict[str, Any]:
    """A job at a site of its own."""
    customer, site = make_site(cast, timeZone=zone)
    return cast.perform(create_job, **{"customerId": customer, "siteId": site, "title": "Mend the roof"} | given)


def colleagues(cast: Cast, status: str, number: int) -> None:
    """So many people more who are active or have left, and whose names come before all others."""
    with cast.stage.database.changing(cast.organisation) as rows:
        for one in range(number):
            rows.run(
                "INSERT INTO person (organisation_id, id, name, name_folded, email, email_folded, role, status, skills,"
                " created_at, created_by, updated_at, updated_by, version)"
                " VALUES (:organisation, :id, :name, :name, :email, :email, 'member', :status, '[]', '', '{}', '',"
                " '{}', 1)",
                id=f"person_{one:026}",
                name=f"a {one:03}",
                email=f"{one}@a.example",
                status=status,
            )


def plan(
    cast: Cast, role: Role | None = Role.MEMBER, times: tuple[str, str] = ("10:00", "11:00"), **given: object
) -> Any:
    """A visit of a new job on the day, for a person of this role or for nobody yet."""
    people = [cast.people[role]] if role else []
    job = {} if given.keys() & {"jobId", "title"} else {"jobId": make_job(cast)["id"]}
    at = {} if "on" in given else {"startsAt": f"{DAY}T{times[0]}", "endsAt": f"{DAY}T{times[1]}"}
    return cast.perform(plan_visit, **job | {"personIds": people} | at | given)
