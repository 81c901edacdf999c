import pytest

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status, get_job, list_jobs
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.business.schedule.operations import get_visit, list_visits
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid
from support.cast import Cast
from support.stored_state import read_last_event
from support.visits import DAY, make_site_job, plan_test_visit
from support.webhooks import set_columns


def test_a_job_is_called_off_with_what_is_planned_for_it(cast: Cast) -> None:
    job = make_site_job(cast)
    done = plan_test_visit(cast, times=("08:00", "09:00"), jobId=job["id"])
    cast.perform(set_visit_status, visitId=done["id"], status="done")
    plan_test_visit(cast, Role.SUBCONTRACTOR, jobId=job["id"])
    preview = cast.perform(cancel_job, Role.OFFICE, jobId=job["number"], reason="Sold the house")
    assert preview["effects"] == [
        f"Sam Subcontractor's visit will be cancelled: {DAY} from 10:00 to 11:00 (Europe/London).",
        "Webhook event: A job was cancelled.",
    ]
    after = cast.perform(cancel_job, Role.OFFICE, jobId=job["number"], reason="Sold the house", confirmed=True)
    assert (after["status"], after["stage"], after["cancelReason"]) == ("cancelled", "cancelled", "Sold the house")
    assert after["nextVisitAt"] is None
    assert read_last_event(cast)["type"] == "job.cancelled"
    assert [one["status"] for one in cast.perform(list_visits, jobId=job["id"])["data"]] == ["done"]
    assert cast.perform(list_jobs, Role.SUBCONTRACTOR)["data"] == []


def test_a_visit_that_has_started_is_called_off_too(cast: Cast) -> None:
    job = make_site_job(cast)
    plan_test_visit(cast, Role.SUBCONTRACTOR, times=("08:00", "09:00"), jobId=job["id"])
    begun = plan_test_visit(cast, jobId=job["id"])
    cast.perform(set_visit_status, visitId=begun["id"], status="started")
    preview = cast.perform(cancel_job, Role.OFFICE, jobId=job["id"], reason="Sold the house")
    assert preview["effects"][:2] == [
        f"Mia Member's visit, which has started, will be cancelled: {DAY} from 10:00 to 11:00 (Europe/London).",
        f"Sam Subcontractor's visit will be cancelled: {DAY} from 08:00 to 09:00 (Europe/London).",
    ]
    after = cast.perform(cancel_job, Role.OFFICE, jobId=job["id"], reason="Sold the house", confirmed=True)
    assert (after["status"], after["nextVisitAt"]) == ("cancelled", None)
    visit = cast.perform(get_visit, visitId=begun["id"])
    assert (visit["status"], visit["startedAt"]) == ("cancelled", None)
    # The person who was there is free for something else.
    assert plan_test_visit(cast)["status"] == "planned"


def test_a_reason_is_needed(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^reason: is required$"):
        cast.perform(cancel_job, jobId=make_site_job(cast)["id"], confirmed=True)


def test_what_is_over_or_timed_is_not_cancelled(cast: Cast) -> None:
    job = make_site_job(cast)
    set_columns(cast, "job", job["id"], running_timers=1)
    with pytest.raises(Blocked, match="A timer is still running"):
        cast.perform(cancel_job, jobId=job["id"], reason="x", confirmed=True)
    set_columns(cast, "job", job["id"], running_timers=0)
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job["id"], status=status)
    with pytest.raises(Blocked, match="is closed"):
        cast.perform(cancel_job, jobId=job["id"], reason="x", confirmed=True)
    assert cast.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_the_field_does_not_cancel_jobs(cast: Cast) -> None:
    job = make_site_job(cast, assigned=[cast.people[Role.MEMBER]])
    with pytest.raises(Forbidden):
        cast.perform(cancel_job, Role.MEMBER, jobId=job["id"], reason="x", confirmed=True)
