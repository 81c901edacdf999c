import pytest

from cast import Cast
from labour import at, bill, decide, logged, new_job
from mainstay.business.people.operations import update_person
from mainstay.business.people.standing import remove_person
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.terms.rights import Role
from reporting import report, rows, totals
from support.working_days import only_on
from telling import set_columns

# 9 to 13 and 14 to 17 on Mondays, 9 to 12 on Tuesdays: 600 minutes in all.
HOURS = (
    '{"monday":[{"from":"09:00","until":"13:00"},{"from":"14:00","until":"17:00"}],'
    '"tuesday":[{"from":"09:00","until":"12:00"}],"wednesday":[],"thursday":[],"friday":[],"saturday":[],"sunday":[]}'
)
# From a Monday to a Sunday.
WEEK = {"from": "2026-11-09", "until": "2026-11-15"}


@pytest.fixture
def busy(cast: Cast) -> Cast:
    decide(cast, working_hours=HOURS)
    for person in cast.people.values():
        set_columns(cast, "person", person, created_at="2026-01-01T00:00:00.000Z")
    return at(cast)


def of(cast: Cast, role: Role, **given: object) -> dict[str, object]:
    """What is told of someone."""
    [row] = rows(report(cast, "hours", personId=cast.people[role], **(WEEK | given)))
    return row


def test_what_someone_worked_is_told_with_what_of_their_time_was_billable(busy: Cast) -> None:
    job = new_job(busy)
    unpaid = logged(busy, jobId=job["id"], on="2026-11-09", minutes=120)
    set_columns(busy, "time_entry", unpaid["id"], billable=0)
    logged(busy, jobId=job["id"], on="2026-11-10", minutes=90)
    bill(busy, logged(busy, jobId=job["id"], on="2026-11-11", minutes=60, status="approved")["id"])
    logged(busy, jobId=job["id"], on="2026-11-11", minutes=30, status="rejected")
    logged(busy, jobId=job["id"], on="2026-11-16", minutes=45)
    assert of(busy, Role.MEMBER) == {
        "personId": busy.people[Role.MEMBER],
        "person": "Mia Member",
        "worked": 270,
        "billable": 150,
        "billed": 60,
        "capacity": 600,
        "utilisation": "25.0",
    }


def test_approved_leave_takes_time_away(busy: Cast) -> None:
    leave = busy.perform(request_time_off, Role.MEMBER, **{"from": "2026-11-10", "until": "2026-11-10"})
    assert of(busy, Role.MEMBER)["capacity"] == 600
    busy.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="approve")
    assert of(busy, Role.MEMBER)["capacity"] == 420
    # From noon on, over the next working hours and beyond them.
    given = {"startsAt": "2026-11-09T12:30", "endsAt": "2026-11-09T15:00", "approved": True}
    busy.perform(request_time_off, Role.OFFICE, personId=busy.people[Role.MEMBER], **given)
    assert of(busy, Role.MEMBER)["capacity"] == 330
    assert of(busy, Role.OFFICE)["capacity"] == 600


def test_whoever_has_hours_of_their_own_has_their_own_time(busy: Cast) -> None:
    own = only_on(wednesday=[{"from": "08:00", "until": "10:00"}])
    busy.perform(update_person, personId=busy.people[Role.MEMBER], workingHours=own)
    assert of(busy, Role.MEMBER)["capacity"] == 120
    assert of(busy, Role.OFFICE)["capacity"] == 600
    busy.perform(update_person, personId=busy.people[Role.MEMBER], workingHours=None)
    assert of(busy, Role.MEMBER)["capacity"] == 600


def test_a_night_shift_counts_on_the_day_it_begins_without_the_leave_in_it(busy: Cast) -> None:
    nights = only_on(sunday=[{"from": "22:00", "until": "06:00"}])
    busy.perform(update_person, personId=busy.people[Role.MEMBER], workingHours=nights)
    assert of(busy, Role.MEMBER)["capacity"] == 480
    given = {"startsAt": "2026-11-16T04:00", "endsAt": "2026-11-16T12:00", "approved": True}
    busy.perform(request_time_off, Role.OFFICE, personId=busy.people[Role.MEMBER], **given)
    assert of(busy, Role.MEMBER)["capacity"] == 360


def test_time_counts_from_the_day_someone_joined_or_from_which_they_have_hours(busy: Cast) -> None:
    set_columns(busy, "person", busy.people[Role.MEMBER], created_at="2026-11-10T08:00:00.000Z")
    assert of(busy, Role.MEMBER)["capacity"] == 180
    logged(busy, on="2026-11-09", minutes=10)
    assert of(busy, Role.MEMBER)["capacity"] == 600


def test_of_whoever_left_only_the_work_is_told(busy: Cast) -> None:
    logged(busy, on="2026-11-09", minutes=300)
    busy.perform(remove_person, personId=busy.people[Role.MEMBER], confirmed=True)
    told = report(busy, "hours", **WEEK)
    gone = next(row for row in rows(told) if row["person"] == "Mia Member")
    assert (gone["worked"], gone["capacity"], gone["utilisation"]) == (300, None, None)
    assert totals(told, "worked", "capacity", "utilisation") == {
        "worked": 300,
        "capacity": 4 * 600,
        "utilisation": "0.0",
    }
    assert "Mia Member" not in [row["person"] for row in rows(report(busy, "hours", **{"from": "2026-11-14"}))]


def test_everyone_is_told_by_name(busy: Cast) -> None:
    names = [row["person"] for row in rows(report(busy, "hours"))]
    assert names == ["Adam Admin", "Mia Member", "Olivia Owner", "Orla Office", "Sam Subcontractor"]
