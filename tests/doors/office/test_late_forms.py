"""A form that is sent after the sign-in has ended comes back as it was left, to whoever sent it."""

import re
from datetime import date
from html import escape

import httpx2
import orjson
import pytest

from apps import hidden
from cast import PASSWORD, Cast
from doors.office.test_importing import CSV, chosen, hand_in
from doors.office.test_statements import bring, on_form
from evidence import contents
from labour import logged
from mainstay.backing.database import EVERY
from mainstay.business.hours.operations import log_hours, update_hours
from mainstay.business.people.operations import get_person, list_people
from mainstay.doors.office.week import monday_of
from mainstay.identity import devices
from mainstay.staging import open_sealer
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from mainstay.values.moments import local_date
from ordering import a_bill
from quoting import a_draft
from running import RunningServer
from scheduling import DAY, plan
from trade import a_customer, a_job
from visiting import Somebody, Visit, somebody, words

INVITE = "/people/invite"
NORA = {"name": "Nora <New>", "email": "nora@new.example", "role": "office", "phone": "+44 1"}


def leave(visiting: Visit) -> None:
    """Let the sign-in end; the browser is known on."""
    del visiting.cookies["mainstay"]


def send_late(visiting: Visit, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
    """Send the form of a page after the sign-in has ended."""
    page = visiting.get(path).text
    leave(visiting)
    known = {name: hidden(page, name) for name in ("csrf", "once", "version")}
    sent = {name: value for name, value in known.items() if value} | fields
    return visiting.post(path, sent, **{"Referer": f"{visiting.server.url}{path}"} | headers)


def sign_in_again(visiting: Visit, answer: httpx2.Response, person: Somebody) -> httpx2.Response:
    """Sign in on the page that an answer leads to; the page that this leads to."""
    page = visiting.follow(answer)
    assert "Your sign-in had ended" in page.text
    return visiting.follow(visiting.answer(page.text, "/sign-in", email=person.email, password=PASSWORD))


@pytest.fixture
def person(cast: Cast) -> Somebody:
    return somebody(cast)


@pytest.fixture
def visiting(server: RunningServer, person: Somebody) -> Visit:
    visiting = Visit(server)
    visiting.sign_in(person)
    return visiting


def test_what_was_typed_is_there_again_and_is_sent_by_one_click(cast: Cast, visiting: Visit, person: Somebody) -> None:
    back = sign_in_again(visiting, send_late(visiting, INVITE, NORA), person)
    assert "the form is as you left it" in words(back.text)
    for value in ("Nora &lt;New&gt;", "nora@new.example", "+44 1"):
        assert f'value="{value}"' in back.text
    assert '<option value="office" selected>' in back.text
    assert [someone["email"] for someone in cast.perform(list_people)["data"]].count("nora@new.example") == 0

    assert visiting.answer(back.text, INVITE, **NORA).status_code == 303
    (nora,) = (someone for someone in cast.perform(list_people)["data"] if someone["email"] == "nora@new.example")
    assert nora["role"] == "office"


def test_a_record_that_changed_meanwhile_is_not_overwritten(cast: Cast, visiting: Visit, person: Somebody) -> None:
    path = f"/people/{cast.people[Role.MEMBER]}/edit"
    typed = {"name": "Mia Renamed", "email": "mia@cast.example"}
    version = hidden(visiting.get(path).text, "version")
    answer = send_late(visiting, path, typed)
    back = sign_in_again(visiting, answer, person)
    assert 'value="Mia Renamed"' in back.text
    assert f'name="version" value="{version}"' in back.text
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["name"] == "Mia Member"


def test_it_is_not_lost_where_the_subscription_lapsed_meanwhile(cast: Cast, visiting: Visit, person: Somebody) -> None:
    to_edit = f"/people/{cast.people[Role.MEMBER]}/edit"
    for path, fields in {INVITE: NORA, to_edit: {"name": "Mia <New>", "email": "mia@cast.example"}}.items():
        answer = send_late(visiting, path, fields)
        cast.lapse()
        back = sign_in_again(visiting, answer, person)
        assert back.status_code == 402
        assert "The subscription is inactive" in words(back.text)
        assert f'value="{escape(fields["name"])}"' in back.text
        # Whoever has typed nothing is let to no form in vain.
        assert "<h1>That is not possible" in visiting.get(path).text
        cast.renew()
        assert visiting.answer(back.text, path, **fields).status_code == 303


def test_it_is_shown_to_nobody_else(cast: Cast, visiting: Visit, server: RunningServer) -> None:
    answer = send_late(visiting, INVITE, NORA)
    other = somebody(cast)
    # Someone who takes over the machine, and someone who got hold of the address.
    back = sign_in_again(visiting, answer, other)
    assert "nora@new.example" not in back.text
    elsewhere = Visit(server)
    elsewhere.sign_in(other)
    assert "nora@new.example" not in elsewhere.get(str(back.url).removeprefix(server.url)).text


def test_nothing_is_kept_for_a_browser_that_nobody_is_known_by(visiting: Visit, person: Somebody) -> None:
    del visiting.cookies["mainstay-device"]
    back = sign_in_again(visiting, send_late(visiting, INVITE, NORA), person)
    assert "nora@new.example" not in back.text


@pytest.mark.parametrize("header", [{"Origin": "http://127.0.0.1:1"}, {"Sec-Fetch-Site": "cross-site"}])
def test_words_that_another_site_sends_are_not_kept(visiting: Visit, person: Somebody, header: dict[str, str]) -> None:
    back = sign_in_again(visiting, send_late(visiting, INVITE, NORA, **header), person)
    assert "nora@new.example" not in back.text


def test_passwords_are_never_kept_and_nothing_lies_open(cast: Cast, visiting: Visit) -> None:
    number = new_id("n")
    send_late(visiting, INVITE, NORA | {"phone": number, "password": "hunter2", "newPassword": "hunter3"})
    database, now = cast.stage.database, cast.stage.clock()
    everything = contents(database)
    with database.reading(EVERY) as rows:
        account = devices.account_of(rows, visiting.cookies["mainstay-device"], now)
        (typed,) = rows.all("SELECT typed FROM return_ticket WHERE account_id = :account", account=account)
    opened = open_sealer(visiting.server.settings).open(f"typed by {account}", str(typed[0]), now)
    assert orjson.loads(opened or "") == NORA | {"phone": number}
    for text in (number, "hunter"):
        assert text not in repr(everything)


def test_ticks_are_as_they_were_left(visiting: Visit, person: Somebody) -> None:
    path = "/settings/developer/webhooks/new"
    typed = {"url": "https://1.1.1.1/", "events person.left": "on"}
    back = sign_in_again(visiting, send_late(visiting, path, typed), person)
    assert re.findall(r'name="events ([\w.]+)" checked', back.text) == ["person.left"]
    assert 'value="https://1.1.1.1/"' in back.text


def test_who_is_late_twice_finds_what_was_typed_last(visiting: Visit, person: Somebody) -> None:
    back = sign_in_again(visiting, send_late(visiting, INVITE, NORA), person)
    path = str(back.url).removeprefix(visiting.server.url)
    leave(visiting)
    sent = {"csrf": hidden(back.text, "csrf")} | NORA | {"name": "Nina"}
    answer = visiting.post(INVITE, sent, Referer=f"{visiting.server.url}{path}")
    again = sign_in_again(visiting, answer, person)
    assert 'value="Nina"' in again.text
    assert str(again.url).count("typed=") == 1


def late_from(visiting: Visit, page: str, to: str, person: Somebody, /, **fields: str) -> str:
    """What is shown to whoever sent a form of a page too late, and signed in again."""
    back = late_again(visiting, page, to, person, **fields).text
    assert "the form is as you left it" in words(back)
    return back


def late_again(visiting: Visit, page: str, to: str, person: Somebody, /, **fields: str) -> httpx2.Response:
    csrf = hidden(visiting.get("/settings/account").text, "csrf")
    leave(visiting)
    answer = visiting.post(to, {"csrf": csrf or "", **fields}, Referer=f"{visiting.server.url}{page}")
    back = sign_in_again(visiting, answer, person)
    # What only takes forms leads to the page of its form.
    return visiting.follow(back) if back.status_code == httpx2.codes.SEE_OTHER else back


def test_a_note_is_as_it_was_left_beside_its_record_alone(cast: Cast, visiting: Visit, person: Somebody) -> None:
    page, other = (f"/jobs/{a_job(cast, a_customer(cast))['id']}" for _ in range(2))
    typed = {"recordId": page.removeprefix("/jobs/"), "text": "Ring <twice>", "office": "on"}
    # Also from the page that refused it.
    for sent_from in (page, f"{page}/notes"):
        back = late_from(visiting, sent_from, f"{page}/notes", person, **typed)
        assert ">Ring &lt;twice&gt;</textarea>" in back
        assert '<input type="checkbox" name="office" checked>' in back
    leave(visiting)
    answer = visiting.post(f"{page}/notes", {**typed}, Referer=f"{visiting.server.url}{other}")
    assert "Ring" not in sign_in_again(visiting, answer, person).text


def test_a_week_of_hours_is_as_it_was_left(cast: Cast, visiting: Visit, person: Somebody) -> None:
    day = local_date(cast.stage.clock(), "Europe/London").isoformat()
    entry = cast.perform(log_hours, personId=person.id, on=day, minutes=60)
    cell, seen = f"hours none {day}", f"seen none {day}"
    known = f"{entry['id']} {entry['version']} 60"
    back = late_from(visiting, "/hours/week", "/hours/week", person, **{cell: "7:30", seen: known, "on": day})
    assert f'name="{cell}" value="7:30"' in back
    assert f'name="{seen}" value="{known}"' in back
    # What was not typed over is shown as it is, though another has changed it meanwhile.
    csrf = hidden(back, "csrf") or ""
    cast.perform(update_hours, timeEntryId=entry["id"], minutes=90)
    leave(visiting)
    sent = {"csrf": csrf, cell: "1:00", seen: known, "on": day}
    answer = visiting.post("/hours/week", sent, Referer=f"{visiting.server.url}/hours/week")
    assert f'name="{cell}" value="1:30"' in sign_in_again(visiting, answer, person).text


def test_hours_of_a_day_and_a_reason_are_as_they_were_left(cast: Cast, visiting: Visit, person: Somebody) -> None:
    day = local_date(cast.stage.clock(), "Europe/London").isoformat()
    typed = {"time": "2:15", "day": day, "note": "New valve", "job": "none", "on": day}
    back = late_from(visiting, "/hours/week", "/hours/week/log", person, **typed)
    assert all(f'value="{value}"' in back for value in ("2:15", "New valve"))

    entries = [logged(cast, status="submitted", on=day, minutes=minutes) for minutes in (60, 45)]
    shown = {"person": entries[0]["personId"], "week": monday_of(date.fromisoformat(day)).isoformat()}
    sent = {**shown, "decision": "reject", "reason": "Which job?", f"entry {entries[0]['id']}": "on"}
    back = late_from(visiting, "/hours/approve", "/hours/approve", person, **sent)
    assert ">Which job?</textarea>" in back
    assert re.findall(r'name="entry (\w+)" value="\d+" checked', back) == [entries[0]["id"]]


def test_lines_of_a_draft_are_as_they_were_left(cast: Cast, visiting: Visit, person: Somebody) -> None:
    quote = a_draft(cast)
    line, path = quote["lines"][0]["id"], f"/quotes/{quote['id']}/lines"
    typed = {f"{line} description": "A better boiler", "version": str(quote["version"]), "new description": "Flue"}
    back = late_from(visiting, path, path, person, **typed)
    assert ">A better boiler</textarea>" in back
    assert ">Flue</textarea>" in back
    assert f'name="version" value="{quote["version"]}"' in back


def test_a_bill_is_as_it_was_left(visiting: Visit, person: Somebody) -> None:
    path = "/purchasing/bills/new"
    typed = {"supplierNumber": "R-77", "lines.0.description": "Copper pipe", "lines.0.unitPrice": "12,50"}
    back = late_from(visiting, path, path, person, **typed)
    for shown in ('value="R-77"', ">Copper pipe</textarea>", 'value="12,50"'):
        assert shown in back


def test_lines_of_a_bill_are_as_they_were_left(cast: Cast, visiting: Visit, person: Somebody) -> None:
    bill = a_bill(cast)
    path, line = f"/purchasing/bills/{bill['id']}/lines", bill["lines"][0]["id"]
    typed = {"version": str(bill["version"]), "total": "72,50", "lines.0.lineId": line}
    typed |= {"lines.0.description": "Better pipe", "lines.1.description": "Solder", "lines.1.unitPrice": "4"}
    back = late_from(visiting, path, path, person, **typed)
    for shown in (
        ">Better pipe</textarea>",
        ">Solder</textarea>",
        'value="72,50"',
        f'name="version" value="{bill["version"]}"',
    ):
        assert shown in back


def test_the_columns_of_an_import_are_as_they_were_left(visiting: Visit, person: Somebody) -> None:
    path = hand_in(visiting, CSV).headers["location"]
    assert chosen(visiting.get(path).text)["column billingAddress.city"] == "1"
    typed = {"column name": "0", "column billingAddress.city": "2"}
    back = late_from(visiting, path, f"{path}/check", person, **typed)
    assert {name: at for name, at in chosen(back).items() if at} == typed


def test_what_a_bank_statement_pays_is_as_it_was_left(visiting: Visit, person: Somebody) -> None:
    page = bring(visiting, "2026-01-05;Ann;12.00", "2026-01-05;Ben;5.00").text
    typed = on_form(page) | {"invoices 1": "INV-0815", "record 2": "on"}
    back = late_from(visiting, "/payments/statement", "/payments/statement/record", person, **typed)
    assert on_form(back) == typed
    # Also from the page that refused it.
    back = late_from(visiting, "/payments/statement/record", "/payments/statement/record", person, **typed)
    assert on_form(back) == typed


def test_what_was_refused_and_is_sent_again_too_late_is_as_it_was_left(visiting: Visit, person: Somebody) -> None:
    # The page that refused it stands at the address that the form was sent to.
    typed = {"time": "much", "note": "New valve", "job": "none"}
    back = late_from(visiting, "/hours/week/log", "/hours/week/log", person, **typed)
    assert all(f'value="{value}"' in back for value in ("much", "New valve"))
    back = late_from(visiting, "/hours/timer/start", "/hours/timer/start", person, job="none")
    assert '<option value="none" selected>' in back
    path = hand_in(visiting, CSV).headers["location"]
    back = late_from(visiting, f"{path}/check", f"{path}/check", person, **{"column name": "2"})
    assert chosen(back)["column name"] == "2"


@pytest.mark.parametrize(
    ("to", "page"),
    [
        ("/settings/account/password", "/settings/account"),
        ("/hours/timer/stop", "/hours/week"),
    ],
)
def test_whoever_opens_what_only_takes_a_form_is_shown_the_form(
    visiting: Visit, person: Somebody, to: str, page: str
) -> None:
    answer = visiting.get(f"{to}?on=2026-11-09&a=%0d%C3%A4")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?on=2026-11-09&a=%0D%C3%A4")
    assert late_again(visiting, to, to, person, password="secret").status_code == 200


def test_what_is_typed_after_signing_in_again_stands_when_the_form_is_shown_once_more(
    visiting: Visit, person: Somebody
) -> None:
    path = "/invoices/new"
    back = sign_in_again(visiting, send_late(visiting, path, {"title": "Order 1"}), person)
    assert 'value="Order 1"' in back.text
    here = str(back.url).removeprefix(visiting.server.url)
    again = visiting.answer(back.text, here, title="Order 2", do="look")
    assert 'value="Order 2"' in again.text
    assert "as you left it" not in again.text


def test_several_visits_are_as_they_were_left(cast: Cast, visiting: Visit, person: Somebody) -> None:
    visit, path = plan(cast), f"/schedule/change?from={DAY}&until={DAY}"
    seen = re.search(r'name="0.seen" value="([^"]+)"', visiting.get(path).text)
    assert seen
    typed = {"0.visit": visit["id"], "0.seen": seen[1], "0.who": "nobody", "0.day": DAY, "0.time": "08:45"}
    back = late_from(visiting, path, path, person, **typed, **{"0.length": "1:00"})
    assert 'name="0.time" value="08:45"' in back
    assert '<option value="nobody" selected>' in back


@pytest.mark.parametrize("size", [20_000, 70_000])
def test_of_a_form_that_is_too_long_it_is_told_that_nothing_was_kept(
    visiting: Visit, person: Somebody, size: int
) -> None:
    lost = "was too long to be kept, and is lost"
    back = sign_in_again(visiting, send_late(visiting, INVITE, NORA | {"phone": "1" * size}), person)
    assert back.status_code == 200
    assert "nora@new.example" not in back.text
    assert lost in words(back.text)
    # It is no more said once the form was sent again from there.
    here = str(back.url).removeprefix(visiting.server.url)
    again = visiting.answer(back.text, here, **NORA | {"email": "none"})
    assert (again.status_code, lost in words(again.text)) == (422, False)


@pytest.mark.parametrize("ticket", ["", "x", "x" * 43, "%00", "%ff"])
def test_a_ticket_that_was_never_given_shows_the_page_as_always(visiting: Visit, ticket: str) -> None:
    page = visiting.get(f"{INVITE}?typed={ticket}")
    assert page.status_code == 200
    assert "as you left it" not in page.text
