import re
from typing import Any
from urllib.parse import urlencode

import pytest

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import create_job
from mainstay.business.people.operations import update_person
from mainstay.business.schedule.board import BoardPerson
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit, get_visit, list_visits, plan_visit
from mainstay.doors.office.work.visit_tints import assign_tints
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.form_fields import read_form
from support.servers import RunningServer
from support.visits import DAY, make_customer_and_site, make_site_job, plan_test_visit

# Of this door, the smoke set on both engines; what is decided before the database is asked on one.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

VIEWS = ("day", "week", "month", "list", "sheet")
SECRETS = ("Mend the roof", "Hill Farm", "1 Hill Road", "Carla", "900001", "Key under", "ladder")


def test_a_day_shows_who_is_where_from_when_to_when(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast)
    plan_test_visit(cast, None, title="Round", on=DAY)
    session = sign_in_cast(server, cast, Role.OFFICE)
    page = session.get(f"/schedule?view=day&on={DAY}").text
    text = visible_text(page)
    assert "Monday 11 January" in text
    assert "No person 1 visit All day Round" in text
    assert "Mia Member 1:00 of 9:00 10:00 \N{EN DASH}11:00 J-0001 Mend the roof Hill Farm" in text
    # From eight to five, and one before and behind, are eleven hours; ten o'clock is twelve quarters behind seven.
    assert 'class="track hours-11"' in page
    assert 'class="at-13 for-4 lane-0"' in page
    assert " style=" not in page
    whole = session.get(f"/schedule?view=day&on={DAY}&hours=all").text
    assert 'class="track hours-24"' in whole
    assert 'class="at-41 for-4 lane-0"' in whole
    # The choice is kept from day to day.
    assert 'href="/schedule?view=day&amp;on=2038-01-12&amp;hours=all" rel="next"' in whole


@pytest.mark.parametrize("view", ["day", "week"])
def test_people_without_visits_are_folded_into_one_row(server: RunningServer, cast: Cast, view: str) -> None:
    session = sign_in_cast(server, cast, Role.OFFICE)
    # With nothing planned at all, everyone is there.
    assert "have no visits" not in session.get(f"/schedule?view={view}&on={DAY}").text
    plan_test_visit(cast)
    page = session.get(f"/schedule?view={view}&on={DAY}").text
    folded = page.partition('<details class="folded">')[2].partition("</details>")[0]
    assert "people have no visits" in folded
    assert "Sam Subcontractor" in folded
    assert "Mia Member" not in folded
    # People who are off have a row of their own that says so.
    cast.perform(request_time_off, **{"personId": cast.people[Role.SUBCONTRACTOR], "from": DAY, "approved": True})
    page = session.get(f"/schedule?view={view}&on={DAY}").text
    assert "Sam Subcontractor" in page
    assert "Sam Subcontractor" not in page.partition('<details class="folded">')[2].partition("</details>")[0]


def test_visits_have_the_colour_of_their_person(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], colour="#9f1853")
    # Near to the gold of those to choose from.
    cast.perform(update_person, personId=cast.people[Role.SUBCONTRACTOR], colour="#b18500")
    plan_test_visit(cast)
    plan_test_visit(cast, Role.SUBCONTRACTOR)
    plan_test_visit(cast, Role.OFFICE)
    session = sign_in_cast(server, cast, Role.OFFICE)
    for view, row in (("day", '<div class="row {}">'), ("week", '<tr class="{}">')):
        page = session.get(f"/schedule?view={view}&on={DAY}").text
        assert row.format("tint-8") in page
        assert row.format("tint-5") in page
    tints = [assign_tints(people)[people[0].id] for people in (ROBOTS, ROBOTS[:1], ROBOTS[:5])]
    assert len(set(tints)) == 1
    assert len({*assign_tints(ROBOTS).values()}) == len(ROBOTS) + 1
    assert 'class="schedule by-status"' in session.get(f"/schedule?view=day&on={DAY}&by=status").text


ROBOTS = [BoardPerson(id=f"person_{number}", name="Robot", colour=None, works=[], away=[]) for number in range(12)]


def test_a_visit_tells_what_is_to_be_done_on_its_job(server: RunningServer, cast: Cast) -> None:
    job = make_site_job(cast, description="Replace six slates.\nMind the dog.")
    visit = plan_test_visit(cast, jobId=job["id"])
    for role in (Role.OFFICE, Role.MEMBER):
        text = visible_text(sign_in_cast(server, cast, role).get(f"/schedule/visits/{visit['id']}").text)
        assert "Work to do Replace six slates. Mind the dog." in text
    # A colleague is told when it is, and nothing of the work.
    other = plan_test_visit(
        cast, Role.OFFICE, ("12:00", "13:00"), jobId=make_site_job(cast, description="Secret work")["id"]
    )
    assert "Secret work" not in sign_in_cast(server, cast, Role.MEMBER).get(f"/schedule/visits/{other['id']}").text
    idle = plan_test_visit(cast, Role.OFFICE, ("14:00", "15:00"))
    assert "Work to do" not in sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule/visits/{idle['id']}").text


def test_a_visit_where_the_clocks_are_not_ours_says_where_it_is(server: RunningServer, cast: Cast) -> None:
    there = plan_test_visit(cast, jobId=make_site_job(cast, zone="America/New_York")["id"])
    here = plan_test_visit(cast, Role.SUBCONTRACTOR)
    session = sign_in_cast(server, cast, Role.OFFICE)
    span = "10:00\N{EN DASH}11:00"
    for view in ("day", "week", "list", "sheet"):
        # A short visit shows only its start to those who see; the rest stands beside it.
        text = visible_text(session.get(f"/schedule?view={view}&on={DAY}").text).replace(" \N{EN DASH}", "\N{EN DASH}")
        assert f"{span} New York {there['jobNumber']}" in text
        assert f"{span} {here['jobNumber']}" in text
    for visit, place in ((there, " New York"), (here, "")):
        text = visible_text(session.get(f"/schedule/visits/{visit['id']}").text)
        assert f"11 Jan 2038, {span}{place} · " in text
        # The time names the place; a line of its own would say it twice.
        assert "Time zone" not in text
        assert f"11 Jan 2038, {span}{place} {visit['personName']}" in visible_text(
            session.get(f"/jobs/{visit['jobId']}").text
        )
    # In a list, the column in which it begins agrees with what stands below its name.
    listed = visible_text(session.get("/schedule/visits").text)
    assert "11 Jan 2038, 10:00 New York Hill Farm" in listed
    assert "11 Jan 2038, 10:00 Hill Farm" in listed


def test_leave_is_told_in_words_to_those_who_see_it(server: RunningServer, cast: Cast) -> None:
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY, "kind": "sick"})
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    for view in ("day", "week"):
        assert "Sick" in visible_text(
            sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule?view={view}&on={DAY}").text
        )
    assert "Sick" in visible_text(sign_in_cast(server, cast, Role.MEMBER).get(f"/schedule?view=day&on={DAY}").text)
    other = cast.perform(request_time_off, **{"personId": cast.people[Role.OFFICE], "from": DAY, "kind": "unavailable"})
    assert other["status"] == "requested"
    assert "Unavailable" not in sign_in_cast(server, cast, Role.MEMBER).get(f"/schedule?view=week&on={DAY}").text


def test_a_week_and_a_list_and_a_sheet_to_print(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast, notes="Bring a ladder")
    session = sign_in_cast(server, cast, Role.OFFICE)
    for view in ("week", "list", "sheet"):
        assert "J-0001 Mend the roof" in visible_text(session.get(f"/schedule?view={view}&on={DAY}").text)
    sheet = visible_text(session.get(f"/schedule?view=sheet&on={DAY}").text)
    for needed in ("1 Hill Road", "Carla Contact", "+44 7700 900001", "Key under the mat", "Bring a ladder"):
        assert needed in sheet


def test_a_month_shows_the_first_visits_of_each_day_and_who_is_off(server: RunningServer, cast: Cast) -> None:
    for hour in range(9, 15):
        plan_test_visit(cast, times=(f"{hour:02}:00", f"{hour:02}:30"))
    plan_test_visit(cast, None, title="Stocktaking", on="2038-01-31")
    cast.perform(request_time_off, **{"personId": cast.people[Role.SUBCONTRACTOR], "from": DAY, "kind": "sick"})
    page = sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule?view=month&on={DAY}").text
    text = visible_text(page)
    assert "January 2038" in text
    assert "11 Monday 11 January Sam Subcontractor: sick, not approved yet 09:00 Mend the roof" in text
    # Three of six, and the others on the day itself.
    assert text.count("Mend the roof") == 3
    assert f'href="/schedule?view=day&amp;on={DAY}">+3 more</a>' in page
    assert "Stocktaking ? No person" in text
    # Whole weeks around the month.
    assert len(re.findall('class="date"', page)) == 35
    assert "Monday 28 December" in text
    for path in ("on=2037-12-01", "on=2038-02-01"):
        assert f'href="/schedule?view=month&amp;{path}"' in page


def test_the_sheet_of_a_day_opens_as_a_route(server: RunningServer, cast: Cast) -> None:
    for times in (("10:00", "11:00"), ("13:00", "14:00")):
        plan_test_visit(cast, times=times)
    session = sign_in_cast(server, cast, Role.OFFICE)
    assert "Open route" not in session.get(f"/schedule?view=sheet&on={DAY}").text
    customer, site = make_customer_and_site(cast, address={"line1": "2 Weir Lane"})
    job = cast.perform(create_job, customerId=customer, siteId=site, title="Paint the door")
    plan_test_visit(cast, times=("11:30", "12:00"), jobId=job["id"])
    page = session.get(f"/schedule?view=sheet&on={DAY}").text
    (link,) = re.findall(r'href="(https://www.google.com/maps/dir/[^"]+)"[^>]*>Open route<', page)
    assert re.search(r"destination=1\+Hill\+Road.*&amp;waypoints=1\+Hill\+Road.*%7C2\+Weir\+Lane", link)


def test_ones_own_day_opens_as_a_route(server: RunningServer, cast: Cast) -> None:
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    for line in ("1 Hill Road", "2 Weir Lane"):
        customer, site = make_customer_and_site(cast, address={"line1": line})
        job = cast.perform(create_job, customerId=customer, siteId=site, title="Paint the door")
        cast.perform(
            plan_visit,
            jobId=job["id"],
            personIds=[cast.people[Role.MEMBER]],
            on=day,
        )
    session = sign_in_cast(server, cast, Role.MEMBER)
    for path in ("/", "/today"):
        page = session.get(path).text
        assert "destination=2+Weir+Lane&amp;waypoints=1+Hill+Road&amp;" in page
        assert "Open route" in page
    # The way to a single one is a route as well.
    assert 'href="https://www.google.com/maps/dir/?api=1&amp;destination=2+Weir+Lane&amp;' in session.get("/").text


def test_a_repeated_visit_leads_to_the_others_of_its_series(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast, on="2038-01-12")
    times = {"startsAt": f"{DAY}T13:00", "durationMinutes": 30, "repeat": {"unit": "day", "count": 3}}
    first = cast.perform(plan_visit, title="Round", personIds=[cast.people[Role.MEMBER]], **times)
    session = sign_in_cast(server, cast, Role.OFFICE)
    page = session.get(f"/schedule/visits/{first['id']}").text
    path = f"/schedule/visits?seriesId={first['seriesId']}"
    assert f'href="{path}"' in page
    listed = session.get(path).text
    assert len(set(re.findall(r'href="/schedule/visits/(visit_\w+)"', listed))) == 3
    assert "J-0001" not in listed
    assert "Series: this series" in visible_text(listed)


def plan_crew(cast: Cast, **given: object) -> list[dict[str, Any]]:
    """The visits of three who go together, the first one's first."""
    people = [cast.people[role] for role in (Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR)]
    times = {"startsAt": f"{DAY}T13:00", "durationMinutes": 30}
    first = cast.perform(plan_visit, title="Heavy", personIds=people, **times, **given)
    visits = cast.perform(list_visits, groupId=first["groupId"])["data"]
    return sorted(visits, key=lambda one: people.index(one["personId"]))


def test_a_visit_names_those_who_go_along_as_far_as_one_sees_them(server: RunningServer, cast: Cast) -> None:
    first, second, third = plan_crew(cast)
    lone = cast.perform(plan_visit, title="Alone", on=DAY)
    for role, others in ((Role.OFFICE, (second, third)), (Role.MEMBER, (second, third)), (Role.SUBCONTRACTOR, ())):
        seen = third if role is Role.SUBCONTRACTOR else first
        page = sign_in_cast(server, cast, role).get(f"/schedule/visits/{seen['id']}").text
        for one in others:
            assert f'<a href="/schedule/visits/{one["id"]}">{one["personName"]}</a>' in page
        assert ("With: " in page) == bool(others)
    cast.perform(cancel_visit, visitId=third["id"])
    session = sign_in_cast(server, cast, Role.OFFICE)
    assert third["personName"] not in session.get(f"/schedule/visits/{first['id']}").text
    assert "With:" not in session.get(f"/schedule/visits/{lone['id']}").text


def read_notice(page: str) -> str:
    found = re.search(r'<p class="notice good" role="status">.*?</p>', page)
    assert found
    return visible_text(found[0]).removeprefix("✓ ")


def list_scopes(page: str) -> list[str]:
    return [one for one in ("one", "crew", "following", "all") if re.search(rf'value="{one}"', page)]


def test_what_changes_with_a_visit_is_asked_where_something_can(server: RunningServer, cast: Cast) -> None:
    lone = cast.perform(plan_visit, title="Alone", on=DAY)
    repeated = cast.perform(plan_visit, title="Round", on=DAY, repeat={"unit": "day", "count": 3})
    both = plan_crew(cast, repeat={"unit": "day", "count": 2})[0]
    session = sign_in_cast(server, cast, Role.OFFICE)
    offered = {
        lone["id"]: [],
        repeated["id"]: ["one", "following", "all"],
        both["id"]: ["one", "crew", "following", "all"],
    }
    for visit, possible in offered.items():
        for verb in ("move", "cancel"):
            assert list_scopes(session.get(f"/schedule/visits/{visit}/{verb}").text) == possible
    answer = session.submit_form(f"/schedule/visits/{lone['id']}/cancel")
    assert answer.headers["Location"].endswith("?done=cancel_visit")
    answer = session.submit_form(f"/schedule/visits/{both['id']}/cancel", scope="all")
    page = session.get(answer.headers["Location"]).text
    assert read_notice(page) == "6 visits cancelled: this one and others of its crew or series. Undo"
    assert "Visit cancelled." not in visible_text(page)
    assert {one["status"] for one in cast.perform(list_visits, seriesId=both["seriesId"], status="cancelled")["data"]}


def test_a_visit_that_was_cancelled_alone_is_told_as_one(server: RunningServer, cast: Cast) -> None:
    lone = cast.perform(plan_visit, title="Alone", on=DAY)
    session = sign_in_cast(server, cast, Role.OFFICE)
    page = session.follow_redirect(session.submit_form(f"/schedule/visits/{lone['id']}/cancel")).text
    assert read_notice(page) == "Visit cancelled. Undo"


def test_nothing_is_offered_to_change_with_a_visit_that_is_planned_no_more(server: RunningServer, cast: Cast) -> None:
    first, *others = plan_crew(cast)
    early, late = (cast.perform(plan_visit, title="Round", on=DAY, repeat={"unit": "day", "count": 2}) for _ in "12")
    after = cast.perform(list_visits, seriesId=late["seriesId"])["data"][-1]
    session = sign_in_cast(server, cast, Role.OFFICE)

    def offered(visit: str) -> list[list[str]]:
        return [list_scopes(session.get(f"/schedule/visits/{visit}/{verb}").text) for verb in ("move", "cancel")]

    cast.perform(cancel_visit, visitId=others[0]["id"])
    assert offered(first["id"]) == [["one", "crew"]] * 2
    for one in others[1:]:
        cast.perform(set_visit_status, visitId=one["id"], status="done")
    assert offered(first["id"]) == [[]] * 2
    # What lies before it is of its series, and does not follow it.
    assert offered(after["id"]) == [["one", "all"]] * 2
    cast.perform(cancel_visit, visitId=after["id"])
    assert offered(late["id"]) == [[]] * 2
    assert offered(early["id"]) == [["one", "following", "all"]] * 2


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("asked", ["on=never", "on=9999-12-31", "view=year", "on=0001-01-01&view=week", "view=day&on="])
def test_what_is_no_date_shows_today(server: RunningServer, cast: Cast, asked: str) -> None:
    assert sign_in_cast(server, cast, Role.OWNER).get(f"/schedule?{asked}").status_code == 200


def test_a_member_sees_of_the_team_who_and_when(server: RunningServer, cast: Cast) -> None:
    theirs = plan_test_visit(cast, Role.SUBCONTRACTOR, notes="Bring a ladder")
    session = sign_in_cast(server, cast, Role.MEMBER)
    for view in ("day", "week", "month", "list", "sheet"):
        page = session.get(f"/schedule?view={view}&on={DAY}").text
        assert "J-0001" in page
        assert [secret for secret in SECRETS if secret in page] == []
        assert "draggable" not in page
    page = session.get(f"/schedule/visits/{theirs['id']}").text
    assert "Sam Subcontractor" in page
    assert [secret for secret in SECRETS if secret in page] == []


def test_a_subcontractor_sees_only_their_own(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast)
    plan_test_visit(cast, Role.SUBCONTRACTOR, ("12:00", "13:00"))
    session = sign_in_cast(server, cast, Role.SUBCONTRACTOR)
    for path in (*(f"/schedule?view={view}&on={DAY}" for view in VIEWS), "/schedule/visits"):
        page = session.get(path).text
        assert "Mia Member" not in page
        assert "J-0002" in page
        assert "J-0001" not in page


def test_a_visit_is_planned_by_its_form(server: RunningServer, cast: Cast) -> None:
    job = make_site_job(cast)
    session = sign_in_cast(server, cast, Role.OFFICE)
    person = cast.people[Role.MEMBER]
    fields = {f"personIds {person}": "on", "jobId": job["number"], "kind": "work"}
    times = {"startsAt": f"{DAY}T10:00", "durationMinutes": "90"}
    answer = session.submit_form("/schedule/visits/plan", **fields, **times)
    assert answer.status_code == 303, visible_text(answer.text)
    (made,) = cast.perform(list_visits, jobId=job["id"])["data"]
    assert answer.headers["Location"] == f"/schedule/visits/{made['id']}?done=plan_visit"
    assert (made["personId"], made["startsAt"]) == (person, f"{DAY}T10:00:00.000Z")
    refused = session.submit_form("/schedule/visits/plan", **fields, **times)
    assert refused.status_code == 409
    assert "Mia Member is at J-0001 Mend the roof on 11 Jan 2038, 10:00\N{EN DASH}11:30" in visible_text(refused.text)


def test_a_visit_is_moved_by_its_form_as_it_is_filled_in(server: RunningServer, cast: Cast) -> None:
    job = make_site_job(cast, zone="America/New_York")
    made = plan_test_visit(cast, jobId=job["id"], times=("10:00", "10:50"), notes="Bring a ladder")
    session = sign_in_cast(server, cast, Role.OFFICE)
    path = f"/schedule/visits/{made['id']}/move"
    page = session.get(path).text
    assert 'value="11/01/2038"' in page
    assert 'name="startsAt time" type="text" value="10:00"' in page
    # A length that is none of the usual ones is chosen as well. The end follows from it.
    assert '<option value="50" selected>0:50</option>' in page
    assert 'name="endsAt"' not in page
    fields = read_form(page) | {"startsAt": "11/01/2038", "startsAt time": "14:00"}
    answer = session.post(path, fields | {"personId": cast.people[Role.SUBCONTRACTOR]})
    assert answer.status_code == 303, visible_text(answer.text)
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T19:00:00.000Z", f"{DAY}T19:50:00.000Z")
    assert (after["personName"], after["notes"]) == ("Sam Subcontractor", "Bring a ladder")
    fields = read_form(session.get(path).text) | {"durationMinutes": "150"}
    assert session.post(path, fields).status_code == 303
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T19:00:00.000Z", f"{DAY}T21:30:00.000Z")


def test_moving_a_visit_asks_the_usual_first(server: RunningServer, cast: Cast) -> None:
    made = plan_test_visit(cast)
    page = sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule/visits/{made['id']}/move").text
    assert '<details class="more-fields">' in page
    first, _, more = page.partition('<details class="more-fields')
    assert [name for name in ("startsAt", "startsAt time", "durationMinutes") if f'name="{name}"' not in first] == []
    assert 'name="title"' not in page
    other = plan_test_visit(cast, title="Stocktaking", times=("12:00", "13:00"))
    assert (
        'value="Stocktaking"'
        in sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule/visits/{other['id']}/move").text
    )
    assert [name for name in ("timeZone", "allowOverlap") if f'name="{name}"' not in more] == []


def test_a_visit_of_a_whole_day_gets_a_time(server: RunningServer, cast: Cast) -> None:
    made = plan_test_visit(cast, on=DAY)
    session, path = sign_in_cast(server, cast, Role.OFFICE), f"/schedule/visits/{made['id']}/move"
    fields = read_form(session.get(path).text)
    assert (fields["on"], fields["durationMinutes"]) == ("11/01/2038", "")
    fields |= {"on": "", "startsAt": "11/01/2038", "startsAt time": "09:00"}
    refused = session.post(path, fields)
    assert "Duration is required with" in visible_text(refused.text)
    assert session.post(path, fields | {"durationMinutes": "60"}).status_code == 303
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T09:00:00.000Z", f"{DAY}T10:00:00.000Z")


def test_who_is_free_at_two_leads_to_the_form_filled_in(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast, times=("14:00", "15:00"))
    session = sign_in_cast(server, cast, Role.OFFICE)
    assert session.get("/schedule/free").status_code == 200
    page = session.get(f"/schedule/free?startsAt={DAY}T14:00&durationMinutes=60&skill=&personId=&jobId=&from=&until=")
    assert "Sam Subcontractor" in page.text
    assert "Mia Member" not in visible_text(page.text).partition("Free")[2]
    link = re.search(r'href="(/schedule/visits/plan\?[^"]+)"', page.text)
    assert link
    form = session.get(link[1].replace("&amp;", "&")).text
    assert 'value="11/01/2038"' in form
    assert 'name="startsAt time" type="text" value="14:00"' in form
    assert "checked" in form
    assert session.get("/schedule/free?durationMinutes=x").status_code == 422
    assert sign_in_cast(server, cast, Role.MEMBER).get("/schedule/free").status_code == 403


def test_who_is_free_in_an_afternoon_and_who_is_on_leave(server: RunningServer, cast: Cast) -> None:
    cast.perform(
        request_time_off, **{"personId": cast.people[Role.MEMBER], "kind": "sick", "from": DAY, "approved": True}
    )
    query = {"from": DAY, "until": DAY, "earliest": "13:00", "latest": "16:00", "durationMinutes": "60"}
    page = sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule/free?{urlencode(query)}").text
    assert re.search(r'<input [^>]*name="earliest"[^>]* value="13:00"', page)
    text = visible_text(page)
    assert "Monday 11 January Sam Subcontractor nothing else planned that day" in text
    assert [clock for clock in ("13:00\N{EN DASH}14:00", "15:00\N{EN DASH}16:00") if clock not in text] == []
    assert "Off Mia Member: sick, 11 Jan 2038" in text
    assert "Orla Office" not in text.partition("Monday 11 January")[2]


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_the_list_of_time_off_is_linked_also_while_nothing_can_be_changed(
    server: RunningServer, cast: Cast, role: Role
) -> None:
    session = sign_in_cast(server, cast, role)
    assert '<a href="/time-off">Time off</a>' in session.get("/schedule").text
    cast.lapse()
    assert '<a href="/time-off">Time off</a>' in session.get("/schedule").text
    assert session.get("/time-off").status_code == 200


def test_time_off_is_asked_for_and_decided_with_the_visits_within_it(server: RunningServer, cast: Cast) -> None:
    plan_test_visit(cast)
    sign_in_cast(server, cast, Role.MEMBER).submit_form("/time-off/request", **{"kind": "sick", "from": DAY})
    office = sign_in_cast(server, cast, Role.OFFICE)
    listed = office.get("/time-off").text
    path = re.search(r'href="(/time-off/leave_[^"/]+)"', listed)
    assert path
    assert "J-0001 Mend the roof" in office.get(path[1]).text
    done = office.submit_form(f"{path[1]}/decide", decision="approve", note="Get well")
    assert done.headers["Location"].startswith(f"{path[1]}?done=decide_time_off")
    assert "Get well" in sign_in_cast(server, cast, Role.MEMBER).get(path[1]).text


def test_how_far_a_visit_is_now_is_said_in_plain_words(server: RunningServer, cast: Cast) -> None:
    made = plan_test_visit(cast)
    session = sign_in_cast(server, cast, Role.MEMBER)
    page = f"/schedule/visits/{made['id']}"
    for status, message in (("started", "Visit started."), ("done", "Visit done.")):
        assert message in visible_text(
            session.follow_redirect(session.submit_form(page, f"{page}/set-status", status=status)).text
        )


@pytest.mark.engines("sqlite")
def test_a_wrong_time_to_look_at_is_not_said_to_be_unsaved(server: RunningServer, cast: Cast) -> None:
    text = visible_text(sign_in_cast(server, cast, Role.OFFICE).get("/schedule/free?durationMinutes=long").text)
    assert "Please correct the marked field." in text
    assert "saved" not in text
