"""What is next comes first: at a visit, with time off, in a day of one's own, and in the form that changes a status."""

import re
from typing import Any

import pytest

from doors.office.test_customers import extract_main
from doors.office.test_job_page import find_first_action, find_next_step
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.schedule.leave import list_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, plan_visit
from mainstay.doors.pages.formatting import format_date_range
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_contact, make_customer, make_site
from support.hours import make_assigned_job, make_visit
from support.invoices import make_invoice
from support.prices import make_tax_rate
from support.purchases import make_order
from support.quotes import make_quote
from support.servers import RunningServer
from support.visits import DAY, plan_test_visit, read_finish_times

TEXT_LINE: dict[str, Any] = {"kind": "text", "description": "As agreed."}
DASH = "\N{EN DASH}"


def read_choices(page: str, name: str) -> tuple[list[str], str | None]:
    """What can be chosen in a form, and what is chosen."""
    select = re.search(rf'<select id="{name}".*?</select>', page, re.DOTALL)
    assert select
    chosen = re.search(r'value="(\w+)" selected', select[0])
    return re.findall(r'<option value="(\w+)"', select[0]), chosen[1] if chosen else None


def today(cast: Cast) -> str:
    return local_date(cast.performer.clock(), "Europe/London").isoformat()


def test_a_visit_is_started_and_finished_with_one_press(server: RunningServer, cast: Cast) -> None:
    planned = plan_test_visit(cast)["id"]
    session = sign_in_cast(server, cast, Role.MEMBER)
    for called, verb, status in (("Start work", "start", "started"), ("Finish", "finish", "done")):
        page = session.get(f"/schedule/visits/{planned}").text
        path = f"/schedule/visits/{planned}/{verb}"
        assert find_next_step(page) == (called, path)
        if verb == "finish":
            page = session.get(path).text
        session.follow_redirect(session.submit_page(page, path, **read_finish_times(page)))
        assert cast.perform(get_visit, visitId=planned)["status"] == status
    # To call and to go there come before the facts.
    shown = extract_main(session.get(f"/schedule/visits/{planned}").text)
    assert shown.index("Call Carla") < shown.index('<dl class="facts">')
    assert shown.index("Directions") < shown.index('<dl class="facts">')


def test_a_status_is_chosen_among_what_is_possible(server: RunningServer, cast: Cast) -> None:
    job = make_assigned_job(cast)["id"]
    office, member = sign_in_cast(server, cast, Role.OFFICE), sign_in_cast(server, cast, Role.MEMBER)
    path = f"/jobs/{job}/change-status"
    assert read_choices(office.get(path).text, "status") == (["inProgress", "done", "onHold", "enquiry"], "inProgress")
    cast.perform(change_job_status, jobId=job, status="done")
    assert read_choices(office.get(path).text, "status") == (["closed", "inProgress", "open"], "closed")
    assert read_choices(member.get(path).text, "status") == (["inProgress", "open"], "inProgress")
    planned = make_visit(cast, None, cast.people[Role.MEMBER])
    form = member.get(f"/schedule/visits/{planned}/set-status").text
    assert read_choices(form, "status") == (["started", "done"], "started")


@pytest.mark.parametrize("kind", ["quote", "invoice", "order"])
def test_the_next_step_of_a_draft_is_its_lines_and_then_to_send_it(
    server: RunningServer, cast: Cast, kind: str
) -> None:
    makes, path = {
        "quote": (make_quote, "/quotes"),
        "invoice": (make_invoice, "/invoices"),
        "order": (make_order, "/purchasing/orders"),
    }[kind]
    office = sign_in_cast(server, cast, Role.OFFICE)
    empty, text_only, full = makes(cast, lines=[]), makes(cast, lines=[TEXT_LINE]), makes(cast)
    for draft in (empty, text_only):
        page = office.get(f"{path}/{draft['id']}").text
        assert find_next_step(page) == ("Edit lines", f"{path}/{draft['id']}/lines")
        # It is also offered where the lines would be.
        assert page.count(f'href="{path}/{draft["id"]}/lines"') == (2 if draft is empty else 1)
    page = office.get(f"{path}/{full['id']}").text
    assert find_next_step(page) == ("Send", f"{path}/{full['id']}/send")
    assert f'href="{path}/{full["id"]}/lines"' in page
    assert 'class="button primary danger"' not in page


def request_leave(cast: Cast, **given: object) -> dict[str, Any]:
    return cast.perform(request_time_off, Role.MEMBER, **{"from": DAY, "until": "2038-01-12", **given})


def test_time_off_that_was_asked_for_is_decided_with_the_visits_in_view(server: RunningServer, cast: Cast) -> None:
    within = plan_test_visit(cast)["id"]
    leave = request_leave(cast)["id"]
    office = sign_in_cast(server, cast, Role.OFFICE)
    page = office.get(f"/time-off/{leave}").text
    assert find_next_step(page) == ("Approve or decline", f"/time-off/{leave}/decide")
    form = office.get(f"/time-off/{leave}/decide").text
    assert f'href="/schedule/visits/{within}"' in extract_main(form)
    page = office.follow_redirect(office.submit_page(form, f"/time-off/{leave}/decide", decision="approve")).text
    assert find_first_action(page) == ("Cancel time off", f"/time-off/{leave}/cancel")
    # Whole days end with their last one.
    text = visible_text(extract_main(page))
    assert f"11{DASH}12 Jan 2038" in text
    assert "00:00" not in text
    assert "00:00" not in visible_text(extract_main(office.get("/time-off").text))
    own = sign_in_cast(server, cast, Role.MEMBER).get(f"/time-off/{leave}").text
    assert find_first_action(own) == ("Cancel time off", f"/time-off/{leave}/cancel")


def test_the_office_enters_time_off_that_counts_at_once(server: RunningServer, cast: Cast) -> None:
    office, member = sign_in_cast(server, cast, Role.OFFICE), sign_in_cast(server, cast, Role.MEMBER)
    fields = {"personId": cast.people[Role.MEMBER], "kind": "sick", "from": DAY, "approved": "on"}
    plan_test_visit(cast, on=DAY)
    text = visible_text(extract_main(office.follow_redirect(office.submit_form("/time-off/request", **fields)).text))
    # It is not told as asked for, and what has no time has its date.
    assert "requested" not in text
    assert "Time off saved." in text
    assert "Mend the roof 11 Jan 2038, all day" in text
    (leave,) = cast.perform(list_time_off, **{"from": DAY})["data"]
    assert (leave["personId"], leave["status"]) == (cast.people[Role.MEMBER], "approved")
    assert 'name="approved"' not in member.get("/time-off/request").text


@pytest.mark.parametrize(
    ("first_day", "last_day", "told"),
    [
        ("2026-11-17", "2026-11-17", "17 Nov 2026"),
        ("2026-11-17", "2026-11-18", f"17{DASH}18 Nov 2026"),
        ("2026-11-30", "2026-12-02", f"30 Nov{DASH}2 Dec 2026"),
        ("2026-12-30", "2027-01-02", f"30 Dec 2026{DASH}2 Jan 2027"),
    ],
)
def test_whole_days_are_told_shortly(first_day: str, last_day: str, told: str) -> None:
    assert format_date_range(first_day, last_day) == told


def test_one_s_own_day_comes_first(server: RunningServer, cast: Cast) -> None:
    jobs = [make_assigned_job(cast, title=title) for title in ("Mine", "Later")]
    for role, job in ((Role.SUBCONTRACTOR, jobs[1]), (Role.MEMBER, jobs[0])):
        cast.perform(plan_visit, jobId=job["id"], personIds=[cast.people[role]], on=today(cast))
    member = sign_in_cast(server, cast, Role.MEMBER)
    shown = visible_text(extract_main(member.get("/").text))
    assert shown.index("Your visits today") < shown.index("Mine") < shown.index("Other visits today")
    assert shown.index("Other visits today") < shown.index("Sam Subcontractor")
    for view in ("day", "week"):
        page = extract_main(member.get(f"/schedule?view={view}").text)
        names = re.findall(r'<span class="named">(.*?)</span>', page)
        assert names[0] == "Mia Member"
    # What is planned today is what a timer is started on.
    timer = re.search(r'<select id="timer-job".*?</select>', member.get("/hours/week").text, re.DOTALL)
    assert timer
    assert re.findall(r"J-\d+ (\w+)", timer[0]) == ["Mine", "Later"]
    assert "Visits today" in visible_text(extract_main(sign_in_cast(server, cast, Role.OFFICE).get("/").text))


def test_one_s_own_day_is_whole_however_many_visits_others_have(server: RunningServer, cast: Cast) -> None:
    day = today(cast)
    for _ in range(50):
        cast.perform(plan_visit, title="Theirs", personIds=[], on=day)
    member = sign_in_cast(server, cast, Role.MEMBER)
    assert "All visits today" not in member.get("/").text
    cast.perform(plan_visit, title="Mine", personIds=[cast.people[Role.MEMBER]], on=day)
    page = extract_main(member.get("/").text)
    assert (
        visible_text(page).index("Your visits today")
        < visible_text(page).index("Mine")
        < visible_text(page).index("Other visits today")
    )
    assert visible_text(page).count("Unassigned") == 50
    assert f'<a href="/schedule?on={day}">All visits today</a>' in page


def test_whoever_begins_is_told_the_first_steps(server: RunningServer, cast: Cast) -> None:
    office = sign_in_cast(server, cast, Role.OWNER)

    def steps() -> dict[str, bool]:
        shown = re.search(r'<ol class="steps">.*?</ol>', office.get("/").text, re.DOTALL)
        found = re.findall(r"<li>(.*?)</li>", shown[0]) if shown else []
        return {visible_text(step).removesuffix(" Done"): "Done" in step for step in found}

    assert list(steps().values()) == [False, False, False, False, False, True, False, False]
    make_customer(cast)
    assert steps()["Add a customer"]
    assert "First steps" not in sign_in_cast(server, cast, Role.MEMBER).get("/").text
    for path in re.findall(r'<li><a href="([^"]+)">', office.get("/").text):
        assert office.get(path).status_code == 200
    # What is missing for invoices is asked for until it is there, or someone has decided on their numbers.
    make_assigned_job(cast, status="open")
    assert "Before your first invoice" in office.get("/").text
    assert steps() == {"Add bank details": False, "Set tax rates and payment terms": False}
    assert {
        office.get(path).status_code for path in re.findall(r'<li><a href="(/settings[^"]+)">', office.get("/").text)
    } == {200}
    cast.perform(update_organisation, bank={"account": "12345678"})
    assert steps() == {"Add bank details": True, "Set tax rates and payment terms": False}
    for role in (Role.OFFICE, Role.MEMBER):
        assert "Before your first invoice" not in sign_in_cast(server, cast, role).get("/").text
    make_tax_rate(cast)
    assert steps() == {}
    cast.perform(update_organisation, bank=None)
    assert len(steps()) == 2
    cast.perform(update_settings, invoiceNumbers={"next": 2})
    assert steps() == {}


def test_the_first_customers_are_typed_or_brought_over_from_a_file(server: RunningServer, cast: Cast) -> None:
    office = sign_in_cast(server, cast, Role.OWNER)
    typed = '<a href="/customers/new">Add a customer</a>'
    assert f'{typed} · <a href="/settings/import?kind=customers">Import from a file</a></li>' in office.get("/").text
    assert 'value="customers" required checked' in office.get("/settings/import?kind=customers").text


def test_a_site_and_a_contact_lead_to_their_customer(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    office = sign_in_cast(server, cast, Role.OFFICE)
    for path in (f"/sites/{make_site(cast, customer)}", f"/contacts/{make_contact(cast, customer)}"):
        page = office.get(path).text
        assert f'<dd><a href="/customers/{customer}">Calder Property</a></dd>' in page
        assert find_first_action(page) == ("Edit", f"{path}/edit")
