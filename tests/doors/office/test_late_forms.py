"""A form that is sent after the sign-in has ended comes back as it was left, to the person who sent it."""

import re
from datetime import date
from html import escape

import httpx2
import orjson
import pytest

from doors.office.test_importing import CSV, read_selected_columns, upload_file
from doors.office.test_statements import read_row_fields, upload_statement
from mainstay.business.hours.operations import log_hours, update_hours
from mainstay.business.people.operations import get_person, list_people
from mainstay.composition import open_sealer
from mainstay.doors.office.work.hours_week import monday_of
from mainstay.identity import devices
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.ids import new_id
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, NewPerson, add_new_person, visible_text
from support.cast import PASSWORD, Cast
from support.customers import make_customer, make_job
from support.hours import make_time_entry
from support.oauth_app import hidden_value
from support.purchases import make_bill
from support.quotes import make_quote
from support.servers import RunningServer
from support.stored_state import read_all_rows
from support.visits import DAY, plan_test_visit

INVITE = "/people/invite"
NORA = {"name": "Nora <New>", "email": "nora@new.example", "role": "office", "phone": "+44 1"}


def end_session(session: BrowserSession) -> None:
    """Let the sign-in end; the browser is known on."""
    del session.cookies["mainstay"]


def send_late(session: BrowserSession, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
    """Send the form of a page after the sign-in has ended."""
    page = session.get(path).text
    end_session(session)
    known = {name: hidden_value(page, name) for name in ("csrf", "once", "version")}
    sent = {name: value for name, value in known.items() if value} | fields
    return session.post(path, sent, **{"Referer": f"{session.server.url}{path}"} | headers)


def sign_in_again(session: BrowserSession, answer: httpx2.Response, person: NewPerson) -> httpx2.Response:
    """Sign in on the page that an answer leads to; the page that this leads to."""
    page = session.follow_redirect(answer)
    assert "Your session ended" in page.text
    return session.follow_redirect(session.submit_page(page.text, "/sign-in", email=person.email, password=PASSWORD))


@pytest.fixture
def person(cast: Cast) -> NewPerson:
    return add_new_person(cast)


@pytest.fixture
def session(server: RunningServer, person: NewPerson) -> BrowserSession:
    session = BrowserSession(server)
    session.sign_in(person)
    return session


def test_what_was_typed_is_there_again_and_is_sent_by_one_click(
    cast: Cast, session: BrowserSession, person: NewPerson
) -> None:
    back = sign_in_again(session, send_late(session, INVITE, NORA), person)
    assert "the form is as you left it" in visible_text(back.text)
    for value in ("Nora &lt;New&gt;", "nora@new.example", "+44 1"):
        assert f'value="{value}"' in back.text
    assert '<option value="office" selected>' in back.text
    assert [someone["email"] for someone in cast.perform(list_people)["data"]].count("nora@new.example") == 0

    assert session.submit_page(back.text, INVITE, **NORA).status_code == 303
    (nora,) = (someone for someone in cast.perform(list_people)["data"] if someone["email"] == "nora@new.example")
    assert nora["role"] == "office"


def test_a_record_that_changed_meanwhile_is_not_overwritten(
    cast: Cast, session: BrowserSession, person: NewPerson
) -> None:
    path = f"/people/{cast.people[Role.MEMBER]}/edit"
    typed = {"name": "Mia Renamed", "email": "mia@cast.example"}
    version = hidden_value(session.get(path).text, "version")
    answer = send_late(session, path, typed)
    back = sign_in_again(session, answer, person)
    assert 'value="Mia Renamed"' in back.text
    assert f'name="version" value="{version}"' in back.text
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["name"] == "Mia Member"


def test_it_is_not_lost_where_the_subscription_lapsed_meanwhile(
    cast: Cast, session: BrowserSession, person: NewPerson
) -> None:
    to_edit = f"/people/{cast.people[Role.MEMBER]}/edit"
    for path, fields in {INVITE: NORA, to_edit: {"name": "Mia <New>", "email": "mia@cast.example"}}.items():
        answer = send_late(session, path, fields)
        cast.lapse()
        back = sign_in_again(session, answer, person)
        assert back.status_code == 402
        assert "The subscription is inactive" in visible_text(back.text)
        assert f'value="{escape(fields["name"])}"' in back.text
        # Without typed fields, the refusal is shown before the form.
        assert "<h1>Something needs attention" in session.get(path).text
        cast.renew()
        assert session.submit_page(back.text, path, **fields).status_code == 303


def test_it_is_shown_to_nobody_else(cast: Cast, session: BrowserSession, server: RunningServer) -> None:
    answer = send_late(session, INVITE, NORA)
    other = add_new_person(cast)
    # Someone who takes over the machine, and someone who got hold of the address.
    back = sign_in_again(session, answer, other)
    assert "nora@new.example" not in back.text
    elsewhere = BrowserSession(server)
    elsewhere.sign_in(other)
    assert "nora@new.example" not in elsewhere.get(str(back.url).removeprefix(server.url)).text


def test_nothing_is_kept_for_a_browser_that_nobody_is_known_by(session: BrowserSession, person: NewPerson) -> None:
    del session.cookies["mainstay-device"]
    back = sign_in_again(session, send_late(session, INVITE, NORA), person)
    assert "nora@new.example" not in back.text


@pytest.mark.parametrize("header", [{"Origin": "http://127.0.0.1:1"}, {"Sec-Fetch-Site": "cross-site"}])
def test_words_that_another_site_sends_are_not_kept(
    session: BrowserSession, person: NewPerson, header: dict[str, str]
) -> None:
    back = sign_in_again(session, send_late(session, INVITE, NORA, **header), person)
    assert "nora@new.example" not in back.text


def test_passwords_are_never_kept_and_nothing_lies_open(cast: Cast, session: BrowserSession) -> None:
    number = new_id("n")
    send_late(session, INVITE, NORA | {"phone": number, "password": "hunter2", "newPassword": "hunter3"})
    database, now = cast.performer.database, cast.performer.clock()
    everything = read_all_rows(database)
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        account = devices.account_of(db, session.cookies["mainstay-device"], now)
        (typed,) = db.all("SELECT typed FROM return_ticket WHERE account_id = :account", account=account)
    opened = open_sealer(session.server.settings).decrypt(f"typed by {account}", str(typed[0]), now)
    assert orjson.loads(opened or "") == NORA | {"phone": number}
    for text in (number, "hunter"):
        assert text not in repr(everything)


def test_ticks_are_as_they_were_left(session: BrowserSession, person: NewPerson) -> None:
    path = "/settings/developer/webhooks/new"
    typed = {"url": "https://1.1.1.1/", "events person.left": "on"}
    back = sign_in_again(session, send_late(session, path, typed), person)
    assert re.findall(r'name="events ([\w.]+)" checked', back.text) == ["person.left"]
    assert 'value="https://1.1.1.1/"' in back.text


def test_who_is_late_twice_finds_what_was_typed_last(session: BrowserSession, person: NewPerson) -> None:
    back = sign_in_again(session, send_late(session, INVITE, NORA), person)
    path = str(back.url).removeprefix(session.server.url)
    end_session(session)
    sent = {"csrf": hidden_value(back.text, "csrf")} | NORA | {"name": "Nina"}
    answer = session.post(INVITE, sent, Referer=f"{session.server.url}{path}")
    again = sign_in_again(session, answer, person)
    assert 'value="Nina"' in again.text
    assert str(again.url).count("typed=") == 1


def recover_late_form(session: BrowserSession, page: str, to: str, person: NewPerson, /, **fields: str) -> str:
    """Send a form too late, sign in again, and return the page that is shown."""
    back = send_late_and_sign_in(session, page, to, person, **fields).text
    assert "the form is as you left it" in visible_text(back)
    return back


def send_late_and_sign_in(
    session: BrowserSession, page: str, to: str, person: NewPerson, /, **fields: str
) -> httpx2.Response:
    csrf = hidden_value(session.get("/settings/account").text, "csrf")
    end_session(session)
    answer = session.post(to, {"csrf": csrf or "", **fields}, Referer=f"{session.server.url}{page}")
    back = sign_in_again(session, answer, person)
    # What only takes forms leads to the page of its form.
    return session.follow_redirect(back) if back.status_code == httpx2.codes.SEE_OTHER else back


def test_a_note_is_as_it_was_left_beside_its_record_alone(
    cast: Cast, session: BrowserSession, person: NewPerson
) -> None:
    page, other = (f"/jobs/{make_job(cast, make_customer(cast))['id']}" for _ in range(2))
    typed = {"recordId": page.removeprefix("/jobs/"), "text": "Ring <twice>", "office": "on"}
    # Also from the page that refused it.
    for sent_from in (page, f"{page}/notes"):
        back = recover_late_form(session, sent_from, f"{page}/notes", person, **typed)
        assert ">Ring &lt;twice&gt;</textarea>" in back
        assert '<input type="checkbox" name="office" checked>' in back
    end_session(session)
    answer = session.post(f"{page}/notes", {**typed}, Referer=f"{session.server.url}{other}")
    assert "Ring" not in sign_in_again(session, answer, person).text


def test_a_week_of_hours_is_as_it_was_left(cast: Cast, session: BrowserSession, person: NewPerson) -> None:
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    entry = cast.perform(log_hours, personId=person.id, on=day, minutes=60)
    cell, seen = f"hours none {day}", f"seen none {day}"
    known = f"{entry['id']} {entry['version']} 60"
    back = recover_late_form(session, "/hours/week", "/hours/week", person, **{cell: "7:30", seen: known, "on": day})
    assert f'name="{cell}" value="7:30"' in back
    assert f'name="{seen}" value="{known}"' in back
    # What was not typed over is shown as it is, though another has changed it meanwhile.
    csrf = hidden_value(back, "csrf") or ""
    cast.perform(update_hours, timeEntryId=entry["id"], minutes=90)
    end_session(session)
    sent = {"csrf": csrf, cell: "1:00", seen: known, "on": day}
    answer = session.post("/hours/week", sent, Referer=f"{session.server.url}/hours/week")
    assert f'name="{cell}" value="1:30"' in sign_in_again(session, answer, person).text


def test_hours_of_a_day_and_a_reason_are_as_they_were_left(
    cast: Cast, session: BrowserSession, person: NewPerson
) -> None:
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    typed = {"time": "2:15", "day": day, "note": "New valve", "job": "none", "on": day}
    back = recover_late_form(session, "/hours/week", "/hours/week/log", person, **typed)
    assert all(f'value="{value}"' in back for value in ("2:15", "New valve"))

    entries = [make_time_entry(cast, status="submitted", on=day, minutes=minutes) for minutes in (60, 45)]
    shown = {"person": entries[0]["personId"], "week": monday_of(date.fromisoformat(day)).isoformat()}
    sent = {**shown, "decision": "reject", "reason": "Which job?", f"entry {entries[0]['id']}": "on"}
    back = recover_late_form(session, "/hours/approve", "/hours/approve", person, **sent)
    assert ">Which job?</textarea>" in back
    assert re.findall(r'name="entry (\w+)" value="\d+" checked', back) == [entries[0]["id"]]


def test_lines_of_a_draft_are_as_they_were_left(cast: Cast, session: BrowserSession, person: NewPerson) -> None:
    quote = make_quote(cast)
    line, path = quote["lines"][0]["id"], f"/quotes/{quote['id']}/lines"
    typed = {f"{line} description": "A better boiler", "version": str(quote["version"]), "new description": "Flue"}
    back = recover_late_form(session, path, path, person, **typed)
    assert ">A better boiler</textarea>" in back
    assert 'value="Flue"' in back
    assert f'name="version" value="{quote["version"]}"' in back


def test_a_bill_is_as_it_was_left(session: BrowserSession, person: NewPerson) -> None:
    path = "/purchasing/bills/new"
    typed = {"supplierNumber": "R-77", "lines.0.description": "Copper pipe", "lines.0.unitPrice": "12,50"}
    back = recover_late_form(session, path, path, person, **typed)
    for shown in ('value="R-77"', ">Copper pipe</textarea>", 'value="12,50"'):
        assert shown in back


def test_lines_of_a_bill_are_as_they_were_left(cast: Cast, session: BrowserSession, person: NewPerson) -> None:
    bill = make_bill(cast)
    path, line = f"/purchasing/bills/{bill['id']}/lines", bill["lines"][0]["id"]
    typed = {"version": str(bill["version"]), "total": "72,50", f"{line} description": "Better pipe"}
    typed |= {"new description": "Solder", "new unitPrice": "4"}
    back = recover_late_form(session, path, path, person, **typed)
    for shown in (
        ">Better pipe</textarea>",
        'value="Solder"',
        'value="72,50"',
        f'name="version" value="{bill["version"]}"',
    ):
        assert shown in back


def test_the_columns_of_an_import_are_as_they_were_left(session: BrowserSession, person: NewPerson) -> None:
    path = upload_file(session, CSV).headers["location"]
    assert read_selected_columns(session.get(path).text)["column billingAddress.city"] == "1"
    typed = {"column name": "0", "column billingAddress.city": "2"}
    back = recover_late_form(session, path, f"{path}/check", person, **typed)
    assert {name: at for name, at in read_selected_columns(back).items() if at} == typed


def test_what_a_bank_statement_pays_is_as_it_was_left(session: BrowserSession, person: NewPerson) -> None:
    page = upload_statement(session, "2026-01-05;Ann;12.00", "2026-01-05;Ben;5.00").text
    typed = read_row_fields(page) | {"invoices 1": "INV-0815", "record 2": "on"}
    back = recover_late_form(session, "/payments/statement", "/payments/statement/record", person, **typed)
    assert read_row_fields(back) == typed
    # Also from the page that refused it.
    back = recover_late_form(session, "/payments/statement/record", "/payments/statement/record", person, **typed)
    assert read_row_fields(back) == typed


def test_what_was_refused_and_is_sent_again_too_late_is_as_it_was_left(
    session: BrowserSession, person: NewPerson
) -> None:
    # The page that refused it stands at the address that the form was sent to.
    typed = {"time": "much", "note": "New valve", "job": "none"}
    back = recover_late_form(session, "/hours/week/log", "/hours/week/log", person, **typed)
    assert all(f'value="{value}"' in back for value in ("much", "New valve"))
    back = recover_late_form(session, "/hours/timer/start", "/hours/timer/start", person, job="none")
    assert '<option value="none" selected>' in back
    path = upload_file(session, CSV).headers["location"]
    back = recover_late_form(session, f"{path}/check", f"{path}/check", person, **{"column name": "2"})
    assert read_selected_columns(back)["column name"] == "2"


@pytest.mark.parametrize(
    ("to", "page"),
    [
        ("/settings/account/password", "/settings/account"),
        ("/hours/timer/stop", "/hours/week"),
    ],
)
def test_whoever_opens_what_only_takes_a_form_is_shown_the_form(
    session: BrowserSession, person: NewPerson, to: str, page: str
) -> None:
    answer = session.get(f"{to}?on=2026-11-09&a=%0d%C3%A4")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?on=2026-11-09&a=%0D%C3%A4")
    assert send_late_and_sign_in(session, to, to, person, password="secret").status_code == 200


def test_what_is_typed_after_signing_in_again_stands_when_the_form_is_shown_once_more(
    session: BrowserSession, person: NewPerson
) -> None:
    path = "/invoices/new"
    back = sign_in_again(session, send_late(session, path, {"title": "Order 1"}), person)
    assert 'value="Order 1"' in back.text
    here = str(back.url).removeprefix(session.server.url)
    again = session.submit_page(back.text, here, title="Order 2", do="look")
    assert 'value="Order 2"' in again.text
    assert "as you left it" not in again.text


def test_several_visits_are_as_they_were_left(cast: Cast, session: BrowserSession, person: NewPerson) -> None:
    visit, path = plan_test_visit(cast), f"/schedule/change?from={DAY}&until={DAY}"
    seen = re.search(r'name="0.seen" value="([^"]+)"', session.get(path).text)
    assert seen
    typed = {"0.visit": visit["id"], "0.seen": seen[1], "0.who": "nobody", "0.day": DAY, "0.time": "08:45"}
    back = recover_late_form(session, path, path, person, **typed, **{"0.length": "1:00"})
    assert 'name="0.time" value="08:45"' in back
    assert '<option value="nobody" selected>' in back


@pytest.mark.parametrize("size", [20_000, 70_000])
def test_of_a_form_that_is_too_long_it_is_told_that_nothing_was_kept(
    session: BrowserSession, person: NewPerson, size: int
) -> None:
    lost = "the text was too long to keep"
    back = sign_in_again(session, send_late(session, INVITE, NORA | {"phone": "1" * size}), person)
    assert back.status_code == 200
    assert "nora@new.example" not in back.text
    assert lost in visible_text(back.text)
    # It is no more said once the form was sent again from there.
    here = str(back.url).removeprefix(session.server.url)
    again = session.submit_page(back.text, here, **NORA | {"email": "none"})
    assert (again.status_code, lost in visible_text(again.text)) == (422, False)


@pytest.mark.parametrize("ticket", ["", "x", "x" * 43, "%00", "%ff"])
def test_a_ticket_that_was_never_given_shows_the_page_as_always(session: BrowserSession, ticket: str) -> None:
    page = session.get(f"{INVITE}?typed={ticket}")
    assert page.status_code == 200
    assert "as you left it" not in page.text
