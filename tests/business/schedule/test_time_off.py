from typing import Any

import pytest

from mainstay.business.schedule.leave import (
    cancel_time_off,
    decide_time_off,
    get_time_off,
    list_time_off,
    request_time_off,
)
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, NotFound
from support.cast import EMAILS, Cast
from support.stored_state import emails_about, waiting_emails
from support.visits import DAY, plan_test_visit


def request_leave(cast: Cast, role: Role = Role.MEMBER, /, **given: object) -> dict[str, Any]:
    return cast.perform(request_time_off, role, **given or {"from": DAY, "until": "2038-01-12"})


def test_whole_days_are_the_midnights_around_them(cast: Cast) -> None:
    leave = request_leave(cast, **{"from": "2038-03-28", "until": "2038-03-28", "kind": "sick", "note": "Flu"})
    assert (leave["from"], leave["until"], leave["status"]) == ("2038-03-28", "2038-03-28", "requested")
    assert (leave["startsAt"], leave["endsAt"]) == ("2038-03-28T00:00:00.000Z", "2038-03-28T23:00:00.000Z")
    assert (leave["personName"], leave["kind"], leave["note"]) == ("Mia Member", "sick", "Flu")
    hours = request_leave(cast, startsAt=f"{DAY}T14:00", endsAt=f"{DAY}T17:00", kind="unavailable")
    assert (hours["from"], hours["startsAt"]) == (None, f"{DAY}T14:00:00.000Z")


def test_the_answer_names_the_visits_within_it_and_the_decision_does_too(cast: Cast) -> None:
    visit, any_time = plan_test_visit(cast), plan_test_visit(cast, on="2038-01-12")
    plan_test_visit(cast, Role.SUBCONTRACTOR)
    plan_test_visit(cast, startsAt="2038-01-13T00:00", endsAt="2038-01-13T01:00")
    leave = request_leave(cast)
    expected = [visit["id"], any_time["id"]]
    assert [one["visitId"] for one in leave["collisions"]] == expected
    assert [(one["on"], one["startsAt"]) for one in leave["collisions"]] == [
        (None, visit["startsAt"]),
        ("2038-01-12", None),
    ]
    assert leave["collisions"][0]["about"] == f"{visit['jobNumber']} Mend the roof"
    after = cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="approve", note="Enjoy")
    assert (after["status"], after["decisionNote"]) == ("approved", "Enjoy")
    assert [one["visitId"] for one in after["collisions"]] == expected
    assert cast.perform(get_time_off, Role.MEMBER, timeOffId=leave["id"])["collisions"] == after["collisions"]


def test_only_the_office_enters_time_off_that_counts_at_once(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    given = {"from": DAY, "kind": "sick", "approved": True}
    leave = request_leave(cast, Role.OFFICE, personId=cast.people[Role.MEMBER], **given)
    assert leave["status"] == "approved"
    assert [one["visitId"] for one in leave["collisions"]] == [visit["id"]]
    with pytest.raises(Forbidden):
        request_leave(cast, Role.SUBCONTRACTOR, **given)


def test_a_decision_can_be_changed_until_it_is_cancelled(cast: Cast) -> None:
    leave = request_leave(cast)
    for decision, status in (("decline", "declined"), ("approve", "approved"), ("decline", "declined")):
        assert cast.perform(decide_time_off, timeOffId=leave["id"], decision=decision)["status"] == status
    with pytest.raises(Blocked, match="is already declined"):
        cast.perform(cancel_time_off, Role.MEMBER, timeOffId=leave["id"])


def test_one_s_own_is_withdrawn_and_makes_room(cast: Cast) -> None:
    leave = request_leave(cast)
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    with pytest.raises(Blocked):
        plan_test_visit(cast)
    assert cast.perform(cancel_time_off, Role.MEMBER, timeOffId=leave["id"])["status"] == "cancelled"
    plan_test_visit(cast)
    with pytest.raises(Blocked, match="Request it again"):
        cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")


def test_nobody_is_off_twice(cast: Cast) -> None:
    request_leave(cast)
    with pytest.raises(
        Conflict, match=r"^Mia Member already has time off \(holiday, requested\): 2038-01-11 to 2038-01-12\."
    ):
        request_leave(cast, **{"from": "2038-01-12"})
    request_leave(cast, **{"from": "2038-01-13"})


@pytest.mark.parametrize(
    "instead",
    [{"from": "2038-01-12", "until": "2038-01-13"}, {"startsAt": "2038-01-12T13:00", "endsAt": "2038-01-12T17:00"}],
)
def test_what_was_declined_is_not_approved_once_other_time_off_has_its_place(
    cast: Cast, instead: dict[str, object]
) -> None:
    declined = request_leave(cast)
    cast.perform(decide_time_off, timeOffId=declined["id"], decision="decline")
    other = request_leave(cast, **instead)
    with pytest.raises(
        Conflict, match=r"^Mia Member already has time off \(holiday, requested\): 2038-01-12 .+ Cancel that first"
    ):
        cast.perform(decide_time_off, timeOffId=declined["id"], decision="approve")
    for _ in range(2):
        assert cast.perform(decide_time_off, timeOffId=other["id"], decision="approve")["status"] == "approved"
    with pytest.raises(Conflict, match=r"^Mia Member already has time off \(holiday, approved\): 2038-01-12 "):
        cast.perform(decide_time_off, timeOffId=declined["id"], decision="approve")
    assert cast.perform(decide_time_off, timeOffId=declined["id"], decision="decline")["status"] == "declined"
    cast.perform(cancel_time_off, timeOffId=other["id"])
    assert cast.perform(decide_time_off, timeOffId=declined["id"], decision="approve")["status"] == "approved"


def test_members_ask_for_themselves_and_see_their_own(cast: Cast) -> None:
    mine, theirs = (
        request_leave(cast),
        request_leave(cast, Role.OFFICE, **{"from": DAY, "personId": cast.people[Role.SUBCONTRACTOR]}),
    )
    assert [one["id"] for one in cast.perform(list_time_off, Role.MEMBER)["data"]] == [mine["id"]]
    assert len(cast.perform(list_time_off, Role.OFFICE)["data"]) == 2
    with pytest.raises(Forbidden, match="You can't change personId"):
        request_leave(cast, **{"from": DAY, "personId": cast.people[Role.OFFICE]})
    with pytest.raises(NotFound):
        cast.perform(cancel_time_off, Role.MEMBER, timeOffId=theirs["id"])
    with pytest.raises(Forbidden):
        cast.perform(decide_time_off, Role.MEMBER, timeOffId=mine["id"], decision="approve")
    for operation in (list_time_off, request_time_off):
        with pytest.raises(Forbidden):
            cast.perform(operation, Role.SUBCONTRACTOR)


def test_they_are_listed_by_dates_state_and_person(cast: Cast) -> None:
    first = request_leave(cast)
    second = request_leave(cast, **{"from": "2038-02-01", "until": "2038-02-05"})
    old = request_leave(cast, **{"from": "2020-02-01"})

    def listed(**given: object) -> list[str]:
        return [one["id"] for one in cast.perform(list_time_off, **given)["data"]]

    assert listed() == [first["id"], second["id"]]
    assert listed(order="latest") == [second["id"], first["id"], old["id"]]
    assert listed(**{"from": "2038-02-03", "until": "2038-02-03"}) == [second["id"]]
    assert listed(status="approved") == []
    assert listed(personId=cast.people[Role.OFFICE]) == []


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"kind": "sick"}, "from: is required for whole days, or startsAt and endsAt for part of a day"),
        ({"until": DAY}, "from: is required"),
        ({"from": DAY, "startsAt": f"{DAY}T10:00"}, "from: is required"),
        ({"startsAt": f"{DAY}T10:00"}, "endsAt: is required"),
        ({"from": DAY, "until": "2038-01-10"}, "until: is before the first date"),
        ({"from": DAY, "until": "2040-01-10"}, "until: is more than a year after from"),
        ({"startsAt": f"{DAY}T10:00", "endsAt": f"{DAY}T10:00"}, "endsAt: is not within a year after startsAt"),
        ({"from": "2038-02-30"}, "from: is not a date"),
    ],
)
def test_what_is_no_period_is_refused(cast: Cast, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(Invalid) as refusal:
        request_leave(cast, **given)
    assert refusal.value.text.startswith(fault)


def test_whose_it_is_is_told_what_others_decide(cast: Cast) -> None:
    leave = request_leave(cast)
    cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="decline", note="We are three short.")
    (mail,) = waiting_emails(cast)
    assert (mail["to"], mail["subject"]) == (EMAILS[Role.MEMBER], "Your time off was declined")
    assert mail["text"] == (
        "Hello Mia Member,\n\nOrla Office declined your time off (holiday): 11\N{EN DASH}12 Jan 2038.\n\n"
        "We are three short.\n\n"
        f"See it here: {cast.performer.base_url}/time-off/{leave['id']}\n"
        "To ask for other days, request time off again.\n"
    )
    assert emails_about(cast, leave["id"]) == [(mail["to"], mail["subject"], "queued")]
    # The same once more is nothing new.
    cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="decline", note="We are three short.")
    assert len(waiting_emails(cast)) == 1
    cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="approve")
    cast.perform(cancel_time_off, Role.OFFICE, timeOffId=leave["id"])
    assert [mail["subject"] for mail in waiting_emails(cast)[1:]] == [
        "Your time off was approved",
        "Your time off was cancelled",
    ]


def test_whose_it_is_is_told_what_the_office_enters_as_approved(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    request_leave(cast, Role.OFFICE, **{"personId": member, "from": "2038-02-01"})
    assert waiting_emails(cast) == []
    leave = request_leave(
        cast, Role.OFFICE, **{"personId": member, "from": DAY, "kind": "sick", "note": "Rang.", "approved": True}
    )
    (mail,) = waiting_emails(cast)
    assert (mail["to"], mail["subject"]) == (EMAILS[Role.MEMBER], "Your time off was approved")
    assert "Orla Office entered and approved time off for you (sick): 11 January 2038.\n" in mail["text"]
    assert f"/time-off/{leave['id']}" in mail["text"]
    request_leave(cast, Role.OFFICE, **{"from": DAY, "approved": True})
    assert len(waiting_emails(cast)) == 1


@pytest.mark.parametrize(
    ("given", "when"),
    [
        ({"from": DAY}, "11 January 2038"),
        ({"from": "2037-12-30", "until": "2038-01-03"}, "30 Dec 2037 \N{EN DASH} 3 Jan 2038"),
        ({"startsAt": f"{DAY}T08:00", "endsAt": f"{DAY}T12:30"}, "11 January 2038, 08:00 to 12:30"),
        (
            {"startsAt": f"{DAY}T20:00", "endsAt": "2038-01-12T06:00"},
            "11 January 2038, 20:00 to 12 January 2038, 06:00",
        ),
    ],
)
def test_dates_are_told_as_people_write_them(cast: Cast, given: dict[str, object], when: str) -> None:
    leave = request_leave(cast, **given)
    cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="approve")
    (mail,) = waiting_emails(cast)
    assert f"approved your time off (holiday): {when}.\n" in mail["text"].replace("\N{THIN SPACE}", " ")


def test_nobody_is_told_what_they_decide_themselves(cast: Cast) -> None:
    leave = request_leave(cast, Role.OFFICE)
    cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision="approve")
    cast.perform(cancel_time_off, Role.OFFICE, timeOffId=leave["id"])
    assert waiting_emails(cast) == []
