import pytest

from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.people.roles import remove_person
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.hours import cast_at, make_assigned_job, set_organisation_columns


def start_timer_at(cast: Cast, since: str = "2026-11-16T08:00:00Z", **given: object) -> dict[str, object]:
    return cast_at(cast, since).perform(start_timer, Role.MEMBER, **given)


def test_it_ends_now_and_is_a_draft(cast: Cast) -> None:
    entry = start_timer_at(cast, note="Pipes")
    stopped = cast_at(cast).perform(stop_timer, Role.MEMBER)
    assert (stopped["id"], stopped["status"], stopped["minutes"], stopped["note"]) == (
        entry["id"],
        "draft",
        240,
        "Pipes",
    )
    assert stopped["endedAt"] == "2026-11-16T12:00:00.000Z"


def test_the_break_is_taken_off_and_what_was_done_is_noted(cast: Cast) -> None:
    start_timer_at(cast)
    stopped = cast_at(cast).perform(stop_timer, Role.MEMBER, breakMinutes=45, note="Flushed the pipes")
    assert (stopped["minutes"], stopped["breakMinutes"], stopped["note"]) == (195, 45, "Flushed the pipes")


def test_the_job_can_be_done_then(cast: Cast) -> None:
    job = make_assigned_job(cast)
    start_timer_at(cast, jobId=job["id"])
    cast_at(cast).perform(stop_timer, Role.MEMBER)
    assert cast.perform(change_job_status, jobId=job["id"], status="done")["status"] == "done"


def test_one_that_was_forgotten_is_told_when_the_work_ended(cast: Cast) -> None:
    start_timer_at(cast, "2026-11-14T08:00:00Z")
    message = r"^The timer has been running for more than 24 hours\. Enter when the work ended\. Send endedAt\.$"
    with pytest.raises(Conflict, match=message):
        cast_at(cast).perform(stop_timer, Role.MEMBER)
    stopped = cast_at(cast).perform(stop_timer, Role.MEMBER, endedAt="2026-11-14T16:30")
    assert (stopped["on"], stopped["minutes"]) == ("2026-11-14", 510)


def test_where_none_runs_it_is_said(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^No timer is running\. Log the time instead\.$"):
        cast.perform(stop_timer, Role.MEMBER)


def test_who_sees_all_hours_is_told_how_to_find_the_timers_that_run(cast: Cast) -> None:
    entry = start_timer_at(cast, jobId=make_assigned_job(cast, assigned=[cast.people[Role.MEMBER]])["id"])
    with pytest.raises(Conflict, match=r"list_hours with the status `running` shows whose timers are running\.$"):
        cast_at(cast).perform(stop_timer, Role.OFFICE)
    [found] = cast.perform(list_hours, Role.OFFICE, status="running", jobId="J-0001")["data"]
    assert cast_at(cast).perform(stop_timer, Role.OFFICE, timeEntryId=found["id"])["id"] == entry["id"]


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"breakMinutes": 240}, "breakMinutes: is as long as the time worked"),
        ({"endedAt": "2026-11-16T07:00"}, "endedAt: is not after the start"),
        ({"endedAt": "2026-11-16T12:16"}, "endedAt: is in the future"),
        ({"endedAt": "2026-11-16"}, "endedAt: is not a time"),
    ],
)
def test_what_cannot_be_is_refused(cast: Cast, sent: dict[str, object], problem: str) -> None:
    start_timer_at(cast)
    with pytest.raises(Invalid) as refusal:
        cast_at(cast).perform(stop_timer, Role.MEMBER, **sent)
    assert refusal.value.text.startswith(problem)


def test_closed_books_keep_it_running(cast: Cast) -> None:
    start_timer_at(cast)
    set_organisation_columns(cast, books_closed_until="2026-11-16")
    with pytest.raises(Conflict, match="books are closed"):
        cast_at(cast).perform(stop_timer, Role.MEMBER)


def test_the_office_stops_another_s_and_the_field_does_not(cast: Cast) -> None:
    start_timer_at(cast)
    with pytest.raises(Forbidden, match="You can't change personId"):
        cast_at(cast).perform(stop_timer, Role.SUBCONTRACTOR, personId=cast.people[Role.MEMBER])
    with pytest.raises(Conflict, match="No timer is running"):
        cast_at(cast).perform(stop_timer, Role.OFFICE)
    assert cast_at(cast).perform(stop_timer, Role.OFFICE, personId=cast.people[Role.MEMBER])["minutes"] == 240


def test_the_office_stops_that_of_someone_who_left_and_the_job_can_be_done(cast: Cast) -> None:
    job, left = make_assigned_job(cast), cast.people[Role.MEMBER]
    start_timer_at(cast, "2026-11-14T08:00:00Z", jobId=job["id"])
    cast.perform(remove_person, personId=left, confirmed=True)
    stopped = cast_at(cast).perform(stop_timer, Role.OFFICE, personId=left, endedAt="2026-11-14T16:30")
    assert (stopped["personName"], stopped["status"], stopped["minutes"]) == ("Mia Member", "draft", 510)
    assert cast.perform(change_job_status, jobId=job["id"], status="done")["status"] == "done"
    with pytest.raises(Conflict, match="No timer is running"):
        cast_at(cast).perform(stop_timer, Role.OFFICE, personId=left)
    with pytest.raises(Invalid, match=r"^personId: is Mia Member, who has left, list_people shows who is active$"):
        cast_at(cast).perform(start_timer, Role.OFFICE, personId=left)


def test_that_of_nobody_is_not_stopped(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^personId: is not part of this organisation"):
        cast_at(cast).perform(stop_timer, Role.OFFICE, personId=other_cast.people[Role.MEMBER])


def test_it_is_named_by_its_entry(cast: Cast) -> None:
    entry = start_timer_at(cast)
    stopped = cast_at(cast).perform(stop_timer, Role.OFFICE, timeEntryId=entry["id"])
    assert (stopped["id"], stopped["status"]) == (entry["id"], "draft")
    with pytest.raises(Conflict, match=r": the timer is already stopped\.$"):
        cast_at(cast).perform(stop_timer, Role.OFFICE, timeEntryId=entry["id"])


def test_an_entry_and_whose_it_is_are_not_both_named(cast: Cast) -> None:
    entry = start_timer_at(cast)
    with pytest.raises(Invalid, match=r"^personId: can't be combined with timeEntryId$"):
        cast_at(cast).perform(stop_timer, timeEntryId=entry["id"], personId=cast.people[Role.MEMBER])


def test_nobody_stops_a_timer_that_they_do_not_see(cast: Cast, other_cast: Cast) -> None:
    entry = start_timer_at(cast)
    for who, role in ((cast, Role.SUBCONTRACTOR), (other_cast, Role.OWNER)):
        with pytest.raises(NotFound):
            cast_at(who).perform(stop_timer, role, timeEntryId=entry["id"])


def test_it_is_not_stopped_with_more_than_the_day_has(cast: Cast) -> None:
    start_timer_at(cast, since="2026-11-16T00:00:00Z")
    cast_at(cast).perform(log_hours, Role.MEMBER, on="2026-11-16", minutes=721)
    with pytest.raises(
        Conflict, match=r"^12:01 hours are already logged on 2026-11-16, so the day would have more than 24:00"
    ):
        cast_at(cast).perform(stop_timer, Role.MEMBER)
    assert cast_at(cast).perform(stop_timer, Role.MEMBER, breakMinutes=1)["minutes"] == 719
