"""What is done to several records of a list: selected, shown in one preview, done together or not at all."""

import re
from html import unescape

import httpx2

from mainstay.business.customers.operations import archive_customer, get_customer, update_customer
from mainstay.business.jobs.operations import get_job
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job
from support.invoices import begin_day, issue_invoice, make_invoice, reread_invoice
from support.quotes import cast_later
from support.servers import RunningServer


def select(session: BrowserSession, path: str, action: str, *ids: str, **fields: str) -> httpx2.Response:
    """Select records of a list and press a button."""
    selected = {f"record {one}": "yes" for one in ids}
    return session.submit_form(path, f"{path.partition('?')[0]}/selected", do=action, **selected, **fields)


def confirm(session: BrowserSession, preview: httpx2.Response, path: str) -> httpx2.Response:
    """Confirm what a preview shows."""
    shown = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', preview.text)
    fields = {unescape(name): unescape(value) for name, value in shown if name not in {"once", "csrf"}}
    return session.submit_page(preview.text.partition("<main")[2], f"{path}/selected", **fields, confirmed="yes")


def status_of(cast: Cast, customer: str) -> str:
    return str(cast.perform(get_customer, Role.OWNER, customerId=customer)["status"])


def test_overdue_invoices_are_reminded_together_without_those_that_cannot_be(server: RunningServer, cast: Cast) -> None:
    then = cast_later(cast, days=-40)
    late = [
        issue_invoice(then, make_invoice(then, customerId=make_customer(cast, name, email=f"{name}@x.example")))["id"]
        for name in ("ann", "bob")
    ]
    # Otherwise the worker may note between the preview and the confirmation that they are overdue.
    begin_day(cast, cast.performer.clock().date())
    draft = make_invoice(cast)["id"]
    office = sign_in_new_person(server, cast, Role.OFFICE)
    page = office.get("/invoices").text
    assert [f'name="record {one}"' in page for one in (*late, draft)] == [True] * 3
    preview = select(office, "/invoices?order=newest", "send_reminder", *late, draft, list="order=newest")
    text = visible_text(preview.text)
    assert "Remind 2 invoices" in text
    assert "1 is left out" in text
    assert ["Email to ann@x.example" in text, "Email to bob@x.example" in text] == [True, True]
    assert [reread_invoice(cast, {"id": one})["reminders"] for one in late] == [0, 0]
    answer = confirm(office, preview, "/invoices")
    assert answer.headers["Location"].startswith("/invoices?order=newest&done=")
    assert "2 reminders sent." in visible_text(office.follow_redirect(answer).text)
    assert [reread_invoice(cast, {"id": one})["reminders"] for one in late] == [1, 1]
    # Sent again, as by a second click, nothing more happens.
    assert confirm(office, preview, "/invoices").status_code == httpx2.codes.SEE_OTHER
    assert [reread_invoice(cast, {"id": one})["reminders"] for one in late] == [1, 1]


def test_customers_are_archived_together_and_undone_together(server: RunningServer, cast: Cast) -> None:
    customers = [make_customer(cast, name) for name in ("Ann", "Bob", "Cleo")]
    session = sign_in_new_person(server, cast)
    preview = select(session, "/customers", "archive_customer", *customers[:2])
    assert "Archive 2 customers" in visible_text(preview.text)
    done = session.follow_redirect(confirm(session, preview, "/customers"))
    assert "2 customers archived." in visible_text(done.text)
    assert [status_of(cast, one) for one in customers] == ["archived", "archived", "active"]
    changes = re.search(r'name="change" value="([\d ]+)"', done.text)
    assert changes
    assert len(changes[1].split()) == 2
    session.submit_page(done.text, "/changes/undo", change=changes[1], back="/customers")
    assert [status_of(cast, one) for one in customers] == ["active"] * 3


def test_if_one_has_changed_meanwhile_none_is_changed(server: RunningServer, cast: Cast) -> None:
    customers = [make_customer(cast, name) for name in ("Ann", "Bob")]
    session = sign_in_new_person(server, cast)
    preview = select(session, "/customers", "archive_customer", *customers)
    cast.perform(update_customer, Role.OWNER, customerId=customers[1], phone="0123 456")
    answer = confirm(session, preview, "/customers")
    assert answer.status_code == httpx2.codes.CONFLICT
    assert "Something has changed since the preview, so nothing was done." in visible_text(answer.text)
    assert [status_of(cast, one) for one in customers] == ["active", "active"]
    confirm(session, answer, "/customers")
    assert [status_of(cast, one) for one in customers] == ["archived", "archived"]


def test_what_is_done_already_is_left_out(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, "Ann")
    cast.perform(archive_customer, Role.OWNER, customerId=customer)
    text = visible_text(select(sign_in_new_person(server, cast), "/customers", "archive_customer", customer).text)
    assert "This isn't possible right now. Nothing has changed." in text
    assert "already archived" in text


def test_jobs_get_a_lead_after_it_was_asked_for(server: RunningServer, cast: Cast) -> None:
    jobs = [make_job(cast, make_customer(cast), title=title)["id"] for title in ("Boiler", "Tap")]
    session = sign_in_new_person(server, cast)
    asked = select(session, "/jobs", "update_job", *jobs)
    assert 'name="leadPersonId"' in asked.text
    lead = cast.people[Role.MEMBER]
    preview = select(session, "/jobs", "update_job", *jobs, asked="yes", leadPersonId=lead)
    assert "Assign lead (2 jobs)" in visible_text(preview.text)
    done = session.follow_redirect(confirm(session, preview, "/jobs"))
    assert "2 jobs assigned." in visible_text(done.text)
    leads = [cast.perform(get_job, Role.OWNER, jobId=one)["leadPersonId"] for one in jobs]
    assert leads == [lead, lead]


def test_nothing_too_much_and_what_may_not_be_done_are_refused(server: RunningServer, cast: Cast) -> None:
    session, field = sign_in_new_person(server, cast), sign_in_cast(server, cast, Role.MEMBER)
    customer = make_customer(cast)
    assert "Nothing is selected." in visible_text(select(session, "/customers", "archive_customer").text)
    many = [f"customer_{number}" for number in range(51)]
    assert "Select 50 at most" in visible_text(select(session, "/customers", "archive_customer", *many).text)
    assert select(session, "/customers", "update_customer", customer).status_code == httpx2.codes.CONFLICT
    assert 'data-row="' not in field.get("/customers").text
    assert select(field, "/customers", "archive_customer", customer).status_code == httpx2.codes.FORBIDDEN
    assert status_of(cast, customer) == "active"
