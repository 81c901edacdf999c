from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from mainstay.business.overview.operations import get_overview
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, list_visits
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.cast import Cast
from support.visits import DAY, make_site_job, plan_test_visit
from support.webhooks import set_columns

TEAM_FIELDS = {
    "object", "id", "createdAt", "createdBy", "updatedAt", "updatedBy", "version", "kind", "status", "personId",
    "personName", "startsAt", "endsAt", "timeZone", "jobNumber", "allowOverlap", "groupId",
}  # fmt: skip
SECRETS = ("Mend the roof", "Hill Farm", "1 Hill Road", "Carla", "900001", "Key under", "ladder", "Next door", "job_")


def fetch_visits(cast: Cast, role: Role = Role.OWNER, /, **given: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cast.perform(list_visits, role, **given)["data"]
    return found


def test_without_dates_those_from_today_on(cast: Cast) -> None:
    today = datetime.now(UTC).date().isoformat()
    old = plan_test_visit(cast, on="2020-01-10")
    new = plan_test_visit(cast, on=today)
    assert [one["id"] for one in fetch_visits(cast)] == [new["id"]]
    assert [one["id"] for one in fetch_visits(cast, order="latest")] == [new["id"], old["id"]]
    assert [one["id"] for one in fetch_visits(cast, jobId=old["jobNumber"])] == [old["id"]]


def test_a_series_is_named_by_its_id(cast: Cast) -> None:
    with pytest.raises(Invalid, match="is not the id of a series"):
        fetch_visits(cast, seriesId=str(plan_test_visit(cast)["id"]))


def test_they_are_narrowed_by_dates_person_state_and_whether_anybody_goes(cast: Cast) -> None:
    mine = plan_test_visit(cast, times=("09:00", "10:00"))
    theirs = plan_test_visit(cast, Role.SUBCONTRACTOR)
    nobody = plan_test_visit(cast, None, on="2038-01-12")
    dates = {"from": DAY, "until": DAY}
    assert [one["id"] for one in fetch_visits(cast, **dates)] == [mine["id"], theirs["id"]]
    assert [one["id"] for one in fetch_visits(cast, until=DAY)] == [mine["id"], theirs["id"]]
    assert [one["id"] for one in fetch_visits(cast, personId=cast.people[Role.SUBCONTRACTOR])] == [theirs["id"]]
    assert [one["id"] for one in fetch_visits(cast, unassigned=True)] == [nobody["id"]]
    assert fetch_visits(cast, status="done") == []


def test_dates_are_those_of_the_organisation(cast: Cast) -> None:
    plan_test_visit(cast, startsAt="2038-07-10T23:30:00Z", endsAt="2038-07-10T23:45:00Z")
    assert len(fetch_visits(cast, **{"from": "2038-07-11", "until": "2038-07-11"})) == 1
    with pytest.raises(Invalid, match=r"^until: is before the first date$"):
        fetch_visits(cast, **{"from": "2038-07-11", "until": "2038-07-10"})


def test_a_list_goes_on_behind_a_visit(cast: Cast) -> None:
    rows = [plan_test_visit(cast, times=(f"{hour:02}:00", f"{hour:02}:30")) for hour in (11, 9, 10)]
    first = cast.perform(list_visits, limit=2)
    assert first["hasMore"] is True
    assert [one["id"] for one in first["data"]] == [rows[1]["id"], rows[2]["id"]]
    assert [one["id"] for one in fetch_visits(cast, startingAfter=rows[2]["id"])] == [rows[0]["id"]]


def revoke_team_schedule(cast: Cast) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE organisation SET grants = '' WHERE id = :organisation")


def test_a_subcontractor_sees_their_own_whole_and_no_other(cast: Cast) -> None:
    mine, theirs = plan_test_visit(cast, Role.SUBCONTRACTOR), plan_test_visit(cast)
    plan_test_visit(cast, None)
    (only,) = fetch_visits(cast, Role.SUBCONTRACTOR)
    assert only["id"] == mine["id"]
    assert (only["contactPhone"], only["siteAddress"]["line1"]) == ("+44 7700 900001", "1 Hill Road")
    with pytest.raises(NotFound):
        cast.perform(get_visit, Role.SUBCONTRACTOR, visitId=theirs["id"])
    with pytest.raises(NotFound):
        fetch_visits(cast, Role.SUBCONTRACTOR, jobId=theirs["jobId"])


def test_a_member_sees_who_and_when_of_the_team_where_the_setting_says_so(cast: Cast) -> None:
    mine = plan_test_visit(cast, notes="Bring a ladder")
    other: dict[str, Any] = {"notes": "Bring a ladder", "allowOverlap": True, "overlapReason": "Next door"}
    theirs = plan_test_visit(cast, Role.SUBCONTRACTOR, **other)
    plan_test_visit(cast, Role.SUBCONTRACTOR, ("12:00", "13:00"), title="Mend the roof of his own")
    seen = {one["id"]: one for one in fetch_visits(cast, Role.MEMBER)}
    assert seen[mine["id"]]["customerName"] == "Hill Farm"
    assert {name for name, value in seen[theirs["id"]].items() if value is not None} == TEAM_FIELDS - {"groupId"}
    assert len(seen) == 3
    revoke_team_schedule(cast)
    assert [one["id"] for one in fetch_visits(cast, Role.MEMBER)] == [mine["id"]]


@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE])
def test_nothing_of_a_colleague_s_customer_leaves_through_any_door(cast: Cast, door: Door) -> None:
    visit = plan_test_visit(
        cast, Role.SUBCONTRACTOR, notes="Bring a ladder", allowOverlap=True, overlapReason="Next door"
    )
    actor = cast.actor(Role.MEMBER, door=door)
    for operation, given in ((list_visits, {}), (get_visit, {"visitId": visit["id"]})):
        for actions in (False, True):
            request = RequestDetails("req_1", with_actions=actions)
            body = cast.performer.perform(operation, actor, orjson.dumps(given), request).body.decode()
            assert visit["id"] in body
            assert [secret for secret in SECRETS if secret in body] == []


def test_one_who_is_visited_at_home_is_whom_one_meets(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT customer_id, site_id FROM job WHERE id = :id", id=visit["jobId"])
    assert row is not None
    set_columns(cast, "site", str(row[1]), contact_id=None)
    assert cast.perform(get_visit, Role.MEMBER, visitId=visit["id"])["contactPhone"] is None
    set_columns(cast, "customer", str(row[0]), kind="individual")
    met = cast.perform(get_visit, Role.MEMBER, visitId=visit["id"])
    assert (met["contactName"], met["contactPhone"]) == ("Hill Farm", "+44 1 secret")


def test_a_stranger_s_visit_is_not_there(cast: Cast, other_cast: Cast) -> None:
    visit = plan_test_visit(other_cast)
    assert fetch_visits(cast) == []
    with pytest.raises(NotFound):
        cast.perform(get_visit, visitId=visit["id"])
    with pytest.raises(NotFound):
        fetch_visits(cast, jobId=make_site_job(other_cast)["id"])


def test_those_of_people_on_leave_are_the_ones_that_reach_into_it(cast: Cast) -> None:
    before = plan_test_visit(cast, startsAt="2038-01-11T20:00:00Z", endsAt="2038-01-12T00:00:00Z")
    reaching = plan_test_visit(cast, startsAt="2038-01-12T00:00:00Z", endsAt="2038-01-12T23:30:00Z")
    within = plan_test_visit(cast, startsAt="2038-01-13T10:00:00Z", endsAt="2038-01-13T11:00:00Z")
    after = plan_test_visit(cast, startsAt="2038-01-13T18:00:00Z", endsAt="2038-01-13T19:00:00Z")
    other = plan_test_visit(cast, Role.SUBCONTRACTOR, startsAt="2038-01-13T10:00:00Z", endsAt="2038-01-13T11:00:00Z")
    times = {"startsAt": "2038-01-12T23:00:00Z", "endsAt": "2038-01-13T18:00:00Z"}
    leave = cast.perform(request_time_off, Role.MEMBER, **times)
    assert fetch_visits(cast, onLeave=True) == []
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    assert [one["id"] for one in fetch_visits(cast, onLeave=True)] == [reaching["id"], within["id"]]
    assert [one["id"] for one in fetch_visits(cast, onLeave=True, order="latest")] == [within["id"], reaching["id"]]
    behind = fetch_visits(cast, onLeave=True, startingAfter=reaching["id"])
    assert [one["id"] for one in behind] == [within["id"]]
    assert {before["id"], after["id"], other["id"]}.isdisjoint(one["id"] for one in fetch_visits(cast, onLeave=True))
    needs = {need["what"]: need["count"] for need in cast.perform(get_overview)["needs"]}
    assert needs["Visits of people who are off"] == 2
