import pytest

from mainstay.business.hours.approval import submit_hours
from mainstay.business.hours.operations import get_time_entry
from mainstay.business.hours.timers import start_timer
from mainstay.business.people.roles import remove_person
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.hours import cast_at, make_time_entry, set_organisation_columns
from support.recorded_statements import count_reads

WEEK = {"from": "2026-11-09", "until": "2026-11-15"}


def status_of(cast: Cast, entry: dict[str, object]) -> str:
    return str(cast.perform(get_time_entry, timeEntryId=entry["id"])["status"])


def test_a_week_is_submitted_at_once(cast: Cast) -> None:
    cast = cast_at(cast)
    inside = [make_time_entry(cast, on=on, minutes=60) for on in ("2026-11-09", "2026-11-12", "2026-11-15")]
    outside = [
        make_time_entry(cast, on="2026-11-08", minutes=60),
        make_time_entry(cast),
        make_time_entry(cast, Role.OFFICE, on="2026-11-10"),
    ]
    answer = cast.perform(submit_hours, Role.MEMBER, **WEEK)
    assert (answer["object"], answer["status"], answer["minutes"]) == ("hoursBatch", "submitted", 180)
    assert [entry["id"] for entry in answer["entries"]] == [entry["id"] for entry in inside]
    assert answer["entries"][0] == {
        "id": inside[0]["id"],
        "personName": "Mia Member",
        "on": "2026-11-09",
        "minutes": 60,
        "jobNumber": None,
    }
    assert [status_of(cast, entry) for entry in outside] == ["draft"] * 3


def test_the_office_submits_what_someone_who_left_has_worked(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, on="2026-11-12", minutes=60)
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    cast.perform(submit_hours, Role.OFFICE, personId=cast.people[Role.MEMBER], **WEEK)
    assert status_of(cast, entry) == "submitted"


def test_some_are_submitted_by_their_ids_and_what_was_rejected_again(cast: Cast) -> None:
    cast = cast_at(cast)
    draft, rejected = make_time_entry(cast), make_time_entry(cast, status="rejected")
    answer = cast.perform(submit_hours, Role.MEMBER, timeEntryIds=[draft["id"], rejected["id"], draft["id"]])
    assert len(answer["entries"]) == 2
    assert cast.perform(get_time_entry, timeEntryId=rejected["id"])["reviewNote"] is None


def test_many_are_read_as_often_as_one(cast: Cast) -> None:
    cast = cast_at(cast)
    first, *others = (make_time_entry(cast, on="2026-11-10", minutes=1)["id"] for _ in range(6))

    def read(**given: object) -> int:
        return count_reads(cast, "time_entry", lambda watched: watched.perform(submit_hours, Role.MEMBER, **given))

    assert read(timeEntryIds=[first]) == read(timeEntryIds=others)
    one_draft = make_time_entry(cast, on="2026-11-03", minutes=1)["on"]
    for _ in range(5):
        make_time_entry(cast, on="2026-11-10", minutes=1)
    assert read(**{"from": one_draft, "until": one_draft}) == read(**WEEK)


def test_all_or_none(cast: Cast) -> None:
    cast = cast_at(cast)
    draft, approved = make_time_entry(cast), make_time_entry(cast, status="approved")
    with pytest.raises(Conflict, match="already approved"):
        cast.perform(submit_hours, Role.MEMBER, timeEntryIds=[draft["id"], approved["id"]])
    timer = cast.perform(start_timer, Role.MEMBER)
    with pytest.raises(Conflict, match="the timer is still running"):
        cast.perform(submit_hours, Role.MEMBER, timeEntryIds=[draft["id"], timer["id"]])
    with pytest.raises(NotFound):
        cast.perform(submit_hours, Role.MEMBER, timeEntryIds=[draft["id"], new_id("entry")])
    assert status_of(cast, draft) == "draft"


def test_closed_books_are_closed_for_this_too(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), on="2026-10-31", minutes=60)
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    with pytest.raises(Conflict, match="books are closed"):
        cast.perform(submit_hours, Role.MEMBER, timeEntryIds=[entry["id"]])


def test_nothing_to_submit_is_said(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^There are no drafts between 2026-11-09 and 2026-11-15\. Log hours first\.$"):
        cast.perform(submit_hours, Role.MEMBER, **WEEK)


def test_too_many_at_once_are_refused(cast: Cast) -> None:
    cast = cast_at(cast)
    for _ in range(101):
        make_time_entry(cast, on="2026-11-10", minutes=1)
    with pytest.raises(Conflict, match="more than 100 drafts"):
        cast.perform(submit_hours, Role.MEMBER, **WEEK)


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({}, "from: is required, unless timeEntryIds is given"),
        ({"from": "2026-11-09"}, "until: is required"),
        ({"timeEntryIds": ["x"]}, "timeEntryIds.0: is not the id of a time entry"),
    ],
)
def test_what_cannot_be_is_refused(cast: Cast, sent: dict[str, object], problem: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(submit_hours, Role.MEMBER, **sent)
    assert refusal.value.text.startswith(problem)


def test_the_office_submits_for_others_and_the_field_does_not(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, on="2026-11-10", minutes=60)
    with pytest.raises(NotFound):
        cast.perform(submit_hours, Role.SUBCONTRACTOR, timeEntryIds=[entry["id"]])
    with pytest.raises(Forbidden):
        cast.perform(submit_hours, Role.SUBCONTRACTOR, personId=cast.people[Role.MEMBER], **WEEK)
    cast.perform(submit_hours, Role.OFFICE, personId=cast.people[Role.MEMBER], **WEEK)
    assert status_of(cast, entry) == "submitted"
