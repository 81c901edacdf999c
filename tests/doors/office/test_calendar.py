"""One's own calendar by a secret link: whole for its person, gone with it, and nobody else's."""

import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
import pytest

from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.operations import cancel_visit, move_visit
from mainstay.doors.office.work.calendar import FETCHES_PER_MINUTE
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast
from support.cast import Cast
from support.servers import RunningServer
from support.visits import plan_test_visit

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

LONDON = ZoneInfo("Europe/London")
# Calendars tell of the next months only.
SOON = (system_clock() + timedelta(days=7)).date().isoformat()
TIMES: dict[str, Any] = {"startsAt": f"{SOON}T10:00", "endsAt": f"{SOON}T11:00"}


def make_link(session: BrowserSession) -> str:
    """The path of a new link, as the page shows it once."""
    answer = session.submit_form("/schedule/calendar", "/schedule/calendar/new")
    page = session.get(answer.headers["Location"]).text
    found = re.search(r"/calendar/svc_cl_[\w-]{43}\.ics", page)
    assert found, page
    return found[0]


def read_events(server: RunningServer, path: str) -> dict[str, Any]:
    """The events of a calendar, by what they are about."""
    answer = server.request("GET", path)
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    calendar = icalendar.Calendar.from_ical(answer.content)
    return {str(event["summary"]): event for event in calendar.walk("VEVENT")}


def test_the_link_gives_one_s_own_visits(server: RunningServer, cast: Cast) -> None:
    mine = plan_test_visit(cast, **TIMES, notes="Bring a ladder")
    plan_test_visit(cast, on=SOON, title="Any time; with, marks\\")
    plan_test_visit(cast, Role.SUBCONTRACTOR, **TIMES)
    events = read_events(server, make_link(sign_in_cast(server, cast, Role.MEMBER)))
    assert {*events} == {f"{mine['jobNumber']} Mend the roof, Hill Farm", "Any time; with, marks\\"}
    event = events[f"{mine['jobNumber']} Mend the roof, Hill Farm"]
    assert event.decoded("dtstart") == datetime.fromisoformat(TIMES["startsAt"]).replace(tzinfo=LONDON)
    assert event.decoded("dtend") == datetime.fromisoformat(TIMES["endsAt"]).replace(tzinfo=LONDON)
    assert event["location"] == "1 Hill Road, Halifax"
    assert event["description"] == "Bring a ladder\nKey under the mat\nCarla Contact +44 7700 900001"
    assert event["url"].endswith(f"/schedule/visits/{mine['id']}")
    any_time = events["Any time; with, marks\\"]
    assert any_time.decoded("dtstart").isoformat() == SOON


def test_a_visit_keeps_its_name_and_counts_its_changes(server: RunningServer, cast: Cast) -> None:
    made = plan_test_visit(cast, **TIMES)
    path = make_link(sign_in_cast(server, cast, Role.MEMBER))
    (before,) = read_events(server, path).values()
    cast.perform(move_visit, visitId=made["id"], startsAt=f"{SOON}T14:00")
    (after,) = read_events(server, path).values()
    assert before["uid"] == after["uid"]
    assert str(after["uid"]).startswith(f"{made['id']}@")
    assert (before["sequence"], after["sequence"]) == (1, 2)
    cast.perform(cancel_visit, visitId=made["id"])
    assert read_events(server, path) == {}


def test_it_is_shown_once_and_another_one_ends_it(server: RunningServer, cast: Cast) -> None:
    session = sign_in_cast(server, cast, Role.SUBCONTRACTOR)
    first = make_link(session)
    assert "svc_cl_" not in session.get("/schedule/calendar").text
    second = make_link(session)
    assert server.request("GET", first).status_code == 404
    assert server.request("GET", second).status_code == 200
    session.submit_form("/schedule/calendar", "/schedule/calendar/remove")
    assert server.request("GET", second).status_code == 404


def test_it_ends_at_once_when_the_person_leaves(server: RunningServer, cast: Cast) -> None:
    path = make_link(sign_in_cast(server, cast, Role.MEMBER))
    preview = cast.perform(remove_person, personId=cast.people[Role.MEMBER])
    assert "Mia Member's calendar link will stop working for good." in preview["effects"]
    assert server.request("GET", path).status_code == 200
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert server.request("GET", path).status_code == 404


@pytest.mark.parametrize("name", ["x.ics", "svc_cl_" + "x" * 43 + ".ics", "svc_cl_" + "x" * 43, "%00.ics"])
def test_what_is_no_link_opens_nothing(server: RunningServer, name: str) -> None:
    assert server.request("GET", f"/calendar/{name}").status_code == 404


def test_one_address_fetches_so_many_a_minute(server: RunningServer) -> None:
    headers = {"X-Forwarded-For": "203.0.113.77"}
    answers = [server.request("GET", "/calendar/x.ics", headers=headers) for _ in range(FETCHES_PER_MINUTE + 1)]
    assert [answer.status_code for answer in answers] == [404] * FETCHES_PER_MINUTE + [429]
    assert answers[-1].headers["Retry-After"] == "60"


def test_only_the_hash_of_the_secret_is_kept(server: RunningServer, cast: Cast) -> None:
    path = make_link(sign_in_cast(server, cast, Role.MEMBER))
    secret = path.removeprefix("/calendar/").removesuffix(".ics")
    with cast.performer.database.read_transaction(cast.organisation) as db:
        for table in ("calendar_link", "audit", "replay"):
            kept = db.all(f"SELECT * FROM {table} WHERE organisation_id = :organisation")
            assert secret not in repr(kept)
