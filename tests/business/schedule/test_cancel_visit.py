import pytest

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.operations import cancel_visit, list_visits
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden
from support.cast import Cast
from support.visits import plan_test_visit


def test_a_visit_leaves_the_schedule_and_the_job_knows(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    assert cast.perform(cancel_visit, Role.OFFICE, visitId=visit["id"])["status"] == "cancelled"
    assert cast.perform(list_visits, jobId=visit["jobId"])["data"] == []
    job = cast.perform(get_job, jobId=visit["jobId"])
    assert (job["stage"], job["nextVisitAt"]) == ("toSchedule", None)
    (listed,) = cast.perform(list_visits, jobId=visit["jobId"], status="cancelled")["data"]
    assert listed["id"] == visit["id"]


def test_the_whole_crew_is_called_off(cast: Cast) -> None:
    visit = plan_test_visit(cast, personIds=[cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]])
    cast.perform(cancel_visit, visitId=visit["id"], scope="all")
    assert cast.perform(list_visits, jobId=visit["jobId"])["data"] == []


def test_what_is_over_is_not_cancelled(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    cast.perform(cancel_visit, visitId=visit["id"])
    with pytest.raises(Blocked, match="is already cancelled"):
        cast.perform(cancel_visit, visitId=visit["id"])
    done = plan_test_visit(cast)
    cast.perform(set_visit_status, visitId=done["id"], status="done")
    with pytest.raises(Blocked, match=r"is done. Set it back"):
        cast.perform(cancel_visit, visitId=done["id"])


def test_the_field_does_not_cancel(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    with pytest.raises(Forbidden):
        cast.perform(cancel_visit, Role.MEMBER, visitId=visit["id"])
