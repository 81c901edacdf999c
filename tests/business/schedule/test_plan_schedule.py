from typing import Any

import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, list_visits
from mainstay.business.schedule.planning import plan_schedule
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.stored_state import list_events_of, read_trail
from support.visits import DAY, make_site_job, plan_test_visit


def change_schedule(cast: Cast, *changes: dict[str, Any], confirmed: bool = True) -> dict[str, Any]:
    return cast.perform(plan_schedule, Role.OFFICE, changes=list(changes), confirmed=confirmed)


def build_booking(
    cast: Cast, role: Role = Role.MEMBER, begin: str = "10:00", end: str = "11:00", **more: Any
) -> dict[str, Any]:
    times = {"startsAt": f"{DAY}T{begin}", "endsAt": f"{DAY}T{end}"}
    return {"change": "plan", "title": "Round", "personIds": [cast.people[role]], **times, **more}


def test_several_changes_are_made_at_once(cast: Cast) -> None:
    moved, off = plan_test_visit(cast), plan_test_visit(cast, times=("12:00", "13:00"))
    answer = change_schedule(
        cast,
        build_booking(cast),
        {"change": "move", "visitId": moved["id"], "startsAt": f"{DAY}T15:00"},
        {"change": "cancel", "visitId": off["id"]},
    )
    assert answer["summary"] == "1 visit planned. 1 visit moved. 1 visit cancelled."
    assert {(one["about"], one["status"]) for one in answer["visits"]} >= {("Round", "planned")}
    assert cast.perform(get_visit, visitId=moved["id"])["startsAt"] == f"{DAY}T15:00:00.000Z"
    assert cast.perform(get_visit, visitId=off["id"])["status"] == "cancelled"
    assert cast.perform(get_job, jobId=off["jobId"])["stage"] == "toSchedule"


def test_two_people_swap_their_visits(cast: Cast) -> None:
    hers, his = plan_test_visit(cast), plan_test_visit(cast, Role.SUBCONTRACTOR)
    change_schedule(
        cast,
        {"change": "move", "visitId": hers["id"], "personId": cast.people[Role.SUBCONTRACTOR]},
        {"change": "move", "visitId": his["id"], "personId": cast.people[Role.MEMBER]},
    )
    after = cast.perform(get_visit, visitId=hers["id"])
    assert (after["personName"], after["version"], after["status"]) == ("Sam Subcontractor", 2, "planned")
    assert cast.perform(get_visit, visitId=his["id"])["personName"] == "Mia Member"


def test_what_is_cancelled_makes_room_whatever_the_order(cast: Cast) -> None:
    off = plan_test_visit(cast)
    change_schedule(cast, build_booking(cast), {"change": "cancel", "visitId": off["id"]})


def test_a_preview_tells_load_and_what_is_worth_a_look_and_changes_nothing(cast: Cast) -> None:
    plan_test_visit(cast, times=("09:00", "09:50"))
    event_count, written = len(list_events_of(cast)), len(read_trail(cast))
    preview = change_schedule(
        cast, build_booking(cast), build_booking(cast, begin="18:00", end="19:30"), confirmed=False
    )
    assert preview["effects"] == [
        f"Round will be for Mia Member, {DAY} from 10:00 to 11:00 (Europe/London).",
        f"Round will be for Mia Member, {DAY} from 18:00 to 19:30 (Europe/London).",
        f"Mia Member on {DAY}: 3 visits (3:20 h).",
    ]
    (close, late) = preview["warnings"]
    assert close.startswith(
        f"Round on {DAY} from 10:00 to 11:00 (Europe/London) leaves Mia Member less than 15 minutes to travel"
    )
    assert late == f"Round on {DAY} from 18:00 to 19:30 (Europe/London) is outside Mia Member's working hours."
    assert preview["blockers"] == []
    assert (len(list_events_of(cast)), len(read_trail(cast))) == (event_count, written)
    assert len(cast.perform(list_visits)["data"]) == 1


def test_every_clash_is_told_also_among_the_changes_and_nothing_is_done(cast: Cast) -> None:
    there = plan_test_visit(cast)
    requested = (
        build_booking(cast),
        build_booking(cast, Role.SUBCONTRACTOR),
        build_booking(cast, Role.SUBCONTRACTOR, "10:30", "11:30", title="Second"),
        {"change": "plan", "jobId": make_site_job(cast)["id"], "on": DAY},
    )
    preview = change_schedule(cast, *requested, confirmed=False)
    assert [blocker[: blocker.index(" on ")] for blocker in preview["blockers"]] == [
        f"Mia Member is at {there['jobNumber']} Mend the roof",
        "Sam Subcontractor is at Round",
    ]
    with pytest.raises(Blocked):
        change_schedule(cast, *requested)
    assert len(cast.perform(list_visits)["data"]) == 1


def test_a_sick_day_is_planned_around(cast: Cast) -> None:
    visits = [plan_test_visit(cast, times=(f"{hour}:00", f"{hour}:30")) for hour in (10, 11)]
    leave = cast.perform(request_time_off, **{"personId": cast.people[Role.MEMBER], "kind": "sick", "from": DAY})
    approved = cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    assert [one["visitId"] for one in approved["collisions"]] == [one["id"] for one in visits]
    change_schedule(
        cast,
        *(
            {"change": "move", "visitId": one["visitId"], "personId": cast.people[Role.SUBCONTRACTOR]}
            for one in approved["collisions"]
        ),
    )
    assert {one["personName"] for one in cast.perform(list_visits)["data"]} == {"Sam Subcontractor"}


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"change": "move"}, "changes.0.visitId: is required to move or cancel a visit"),
        ({"change": "plan", "on": DAY}, "changes.0.jobId: is required, unless title is given"),
        (
            {"change": "plan", "title": "x", "on": DAY, "personId": None},
            "changes.0.personId: is not used to plan a visit, send personIds",
        ),
        (
            {"change": "plan", "title": "x", "startsAt": "2038-03-28T01:30", "durationMinutes": 5},
            "changes.0.startsAt: is skipped",
        ),
        ({"change": "swap"}, "changes.0.change: is not one of"),
    ],
)
def test_a_fault_is_told_with_the_number_of_its_change(cast: Cast, asked: dict[str, Any], fault: str) -> None:
    with pytest.raises(Invalid) as refusal:
        change_schedule(cast, asked)
    assert refusal.value.text.startswith(fault)


def test_there_is_something_to_do_and_not_too_much(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^changes: "):
        change_schedule(cast)
    with pytest.raises(Invalid, match=r"^changes: has more than 50 entries$"):
        change_schedule(cast, *[{"change": "plan", "title": "x", "on": DAY}] * 51)


def test_a_visit_is_changed_once(cast: Cast) -> None:
    visit = {"visitId": plan_test_visit(cast)["id"]}
    preview = change_schedule(
        cast, {"change": "cancel"} | visit, {"change": "move", "notes": "x"} | visit, confirmed=False
    )
    assert preview["blockers"] == [preview["blockers"][0]]
    assert "is changed twice in this plan" in preview["blockers"][0]


def test_only_the_office_plans_and_only_its_own(cast: Cast, other_cast: Cast) -> None:
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Forbidden):
            cast.perform(plan_schedule, role, changes=[{"change": "plan", "title": "x", "on": DAY}])
    for record_id in (new_id("visit"), plan_test_visit(other_cast)["id"]):
        with pytest.raises(NotFound):
            change_schedule(cast, {"change": "cancel", "visitId": record_id})
