import pytest

from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.schedule.operations import cancel_visit, set_visit_status
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, NotFound
from support.cast import Cast
from support.customers import close_job
from support.stored_state import list_events_of
from support.visits import plan_test_visit


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_first_start_starts_the_job(cast: Cast, role: Role) -> None:
    visit = plan_test_visit(cast, role)
    event_count = len(list_events_of(cast))
    started = cast.perform(set_visit_status, role, visitId=visit["id"], status="started")
    assert started["status"] == "started"
    assert started["startedAt"] is not None
    assert cast.perform(get_job, jobId=visit["jobId"])["status"] == "inProgress"
    assert [event["type"] for event in list_events_of(cast)][event_count:] == ["job.started"]


def test_it_is_done_and_that_can_be_undone(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    done = cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="done")
    assert None not in {done["startedAt"], done["finishedAt"]}
    job = cast.perform(get_job, jobId=visit["jobId"])
    assert (job["status"], job["nextVisitAt"]) == ("inProgress", None)
    again = cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="planned")
    assert (again["startedAt"], again["finishedAt"]) == (None, None)
    assert cast.perform(get_job, jobId=visit["jobId"])["nextVisitAt"] == visit["startsAt"]


def test_a_repeat_changes_nothing(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    first = cast.perform(set_visit_status, visitId=visit["id"], status="started")
    assert cast.perform(set_visit_status, visitId=visit["id"], status="started")["version"] == first["version"]


def test_a_colleague_s_is_not_theirs_to_start(cast: Cast) -> None:
    visit = plan_test_visit(cast, Role.SUBCONTRACTOR)
    with pytest.raises(Forbidden, match="You can only update your own visits"):
        cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started")
    other = plan_test_visit(cast, Role.MEMBER)
    with pytest.raises(NotFound):
        cast.perform(set_visit_status, Role.SUBCONTRACTOR, visitId=other["id"], status="started")
    assert cast.perform(set_visit_status, Role.OFFICE, visitId=other["id"], status="done")["status"] == "done"


def test_what_was_cancelled_or_is_of_a_closed_job_is_not_started(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    cast.perform(cancel_visit, visitId=visit["id"])
    with pytest.raises(Blocked, match=r"is cancelled. Plan it again first"):
        cast.perform(set_visit_status, visitId=visit["id"], status="started")
    late = plan_test_visit(cast)
    close_job(cast, late["jobId"])
    with pytest.raises(Blocked, match=r"is closed. Reopen it first"):
        cast.perform(set_visit_status, visitId=late["id"], status="started")


@pytest.mark.parametrize("before", ["started", "done"])
def test_what_is_of_a_closed_job_is_not_set_back_to_planned(cast: Cast, before: str) -> None:
    visit = plan_test_visit(cast)
    cast.perform(set_visit_status, visitId=visit["id"], status=before)
    close_job(cast, visit["jobId"])
    with pytest.raises(Blocked, match=r"^J-0001 is closed\. Reopen it first\.$"):
        cast.perform(set_visit_status, visitId=visit["id"], status="planned")
    assert cast.perform(get_job, jobId=visit["jobId"])["nextVisitAt"] is None
    cast.perform(change_job_status, jobId=visit["jobId"], status="open")
    assert cast.perform(set_visit_status, visitId=visit["id"], status="planned")["status"] == "planned"
