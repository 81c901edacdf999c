"""The small form of the schedule that plans a visit, and the jobs that wait for one."""

import re
from urllib.parse import urlencode

import pytest

from mainstay.business.hours.operations import log_hours
from mainstay.business.jobs.operations import create_job
from mainstay.business.schedule.operations import list_visits
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.quotes import accept_quote, issue_quote, make_quote
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

pytestmark = pytest.mark.engines("sqlite")

PATH = "/schedule/new"


def read_tray(page: str) -> str:
    return visible_text(page.partition('<aside id="tray"')[2].partition("</aside>")[0])


def test_a_visit_is_planned_with_the_small_form(server: RunningServer, cast: Cast) -> None:
    job = make_site_job(cast)
    session = sign_in_cast(server, cast, Role.OFFICE)
    board = f"/schedule?{urlencode({'view': 'day', 'on': DAY})}"
    fields = {"jobId": job["number"], "person": cast.people[Role.MEMBER], "day": DAY, "start": "10:15"}
    answer = session.submit_form(PATH, **fields, minutes="90", back=board)
    assert answer.headers["Location"] == f"{board}&done=plan_visit"
    (made,) = cast.perform(list_visits, jobId=job["id"])["data"]
    assert (made["personName"], made["startsAt"], made["endsAt"]) == (
        *("Mia Member", f"{DAY}T10:15:00.000Z", f"{DAY}T11:45:00.000Z"),
    )
    page = session.follow_redirect(answer).text
    notice = f"{job['number']} Mend the roof planned: Mia Member, 11 Jan 2038, 10:15\N{EN DASH}11:45. Undo"
    assert notice in visible_text(page)
    # The change can be undone from there.
    form = re.search(r'<form id="undo".*?</form>', page, re.DOTALL)
    assert form
    change = re.search(r'name="change" value="([0-9]+)"', form[0])
    assert change
    session.submit_page(form[0], "/changes/undo", change=change[1], back=board)
    assert cast.perform(list_visits, jobId=job["id"])["data"] == []


def test_the_small_form_proposes_the_quoted_hours_that_are_left_or_the_last_length(
    server: RunningServer, cast: Cast
) -> None:
    job = cast.perform(create_job, customerId=make_customer(cast, email="ann@calder.example"), title="Rewire")
    session = sign_in_cast(server, cast, Role.OFFICE)

    def read_proposal() -> str | None:
        found = re.search(r'<option value="([0-9]+)" selected>', session.get(f"{PATH}?jobId={job['id']}").text)
        return found and found[1]

    assert read_proposal() == "120"
    plan_test_visit(cast, jobId=job["id"], times=("10:00", "11:45"))
    assert read_proposal() == "105"
    labour = {"description": "Labour", "quantity": "6", "unit": "hrs", "unitPrice": "50"}
    extra = labour | {"description": "Loft", "optional": True}
    accept_quote(cast, issue_quote(cast, make_quote(cast, jobId=job["id"], lines=[labour, extra])))
    cast.perform(log_hours, Role.MEMBER, jobId=job["id"], on="2026-11-02", minutes=155)
    assert read_proposal() == "210"


def test_the_small_form_says_why_it_is_refused_and_keeps_what_was_typed(server: RunningServer, cast: Cast) -> None:
    there = plan_test_visit(cast)
    job = make_site_job(cast)
    session = sign_in_cast(server, cast, Role.OFFICE)
    fields = {"jobId": job["number"], "person": cast.people[Role.MEMBER], "day": DAY, "start": "10:30", "minutes": "75"}
    refused = session.submit_form(PATH, **fields)
    assert refused.status_code == 409
    assert f"Mia Member is at {there['jobNumber']} Mend the roof" in visible_text(refused.text)
    assert 'value="10:30"' in refused.text
    assert '<option value="75" selected>1:15</option>' in refused.text
    for wrong, words in ({"jobId": "No such job"}, "was not found"), ({"start": ""}, "Enter a start time."):
        refused = session.submit_form(PATH, **fields | wrong)
        assert refused.status_code == 422
        assert words in visible_text(refused.text)
    assert cast.perform(list_visits, jobId=job["id"])["data"] == []
    # It leads nowhere but back to a page of the office.
    answer = session.submit_form(PATH, **fields | {"start": "12:00", "person": "", "back": "//elsewhere.example"})
    assert answer.headers["Location"] == "/schedule?done=plan_visit"
    assert "planned: no person" in visible_text(session.get(f"/schedule?view=day&on={DAY}&done=plan_visit").text)


def test_times_of_the_board_are_the_organisation_s_wherever_the_site_is(server: RunningServer, cast: Cast) -> None:
    job = make_site_job(cast, zone="America/New_York")
    session = sign_in_cast(server, cast, Role.OFFICE)
    session.submit_form(PATH, jobId=job["number"], person="", day=DAY, start="15:00", minutes="60")
    (made,) = cast.perform(list_visits, jobId=job["id"])["data"]
    assert (made["startsAt"], made["timeZone"]) == (f"{DAY}T15:00:00.000Z", "America/New_York")


def test_jobs_that_wait_for_a_visit_stand_beside_the_board(server: RunningServer, cast: Cast) -> None:
    dueless, due, late = (
        make_site_job(cast, title=title, **given)
        for title, given in (
            ("Later", {}),
            ("Soon", {"dueOn": "2038-01-20", "budget": "1200.00"}),
            ("Overdue", {"dueOn": "2026-01-05"}),
        )
    )
    planned = plan_test_visit(cast)
    session = sign_in_cast(server, cast, Role.OFFICE)
    for view in ("day", "week"):
        tray = read_tray(session.get(f"/schedule?view={view}&on={DAY}").text)
        assert "Jobs to schedule 3" in tray
        numbers = [str(one["number"]) for one in (late, due, dueless)]
        assert [tray.index(number) for number in numbers] == sorted(tray.index(number) for number in numbers)
        assert re.search(r"Due 5 Jan 2026, \d+ days late", tray)
        assert "Due 20 Jan 2038 · £1,200.00" in tray
        assert planned["jobNumber"] not in tray
    page = session.get("/schedule").text
    assert f'href="/schedule/visits/plan?jobId={due["id"]}"' in page
    assert "Every job has a visit." not in page


def test_jobs_that_are_due_are_in_the_tray_before_newer_ones(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.doors.office.work.quick_visits._MAX_JOBS", 2)
    late = make_site_job(cast, dueOn="2026-01-05")
    older, newest = (make_site_job(cast) for _ in range(2))
    tray = read_tray(sign_in_cast(server, cast, Role.OFFICE).get(f"/schedule?view=day&on={DAY}").text)
    assert "Jobs to schedule 2+" in tray
    assert tray.index(str(late["number"])) < tray.index(str(newest["number"]))
    assert str(older["number"]) not in tray


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_who_may_not_plan_sees_neither_the_form_nor_the_jobs(server: RunningServer, cast: Cast, role: Role) -> None:
    make_site_job(cast)
    session = sign_in_cast(server, cast, role)
    page = session.get(f"/schedule?view=day&on={DAY}").text
    assert "Jobs to schedule" not in page
    assert "new-visit" not in page
    assert session.get(PATH).status_code == 403
