"""The versions of visits, by which a phone knows what it has to load again."""

from collections.abc import Callable

import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.hours.operations import log_hours
from mainstay.business.jobs.operations import get_job, update_job
from mainstay.business.overview.visit_versions import get_visit_versions
from mainstay.business.records.attachments import remove_document
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.operations import cancel_visit, list_visits, move_visit, plan_visit
from mainstay.vocabulary.permissions import Role
from support.attachments import add_file
from support.cast import Cast
from support.visits import DAY, make_site_job

# Each is given the ids of a visit, of another one of its crew, and of its job.
Change = Callable[[Cast, str, str, str], object]


def change_site(cast: Cast, _visit: str, _other: str, job: str) -> None:
    site = cast.perform(get_job, jobId=job)["siteId"]
    cast.perform(save_site, siteId=site, accessNotes="Ring twice")


def change_contact(cast: Cast, _visit: str, _other: str, job: str) -> None:
    customer = cast.perform(get_job, jobId=job)["customerId"]
    contact = cast.perform(save_contact, customerId=customer, name="Pat")["id"]
    cast.perform(save_site, siteId=cast.perform(get_job, jobId=job)["siteId"], contactId=contact)
    cast.perform(save_contact, contactId=contact, phone="+44 7700 900002")


CHANGES: dict[str, Change] = {
    "moved": lambda cast, visit, _other, _job: cast.perform(move_visit, visitId=visit, notes="Later"),
    "crew": lambda cast, _visit, other, _job: cast.perform(cancel_visit, visitId=other),
    "job": lambda cast, _visit, _other, job: cast.perform(update_job, jobId=job, description="Rod the drain"),
    "customer": lambda cast, _visit, _other, job: cast.perform(
        update_customer, customerId=cast.perform(get_job, jobId=job)["customerId"], name="Valley Farm"
    ),
    "site": change_site,
    "contact": change_contact,
    "note": lambda cast, visit, _other, _job: cast.perform(add_note, recordId=visit, text="Bring a ladder"),
    "file": lambda cast, visit, _other, _job: add_file(cast, visit),
    "hours": lambda cast, visit, _other, job: cast.perform(
        log_hours, Role.MEMBER, jobId=job, visitId=visit, on="2026-01-12", minutes=60
    ),
}


@pytest.fixture
def visits(cast: Cast) -> tuple[str, str, str]:
    """A visit of a member, the one of their helper, and their job."""
    job = make_site_job(cast, assigned=[cast.people[Role.MEMBER]])["id"]
    people = [cast.people[Role.MEMBER], cast.people[Role.OFFICE]]
    cast.perform(plan_visit, jobId=job, personIds=people, on=DAY)
    planned = cast.perform(list_visits, jobId=job)["data"]
    own, other = sorted(planned, key=lambda visit: people.index(visit["personId"]))
    return own["id"], other["id"], job


def read_version(cast: Cast, visit: str) -> str:
    return read_versions(cast, Role.MEMBER)[visit]


def read_versions(cast: Cast, role: Role, first: str = DAY) -> dict[str, str]:
    versions: dict[str, str] = cast.perform(get_visit_versions, role, **{"from": first, "until": DAY})["versions"]
    return versions


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_what_the_page_shows_is_another_version(
    cast: Cast, visits: tuple[str, str, str], change: str
) -> None:
    visit, other, job = visits
    before = read_version(cast, visit)
    assert read_version(cast, visit) == before
    CHANGES[change](cast, visit, other, job)
    assert read_version(cast, visit) != before


def test_a_file_that_is_removed_is_another_version_too(cast: Cast, visits: tuple[str, str, str]) -> None:
    visit, _, _ = visits
    file = add_file(cast, visit)["id"]
    cast.perform(move_visit, visitId=visit, notes="Later")
    before = read_version(cast, visit)
    cast.perform(remove_document, documentId=file, confirmed=True)
    assert read_version(cast, visit) != before


def test_a_change_of_another_job_is_no_other_version(cast: Cast, visits: tuple[str, str, str]) -> None:
    visit, _, _ = visits
    before = read_version(cast, visit)
    other_job = make_site_job(cast)["id"]
    cast.perform(update_job, jobId=other_job, description="Elsewhere")
    assert read_version(cast, visit) == before


def test_visits_of_others_and_of_other_days_are_left_out(cast: Cast, visits: tuple[str, str, str]) -> None:
    visit, other, job = visits
    later = cast.perform(plan_visit, jobId=job, personIds=[cast.people[Role.MEMBER]], on="2038-01-12")
    assert later["id"] not in {visit, other}
    assert read_versions(cast, Role.MEMBER).keys() == {visit}
    assert read_versions(cast, Role.OFFICE, "2038-01-10").keys() == {other}
    assert read_versions(cast, Role.OWNER) == {}
