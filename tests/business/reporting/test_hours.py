import pytest

from mainstay.business.people.operations import update_person
from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.hours import cast_at, make_assigned_job, make_time_entry, mark_entry_billed, set_organisation_columns
from support.reports import name_rows, name_totals, perform_report
from support.webhooks import set_columns
from support.working_days import make_working_hours

# 9 to 13 and 14 to 17 on Mondays, 9 to 12 on Tuesdays: 600 minutes in all.
HOURS = (
    '{"monday":[{"from":"09:00","until":"13:00"},{"from":"14:00","until":"17:00"}],'
    '"tuesday":[{"from":"09:00","until":"12:00"}],"wednesday":[],"thursday":[],"friday":[],"saturday":[],"sunday":[]}'
)
# From a Monday to a Sunday.
WEEK = {"from": "2026-11-09", "until": "2026-11-15"}


@pytest.fixture
def cast_with_hours(cast: Cast) -> Cast:
    set_organisation_columns(cast, working_hours=HOURS)
    for person in cast.people.values():
        set_columns(cast, "person", person, created_at="2026-01-01T00:00:00.000Z")
    return cast_at(cast)


def row_of(cast: Cast, role: Role, **given: object) -> dict[str, object]:
    """Return the row of one person."""
    [row] = name_rows(perform_report(cast, "hours", personId=cast.people[role], **(WEEK | given)))
    return row


def test_what_someone_worked_is_told_with_what_of_their_time_was_billable(cast_with_hours: Cast) -> None:
    job = make_assigned_job(cast_with_hours)
    unpaid = make_time_entry(cast_with_hours, jobId=job["id"], on="2026-11-09", minutes=120)
    set_columns(cast_with_hours, "time_entry", unpaid["id"], billable=0)
    make_time_entry(cast_with_hours, jobId=job["id"], on="2026-11-10", minutes=90)
    mark_entry_billed(
        cast_with_hours,
        make_time_entry(cast_with_hours, jobId=job["id"], on="2026-11-11", minutes=60, status="approved")["id"],
    )
    make_time_entry(cast_with_hours, jobId=job["id"], on="2026-11-11", minutes=30, status="rejected")
    make_time_entry(cast_with_hours, jobId=job["id"], on="2026-11-16", minutes=45)
    assert row_of(cast_with_hours, Role.MEMBER) == {
        "personId": cast_with_hours.people[Role.MEMBER],
        "person": "Mia Member",
        "worked": 270,
        "billable": 150,
        "billed": 60,
        "capacity": 600,
        "utilisation": "25.0",
    }


def test_approved_leave_takes_time_away(cast_with_hours: Cast) -> None:
    leave = cast_with_hours.perform(request_time_off, Role.MEMBER, **{"from": "2026-11-10", "until": "2026-11-10"})
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 600
    cast_with_hours.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="approve")
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 420
    # From noon on, over the next working hours and beyond them.
    given = {"startsAt": "2026-11-09T12:30", "endsAt": "2026-11-09T15:00", "approved": True}
    cast_with_hours.perform(request_time_off, Role.OFFICE, personId=cast_with_hours.people[Role.MEMBER], **given)
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 330
    assert row_of(cast_with_hours, Role.OFFICE)["capacity"] == 600


def test_whoever_has_hours_of_their_own_has_their_own_time(cast_with_hours: Cast) -> None:
    own = make_working_hours(wednesday=[{"from": "08:00", "until": "10:00"}])
    cast_with_hours.perform(update_person, personId=cast_with_hours.people[Role.MEMBER], workingHours=own)
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 120
    assert row_of(cast_with_hours, Role.OFFICE)["capacity"] == 600
    cast_with_hours.perform(update_person, personId=cast_with_hours.people[Role.MEMBER], workingHours=None)
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 600


def test_a_night_shift_counts_on_the_day_it_begins_without_the_leave_in_it(cast_with_hours: Cast) -> None:
    nights = make_working_hours(sunday=[{"from": "22:00", "until": "06:00"}])
    cast_with_hours.perform(update_person, personId=cast_with_hours.people[Role.MEMBER], workingHours=nights)
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 480
    given = {"startsAt": "2026-11-16T04:00", "endsAt": "2026-11-16T12:00", "approved": True}
    cast_with_hours.perform(request_time_off, Role.OFFICE, personId=cast_with_hours.people[Role.MEMBER], **given)
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 360


def test_time_counts_from_the_day_someone_joined_or_from_which_they_have_hours(cast_with_hours: Cast) -> None:
    set_columns(cast_with_hours, "person", cast_with_hours.people[Role.MEMBER], created_at="2026-11-10T08:00:00.000Z")
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 180
    make_time_entry(cast_with_hours, on="2026-11-09", minutes=10)
    assert row_of(cast_with_hours, Role.MEMBER)["capacity"] == 600


def test_of_whoever_left_only_the_work_is_told(cast_with_hours: Cast) -> None:
    make_time_entry(cast_with_hours, on="2026-11-09", minutes=300)
    cast_with_hours.perform(remove_person, personId=cast_with_hours.people[Role.MEMBER], confirmed=True)
    result = perform_report(cast_with_hours, "hours", **WEEK)
    gone = next(row for row in name_rows(result) if row["person"] == "Mia Member")
    assert (gone["worked"], gone["capacity"], gone["utilisation"]) == (300, None, None)
    assert name_totals(result, "worked", "capacity", "utilisation") == {
        "worked": 300,
        "capacity": 4 * 600,
        "utilisation": "0.0",
    }
    assert "Mia Member" not in [
        row["person"] for row in name_rows(perform_report(cast_with_hours, "hours", **{"from": "2026-11-14"}))
    ]


def test_everyone_is_told_by_name(cast_with_hours: Cast) -> None:
    names = [row["person"] for row in name_rows(perform_report(cast_with_hours, "hours"))]
    assert names == ["Adam Admin", "Mia Member", "Olivia Owner", "Orla Office", "Sam Subcontractor"]
