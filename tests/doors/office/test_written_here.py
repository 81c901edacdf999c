"""What operations say has dates, times and amounts on a page as people write them."""

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.invoices import make_invoice
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit


def test_a_form_with_a_picker_shows_no_example_of_how_a_time_is_written(server: RunningServer, cast: Cast) -> None:
    form = visible_text(sign_in_cast(server, cast, Role.MEMBER).get("/time-off/request").text)
    assert "Only for part of a day" in form
    assert "2026-11-15" not in form


def test_a_preview_and_a_clash_are_told_so_on_pages(server: RunningServer, cast: Cast) -> None:
    office = sign_in_cast(server, cast, Role.OFFICE)
    invoice = make_invoice(cast, dueOn="2038-11-30")
    preview = visible_text(office.get(f"/invoices/{invoice['id']}/send").text)
    assert "£1,000.00, due on 30 Nov 2038." in preview
    plan_test_visit(cast)
    who = {f"personIds {cast.people[Role.MEMBER]}": "on", "jobId": make_site_job(cast)["number"], "kind": "work"}
    times = {"startsAt": f"{DAY}T10:30", "durationMinutes": "60"}
    clash = visible_text(office.submit_form("/schedule/visits/plan", **who | times).text)
    assert "on 11 Jan 2038, 10:00\N{EN DASH}11:00. Choose" in clash
    assert "Europe/London)" not in clash
