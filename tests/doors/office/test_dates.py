"""Dates in the office: typed and shown in the order of the organisation's country, with times of 24 hours."""

import re

import pytest

from cast import Cast
from filling import as_opened
from labour import decide
from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.operations import get_visit
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY, make_job, plan
from trade import a_customer, a_job
from visiting import Visit, visit_as, words

ORDERS = [("GB", "27/11/2037", "dd/mm/yyyy"), ("US", "11/27/2037", "mm/dd/yyyy"), ("DE", "27.11.2037", "dd.mm.yyyy")]


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit_as(server, cast, Role.OFFICE)


def field(page: str, name: str) -> str:
    found = re.search(rf'<input[^>]*\bname="{re.escape(name)}"[^>]*>', page)
    assert found, name
    return found[0]


@pytest.mark.parametrize(("country", "written", "example"), ORDERS)
def test_a_date_stands_in_its_form_as_it_is_written_in_the_country(
    visiting: Visit, cast: Cast, country: str, written: str, example: str
) -> None:
    decide(cast, country=country)
    job = a_job(cast, a_customer(cast), dueOn="2037-11-27")["id"]
    path = f"/jobs/{job}/edit"
    page = visiting.get(path).text
    shown = field(page, "dueOn")
    assert f'value="{written}"' in shown
    assert f'placeholder="{example}"' in shown
    # Saved as it stands there, it stays; and another one is read in the same order, or as ISO 8601.
    assert visiting.post(path, as_opened(page)).status_code == 303
    assert cast.perform(get_job, jobId=job)["dueOn"] == "2037-11-27"
    for typed in (written.replace("27", "26"), "2037-11-26"):
        assert visiting.post(path, as_opened(visiting.get(path).text) | {"dueOn": typed}).status_code == 303
        assert cast.perform(get_job, jobId=job)["dueOn"] == "2037-11-26"


def test_no_page_has_a_date_field_of_the_browser(visiting: Visit, cast: Cast) -> None:
    visit = plan(cast)
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
        page = visiting.get(path)
        assert page.status_code == 200, path
        assert 'type="date' not in page.text, path
        assert 'placeholder="dd/mm/yyyy' in page.text or path.startswith("/schedule/change"), path
    activity = visit_as(visiting.server, cast, Role.OWNER).get("/settings/activity").text
    assert 'type="date' not in activity


@pytest.mark.parametrize("typed", ["31/02/2037", "soon"])
def test_what_is_no_date_is_refused_and_stays_as_it_was_typed(visiting: Visit, cast: Cast, typed: str) -> None:
    job = a_job(cast, a_customer(cast))["id"]
    path = f"/jobs/{job}/edit"
    answer = visiting.post(path, as_opened(visiting.get(path).text) | {"dueOn": typed})
    assert answer.status_code == 422
    assert f'value="{typed}"' in field(answer.text, "dueOn")
    assert 'id="dueOn-fault"' in answer.text


def test_times_are_typed_on_a_clock_of_24_hours(visiting: Visit, cast: Cast) -> None:
    decide(cast, country="US")
    made = plan(cast, jobId=make_job(cast)["id"])
    path = f"/schedule/visits/{made['id']}/move"
    page = visiting.get(path).text
    assert 'value="01/11/2038 10:00"' in field(page, "startsAt")
    assert 'placeholder="mm/dd/yyyy hh:mm"' in field(page, "startsAt")
    sent = as_opened(page) | {"startsAt": "1/12/2038 14:30", "endsAt": "1/12/2038 15:30"}
    assert visiting.post(path, sent).status_code == 303
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == ("2038-01-12T14:30:00.000Z", "2038-01-12T15:30:00.000Z")


def test_addresses_take_dates_as_they_are_typed_and_as_links_have_them(visiting: Visit, cast: Cast) -> None:
    plan(cast)
    for day in ("11/01/2038", DAY):
        assert "Monday 11 January" in words(visiting.get(f"/schedule?view=day&on={day}").text)
        page = visiting.get(f"/schedule/change?from={day}&until={day}").text
        assert "Mend the roof" in page
        assert 'value="11/01/2038"' in field(page, "0.day")
        report = visiting.get(f"/reports/revenue?from={day}&until={day}")
        assert (report.status_code, 'value="11/01/2038"' in field(report.text, "from")) == (200, True)
        assert visiting.get(f"/reports/journal.csv?from={day}&until={day}").status_code == 200
        activity = visit_as(visiting.server, cast, Role.OWNER).get(f"/settings/activity?from={day}").text
        assert 'value="11/01/2038"' in field(activity, "from")


def test_hours_of_a_day_are_logged_by_its_date_as_people_write_it(visiting: Visit) -> None:
    page = visiting.get("/hours/week").text
    fields = {"job": "none", "time": "1h", "day": "02/03/2026", "note": "", "on": "2026-03-02"}
    answer = visiting.answer(page, "/hours/week/log", **fields)
    assert answer.status_code == 303, words(answer.text)
    assert "1:00" in visiting.get("/hours/week?on=2026-03-02").text
