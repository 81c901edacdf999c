import pytest

from mainstay.business.hours.operations import delete_hours, get_time_entry
from mainstay.business.hours.timers import start_timer
from mainstay.business.jobs.operations import change_job_status
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.cast import Cast
from support.hours import cast_at, make_assigned_job, make_time_entry, mark_entry_billed, set_organisation_columns
from support.stored_state import operations_on


@pytest.mark.parametrize("status", ["draft", "rejected"])
def test_what_is_not_approved_can_be_deleted(cast: Cast, status: str) -> None:
    entry = make_time_entry(cast_at(cast), status=status)
    preview = cast.perform(delete_hours, Role.MEMBER, timeEntryId=entry["id"])
    assert preview["summary"] == "1:00 hours of Mia Member on 2026-11-16 will be deleted."
    assert preview["blockers"] == []
    assert cast.perform(get_time_entry, Role.MEMBER, timeEntryId=entry["id"])
    cast.perform(delete_hours, Role.MEMBER, timeEntryId=entry["id"], confirmed=True)
    with pytest.raises(NotFound):
        cast.perform(get_time_entry, timeEntryId=entry["id"])
    assert operations_on(cast, entry["id"])[-1] == "delete_hours"


def test_a_timer_that_runs_is_discarded_and_the_job_knows(cast: Cast) -> None:
    job = make_assigned_job(cast)
    entry = cast.perform(start_timer, Role.MEMBER, jobId=job["id"])
    cast.perform(delete_hours, Role.MEMBER, timeEntryId=entry["id"], confirmed=True)
    assert cast.perform(change_job_status, jobId=job["id"], status="done")["status"] == "done"


def test_what_is_approved_or_billed_stays(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="approved")
    for billed, expected in ((False, "already approved"), (True, "already on an invoice")):
        if billed:
            mark_entry_billed(cast, entry["id"])
        assert expected in cast.perform(delete_hours, timeEntryId=entry["id"])["blockers"][0]
        with pytest.raises(Conflict, match=expected):
            cast.perform(delete_hours, timeEntryId=entry["id"], confirmed=True)


def test_what_is_submitted_only_the_office_deletes(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="submitted")
    with pytest.raises(Conflict, match="already submitted"):
        cast.perform(delete_hours, Role.MEMBER, timeEntryId=entry["id"], confirmed=True)
    cast.perform(delete_hours, Role.OFFICE, timeEntryId=entry["id"], confirmed=True)


def test_closed_books_lose_nothing(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), on="2026-10-31", minutes=60)
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    with pytest.raises(Conflict, match="books are closed"):
        cast.perform(delete_hours, Role.OWNER, timeEntryId=entry["id"], confirmed=True)


def test_nobody_deletes_what_they_do_not_see(cast: Cast, other_cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), Role.OFFICE)
    for who, role in ((cast, Role.MEMBER), (cast, Role.SUBCONTRACTOR), (other_cast, Role.OWNER)):
        with pytest.raises(NotFound):
            who.perform(delete_hours, role, timeEntryId=entry["id"], confirmed=True)
