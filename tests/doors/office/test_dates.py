"""Dates in the office: typed and shown in the order of the organisation's country, with times of 24 hours."""

import re

import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.operations import get_visit
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job
from support.form_fields import read_form
from support.hours import set_organisation_columns
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

ORDERS = [("GB", "27/11/2037", "dd/mm/yyyy"), ("US", "11/27/2037", "mm/dd/yyyy"), ("DE", "27.11.2037", "dd.mm.yyyy")]


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_cast(server, cast, Role.OFFICE)


def find_field(page: str, name: str) -> str:
    found = re.search(rf'<input[^>]*\bname="{re.escape(name)}"[^>]*>', page)
    assert found, name
    return found[0]


@pytest.mark.parametrize(("country", "written", "example"), ORDERS)
def test_a_date_stands_in_its_form_as_it_is_written_in_the_country(
    session: BrowserSession, cast: Cast, country: str, written: str, example: str
) -> None:
    set_organisation_columns(cast, country=country)
    job = make_job(cast, make_customer(cast), dueOn="2037-11-27")["id"]
    path = f"/jobs/{job}/edit"
    page = session.get(path).text
    shown = find_field(page, "dueOn")
    assert f'value="{written}"' in shown
    assert f'placeholder="{example}"' in shown
    # Saved as it stands there, it stays; and another one is read in the same order, or as ISO 8601.
    assert session.post(path, read_form(page)).status_code == 303
    assert cast.perform(get_job, jobId=job)["dueOn"] == "2037-11-27"
    for typed in (written.replace("27", "26"), "2037-11-26"):
        assert session.post(path, read_form(session.get(path).text) | {"dueOn": typed}).status_code == 303
        assert cast.perform(get_job, jobId=job)["dueOn"] == "2037-11-26"


def test_no_page_has_a_date_field_of_the_browser(session: BrowserSession, cast: Cast) -> None:
    visit = plan_test_visit(cast)
    for path in (
        *(
            "/jobs/new",
            "/invoices/new",
            "/hours/week",
            "/hours/new",
            "/time-off/request",
            "/reports",
            "/reports/revenue",
        ),
        *(f"/schedule/visits/{visit['id']}/move", "/schedule/free", "/schedule", f"/schedule/change?from={DAY}"),
        *("/purchasing/bills/new", "/payments/new", "/schedule/visits/plan"),
    ):
        page = session.get(path)
        assert page.status_code == 200, path
        assert 'type="date' not in page.text, path
        assert 'placeholder="dd/mm/yyyy' in page.text or path.startswith("/schedule/change"), path
    activity = sign_in_cast(session.server, cast, Role.OWNER).get("/settings/activity").text
    assert 'type="date' not in activity


@pytest.mark.parametrize("typed", ["31/02/2037", "soon"])
def test_what_is_no_date_is_refused_and_stays_as_it_was_typed(session: BrowserSession, cast: Cast, typed: str) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    path = f"/jobs/{job}/edit"
    answer = session.post(path, read_form(session.get(path).text) | {"dueOn": typed})
    assert answer.status_code == 422
    assert f'value="{typed}"' in find_field(answer.text, "dueOn")
    assert 'id="dueOn-fault"' in answer.text


def test_times_are_typed_on_a_clock_of_24_hours(session: BrowserSession, cast: Cast) -> None:
    set_organisation_columns(cast, country="US")
    made = plan_test_visit(cast, jobId=make_site_job(cast)["id"])
    path = f"/schedule/visits/{made['id']}/move"
    page = session.get(path).text
    assert 'value="01/11/2038" placeholder="mm/dd/yyyy"' in find_field(page, "startsAt")
    assert 'value="10:00" placeholder="hh:mm"' in find_field(page, "startsAt time")
    sent = read_form(page) | {"startsAt": "1/12/2038", "startsAt time": "14:30"}
    assert session.post(path, sent).status_code == 303
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == ("2038-01-12T14:30:00.000Z", "2038-01-12T15:30:00.000Z")
    # The time may also stand behind the date.
    sent = read_form(session.get(path).text) | {"startsAt": "1/13/2038 9:15", "startsAt time": ""}
    assert session.post(path, sent).status_code == 303
    assert cast.perform(get_visit, visitId=made["id"])["startsAt"] == "2038-01-13T09:15:00.000Z"


def test_addresses_take_dates_as_they_are_typed_and_as_links_have_them(session: BrowserSession, cast: Cast) -> None:
    plan_test_visit(cast)
    for day in ("11/01/2038", DAY):
        assert "Monday 11 January" in visible_text(session.get(f"/schedule?view=day&on={day}").text)
        page = session.get(f"/schedule/change?from={day}&until={day}").text
        assert "Mend the roof" in page
        assert 'value="11/01/2038"' in find_field(page, "0.day")
        report = session.get(f"/reports/revenue?from={day}&until={day}")
        assert (report.status_code, 'value="11/01/2038"' in find_field(report.text, "from")) == (200, True)
        assert session.get(f"/reports/journal.csv?from={day}&until={day}").status_code == 200
        activity = sign_in_cast(session.server, cast, Role.OWNER).get(f"/settings/activity?from={day}").text
        assert 'value="11/01/2038"' in find_field(activity, "from")


def test_hours_of_a_day_are_logged_by_its_date_as_people_write_it(session: BrowserSession) -> None:
    page = session.get("/hours/week").text
    fields = {"job": "none", "time": "1h", "day": "02/03/2026", "note": "", "on": "2026-03-02"}
    answer = session.submit_page(page, "/hours/week/log", **fields)
    assert answer.status_code == 303, visible_text(answer.text)
    assert "1:00" in session.get("/hours/week?on=2026-03-02").text
