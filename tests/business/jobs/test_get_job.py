import pytest

from mainstay.business.jobs.operations import change_job_status, get_job, update_job
from mainstay.business.organisation.settings import update_settings
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import make_visit
from support.webhooks import set_columns

OFFICE_ONLY: dict[str, object] = {
    "billing": "fixed",
    "customerOrderNumber": "PO 7",
    "externalRef": "X-1",
    "budget": "1200.00",
}


@pytest.mark.parametrize("name", ["J-0001", "j-0001", " J-0001 ", "J-1", "j1", "1", "001"])
def test_it_is_known_by_its_number_however_it_is_written(cast: Cast, name: str) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)
    for role in (Role.OWNER, Role.ADMIN, Role.OFFICE, Role.MEMBER):
        assert cast.perform(get_job, role, jobId=name)["id"] == job["id"]


def test_a_number_that_two_jobs_could_mean_is_of_none(cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer)
    cast.perform(update_settings, jobNumbers={"prefix": "W-"})
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE number_series SET next = 1 WHERE organisation_id = :organisation AND kind = 'job'")
    other = make_job(cast, customer)
    assert other["number"] == "W-0001"
    assert cast.perform(get_job, jobId="w1")["id"] == other["id"]
    with pytest.raises(NotFound):
        cast.perform(get_job, jobId="1")


def test_a_number_leads_nobody_to_a_job_they_do_not_see(cast: Cast) -> None:
    make_job(cast, make_customer(cast))
    for name in ("J-0001", "J-1", "1"):
        with pytest.raises(NotFound):
            cast.perform(get_job, Role.MEMBER, jobId=name)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_the_office_is_told_everything(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), **OFFICE_ONLY)
    result = cast.perform(get_job, role, jobId=job["id"])
    assert {name: result[name] for name in OFFICE_ONLY} == OFFICE_ONLY


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_is_told_of_its_own_what_the_work_needs_and_no_price(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role, description="Behind the shed", **OFFICE_ONLY)
    result = cast.perform(get_job, role, jobId=job["id"])
    assert {name: result[name] for name in OFFICE_ONLY} == dict.fromkeys(OFFICE_ONLY)
    assert (result["title"], result["description"], result["customerName"]) == (
        "Replace the boiler",
        "Behind the shed",
        "Calder Property",
    )
    assert result["availableActions"] == (["change_job_status"] if role is Role.MEMBER else [])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_finds_its_own_only_by_id_and_by_number(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)
    make_job(cast, customer, role)
    for name in (job["id"], job["number"]):
        with pytest.raises(NotFound, match=r"^There is no job with that identifier\.$"):
            cast.perform(get_job, role, jobId=name)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
@pytest.mark.parametrize("field", ["leadPersonId", "assigned"])
def test_whoever_leads_it_or_is_assigned_sees_it_for_so_long(cast: Cast, role: Role, field: str) -> None:
    person = cast.people[role]
    job = make_job(cast, make_customer(cast))["id"]
    cast.perform(update_job, jobId=job, **{field: [person] if field == "assigned" else person})
    assert cast.perform(get_job, role, jobId=job)["id"] == job
    cast.perform(update_job, jobId=job, **{field: [] if field == "assigned" else None})
    with pytest.raises(NotFound):
        cast.perform(get_job, role, jobId=job)


def test_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    job = make_job(other_cast, make_customer(other_cast))
    for name in (job["id"], job["number"]):
        with pytest.raises(NotFound):
            cast.perform(get_job, jobId=name)


@pytest.mark.parametrize("wrong", ["", "J-", "job_1", "Replace the boiler", "J-0001'--"])
def test_what_is_no_id_and_no_number_is_not_found(cast: Cast, wrong: str) -> None:
    make_job(cast, make_customer(cast))
    with pytest.raises(NotFound):
        cast.perform(get_job, jobId=wrong)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_is_not_told_whether_its_work_is_paid(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    cast.perform(change_job_status, jobId=job, status="done")
    for owed, stage, step in ((1, "invoiced", "Waiting for payment"), (0, "paid", "Close the job")):
        set_columns(cast, "job", job, invoiced=1, owed=owed, stage=stage, next_action=step)
        result = cast.perform(get_job, role, jobId=job)
        assert (result["status"], result["stage"], result["nextAction"]) == ("done", None, None)
        result = cast.perform(get_job, Role.OFFICE, jobId=job)
        assert (result["stage"], result["nextAction"]) == (stage, step)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_whoever_sees_their_own_visits_alone_is_told_of_no_other_s(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    make_visit(cast, job, cast.people[Role.OFFICE])
    result = cast.perform(get_job, role, jobId=job)
    seen = ("2026-11-16T08:00:00.000Z", "Visit planned")
    # Members see the schedule of all, unless the organisation says otherwise.
    assert (result["nextVisitAt"], result["nextAction"]) == (seen if role is Role.MEMBER else (None, None))
    cast.perform(update_settings, membersSeeTeamSchedule=False)
    result = cast.perform(get_job, role, jobId=job)
    assert (result["stage"], result["nextVisitAt"], result["nextAction"]) == ("scheduled", None, None)
